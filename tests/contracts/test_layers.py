"""Layers: the parts of a package import each other in one direction only, under TYPE_CHECKING too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")


def imports_between_parts(root: Path) -> dict[str, set[str]]:
    """The parts of a package, a folder or a module each, with the other parts that each imports anywhere."""
    package = root.name
    found: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        own = path.relative_to(root).with_suffix("").parts[0]
        if own == "__init__":
            continue
        found.setdefault(own, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                head, _, rest = name.partition(".")
                part = rest.split(".")[0]
                is_part = (root / part).is_dir() or (root / f"{part}.py").is_file()
                if head == package and part and is_part and part != own:
                    found[own].add(part)
    return found


def in_a_circle(imports: dict[str, set[str]]) -> set[str]:
    """The parts from which a way of imports leads back to themselves."""
    circular = set()
    for start in imports:
        reached: set[str] = set()
        waiting = list(imports[start])
        while waiting:
            part = waiting.pop()
            if part not in reached:
                reached.add(part)
                waiting += imports.get(part, ())
        if start in reached:
            circular.add(start)
    return circular


@pytest.mark.parametrize("package", PACKAGES)
def test_parts_of_a_package_import_each_other_in_no_circle(package: str) -> None:
    imports = imports_between_parts(ROOT / package)
    assert sum(map(len, imports.values())) > 5  # else nothing was read
    assert in_a_circle(imports) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_of_a_package_says_what_it_is_for(package: str) -> None:
    told = {
        path.parent.name: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        for path in (ROOT / package).glob("*/__init__.py")
    }
    assert told and [name for name, docstring in told.items() if not docstring] == []


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_modules_that_a_page_for_developers_names_are_there(page: str) -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", (ROOT / page).read_text(encoding="utf-8")))
    roots = [ROOT / folder for folder in ("core", "focus", "amgs_tui", "tests")]
    paths = [f"/{path.relative_to(ROOT)}" for root in roots for path in root.rglob("*.py")]
    assert named and {name for name in named if not any(path.endswith(f"/{name}") for path in paths)} == set()
