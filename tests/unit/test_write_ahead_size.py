"""A store takes in its write-ahead file before much of it lies in memory, and a bulk load is left alone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from amgs.storage.duckdb.connection import Connection
from amgs.storage.duckdb.files import LEAST

TEXT = "x" * 500_000
"""A little under what makes a commit a batch of a load."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


def _ahead(store: Path) -> int:
    """Bytes of the write-ahead file, which DuckDB removes when it is empty."""
    ahead = Path(f"{store}.wal")
    return ahead.stat().st_size if ahead.exists() else 0


def _put(connection: Connection, key: str, text: str) -> None:
    with connection.transaction():
        connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", [key, text]
        )


def _held(connection: Connection) -> int:
    """Bytes of what updates have replaced, and of rows that are not in the file yet."""
    (row,) = connection.rows(
        "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory() "
        "WHERE tag IN ('ALLOCATOR', 'IN_MEMORY_TABLE', 'OVERFLOW_STRINGS')"
    )
    return int(row[0])


def test_the_same_text_put_over_and_over_neither_fills_memory_nor_the_write_ahead_file(store: Path) -> None:
    with Connection.open(store) as connection:
        for turn in range(20):
            _put(connection, "last", TEXT + str(turn))
            assert _ahead(store) < LEAST + 2 * len(TEXT)
        assert _held(connection) < 2 * LEAST
        assert connection.rows("SELECT value FROM meta WHERE key = 'last'") == [(TEXT + "19",)]
    with Connection.open(store) as connection:
        assert connection.rows("SELECT value FROM meta WHERE key = 'last'") == [(TEXT + "19",)]


def test_a_snapshot_that_is_open_meanwhile_stays_what_it_was(store: Path) -> None:

    with Connection.open(store) as connection:
        _put(connection, "last", "before")
        seen: list[str] = []
        inside, go_on = threading.Event(), threading.Event()

        def read() -> None:
            with connection.snapshot():
                seen.append(connection.rows("SELECT value FROM meta WHERE key = 'last'")[0][0])
                inside.set()
                go_on.wait(60)
                seen.append(connection.rows("SELECT value FROM meta WHERE key = 'last'")[0][0])

        reader = threading.Thread(target=read)
        reader.start()
        assert inside.wait(60)
        try:
            for turn in range(10):
                _put(connection, "last", TEXT + str(turn))
        finally:
            go_on.set()
            reader.join()
        _put(connection, "after", "one")
        assert seen == ["before", "before"]
        assert _ahead(store) < LEAST
        assert connection.rows("SELECT value FROM meta WHERE key = 'last'") == [(TEXT + "9",)]


def test_a_commit_stands_whose_write_ahead_file_cannot_be_taken_in(store: Path) -> None:
    with Connection.open(store) as connection:
        other = connection._writer.cursor()
        other.execute("BEGIN TRANSACTION")
        other.execute("CREATE TABLE in_the_way (number INTEGER)")
        for turn in range(10):
            _put(connection, "last", TEXT + str(turn))
        assert _ahead(store) > LEAST
        other.execute("ROLLBACK")
        other.close()
        _put(connection, "after", "one")
        assert _ahead(store) < LEAST
        assert connection.rows("SELECT value FROM meta WHERE key = 'last'") == [(TEXT + "9",)]
