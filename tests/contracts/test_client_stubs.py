"""What type checkers read of the clients is what the clients have, and both are what the table gives."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from amgs import AsyncMemoryClient, Memory, MemoryClient
from amgs.client import async_memory_client, memory_client
from amgs.client.methods import ClientMethod
from scripts.client_stubs import write_texts

MODULES = (memory_client, async_memory_client)


def test_the_stubs_and_the_signatures_are_made_from_the_table() -> None:
    assert [
        path.name for path, text in write_texts().items() if path.read_text(encoding="utf-8") != text
    ] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.__name__).rpartition(".")[2])
def test_a_stub_names_each_method_with_the_parameters_that_it_takes(module: ModuleType) -> None:
    stub = ast.parse(
        write_texts()[next(path for path in write_texts() if path.stem == module.__name__.split(".")[-1])]
    )
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert len(classes) >= 10
    for name, node in classes.items():
        kind = getattr(module, name)
        told = {each.name: parameters(each) for each in node.body if isinstance(each, FUNCTIONS)}
        assert told == had(kind), name
        assert "Async" not in name or all(isinstance(each, ast.AsyncFunctionDef) for each in requests(node))


def test_a_client_loads_no_engine_until_somebody_asks_what_a_method_says() -> None:
    asked = """
import sys, amgs
client = amgs.MemoryClient("http://127.0.0.1:1", retries=0)
assert not [name for name in sys.modules if name.startswith(("amgs.memory", "amgs.api", "amgs.storage", "duckdb"))]
print(client.frames.reset.__doc__, client.undo.__doc__)
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert str(inspect.getdoc(Memory.undo)) in done.stdout


@pytest.mark.parametrize("client", [MemoryClient, AsyncMemoryClient])
def test_arguments_that_a_method_does_not_take_are_refused_by_its_name(client: type[Any]) -> None:
    made = client("http://127.0.0.1:1", retries=0)
    for given in ({"least": 2}, {"start": "a"}, {}):
        with pytest.raises(TypeError, match=r"GraphCalls\.path\(\)"):
            made.graph.path(**given).send(None)  # what is awaited is refused when it begins


def test_what_only_the_engine_takes_is_not_said_of_the_client() -> None:
    told = inspect.getdoc(MemoryClient.search) or ""
    assert "top_k: how many at most." in told and "weights: " in told
    assert "keep: " not in told and "progress" not in (inspect.getdoc(MemoryClient.consolidate) or "")


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
