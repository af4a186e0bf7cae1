"""Learnings of packs: cited word for word, the same in any order, made once, and undone without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amgs
from amgs.errors import UsageError
from amgs.identity import block_id, canonical
from amgs.types import Block
from amgs.wings.packs.engine.consolidation import LEAST, MOST, groups
from amgs.wings.packs.engine.keeping import origins_of
from amgs.wings.packs.engine.learnings import learnings
from tests.engine.memory_world import NOW, consolidated, open_memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[amgs.Memory]:
    with consolidated(tmp_path / "notes", tmp_path / "m.duckdb") as opened:
        yield opened


SAID = [
    "The dome stalled at azimuth 200. Nobody was there.",
    "The dome stalled again on 3 March. It was cold.",
    "We decided to replace the motor of the dome. Ilse orders it.",
    "Order AB-1234 was sent to https://shop.example/motors by Ilse.",
    "The goat stands on the terrace. It ate the hay.",
]


def _kept(memory: amgs.Memory, texts: list[str], name: str = "dome") -> list[str]:
    ids = [
        (done.added or done.known)[0]
        for n, text in enumerate(texts)
        for done in [memory.ingest_text(text, created_at=NOW - timedelta(days=9 - n))]
    ]
    memory.apply_consolidation(memory.plan_consolidation())
    memory.packs.keep(name, blocks=ids)
    return ids


def test_a_learning_cites_its_sources_which_stay_and_is_undone_without_a_trace(memory: amgs.Memory) -> None:
    ids = _kept(memory, SAID)
    before = memory.packs.show("dome")
    state = {one.id: memory.block(one.id) for one in before.blocks}
    counter = memory.change_counter
    plan = memory.packs.learn("dome", share=0.8, dry_run=True)
    assert (memory.change_counter, plan.operation, plan.planned) == (counter, None, True)
    done = memory.packs.learn("dome", share=0.8)
    assert (done.learnings, done.pack) == (plan.learnings, plan.pack) and done.operation is not None
    assert sorted(i for one in done.learnings for i in one.members) == sorted(ids)
    pack = memory.packs.show("dome").usage.pack
    assert pack == done.pack and pack.version == 2
    roles = {one.block: one.role for one in pack.members}
    assert [i for i, role in roles.items() if role == "source"] == list(before.usage.pack.blocks)
    assert {one.block.id for one in done.learnings} == {i for i, role in roles.items() if role == "learning"}
    assert {i: memory.block(i) for i in state} == state
    for one in done.learnings:
        assert origins_of(memory.block(one.block.id)) == one.members
        edges = memory._opened.storage.edges.touching([one.block.id])
        assert {(e.relation_type, e.target_id) for e in edges} == {("derived_from", i) for i in one.members}
    told = "\n".join(one.block.content for one in done.learnings)
    assert "We decided to replace the motor of the dome." in told and "AB-1234" in told
    assert memory.verify().faults == ()
    again = memory.packs.learn("dome", share=0.8)
    assert (again.learnings, again.operation, again.stood) == ((), None, len(done.learnings))
    memory.undo(done.operation)
    assert memory.packs.show("dome") == before and {i: memory.block(i) for i in state} == state
    assert all(not memory._opened.storage.blocks.existing([one.block.id]) for one in done.learnings)
    assert memory.verify().faults == ()


def test_only_what_is_new_is_learned_and_packs_are_learned_from_together(memory: amgs.Memory) -> None:
    ids = _kept(memory, SAID[:2])
    first = memory.packs.learn("dome")
    assert len(first.learnings) == 1
    memory.packs.keep("dome", blocks=[*ids, *(memory.ingest_text(one).added[0] for one in SAID[2:4])])
    waits = memory.packs.learn("dome")
    assert (waits.learnings, waits.stood, len(waits.waiting)) == ((), 1, 2), "raw"
    assert first.learnings[0].block.id in waits.pack.blocks and waits.operation is not None
    _kept(memory, SAID[4:], "goat")
    both = memory.packs.learn("dome", others=["goat@1"])
    assert both.stood == 1 and both.waiting == () and both.pack.name == "dome"
    assert sorted(len(one.members) for one in both.learnings) == [3]
    assert memory.packs.show("goat").usage.pack.version == 1
    with pytest.raises(UsageError, match="share"):
        memory.packs.learn("dome", share=0)
    memory.packs.retire("goat")
    with pytest.raises(UsageError, match="retired"):
        memory.packs.learn("goat")


def test_a_learning_goes_with_a_source_and_one_that_was_set_aside_comes_back(memory: amgs.Memory) -> None:
    ids = _kept(memory, SAID[:3])
    (made,) = memory.packs.learn("dome").learnings
    memory.lifecycle.delete([made.block.id])
    (back,) = memory.packs.learn("dome").learnings
    assert back.block.id == made.block.id and memory.block(made.block.id).status == "consolidated"
    assert memory.verify().faults == ()
    memory.lifecycle.delete([ids[0]])
    gone = memory.packs.learn("dome")
    assert gone.stale == (made.block.id,) and memory.block(made.block.id).status == "archived"
    assert [one.members for one in gone.learnings] == [tuple(ids[1:])]
    assert memory.block(ids[0]).status == "pruned"
    memory.undo(gone.operation or 0)
    assert memory.block(made.block.id).status == "consolidated" and memory.verify().faults == ()


def test_learnings_move_with_their_pack_and_are_learnings_there(memory: amgs.Memory) -> None:
    _kept(memory, SAID)
    made = memory.packs.learn("dome")
    with open_memory() as other:
        other.packs.load(memory.packs.document("dome"))
        there = other.packs.learn("dome", dry_run=True)
        assert (there.stood, there.learnings, there.waiting) == (len(made.learnings), (), ())
        for one in made.learnings:
            assert origins_of(other.block(one.block.id)) == one.members


_WORDS = st.sampled_from(
    [
        "dome",
        "Ilse",
        "Oslo",
        "42",
        "3:15",
        "yesterday",
        "AB-12",
        "we decided to go.",
        "Never!",
        "ok\n«é»",
        "/tmp/a.txt",
        ";-)",
        "?",
    ]
)
_TEXTS = st.lists(st.lists(_WORDS, min_size=1, max_size=30).map(" ".join), min_size=2, max_size=12, unique_by=canonical)


@given(_TEXTS, st.floats(0.02, 1), st.booleans())
def test_every_word_of_a_learning_is_a_source_s_or_says_when_and_who(
    texts: list[str], share: float, spoken: bool
) -> None:
    blocks = [
        Block(block_id(text), canonical(text), NOW, NOW, meta={"speaker": "Mara"} if spoken else {}) for text in texts
    ]
    parts = [list(range(0, len(blocks), 2)), list(range(1, len(blocks), 2))]
    made = learnings(blocks, parts, "", share, lambda text: len(text.split()))
    assert made == learnings(blocks, parts, "", share, lambda text: len(text.split()))
    assert [one.members for one in made] == [tuple(blocks[n] for n in part) for part in parts]
    for one in made:
        rest, end = "", 0
        for at, place, first, last in one.cites:
            assert at >= end and one.text[at : at + last - first] == one.members[place].content[first:last]
            rest += one.text[end:at]
            end = at + last - first
        assert set((rest + one.text[end:]).split()) <= {
            "2026-03-01", "(2026-03-01)", "(2026-03-01);", "Mara:", "…", ";",
            "names:", "numbers:", "dates:", "paths:", "commands:", "ids:",
        }  # fmt: skip
        assert canonical(one.text) == one.text


@given(st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_groups_hold_each_row_once_and_are_neither_too_small_nor_too_large(size: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.normal(size=(size, 5)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    made = groups(vectors, [str(n // 7) for n in range(size)])
    assert sorted(n for one in made for n in one) == list(range(size))
    assert all(min(LEAST, size) <= len(one) <= MOST for one in made)
    same = groups(np.ones((size, 3), np.float32), [""] * size)
    assert sorted(n for one in same for n in one) == list(range(size)) and all(len(one) <= MOST for one in same)


def test_the_order_of_a_pack_s_members_changes_no_learning() -> None:
    found = []
    for order in (1, -1):
        with open_memory() as memory:
            ids = _kept(memory, [f"{one} It is number {n}." for n in range(4) for one in SAID])
            memory.packs.keep("other", blocks=ids[::order])
            made = memory.packs.learn("other").learnings
            found.append([replace(one) for one in made])
    assert found[0] == found[1] and len(found[0]) > 2
