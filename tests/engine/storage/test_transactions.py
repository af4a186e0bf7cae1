"""Transactions and snapshots: all or nothing, one state a look, and a counter that says what has changed."""

from __future__ import annotations

import threading

import pytest

from amgs.errors import StoreError
from amgs.identity import block_id
from amgs.storage.opening import copy_in_memory, open_storage
from amgs.storage.store import Storage
from amgs.types import BlockFilter
from tests.engine.storage.samples import NOON, block, edge, put

SECONDS = 30.0
"""How long a thread may take before a test gives it up."""
RAW = BlockFilter(statuses=("raw",))


def test_a_failed_transaction_leaves_nothing_behind(storage: Storage) -> None:
    put(storage, block("a"))
    counters = storage.counters
    with pytest.raises(ZeroDivisionError), storage.transaction():
        storage.blocks.insert([block("b")])
        storage.blocks.update([block("a", category="changed")])
        storage.edges.insert([edge("a", "b")])
        storage.meta.put("key", "value")
        storage.journal.append("edit", NOON, "one", [], blocks=0, edges=0)
        raise ZeroDivisionError
    assert [one.content for one in storage.blocks.select(RAW)] == ["a"]
    assert storage.blocks.get([block_id("a")])[block_id("a")] == block("a")
    assert storage.edges.count() == 0
    assert storage.meta.get("key") is None
    assert storage.journal.latest(1) == ()
    assert storage.counters == counters


def test_what_fails_inside_takes_the_outer_transaction_with_it(storage: Storage) -> None:
    with pytest.raises(ZeroDivisionError), storage.transaction():
        storage.meta.put("outer", "1")
        with storage.transaction():
            storage.meta.put("inner", "1")
            raise ZeroDivisionError
    assert (storage.meta.get("outer"), storage.meta.get("inner")) == (None, None)
    with storage.transaction():  # and the next one begins as if nothing had been
        storage.meta.put("outer", "2")
    assert storage.meta.get("outer") == "2"


def test_the_counter_rises_once_a_transaction_and_not_for_reading(storage: Storage) -> None:
    with storage.transaction():
        storage.meta.put("a", "1")
        with storage.transaction():
            storage.meta.put("b", "2")
    assert storage.change_counter == storage.structure_counter == 1
    with storage.transaction():
        storage.meta.get("a")
    assert storage.change_counter == 1
    with storage.transaction():
        storage.scores.forget(["nobody"])
    assert storage.counters == (2, 1)  # no index follows a log or a cache
    assert storage.committed_changes == 2


def test_the_committed_counter_is_that_of_the_last_commit_whoever_reads(storage: Storage) -> None:
    with storage.snapshot():
        first = storage.committed_changes
    with storage.transaction():
        storage.meta.put("a", "1")
        assert storage.committed_changes in {first, storage.change_counter}
    with pytest.raises(ZeroDivisionError), storage.transaction():
        storage.meta.put("a", "2")
        raise ZeroDivisionError
    assert storage.committed_changes == storage.change_counter == first + 1
    with storage.transaction():
        storage.tables.set_counter(40)
    assert storage.committed_changes == storage.change_counter == 41


def test_what_a_screen_remembers_is_no_change_of_the_memory(storage: Storage) -> None:
    with storage.transaction():
        storage.meta.keep("layout.last", "wide")
    assert storage.meta.read_saved("layout.") == {"layout.last": "wide"}
    with storage.transaction():
        storage.meta.keep("layout.last", None)
    assert storage.meta.read_saved("") == {}
    assert storage.counters == (0, 0)


def test_writing_outside_a_transaction_is_a_mistake(storage: Storage) -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        storage.meta.put("a", "1")


def test_another_thread_reads_what_is_committed_and_waits_for_its_turn_to_write(storage: Storage) -> None:
    seen: list[str | None] = []

    def other() -> None:
        seen.append(storage.meta.get("key"))
        with storage.transaction():
            storage.meta.put("key", "theirs")

    thread = threading.Thread(target=other)
    with storage.transaction():
        storage.meta.put("key", "mine")
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        assert storage.meta.get("key") == "mine"
    thread.join(SECONDS)
    assert seen == [None]
    assert storage.meta.get("key") == "theirs"


def test_what_is_read_inside_a_snapshot_is_of_one_state(storage: Storage) -> None:
    put(storage, block("a"))
    read: list[tuple[int, ...]] = []
    begun, changed = threading.Event(), threading.Event()

    def look() -> None:
        with storage.snapshot():
            first = (storage.change_counter, storage.blocks.count(RAW))
            begun.set()
            assert changed.wait(SECONDS)
            with storage.snapshot():
                second = (storage.change_counter, storage.blocks.count(RAW))
                columns = storage.block_columns.numbers(RAW).size
        read.extend([first, second, (columns,), (storage.change_counter, storage.blocks.count(RAW))])

    looking = threading.Thread(target=look)
    looking.start()
    assert begun.wait(SECONDS)
    put(storage, block("b"))
    changed.set()
    looking.join(SECONDS)
    assert read == [(1, 1), (1, 1), (1,), (2, 2)]


def test_a_snapshot_inside_a_transaction_reads_the_transaction(storage: Storage) -> None:
    with storage.transaction():
        storage.meta.put("key", "mine")
        with storage.snapshot():
            assert storage.meta.get("key") == "mine"


def test_a_snapshot_ends_when_what_is_inside_fails(storage: Storage) -> None:
    with pytest.raises(ZeroDivisionError), storage.snapshot():
        raise ZeroDivisionError
    put(storage, block("a"))
    assert storage.blocks.count(RAW) == 1


def test_a_closed_store_says_so_and_closes_twice(storage: Storage) -> None:
    storage.close()
    storage.close()
    assert storage.closed
    with pytest.raises(StoreError, match="closed"):
        storage.meta.get("key")
    with pytest.raises(StoreError, match="closed"), storage.transaction():
        raise AssertionError("a transaction began")


def test_a_copy_holds_the_same_and_goes_its_own_way(storage: Storage) -> None:
    put(storage, block("a", meta={"k": [1, "ü"]}), block("b"))
    with storage.transaction():
        storage.edges.insert([edge("a", "b")])
        storage.reinforcements.append([block_id("a")], "assembled", NOON, "SELF")
    with copy_in_memory(storage) as copy:
        schema = storage.tables.schema()
        assert copy.tables.schema() == schema
        assert copy.change_counter == storage.change_counter + 1  # the copying itself
        for table, columns in schema.items():
            if table == "change_counter":
                continue
            assert [*copy.tables.rows(table, columns)] == [*storage.tables.rows(table, columns)]
        put(copy, block("c"))
        assert (copy.blocks.count(RAW), storage.blocks.count(RAW)) == (3, 2)


# --- stores that are kept -----------------------------------------------------------------------------------


def test_what_was_committed_is_there_when_the_store_is_opened_again(place: str) -> None:
    with open_storage(place) as first:
        put(first, block("a"))
        counters, own = first.counters, first.meta.store_id()
    with open_storage(place) as again:
        assert again.blocks.get([block_id("a")]) == {block_id("a"): block("a")}
        assert (again.counters, again.meta.store_id(), again.lost) == (counters, own, "")


def test_a_store_that_is_read_only_refuses_to_be_written(place: str) -> None:
    with pytest.raises(StoreError, match="There is no store"):
        open_storage(place, read_only=True)
    open_storage(place).close()
    with open_storage(place, read_only=True) as storage:
        assert storage.read_only
        with pytest.raises(StoreError, match="reading only"), storage.transaction():
            raise AssertionError("a transaction began")
