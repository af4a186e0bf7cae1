"""Edges corrected by hand: drafted one by one, written together, taken back by one undo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.lifecycle.edge_editing import strength_of, told
from amgs.memory import Memory
from amgs.types import BlockFilter, Edge
from tests.engine.lifecycle_world import content
from tests.engine.memory_world import open_memory, write_notes


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("notes"))


@pytest.fixture
def memory(notes: Path) -> Iterator[Memory]:
    with open_memory() as opened:
        opened.ingest_folder(notes)
        opened.consolidate()
        yield opened


def unlinked(memory: Memory) -> tuple[str, str]:
    """Two blocks with no edge between them."""
    ids = [block.id for block in memory.blocks(BlockFilter())]
    joined = {frozenset(edge.key[:2]) for edge in memory.edges()}
    return next((a, b) for a in ids for b in ids if a != b and frozenset((a, b)) not in joined)


def by_key(memory: Memory, edge: Edge) -> Edge | None:
    return next((one for one in memory.edges() if one.key == edge.key), None)


def test_several_corrections_are_written_as_one_and_undone_as_one(memory: Memory) -> None:
    before = content(memory)
    cut, weighed = memory.edges()[:2]
    draft = memory.graph.edit_edge(None, *cut.key[:2], kind=cut.key[2], cut=True)
    draft = memory.graph.edit_edge(draft, *weighed.key[:2], kind=weighed.key[2], weight=0.25)
    draft = memory.graph.edit_edge(draft, *unlinked(memory), kind="depends_on")
    assert [edit.act for edit in draft.edits] == ["cut", "weigh", "add"]
    assert told(draft) == "1 added, 1 removed, 1 weighed"
    assert content(memory) == before, "a draft writes nothing"
    done = memory.graph.apply_edges(draft)
    assert done.edges == 3 and by_key(memory, cut) is None
    found = by_key(memory, weighed)
    assert found is not None and found.weight == 0.25 and found.confidence == weighed.confidence
    memory.undo(done.id)
    assert content(memory) == before


def test_what_was_confirmed_is_certain_and_begins_to_decay_anew(memory: Memory) -> None:
    edge = min(memory.edges(), key=lambda one: one.confidence)
    assert isinstance(memory.clock, FixedClock)
    memory.clock.advance(timedelta(days=200))
    faded = strength_of(edge, memory.clock.now())
    confirmed = memory.graph.confirm_edge(*edge.key[:2], kind=edge.key[2])
    assert confirmed == by_key(memory, edge)
    assert confirmed.confidence == 1.0 and confirmed.last_reinforced_at == memory.clock.now()
    assert strength_of(confirmed, memory.clock.now()) == pytest.approx(edge.weight)
    assert faded < edge.weight
    live = memory.graph.neighbourhood(edge.key[0]).edges
    assert next(one for one in live if one.edge.key == edge.key).strength == pytest.approx(edge.weight)
    memory.undo(memory.operations()[0].id)
    assert by_key(memory, edge) == edge


def test_a_correction_that_is_taken_back_leaves_no_draft(memory: Memory) -> None:
    edge = memory.edges()[0]
    first = memory.graph.edit_edge(None, *edge.key[:2], kind=edge.key[2], cut=True)
    again = memory.graph.edit_edge(first, *edge.key[:2], kind=edge.key[2], reset=True)
    same = memory.graph.edit_edge(None, *edge.key[:2], kind=edge.key[2], weight=edge.weight)
    made = memory.graph.edit_edge(None, *unlinked(memory))
    gone = memory.graph.edit_edge(made, *made.edits[0].key[:2], cut=True)
    assert not again.edits and not same.edits and not gone.edits
    with pytest.raises(UsageError, match="corrects no edge"):
        memory.graph.apply_edges(again)


def test_an_edge_that_changed_since_the_draft_is_not_overwritten(memory: Memory) -> None:
    edge, other = memory.edges()[:2]
    draft = memory.graph.edit_edge(None, *edge.key[:2], kind=edge.key[2], weight=0.1)
    draft = memory.graph.edit_edge(draft, *other.key[:2], kind=other.key[2], cut=True)
    memory.remove_edge(*edge.key[:2], kind=edge.key[2])
    before = content(memory)
    with pytest.raises(UsageError, match="has changed"):
        memory.graph.apply_edges(draft)
    assert content(memory) == before, "all or nothing"


def test_what_cannot_be_is_refused(memory: Memory) -> None:
    edge, (a, b) = memory.edges()[0], unlinked(memory)
    edit = memory.graph.edit_edge
    for act in ({"cut": True}, {"confirm": True}):
        with pytest.raises(UsageError, match="There is no related edge"):
            edit(None, a, b, **act)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="two different blocks"):
        edit(None, a, a)
    with pytest.raises(UsageError, match="one word"):
        edit(None, a, b, kind="Not A Kind")
    with pytest.raises(UsageError, match="weight"):
        edit(None, *edge.key[:2], kind=edge.key[2], weight=1.5)
    with pytest.raises(UsageError, match="confidence"):
        edit(None, *edge.key[:2], kind=edge.key[2], confidence=-0.1)
    with pytest.raises(UsageError, match="one of them"):
        edit(None, *edge.key[:2], kind=edge.key[2], cut=True, confirm=True)


def test_an_edge_of_supersession_supersedes_and_cut_lets_it_hold_again(memory: Memory) -> None:
    newer, older = unlinked(memory)
    before = content(memory)
    memory.add_edge(newer, older, kind="supersedes")
    assert memory.block(older).superseded and memory.block(older).meta["superseded_by"] == newer
    assert not memory.block(newer).superseded
    memory.undo(memory.operations(1)[0].id)
    assert content(memory) == before, "one operation"
    memory.graph.apply_edges(memory.graph.edit_edge(None, newer, older, kind="supersedes"))
    assert memory.block(older).superseded
    memory.remove_edge(newer, older, kind="supersedes")
    assert not memory.block(older).superseded and "superseded_by" not in memory.block(older).meta
