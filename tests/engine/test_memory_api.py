"""The engine through its only door."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Literal, get_origin

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import StoreError, UsageError
from amgs.memory import Memory
from amgs.settings import FrameSettings, Settings
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.types import BlockFilter
from tests.engine.memory_world import NOW, consolidated, open_memory, write_notes


def test_the_public_names_are_those_and_each_can_be_had() -> None:
    assert {"Memory", "Settings", "Block", "RawBlock", "FixedClock", "MiniLM", "AmgsError"} <= set(amgs.__all__)
    assert amgs.__all__ == sorted(amgs.__all__)
    for name in amgs.__all__:
        one = getattr(amgs, name)
        assert getattr(one, "__name__", name) == name or get_origin(one) is Literal
    assert set(amgs.__all__) <= set(dir(amgs))
    with pytest.raises(AttributeError):
        amgs.__getattr__("Nothing")


def test_where_being_shown_is_to_reinforce_the_frame_says_so_and_undo_takes_it_back(tmp_path: Path) -> None:
    shown = Settings(frames=FrameSettings(reinforce_shown=True))
    with Memory.open(":memory:", clock=FixedClock(NOW), settings=shown) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        memory.consolidate()
        before = memory.blocks(BlockFilter()), memory.edges()
        memory.clock = FixedClock(NOW + timedelta(days=1))
        frame = memory.assemble("ATTENTION", query="dome")
        chosen = {c.block.id for c in frame.selected}
        assert all(memory.block(i).last_reinforced_at == frame.as_of for i in chosen)
        (done,) = memory.operations(1)
        assert done.kind == "reinforce" and done.blocks == len(chosen)
        assert frame.remarks[-1] == f"{len(chosen)} blocks reinforced by being shown in ATTENTION (operation {done.id})"
        memory.undo(done.id)
        assert (memory.blocks(BlockFilter()), memory.edges()) == before and memory.verify().ok


def test_a_verdict_closes_the_latest_forecast_of_a_block(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        first = memory.assemble("ATTENTION", query="dome")
        memory.assemble("ATTENTION", query="dome azimuth")
        best = first.selected[0]
        outcome = memory.feedback(best.block.id, useful=True, assembly_id=first.id)
        assert outcome.predicted == best.score
        assert outcome.brier == pytest.approx((1 - best.score) ** 2)
        memory.feedback(best.block.id, useful=False)
        with pytest.raises(UsageError, match="No forecast"):
            memory.feedback(best.block.id, useful=True)
        table = memory.reliability(bins=5)
        assert (table.outcomes, table.forecasts) == (2, len(memory.outcomes()))
        assert memory.reliability(by="frame", value="SELF").outcomes == 0
        assert memory.status().outcomes == 2


def test_lost_indexes_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with consolidated(tmp_path / "n", path) as memory:
        before = memory.search("dome")
    for file in sorted(Path(f"{path}.index").rglob("*"), reverse=True):
        if file.is_file():
            file.write_bytes(b"damaged")
    with open_memory(path) as memory:
        assert memory.search("dome") == before
        assert memory.verify().ok


def test_reading_only_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    consolidated(tmp_path / "n", path).close()
    with Memory.open(path, clock=FixedClock(NOW), read_only=True) as memory:
        counter = memory.change_counter
        assert memory.assemble("SESSION", query="dome").selected
        assert memory.change_counter == counter
        with pytest.raises(StoreError, match="reading only"):
            memory.ingest_text("new")


# --- verify -----------------------------------------------------------------------------------------------

Damage = Callable[[DuckDBStorage, str], None]


def _content(store: DuckDBStorage, block: str) -> None:
    store.execute("UPDATE memory_blocks SET content = 'forged' WHERE id = ?", [block])


def _short_vector(store: DuckDBStorage, block: str) -> None:
    store.execute("UPDATE memory_blocks SET embedding = [1.0] WHERE id = ?", [block])


def _long_vector(store: DuckDBStorage, block: str) -> None:
    store.execute(
        "UPDATE memory_blocks SET embedding = list_transform(embedding, lambda x: 2 * x) WHERE id = ?", [block]
    )


def _dangling(store: DuckDBStorage, block: str) -> None:
    one = store.edges.touching([block])[0]
    store.edges.insert([amgs.Edge(block, "f" * 64, "related", 0.5, 0.5, one.created_at, one.created_at)])


def _pruned(store: DuckDBStorage, block: str) -> None:
    store.execute("UPDATE memory_blocks SET status = 'pruned' WHERE id = ?", [block])


def _confidence(store: DuckDBStorage, block: str) -> None:
    store.execute("UPDATE memory_blocks SET confidence = 7 WHERE id = ?", [block])


def _journal(store: DuckDBStorage, block: str) -> None:
    store.execute("DELETE FROM operations")


def _journal_rows(store: DuckDBStorage, block: str) -> None:
    store.execute("DELETE FROM operation_rows WHERE key = ?", [block])


def _log(store: DuckDBStorage, block: str) -> None:
    store.execute("UPDATE memory_blocks SET reinforcements = 3 WHERE id = ?", [block])


def _counter(store: DuckDBStorage, block: str) -> None:
    store.execute("UPDATE memory_blocks SET revision = 1000")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_content, "does not hash"),
        (_short_vector, "1 values"),
        (_long_vector, "length 2.000"),
        (_dangling, "target does not exist"),
        (_pruned, "is pruned"),
        (_confidence, "confidence is 7"),
        (_journal, "operation that does not exist"),
        (_journal_rows, "rows where it tells"),
        (_log, "that of the log"),
        (_counter, "was changed at 1000"),
    ],
)
def test_verify_names_what_is_damaged(tmp_path: Path, damage: Damage, told: str) -> None:
    path = tmp_path / "s.duckdb"
    with consolidated(tmp_path / "n", path) as memory:
        assert memory.verify().ok
        (ilse,) = memory.resolve_source("people/ilse.md")
    with DuckDBStorage.open(path) as store, store.transaction():
        damage(store, ilse)
    if damage is _short_vector:
        with DuckDBStorage.open(path) as store, store.transaction():
            store.meta.put_embedding_space("hashing-256", 256)
    with open_memory(path) as memory:
        faults = memory.verify().faults
        assert any(told in fault.what for fault in faults), faults


def test_a_clock_that_goes_back_breaks_nothing(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    with Memory.open(":memory:", clock=clock) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        memory.consolidate()
        memory.assemble("SESSION", query="dome")
        clock.advance(timedelta(days=-400))
        frame = memory.assemble("SESSION", query="dome")
        assert all(0 <= c.score <= 1 for c in frame.candidates)
        assert memory.verify().ok
