"""Opening a store: whatever lies at the path, the answer is a store or a clear refusal."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from amgs.clock import SystemClock
from amgs.errors import StoreCorruptError, StoreError, StoreLockedError, StoreTooNewError
from amgs.memory import Memory
from amgs.storage.duckdb import files
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.storage.migrations import LATEST, MIGRATIONS

SPECIFIED = {
    "memory_blocks": "id content status category confidence decay_lambda embedding meta created_at "
    "last_reinforced_at is_self_component",
    "edges": "source_id target_id relation_type weight confidence decay_lambda created_at last_reinforced_at",
    "frame_definitions": "name frame_type selection_rules scoring_weights assembly_strategy",
    "frame_compositions": "parent_frame child_frame merge_strategy budget_allocation",
    "scores_cache": "block_id frame_name score computed_at",
    "calibration_log": "prediction_id predicted actual brier_score timestamp",
    "reinforcement_log": "block_id event_type timestamp source",
}
"""The seven tables of AMGS §5.2 with the columns it names."""


def test_one_at_a_time_makes_a_store_and_who_opens_one_waits_for_nobody(tmp_path: Path) -> None:
    """A file that another process is just making is empty for a moment, and would be refused as no store."""
    path = tmp_path / "s.duckdb"
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with files.lock_for_creation(path), pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(folder, fcntl.LOCK_UN)
        DuckDBStorage.open(path).close()
        with files.lock_for_creation(path):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(folder)
    DuckDBStorage.open(path, create=False).close()


def test_a_file_opened_twice_by_one_program_is_one_store(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Memory.open(path, clock=SystemClock()) as first:
        first.add("The mast is of oak.")
        first.consolidate()
        with Memory.open(path, clock=SystemClock()) as second:
            for memory, text in (
                (first, "The keel is of steel."),
                (second, "The sail is red."),
                (first, "A buoy is out."),
            ):
                memory.add(text)
                memory.consolidate()
            assert first.status().blocks == second.status().blocks == {"consolidated": 4}
            assert [memory.search("red sail").hits[0].block.content for memory in (first, second)] == [
                "The sail is red."
            ] * 2
            assert not first._storage.compact(1, ("SELECT 1", ())), "the other opening would lose what it writes"
            assert first.verify().ok and second.verify().ok
    with DuckDBStorage.open(path, read_only=True), DuckDBStorage.open(path, read_only=True) as reader:
        assert reader.counters[0] > 0


def test_all_seven_tables_have_the_columns_of_the_specification() -> None:
    with DuckDBStorage.open(":memory:") as store:
        for table, columns in SPECIFIED.items():
            found = store.rows("SELECT column_name FROM duckdb_columns() WHERE table_name = ?", [table])
            assert set(columns.split()) <= {row[0] for row in found}, table


@contextmanager
def another(script: str, path: Path) -> Iterator[int]:
    """A process that has run a script and goes on, by its id."""
    with subprocess.Popen(
        [sys.executable, "-c", f"import sys; {script}; print('held', flush=True); sys.stdin.read()", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == "held\n"
        yield other.pid
        other.stdin.close()


def test_a_store_held_by_another_process_names_it_and_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    DuckDBStorage.open(path).close()
    script = "from amgs.storage.duckdb.storage import DuckDBStorage; store = DuckDBStorage.open(sys.argv[1])"
    with another(script, path) as pid, pytest.raises(StoreLockedError) as caught:
        DuckDBStorage.open(path)
    assert str(pid) in caught.value.message
    assert "another store" in caught.value.way_out
    DuckDBStorage.open(path).close()


def test_nobody_opens_a_store_that_is_just_being_closed(tmp_path: Path) -> None:
    """DuckDB reads the head of its file before it locks it: a last change that another makes between would be missing.
    So the store is another's until that process has let go of the note, after the database.
    """
    path = tmp_path / "s.duckdb"
    DuckDBStorage.open(path).close()
    assert not Path(f"{path}.counter").exists()  # nothing was changed, and nothing noted
    script = "from pathlib import Path; from amgs.storage.duckdb.files import Note; "
    with another(script + "note = Note(Path(sys.argv[1])); assert note.lock(shared=False)", path):
        for read_only in (False, True):
            with pytest.raises(StoreLockedError):
                DuckDBStorage.open(path, read_only=read_only)
    with DuckDBStorage.open(path, read_only=True), DuckDBStorage.open(path, read_only=True):
        pass
    DuckDBStorage.open(path).close()


@pytest.mark.parametrize("content", [b"", b"hello", b"x" * 100_000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.duckdb"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a memory store") as caught:
        DuckDBStorage.open(path)
    assert caught.value.title == "Not a memory store"
    assert "move" not in str(caught.value).lower()
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_a_store_whose_first_bytes_are_gone_is_damaged_not_foreign(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with DuckDBStorage.open(path) as store, store.transaction():
        store.meta.put("a", "1")
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    with pytest.raises(StoreCorruptError, match="first bytes"):
        DuckDBStorage.open(path)


def test_a_pipe_is_no_store_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    os.mkfifo(path)
    with pytest.raises(StoreError, match="not an ordinary file"):
        DuckDBStorage.open(path)


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    for statement in (
        "CREATE TABLE sales (amount INTEGER)",
        "CREATE TABLE meta (amount INTEGER)",
        "CREATE TABLE meta AS SELECT 'schema_version' AS key, 'one' AS value",
        "CREATE VIEW sales AS SELECT 1",
    ):
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.execute(statement)
        before = path.read_bytes()
        with pytest.raises(StoreError, match="not a memory store"):
            DuckDBStorage.open(path)
        assert path.read_bytes() == before


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with DuckDBStorage.open(path) as store, store.transaction():
        store.meta.put("schema_version", str(LATEST + 1))
    with pytest.raises(StoreTooNewError, match=str(LATEST + 1)):
        DuckDBStorage.open(path)


def test_a_store_of_any_older_schema_is_brought_up_with_what_it_holds(tmp_path: Path) -> None:
    for version in range(1, LATEST + 1):
        path = tmp_path / f"{version}.duckdb"
        with duckdb.connect(str(path)) as old:
            for step in MIGRATIONS[:version]:
                old.execute(step)
            old.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(version)])
            old.execute("INSERT INTO meta VALUES ('kept', 'yes')")
            if version == LATEST - 1:
                old.execute("INSERT INTO sources VALUES ('', '', '')")
                old.execute(
                    "INSERT INTO source_blocks VALUES ('', 1, 'text-ab#1', 'ab', make_timestamp(0), NULL, 1, NULL)"
                )
        with DuckDBStorage.open(path) as store:
            assert store.schema_version == LATEST
            assert store.meta.get("kept") == "yes"
            if version == LATEST - 1:  # a long text that nobody named
                assert [one.name for one in store.sources.names()] == ["text-ab"]
                assert [one.source for one in store.sources.read_pieces()] == ["text-ab"]
            tables = {str(row[0]) for row in store.rows("SELECT table_name FROM duckdb_tables()")}
            assert {"memory_blocks", "reviews", "edge_walks"} <= tables


def test_a_truncated_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    DuckDBStorage.open(path).close()
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(StoreCorruptError):
        DuckDBStorage.open(path)
