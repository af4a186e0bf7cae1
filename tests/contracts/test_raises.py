"""What a docstring says is raised exists, and is raised in the packages that its own may import."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {"amgs": "core", "amgs_app": "core", "amgs_focus": "focus", "amgs_tui": "."}
BELOW = {
    "amgs": ("amgs",),
    "amgs_focus": ("amgs_focus",),
    "amgs_app": ("amgs", "amgs_focus", "amgs_app"),
    "amgs_tui": ("amgs", "amgs_focus", "amgs_app", "amgs_tui"),
}
"""The packages whose errors each package may name."""
SAID = re.compile(r"\b[Rr]aises?\b((?:[^.;]|\.(?=\w))*)")
"""A sentence from `raises` on; a dot within a name does not end it."""
NAME = re.compile(r"(?<![\w.])(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Cancelled|Interrupt|Exit)\b|\bCancelled\b")
FIRST = re.compile(r"\s+`?((?:\w+\.)*[A-Z]\w*)")
"""What stands right behind `raises` is the name of a class, whatever it ends in."""


def named(docstring: str) -> Iterator[str]:
    """The exceptions of which a docstring says that they are raised."""
    for said in SAID.findall(" ".join(docstring.split())):
        first = FIRST.match(said)
        yield from {*NAME.findall(said), *([first[1]] if first else [])}


@cache
def trees(package: str) -> dict[str, ast.Module]:
    base = ROOT / FOLDERS[package] / package
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(base.rglob("*.py"))
    }


@cache
def classes(package: str) -> Mapping[str, frozenset[str]]:
    """The classes that a package defines, with the names of their bases."""
    found: dict[str, frozenset[str]] = {}
    for tree in trees(package).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name] = frozenset(ast.unparse(base) for base in node.bases)
    return found


def last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@cache
def made(package: str) -> frozenset[str]:
    """The names that a package calls or raises as they are: `raise Error(…)`, `return Error(…)`, `raise Error`."""
    found = set()
    for tree in trees(package).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                found.add(last_name(node.func))
            elif isinstance(node, ast.Raise) and node.exc is not None:
                found.add(last_name(node.exc))
    return frozenset(found)


@cache
def kinds_of(name: str, package: str) -> frozenset[str]:
    """A class and those below it, as far as the packages define them."""
    below: dict[str, set[str]] = defaultdict(set)
    for each in BELOW[package]:
        for one, bases in classes(each).items():
            for base in bases:
                below[base].add(one)
    found, waiting = set[str](), [name]
    while waiting:
        found.add(one := waiting.pop())
        waiting += below[one] - found
    return frozenset(found)


@cache
def fault_of(name: str, package: str) -> str:
    """What is wrong with an exception that a docstring of the package names; "" for nothing."""
    module, _, last = name.rpartition(".")
    if module and module.split(".")[0] not in FOLDERS:
        kind = getattr(importlib.import_module(module), last, None)
        return "" if isinstance(kind, type) and issubclass(kind, BaseException) else "no such class"
    kind = getattr(builtins, last, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return ""  # Python raises it by itself
    if not any(last in classes(each) for each in BELOW[package]):
        return "no such class"
    raised = any(kinds_of(last, package) & made(each) for each in BELOW[package])
    return "" if raised else "raised nowhere"


@pytest.mark.parametrize("package", sorted(FOLDERS))
def test_what_a_docstring_says_is_raised_exists_and_is_raised(package: str) -> None:
    wrong, seen = [], 0
    for path, tree in trees(package).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                for name in named(ast.get_docstring(node) or ""):
                    seen += 1
                    if fault := fault_of(name, package):
                        wrong.append(f"{path}:{getattr(node, 'lineno', 1)}: {name}: {fault}")
    assert wrong == []
    assert seen, "nothing was read"
