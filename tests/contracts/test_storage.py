"""Storage: SQL and the database stand in a backend alone; everything else asks the Protocol."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")
BACKENDS = ROOT / "core/amgs/storage/duckdb"
SQL = re.compile(
    r"\b(SELECT\s+.+\s+FROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TEMP\s+)?TABLE)\b"
)


def code_outside_backends() -> dict[Path, ast.Module]:
    """Every module of the four packages that is part of no backend."""
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in paths if BACKENDS not in path.parents
    }


def sql_in(tree: ast.AST) -> list[int]:
    """The lines of texts with SQL in them and of calls of `execute`."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value))
        or (isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany"))
    ]


def test_sql_is_written_in_a_backend_alone() -> None:
    code = code_outside_backends()
    assert len(code) > 300  # else nothing was read
    assert {
        str(path.relative_to(ROOT)): lines for path, tree in code.items() if (lines := sql_in(tree))
    } == {}


def test_sql_is_found() -> None:
    assert sql_in(ast.parse("a = 'SELECT id FROM blocks'\nstore.execute(a)\nb = 'select one'")) == [1, 2]


def test_the_database_is_imported_in_a_backend_alone() -> None:
    importing = []
    for path, tree in code_outside_backends().items():
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(name.split(".")[0] == "duckdb" for name in names):
                importing.append(str(path.relative_to(ROOT)))
    assert importing == []
