"""Every error that the memory engine raises on purpose names a way out (contract 8 of docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

from amgs import errors

ENGINE = Path(__file__).parents[2] / "core" / "amgs"
OURS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.AmgsError) and name != "Cancelled"
}


def test_every_error_of_the_engine_has_a_way_out() -> None:
    bare = []
    for path in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OURS
            if made and isinstance(node, ast.Call) and "way_out" not in {k.arg for k in node.keywords}:
                bare.append(f"{path.relative_to(ENGINE)}:{node.lineno}")
    assert bare == []
