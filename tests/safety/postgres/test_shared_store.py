"""Several programs on one namespace write in turn; each sees at once what the others wrote, and nothing is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from amgs.clock import FixedClock
from amgs.derived.indexes import Derived
from amgs.errors import StoreLockedError, StoreTooNewError
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, Settings
from amgs.storage.migrations import LATEST
from amgs.storage.opening import open_storage
from amgs.storage.postgres import sharing
from amgs.types import BlockFilter
from tests.engine.memory_world import NOW, consolidated, open_memory
from tests.engine.storage.samples import block, put
from tests.engine.test_derived_caught_up import Life, check
from tests.postgres_server import namespace

EVERY = BlockFilter(statuses=("raw", "consolidated", "archived", "pruned"))
_PROCESSES = multiprocessing.get_context("spawn")


def test_each_sees_at_once_what_the_other_wrote_and_may_undo_it(postgres: str, tmp_path: Path) -> None:
    place = namespace(postgres)
    with consolidated(tmp_path / "notes", place) as one, open_memory(place) as two:
        assert two.search("valve").hits
        for number, (writes, reads) in enumerate(((one, two), (two, one), (one, two)), 1):
            added = writes.add(f"Buoy {number} lies off the quay-{number} of Ilse.").added
            assert [hit.block.id for hit in reads.search(f"quay-{number}").hits[:1]] == list(added)
            writes.consolidate()
            assert reads.operations(1) == writes.operations(1)
            last = reads.undo(reads.operations(1)[0].id)
            assert last.undone and writes.operations(1)[0].undone
            writes.consolidate()
            frame = reads.assemble("SESSION", query=f"quay-{number}")
            assert writes.frames.history(limit=1).assemblies[0].id == frame.id
            writes.feedback(added[0], useful=True)
            assert one.change_counter == two.change_counter
        entries = [entry.id for entry in one.operations(100)]
        assert entries == list(range(len(entries), 0, -1))
        assert one.verify().ok and two.verify().ok


@pytest.mark.parametrize("seed", range(2))
def test_whatever_either_changes_both_hold_what_would_be_derived_anew(
    postgres: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[Derived] = []
    monkeypatch.setattr(Derived, "forget", lambda derived: forgotten.append(derived))
    place, random, clock = namespace(postgres), Random(seed), FixedClock(NOW)
    with Memory.open(place, clock=clock) as one, Memory.open(place, clock=clock) as two:
        lives = [Life(one, random), Life(two, random)]
        lives[1].made = 1000
        lives[0].ingest()
        for _ in range(8):
            for _ in range(random.choice((1, 2, 3))):
                life = random.choice(lives)
                acts: list[Callable[[], None]] = [
                    life.ingest, life.revise, life.drop, life.consolidate, life.undo, life.tie, life.assemble,
                ]  # fmt: skip
                random.choice(acts)()
            clock.advance(timedelta(hours=1))
            check(one)
            check(two)
    assert not forgotten  # else nothing was followed


def test_what_fills_a_store_from_elsewhere_is_derived_anew_by_the_others(postgres: str, tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    with consolidated(tmp_path / "notes") as source:
        source.exchange.export(export)
    place = namespace(postgres)
    with open_memory(place) as one, open_memory(place) as two, open_storage(place) as storage:
        # So that rows come in whose revisions are not above what the other has seen.
        for number in range(30):
            with storage.transaction():
                storage.meta.put("noted", str(number))
        assert not two.search("valve").hits
        one.exchange.load(export)
        assert two.search("valve").hits
        check(two)


def work(place: str, name: str, told: Any) -> None:
    """Take in, consolidate, use and judge; in a process of its own."""
    with Memory.open(place, clock=FixedClock(NOW)) as memory:
        for number in range(5):
            told.put(("added", memory.add(f"{name} saw the lamp {number} at pier {number * 7}.").added[0]))
            for entry in memory.consolidate().operations:
                told.put(("applied", entry.id))
            frame = memory.assemble("SESSION", query=f"lamp {number}")
            told.put(("assembled", frame.id))
            memory.feedback(frame.selected[0].block.id, useful=True, assembly_id=frame.id)
    told.put(("ended", name))


def test_processes_that_write_at_the_same_time_lose_nothing(postgres: str) -> None:
    place = namespace(postgres)
    told = _PROCESSES.Queue()
    workers = [_PROCESSES.Process(target=work, args=(place, name, told)) for name in ("Ilse", "Mara")]
    for each in workers:
        each.start()
    said: dict[str, list[Any]] = {word: [] for word in ("added", "applied", "assembled", "ended")}
    while len(said["ended"]) < 2:
        word, what = told.get(timeout=60)
        said[word].append(what)
    for each in workers:
        each.join(60)
    with open_memory(place) as memory:
        held = {one.id for one in memory.blocks(EVERY)}
        assert set(said["added"]) == held and len(said["added"]) == len(held) == 10
        assert {one.id for one in memory.frames.history(limit=100).assemblies} == set(said["assembled"])
        entries = [entry.id for entry in memory.operations(100)]
        assert entries == list(range(len(entries), 0, -1))
        assert set(said["applied"]) <= set(entries) and len(said["applied"]) == len(set(said["applied"])) > 2
        assert memory.verify().ok
    with open_storage(place) as storage:
        assert storage.can_follow(0)


def hold(place: str, told: Any) -> None:
    """Begin to write, and never end."""
    with open_storage(place) as storage, storage.transaction():
        storage.blocks.insert([block("never committed")])
        told.put(os.getpid())
        signal.pause()


def test_one_that_is_killed_while_it_writes_holds_nobody_up(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = namespace(postgres)
    with open_storage(place) as storage:
        put(storage, block("before"))
        told = _PROCESSES.Queue()
        holder = _PROCESSES.Process(target=hold, args=(place, told))
        holder.start()
        process = told.get(timeout=60)
        assert storage.block_columns.count() == 1  # who reads does not wait
        with monkeypatch.context() as hasty:
            hasty.setattr(sharing, "_SECONDS", 0.2)
            with pytest.raises(StoreLockedError, match=f"was being written by process {process} "):
                put(storage, block("too early"))
        holder.kill()
        holder.join()
        put(storage, block("after"))
        assert storage.block_columns.count() == 2


def test_a_program_that_is_older_than_the_schema_by_now_writes_no_more(postgres: str) -> None:
    place = namespace(postgres)
    with open_storage(place) as storage:
        with psycopg.connect(postgres, autocommit=True) as admin:
            schema = f"amgs_{place.rpartition('=')[2]}"
            admin.execute(f"UPDATE {schema}.meta SET value = '{LATEST + 1}' WHERE key = 'schema_version'".encode())
        with pytest.raises(StoreTooNewError, match=str(LATEST + 1)):
            put(storage, block("a"))
        assert storage.block_columns.count() == 0


def test_one_program_consolidates_at_a_time_and_the_next_takes_what_is_left(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = namespace(postgres)
    few = Settings(consolidation=ConsolidationSettings(transaction=2))
    with open_memory(place, settings=few) as one, open_memory(place, settings=few) as other:
        for number in range(4):
            one.add(f"The lamp {number} burns at pier {number * 7}.")
        batches = one.consolidate_in_batches()
        next(batches)
        with monkeypatch.context() as hasty:
            hasty.setattr(sharing, "_SECONDS", 0.2)
            with pytest.raises(StoreLockedError, match="was being consolidated by process "):
                other.consolidate()
        other.add("The ferry waits for the tide.")  # who writes something else does not wait
        assert len(list(batches)) == 1
        assert sum(entry.blocks for entry in other.consolidate().operations) == 1
        assert other.verify().ok and one.counts() == {"consolidated": 5}
