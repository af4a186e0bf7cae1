"""The graph through its door: ways with their edges, communities, neighbourhoods by type and time of edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from amgs.clock import FixedClock
from amgs.graph.traversal import find_communities, internal_share
from amgs.memory import Memory
from tests.engine.memory_world import NOW, write_notes
from tests.engine.retrieval_world import Link
from tests.unit.test_graph_measures import view


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(":memory:", clock=FixedClock(NOW))
    memory.ingest_folder(write_notes(tmp_path / "notes"))
    memory.consolidate()
    return memory


def source(memory: Memory, name: str) -> str:
    return memory.resolve_source(name)[0]


def test_a_way_leads_over_edges_that_exist_and_its_strength_is_their_product(memory: Memory) -> None:
    first, last = source(memory, "talks/first.md#1"), source(memory, "talks/first.md#3")
    way = memory.graph.path(first, last)
    assert (way.blocks[0].id, way.blocks[-1].id) == (first, last)
    assert len(way.edges) == len(way.blocks) - 1 >= 1
    assert way.strength == pytest.approx(np.prod([live.strength for live in way.edges]))
    known = {(edge.source_id, edge.target_id, edge.relation_type) for edge in memory.edges()}
    walked = {(live.edge.source_id, live.edge.target_id, live.edge.relation_type) for live in way.edges}
    assert walked <= known


def test_two_cliques_with_one_thread_between_them_are_two_communities() -> None:
    cliques = [[1, 2, 3, 4], [5, 6, 7, 8]]
    links = [Link(a, b) for part in cliques for a in part for b in part if a < b] + [Link(4, 5, weight=0.1)]
    seen = view(links, 9)
    found = find_communities(seen)
    assert [sorted(int(seen.nodes[i]) for i in part) for part in found.parts] == cliques
    assert 0.3 < found.modularity < 0.6
    assert internal_share(seen, found.parts[0]) > 0.95
    assert find_communities(view([], 3)).parts == ()
