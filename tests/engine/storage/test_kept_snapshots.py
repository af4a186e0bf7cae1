"""A snapshot of a file leaves its transaction open for its thread, and nobody ever reads an old state by it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from amgs.errors import StoreError
from amgs.storage.duckdb.storage import DuckDBStorage
from tests.engine.storage.samples import block, put

SECONDS = 30.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DuckDBStorage]:
    with DuckDBStorage.open(tmp_path / "s.duckdb") as opened:
        put(opened, block("a"))
        yield opened


def look(store: DuckDBStorage) -> tuple[tuple[int, int], str | None]:
    with store.snapshot():
        return store.counters, store.meta.get("key")


def write(store: DuckDBStorage, value: str) -> None:
    with store.transaction():
        store.meta.put("key", value)


class Recorder:
    """A cursor that notes its statements."""

    def __init__(self, cursor: Any) -> None:
        self.cursor, self.statements = cursor, list[str]()
        self.close = cursor.close

    def execute(self, sql: str, *parameters: Any) -> Any:
        self.statements.append(sql.split()[0])
        return self.cursor.execute(sql, *parameters)


def test_a_snapshot_runs_no_statement_where_nothing_was_committed(store: DuckDBStorage) -> None:
    first = look(store)[0]
    reader = store._reader()
    recorder = reader.cursor = Recorder(reader.cursor)  # type: ignore[assignment]
    with store.snapshot():
        assert store.counters == first
    assert recorder.statements == []
    write(store, "b")
    with store.snapshot():
        assert store.counters > first
    assert recorder.statements == ["ROLLBACK", "BEGIN", "SELECT"]


def test_a_write_of_another_thread_is_seen_by_the_next_look(store: DuckDBStorage) -> None:
    with ThreadPoolExecutor(1) as other:
        for value in "bcd":
            before = other.submit(look, store).result(SECONDS)
            write(store, value)
            after = other.submit(look, store).result(SECONDS)
            assert after[0] > before[0] and after[1] == value
            with store.transaction():
                store.execute("UPDATE meta SET value = 'uncounted' WHERE key = 'key'", counted=False)
            assert other.submit(store.meta.get, "key").result(SECONDS) == "uncounted"
            assert other.submit(look, store).result(SECONDS) == (after[0], "uncounted")


def test_a_later_look_is_never_of_an_earlier_state(store: DuckDBStorage) -> None:
    lock, seen, done = threading.Lock(), list[int](), threading.Event()

    def read() -> None:
        while not done.is_set():
            with lock, store.snapshot():
                changes = store.counters[0]
                seen.append(changes)
                assert store.meta.get("key") in (None, str(changes))

    with ThreadPoolExecutor(3) as others:
        readers = [others.submit(read) for _ in range(3)]
        for _ in range(60):
            with store.transaction():
                store.meta.put("key", str(store.revision()))
        done.set()
        for reader in readers:
            reader.result(SECONDS)
    assert seen == sorted(seen) and len(set(seen)) > 1


def test_a_look_that_is_over_hinders_no_checkpoint_and_no_rewriting(
    store: DuckDBStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as other:
        other.submit(look, store).result(SECONDS)
        assert store._ahead is not None
        monkeypatch.setattr(store._ahead, "due", lambda: True)
        write(store, "b")
        ahead = tmp_path / "s.duckdb.wal"
        assert not ahead.exists() or not ahead.stat().st_size
        other.submit(look, store).result(SECONDS)
        assert store.compact(SECONDS, ("SELECT 1", ()))
        assert other.submit(look, store).result(SECONDS)[1] == "b"


def test_rows_are_kept_until_their_table_is_written(store: DuckDBStorage) -> None:
    def kept() -> list[tuple[str]]:
        with store.snapshot():
            return store.read_cached_rows("meta", "SELECT value FROM meta WHERE key = ?", ["key"])

    read = store._reader()
    recorder = read.cursor = Recorder(read.cursor)  # type: ignore[assignment]
    assert kept() == kept() == []
    assert recorder.statements.count("SELECT") == 1
    with ThreadPoolExecutor(1) as other, store.snapshot():
        assert kept() == []
        other.submit(write, store, "b").result(SECONDS)
        assert kept() == []  # this look is of the earlier state, and nothing of it is kept
    assert kept() == [("b",)]
    with store.transaction():
        put(store, block("other"))
    count = len(recorder.statements)
    assert kept() == [("b",)] and recorder.statements[count:] == ["BEGIN"]
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.meta.put("key", "lost")
        raise ZeroDivisionError
    assert kept() == [("b",)]


def test_numbers_and_the_last_commit_in_memory_are_those_of_the_file(store: DuckDBStorage) -> None:
    def add(value: int) -> None:
        store.execute("INSERT INTO forecast_curves VALUES (?, '{}'::JSON)", [value])
        store.note_highest("forecast_curves", value)

    with store.transaction():
        assert store.highest("forecast_curves", "operation_id") == 0
        add(5)
        assert store.highest("forecast_curves", "operation_id") == 5
    with pytest.raises(ZeroDivisionError), store.transaction():
        add(9)
        raise ZeroDivisionError
    with store.transaction():
        assert store.highest("forecast_curves", "operation_id") == 5
        store.execute("DELETE FROM forecast_curves WHERE operation_id = 5")
        assert store.highest("forecast_curves", "operation_id") == 0
        assert store.revision() == store.change_counter + 1
    assert store._note is not None and store._note.read() == store._state() == store._last
    with store.transaction():
        store.meta.put("key", "value")
        store.execute("UPDATE change_counter SET value = 100, structure = 100")
        assert store.revision() == 101
    assert store._note.read() == store._state() == store._last


@pytest.mark.parametrize("statement", ["SELECT missing FROM meta", "SELECT error('x')"])
def test_after_a_statement_that_failed_the_next_look_begins_anew(store: DuckDBStorage, statement: str) -> None:
    look(store)
    with store.snapshot(), pytest.raises(StoreError):
        store.rows(statement)
    assert look(store)[1] is None
    with pytest.raises(KeyboardInterrupt), store.snapshot():
        raise KeyboardInterrupt
    assert not store._reader().latest


def test_a_rewriting_in_memory_is_seen_by_the_next_look() -> None:
    with DuckDBStorage.open(":memory:") as store:
        write(store, "old")
        look(store)
        assert store.compact(SECONDS, ("UPDATE meta SET value = 'new' WHERE key = 'key'", ()))
        assert look(store)[1] == "new"


def test_a_thread_that_ends_leaves_no_transaction(store: DuckDBStorage) -> None:
    look(store)
    for _ in range(3):
        thread = threading.Thread(target=look, args=(store,))
        thread.start()
        thread.join(SECONDS)
    assert list(store._readers) == [store._reader()]


def test_a_closed_store_is_not_read_from_memory(store: DuckDBStorage) -> None:
    look(store)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        look(store)
