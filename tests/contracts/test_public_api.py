"""What a program that imports `amgs`, `amgs_focus` or a wing can name and check."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import amgs.types
import amgs_focus
from amgs.lazy_names import homes
from amgs.wing_registry import WINGS

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")
ENTRIES = ("FocusRuntime", "LifetimeTree", "TraceWriter", "WorkingContext", "BaseModel", "FocusScorer", "GistEncoder")
LAZY = [amgs, amgs_focus, amgs.types]
LAZY += [w for w in map(import_module, (f"amgs.wings.{n}" for n in WINGS)) if hasattr(w, "__all__")]


def types_in(part: type) -> set[str]:
    """The names of our own types in the annotations of a class's public methods and of its construction."""
    tree = ast.parse(inspect.getsource(import_module(part.__module__)))
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == part.__name__)
    methods = [
        node
        for node in cls.body
        if isinstance(node, ast.FunctionDef)
        if not node.name.startswith("_") or (node.name == "__init__" and part.__module__.startswith("amgs_focus."))
    ]
    annotations = [
        annotation
        for method in methods
        for annotation in (method.returns, *(a.annotation for a in (*method.args.args, *method.args.kwonlyargs)))
        if annotation is not None
    ]
    names = {node.id for each in annotations for node in ast.walk(each) if isinstance(node, ast.Name)}
    ours = {
        alias.asname or alias.name
        for node in ast.walk(tree)  # some are imported for their annotations alone
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("amgs", "amgs_focus")
        for alias in node.names
        if isinstance(getattr(import_module(str(node.module)), alias.name, None), type) or alias.name == "Status"
    }
    return names & ours


@pytest.mark.parametrize(
    ("package", "parts", "named"),
    [
        (amgs, amgs.Memory.__mro__[:-1], {"Health", "Explanation", "StoreStatus", "Lifecycle", "IngestReport"}),
        (amgs_focus, [getattr(amgs_focus, name) for name in ENTRIES], {"Segment", "WorkingContext", "Act"}),
    ],
    ids=["amgs", "amgs_focus"],
)
def test_every_type_that_public_methods_take_and_give_is_exported(
    package: ModuleType, parts: Sequence[type], named: set[str]
) -> None:
    found = set().union(*map(types_in, parts))
    assert named <= found
    assert found - set(package.__all__) == set()


@pytest.mark.parametrize("package", LAZY)
def test_every_exported_name_is_there_and_explains_itself(package: ModuleType) -> None:
    for name in package.__all__:
        value = getattr(package, name)
        if callable(value) and typing.get_origin(value) is not typing.Literal:
            told = inspect.getdoc(value)
            assert told and not told.startswith(f"{name}("), name  # as a dataclass without a docstring has it


@pytest.mark.parametrize("package", LAZY)
def test_the_loader_finds_each_name_of_the_stub_and_no_other(package: ModuleType) -> None:
    path = inspect.getsourcefile(package)
    assert path is not None
    tree = ast.parse(Path(path).with_suffix(".pyi").read_text(encoding="utf-8"))
    told = {
        (alias.name, node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert told == set(homes(path).items())
    assert sorted(name for name, _ in told) == package.__all__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = package.Nothing


def test_what_opens_a_memory_takes_all_that_memory_takes() -> None:
    given = inspect.signature(amgs.open).parameters
    taken = inspect.signature(amgs.Memory.open).parameters
    # How long is waited is for whoever opens; a memory is opened or is not.
    assert set(given) - {"wait_seconds"} == set(taken) - {"new_embedder"}
    assert {p.kind for name, p in given.items() if name != "path"} == {inspect.Parameter.KEYWORD_ONLY}


def test_every_package_says_that_it_is_typed() -> None:
    assert [name for name in PACKAGES if not (ROOT / name / "py.typed").is_file()] == []
