"""Names: one public class name stands in one file."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")


def public_classes() -> dict[str, set[str]]:
    """Every public class of the four packages, with the files that define one of that name."""
    found: dict[str, set[str]] = defaultdict(set)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].add(str(path.relative_to(ROOT)))
    return found


def test_one_public_class_name_stands_in_one_file() -> None:
    found = public_classes()
    assert len(found) > 500  # else nothing was read
    assert {name: sorted(files) for name, files in found.items() if len(files) > 1} == {}
