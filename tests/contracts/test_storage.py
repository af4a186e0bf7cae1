"""Storage: SQL stands in the storage and the stores of wings alone, and a database is imported in its backend alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from amgs.wing_registry import WINGS

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")
STORAGE = ROOT / "core/amgs/storage"
OF_WINGS = {ROOT / "core/amgs/wings" / name / "store.py" for name in WINGS}
"""Where a wing has the SQL of its tables."""
BACKENDS = {STORAGE / name for name in ("duckdb", "postgres")}
FOREIGN = ROOT / "core/amgs/sessions/sqlite_file.py"
"""Reads copies of another program's databases, and no store."""
SQL = re.compile(
    r"\b(SELECT\s+.+\s+FROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TEMP\s+)?TABLE)\b"
)


WORDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "execute", "duckdb", "psycopg")
"""A module without any of them is not parsed."""


def sql_in(tree: ast.AST) -> list[int]:
    """The lines of texts with SQL in them and of calls of `execute`."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value))
        or (isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany"))
    ]


def of_the_database(tree: ast.Module) -> bool:
    """Whether a module imports the database."""
    for node in ast.walk(tree):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if any(name.split(".")[0] in ("duckdb", "psycopg", "psycopg_pool") for name in names):
            return True
    return False


def test_sql_is_written_in_storage_alone_and_the_database_imported_in_a_backend_alone() -> None:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    outside = [path for path in paths if not BACKENDS & set(path.parents)]
    assert len(outside) > 300  # else nothing was read
    with_sql, importing = {}, []
    for path in outside:
        text = path.read_text(encoding="utf-8")
        if not any(word in text for word in WORDS):
            continue
        tree = ast.parse(text)
        elsewhere = STORAGE not in path.parents and path not in {FOREIGN, *OF_WINGS}
        if elsewhere and (lines := sql_in(tree)):
            with_sql[str(path.relative_to(ROOT))] = lines
        if of_the_database(tree):
            importing.append(str(path.relative_to(ROOT)))
    assert (with_sql, importing) == ({}, [])
