"""What type checkers read of the clients is what the clients have."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

import pytest

from amgs.client import async_memory_client, memory_client
from amgs.client.parts import ClientMethod
from scripts.client_stubs import stubs

MODULES = (memory_client, async_memory_client)


def test_the_stubs_are_made_from_the_table() -> None:
    assert [path.name for path, text in stubs().items() if path.read_text(encoding="utf-8") != text] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.__name__).rpartition(".")[2])
def test_a_stub_names_each_method_with_the_parameters_that_it_takes(module: ModuleType) -> None:
    stub = ast.parse(stubs()[next(path for path in stubs() if path.stem == module.__name__.split(".")[-1])])
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert len(classes) >= 10
    for name, node in classes.items():
        kind = getattr(module, name)
        told = {each.name: parameters(each) for each in node.body if isinstance(each, FUNCTIONS)}
        assert told == had(kind), name
        assert "Async" not in name or all(isinstance(each, ast.AsyncFunctionDef) for each in requests(node))


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def requests(node: ast.ClassDef) -> list[ast.stmt]:
    return [each for each in node.body if isinstance(each, FUNCTIONS) and not each.decorator_list]


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names of its parameters, without `self`."""
    given = function.args
    rest = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *rest)][1:]


def had(kind: type[Any]) -> dict[str, list[str]]:
    """The methods and parts of a class that come from the table, with the names of their parameters."""
    return {
        name: list(inspect.signature(each.described).parameters) if isinstance(each, ClientMethod) else []
        for name, each in vars(kind).items()
        if isinstance(each, (ClientMethod, property))
    }
