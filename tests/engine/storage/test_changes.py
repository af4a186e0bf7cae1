"""Changes since N: what is derived from a store reads only the rows that changed after it was built."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from amgs.clock import microseconds_of
from amgs.identity import block_id
from amgs.storage.block_columns import BlockFacts
from amgs.storage.store import Storage
from amgs.types import BlockFilter
from tests.engine.storage.samples import NOON, block, edge, put

ANY = BlockFilter(statuses=("raw", "consolidated", "archived", "pruned"))


def test_features_changed_since_a_revision_are_only_those(storage: Storage) -> None:
    put(storage, block("Is it dry?", meta={"source": "a.md#1"}), block("It is.", meta={"source": "a.md#2"}))
    every = storage.block_columns.features()
    assert every.numbers.tolist() == [1, 2]
    assert every.asks.tolist() == [True, False]
    assert every.episode[0] == every.episode[1] != 0
    seen = storage.structure_counter
    assert storage.block_columns.features(since=seen).numbers.size == 0
    with storage.transaction():
        storage.blocks.update([block("It is.", meta={"speaker": "Ilse"})])
    changed = storage.block_columns.features(since=seen)
    assert (changed.numbers.tolist(), changed.name) == ([2], ("ilse",))


def test_reinforcement_moves_clocks_and_no_revision(storage: Storage) -> None:
    put(storage, block("a"), block("b"))
    newest, structure = storage.block_columns.newest_revision(), storage.structure_counter
    later = NOON + timedelta(hours=3)
    with storage.transaction():
        storage.blocks.reinforce([block_id("b")], later)
    assert storage.block_columns.newest_revision() == newest
    assert storage.structure_counter == structure
    known = storage.block_columns.scoring()
    every = storage.block_columns.clocks()
    assert every.reinforced.tolist() == known.reinforced.tolist() == [microseconds_of(NOON), microseconds_of(later)]
    assert every.reinforcements.tolist() == known.reinforcements.tolist() == [0, 1]
    changed = storage.block_columns.clocks(since=storage.change_counter - 1)
    assert (changed.numbers.tolist(), changed.reinforced.tolist()) == ([2], [microseconds_of(later)])
    assert storage.block_columns.clocks(since=storage.change_counter).numbers.size == 0


def test_numbers_rise_and_are_not_given_out_again(storage: Storage) -> None:
    put(storage, block("a"), block("b"), block("c"))
    with storage.transaction():
        storage.blocks.delete([block_id("c")])
    put(storage, block("d"))
    assert storage.blocks.numbers_of([block_id(text) for text in "abcd"]) == {
        block_id("a"): 1,
        block_id("b"): 2,
        block_id("d"): 4,
    }
    numbers, ids = storage.block_columns.ids_after(1)
    assert (numbers.tolist(), ids) == ([2, 4], [block_id("b"), block_id("d")])


def test_batches_of_embeddings_join_to_all_of_them(storage: Storage) -> None:
    put(storage, *(block(f"note {i}") for i in range(7)))
    ids = [block_id(f"note {i}") for i in range(7)]
    with storage.transaction():
        storage.blocks.set_embeddings(ids, np.eye(7, dtype=np.float32))
        storage.blocks.set_embeddings(ids[3:4], None)
    whole = storage.block_columns.embeddings()
    parts = list(storage.block_columns.embedding_batches(batch=2))
    assert np.concatenate([part.numbers for part in parts]).tolist() == whole.numbers.tolist()
    np.testing.assert_array_equal(np.concatenate([part.matrix for part in parts]), whole.matrix)
    assert whole.numbers.tolist() == [1, 2, 3, 5, 6, 7]
    assert storage.block_columns.nearest(np.eye(1, 7, 4, dtype=np.float32)[0], 1) == [(5, 1.0)]


def test_columns_agree_with_the_blocks_one_by_one(storage: Storage) -> None:
    put(
        storage,
        block("a", confidence=0.25, decay_lambda=0.5, created_at=NOON - timedelta(days=1)),
        block("b", is_self_component=True, status="consolidated", category="value"),
        block("c", status="pruned"),
    )
    facts = storage.block_columns.facts(BlockFilter(statuses=("raw", "consolidated")))
    assert isinstance(facts, BlockFacts)
    held = storage.blocks.by_number(facts.numbers.tolist())
    assert facts.ids.tolist() == [one.block.id for one in held]
    assert facts.created.tolist() == [microseconds_of(one.block.created_at) for one in held]
    assert facts.reinforced.tolist() == [microseconds_of(one.block.last_reinforced_at) for one in held]
    assert facts.confidence.tolist() == [one.block.confidence for one in held]
    assert facts.decay_lambda.tolist() == [one.block.decay_lambda for one in held]
    assert facts.self_component.tolist() == [one.block.is_self_component for one in held]
    assert facts.of([2, 9]).ids.tolist() == [block_id("b")]
    assert storage.block_columns.scoring().numbers.tolist() == [1, 2, 3]
    fading = storage.block_columns.fading(ANY)
    assert [fading.names[place] for place in fading.category.tolist()] == [
        one.block.category for one in storage.blocks.by_number([1, 2, 3])
    ]


def test_walks_since_an_instant_are_those_at_or_after_it(storage: Storage) -> None:
    put(storage, block("a"), block("b"))
    later = NOON + timedelta(hours=1)
    with storage.transaction():
        storage.edges.insert([edge("a", "b"), edge("b", "a")])
        storage.reinforcements.append_walks([edge("a", "b").key], NOON, "SELF 1")
        storage.reinforcements.append_walks([edge("b", "a").key], later, "SELF 2")
    assert storage.edges.read_walked(microseconds_of(later)).source.tolist() == [2]
    assert storage.edges.read_walked(microseconds_of(NOON)).reinforced.tolist() == [
        microseconds_of(NOON),
        microseconds_of(later),
    ]
