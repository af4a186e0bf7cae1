"""Edges corrected by hand: each is written at once and taken back by one undo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.types import BlockFilter, Edge
from tests.engine.lifecycle_world import content
from tests.engine.memory_world import consolidated


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with consolidated(tmp_path) as opened:
        yield opened


def unlinked(memory: Memory) -> tuple[str, str]:
    """Two blocks with no edge between them."""
    ids = [block.id for block in memory.blocks(BlockFilter())]
    joined = {frozenset(edge.key[:2]) for edge in memory.edges()}
    return next((a, b) for a in ids for b in ids if a != b and frozenset((a, b)) not in joined)


def by_key(memory: Memory, edge: Edge) -> Edge | None:
    return next((one for one in memory.edges() if one.key == edge.key), None)


def strength_in(memory: Memory, edge: Edge) -> float:
    live = memory.graph.neighbourhood(edge.key[0]).edges
    return next(one for one in live if one.edge.key == edge.key).strength


def test_what_was_confirmed_is_certain_and_begins_to_decay_anew(memory: Memory) -> None:
    edge = min(memory.edges(), key=lambda one: one.confidence)
    assert isinstance(memory.clock, FixedClock)
    memory.clock.advance(timedelta(days=200))
    faded = strength_in(memory, edge)
    confirmed = memory.graph.confirm_edge(*edge.key[:2], kind=edge.key[2])
    assert confirmed == by_key(memory, edge)
    assert confirmed.confidence == 1.0 and confirmed.last_reinforced_at == memory.clock.now()
    assert faded < edge.weight
    assert strength_in(memory, edge) == pytest.approx(edge.weight)
    memory.undo(memory.operations()[0].id)
    assert by_key(memory, edge) == edge


def test_what_cannot_be_is_refused(memory: Memory) -> None:
    edge, (a, b) = memory.edges()[0], unlinked(memory)
    for act in (memory.remove_edge, memory.graph.confirm_edge):
        with pytest.raises(UsageError, match="There is no related edge"):
            act(a, b, kind="related")
    with pytest.raises(UsageError, match="two different blocks"):
        memory.add_edge(a, a)
    with pytest.raises(UsageError, match="one word"):
        memory.add_edge(a, b, kind="Not A Kind")
    with pytest.raises(UsageError, match="weight"):
        memory.add_edge(*edge.key[:2], kind=edge.key[2], weight=1.5)
    with pytest.raises(UsageError, match="confidence"):
        memory.add_edge(*edge.key[:2], kind=edge.key[2], confidence=-0.1)


def test_an_edge_of_supersession_supersedes_and_cut_lets_it_hold_again(memory: Memory) -> None:
    newer, older = unlinked(memory)
    before = content(memory)
    memory.add_edge(newer, older, kind="supersedes")
    assert memory.block(older).superseded and memory.block(older).meta["superseded_by"] == newer
    assert not memory.block(newer).superseded
    memory.undo(memory.operations(1)[0].id)
    assert content(memory) == before, "one operation"
    memory.add_edge(newer, older, kind="supersedes")
    assert memory.block(older).superseded
    memory.remove_edge(newer, older, kind="supersedes")
    assert not memory.block(older).superseded and "superseded_by" not in memory.block(older).meta
