"""What a program that imports `amgs` can name and check: every type of Memory's public methods."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import amgs
from amgs import memory

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")


def types_of_public_methods() -> set[str]:
    """The names of our own types in the annotations of Memory's public methods."""
    tree = ast.parse(inspect.getsource(memory))
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Memory")
    methods = [
        node for node in cls.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    annotations = [
        annotation
        for method in methods
        for annotation in (
            method.returns,
            *(a.annotation for a in (*method.args.args, *method.args.kwonlyargs)),
        )
        if annotation is not None
    ]
    names = {node.id for each in annotations for node in ast.walk(each) if isinstance(node, ast.Name)}
    return {
        name
        for name in names
        if str(getattr(getattr(memory, name, None), "__module__", "")).startswith("amgs.") or name == "Status"
    }


def test_every_type_that_memory_takes_and_gives_is_exported() -> None:
    found = types_of_public_methods()
    assert {"Health", "Explanation", "StoreStatus", "Lifecycle", "IngestReport"} <= found
    assert found - set(amgs.__all__) == set()


@pytest.mark.parametrize("name", amgs.__all__)
def test_every_exported_name_is_there(name: str) -> None:
    assert getattr(amgs, name) is not None


def test_every_package_says_that_it_is_typed() -> None:
    assert [name for name in PACKAGES if not (ROOT / name / "py.typed").is_file()] == []
