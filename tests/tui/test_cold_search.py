"""What a search by words begins and ends with: few queries, and nothing loaded that words do not need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from amgs.storage.duckdb.connection import Connection
from tests.tui.headless_world import Amgs

ROOT = Path(__file__).parents[2]
QUERIES = 26
"""Statements that read the store, from opening to closing it."""
UNNEEDED = (
    "typer._adapters",
    "textual",
    "torch",
    "spacy",
    "tokenizers",
    "usearch",
    "amgs_app.attached.remote_engine",
    "amgs.storage.logs",
    "amgs.storage.logs",
)
SEARCH = ("search", "dome", "--layer", "keyword", "--layer", "fuzzy", "--limit", "3")


def test_a_search_by_words_asks_the_store_little_and_reads_no_embedding(
    amgs: Amgs, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows, columns = Connection.rows, Connection.columns

    def counted_rows(self: Connection, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return rows(self, sql, parameters)

    def counted_columns(
        self: Connection, sql: str, parameters: Sequence[Any] = (), *, whole: bool = False
    ) -> dict[str, Any]:
        asked.append(sql)
        return columns(self, sql, parameters, whole=whole)

    monkeypatch.setattr(Connection, "rows", counted_rows)
    monkeypatch.setattr(Connection, "columns", counted_columns)
    assert amgs(*SEARCH) == 0 and "Motor log" in amgs.out
    by_words, asked[:] = list(asked), []
    assert not [sql for sql in by_words if "unnest(embedding)" in sql]
    assert len(by_words) <= QUERIES, len(by_words)
    assert amgs("search", "dome") == 0
    assert [sql for sql in asked if "unnest(embedding)" in sql]  # the control: by meaning they are read


def test_a_search_by_words_loads_no_library_that_it_does_not_need(amgs: Amgs) -> None:
    program = (
        "import gc, sys; from amgs_tui.__main__ import run; code = run(sys.argv[1:]);"
        f"print([one for one in {UNNEEDED!r} if one in sys.modules], gc.get_freeze_count() > 50_000); sys.exit(code)"
    )
    paths = os.pathsep.join(str(ROOT / part) for part in ("core", "focus", ""))
    done = subprocess.run(
        [sys.executable, "-c", program, "--store", str(amgs.store), *SEARCH],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode == 0 and "leaked" not in done.stderr
    assert done.stdout.splitlines()[-1] == "[] True"
