"""What a program that imports `amgs_focus` can name and check: every type of the public methods of what it exports."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import amgs_focus

ENTRIES = ("FocusRuntime", "LifetimeTree", "TraceWriter", "WorkingContext", "BaseModel", "FocusScorer", "GistEncoder")


def annotations_of(cls: type[Any]) -> list[ast.expr]:
    """The annotations of a class's public methods and of its construction."""
    (node,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(node, ast.ClassDef)
    methods = [
        each
        for each in node.body
        if isinstance(each, ast.FunctionDef) and (each.name == "__init__" or not each.name.startswith("_"))
    ]
    found = [
        annotation
        for method in methods
        for annotation in (method.returns, *(a.annotation for a in (*method.args.args, *method.args.kwonlyargs)))
    ]
    return [annotation for annotation in found if annotation is not None]


def is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("amgs_focus.")


@pytest.mark.parametrize("name", ENTRIES)
def test_every_type_that_public_methods_take_and_give_is_exported(name: str) -> None:
    cls = getattr(amgs_focus, name)
    module = importlib.import_module(cls.__module__)
    records = importlib.import_module("amgs_focus.records")
    found = {
        node.id
        for annotation in annotations_of(cls)
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name) and (is_ours(getattr(module, node.id, None)) or hasattr(records, node.id))
    } - {"Any", "Literal", "Mapping"}
    assert found - set(amgs_focus.__all__) == set()


@pytest.mark.parametrize("name", amgs_focus.__all__)
def test_every_exported_name_of_the_focus_engine_is_there_and_explains_itself(name: str) -> None:
    value = getattr(amgs_focus, name)
    if is_ours(value):
        told = inspect.getdoc(value)
        assert told and not told.startswith(f"{name}(")  # as a dataclass without a docstring has it


def test_the_loader_finds_each_name_of_the_stub_and_no_other() -> None:
    stub = Path(amgs_focus.__file__).with_suffix(".pyi")
    told = [
        alias.asname
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(map(str, told)) == amgs_focus.__all__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = amgs_focus.Nothing  # type: ignore[attr-defined]
