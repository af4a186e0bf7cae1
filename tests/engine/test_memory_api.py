"""The engine through its only door."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_origin

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import (
    AmbiguousIdError,
    FrameCycleError,
    ModelError,
    StoreError,
    UnknownBlockError,
    UnknownFrameError,
    UsageError,
)
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import FrameSettings, Settings
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.text.embedding import HashingEmbedder
from amgs.text.minilm import MiniLM
from amgs.types import BlockFilter, ChildFrame
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


def test_a_rare_token_and_a_name_come_first(tmp_path: Path) -> None:
    notes = {
        "a.md": "# Boiler\nThe boiler valve part number is QX-7741-B and it was replaced in March.\n",
        "b.md": "# Kitchen\nMy grandmother baked rye bread every Sunday morning.\n",
        "c.md": "# Network\nThe router in the attic drops packets when it rains.\n",
    }
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, notes))
        memory.apply_consolidation(memory.plan_consolidation())
        for query, title in (("QX-7741-B", "Boiler"), ("grandmother's bread", "Kitchen"), ("ruoter atic", "Network")):
            assert memory.search(query).hits[0].block.title == title


def test_a_block_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        (ilse,) = memory.resolve_source("people/ilse.md")
        assert memory.block(ilse[:8]).id == memory.block(f" {ilse.upper()} ").id == ilse
        for unknown in ("", "ab", "zzzzzz", "0" * 64):
            with pytest.raises(UnknownBlockError):
                memory.block(unknown)


def test_a_prefix_of_several_names_them() -> None:
    with open_memory() as memory:
        # Of 3,000 hashes some share their first four digits.
        memory.ingest_many([RawBlock(f"note {i}") for i in range(3000)])
        ids = sorted(b.id for b in memory.blocks(BlockFilter(statuses=("raw",))))
        one = next(a for a, b in pairwise(ids) if a[:4] == b[:4])
        with pytest.raises(AmbiguousIdError, match=one[:12]):
            memory.block(one[:4])


def test_finding_by_a_few_letters(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        (ilse,) = memory.resolve_source("people/ilse.md")
        assert memory.find("ilse")[0].id == ilse
        assert memory.find("mechnic")[0].id == ilse
        assert memory.find(ilse[:6])[0].id == ilse
        assert len(memory.find("", limit=3)) == 3
        assert memory.find("xyzzy plugh") == ()


def test_an_assembly_logs_a_forecast_for_each_block_and_reinforces_none(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        before = {b.id: b.last_reinforced_at for b in memory.blocks(BlockFilter())}
        memory.clock = FixedClock(NOW + timedelta(days=1))
        looked = memory.assemble("attention", query="dome", reinforce=False)
        assert memory.outcomes() == ()
        frame = memory.assemble("ATTENTION", query="dome")
        assert frame.text == looked.text
        chosen = {c.block.id for c in frame.selected}
        assert chosen
        assert {o.block_id for o in memory.outcomes()} == chosen
        assert {b.id: b.last_reinforced_at for b in memory.blocks(BlockFilter())} == before
        again = memory.assemble("ATTENTION", query="dome")
        assert [(c.block.id, c.score) for c in again.candidates] == [(c.block.id, c.score) for c in frame.candidates]
        assert memory.verify().ok


def test_a_useful_verdict_reinforces_its_block_a_useless_one_does_not_and_undo_takes_it_back(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        memory.clock = FixedClock(NOW + timedelta(days=1))
        frame = memory.assemble("ATTENTION", query="dome")
        good, bad = (c.block.id for c in frame.selected[:2])
        before = memory.block(good), memory.block(bad)
        memory.feedback(good, useful=True)
        memory.feedback(bad, useful=False)
        assert memory.block(good).last_reinforced_at == NOW + timedelta(days=1)
        assert memory.block(bad) == before[1] and memory.verify().ok
        for operation in memory.operations(2):
            memory.undo(operation.id)
        assert (memory.block(good), memory.block(bad)) == before and memory.verify().ok


def test_where_being_shown_is_to_reinforce_the_frame_says_so_and_undo_takes_it_back(tmp_path: Path) -> None:
    shown = Settings(frames=FrameSettings(reinforce_shown=True))
    with Memory.open(":memory:", clock=FixedClock(NOW), settings=shown) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        memory.apply_consolidation(memory.plan_consolidation())
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


def test_frames_are_registered_once_and_cycles_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with open_memory(path) as memory:
        names = [d.name for d in memory.frame_definitions()]
        counter = memory.change_counter
        by_name = {d.name: d for d in memory.frame_definitions()}
        self_frame = by_name["SELF"]
        looped = amgs.FrameDefinition("SELF", "loop", self_frame.weights, children=(ChildFrame("SESSION", 1.0),))
        with pytest.raises(FrameCycleError, match="SESSION"):
            memory.define_frame(looped)
        assert memory.change_counter == counter
        memory.define_frame(amgs.FrameDefinition("DIGEST", "mine", self_frame.weights))
        with pytest.raises(UnknownFrameError):
            memory.assemble("NOPE")
    with open_memory(path) as memory:
        assert sorted(d.name for d in memory.frame_definitions()) == sorted([*names, "DIGEST"])


def test_the_inbox_is_a_frame_like_any_other(tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path))
        frame = memory.assemble("INBOX", reinforce=False)
        assert len(frame.selected) == 6
        assert frame.remarks


def test_the_graph_through_the_door(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        (dome,) = memory.resolve_source("places/dome.md")
        (ilse,) = memory.resolve_source("people/ilse.md")
        around = memory.neighbourhood(dome, hops=1)
        assert around.distances[dome] == 0
        assert around.distances[ilse] == 1
        assert {b.id for b in around.blocks} == set(around.distances)
        assert all({e.edge.source_id, e.edge.target_id} <= set(around.distances) for e in around.edges)
        assert 0 < memory.centrality(dome).degree <= 1
        stats = memory.graph_stats()
        assert (stats.nodes, stats.edges) == (6, len(memory.edges()))


def test_a_memory_closed_and_opened_again_is_the_same_and_needs_no_rebuild(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with consolidated(tmp_path / "n", path) as memory:
        before = memory.search("dome stalls azimuth")
    with open_memory(path) as memory:
        assert memory.search("dome stalls azimuth") == before
        assert memory.verify().ok


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


def test_status_tells_of_everything(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        memory.ingest_text("One more.")
        status = memory.status()
        assert status.blocks == {"consolidated": 6, "raw": 1}
        assert status.categories["dialogue"] == 3
        assert status.last_consolidation == NOW
        assert 0 < status.mean_relevance < 1
        assert status.edges == len(memory.edges())


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
        memory.apply_consolidation(memory.plan_consolidation())
        memory.assemble("SESSION", query="dome")
        clock.advance(timedelta(days=-400))
        frame = memory.assemble("SESSION", query="dome")
        assert all(0 <= c.score <= 1 for c in frame.candidates)
        assert memory.verify().ok


def test_a_store_is_opened_with_the_embedder_that_made_its_embeddings(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Memory.open(path, clock=FixedClock(NOW), embedder=HashingEmbedder(64)) as memory:
        memory.ingest_text("The spare valve lies in the shed.")
        memory.apply_consolidation(memory.plan_consolidation())
    with Memory.open(path, clock=FixedClock(NOW)) as memory:
        assert memory.search("valve").hits and memory.nearest("valve", 3)


def named_embedder(path: Path, name: str, dimension: int) -> None:
    """Have a store say that its embeddings come from this embedder."""
    with DuckDBStorage.open(path) as store, store.transaction():
        store.meta.put_embedding_space(name, dimension)


def test_the_packaged_embedder_is_taken_where_the_store_names_it(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    named_embedder(path, "all-MiniLM-L6-v2", 384)
    with Memory.open(path, clock=FixedClock(NOW)) as memory:
        assert isinstance(memory._context.embedder, MiniLM)


@pytest.mark.parametrize("name", ["word2vec", "hashing-7", "minilm:/no/such/folder"])
def test_an_embedder_that_is_not_there_is_named_at_opening(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.duckdb"
    named_embedder(path, name, 300)
    with pytest.raises(ModelError) as caught:
        Memory.open(path, clock=FixedClock(NOW))
    assert name.removeprefix("minilm:") in caught.value.message
    assert "--" not in str(caught.value)
    # With one of one's own the store still opens.
    Memory.open(path, clock=FixedClock(NOW), embedder=HashingEmbedder(300)).close()
