"""The array-fast graph agrees with NetworkX, decays by the clock, and walks as asked."""

from __future__ import annotations

import math
from datetime import timedelta
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.clock import FixedClock
from amgs.graph.centrality import SYMMETRIC, betweenness, degree, eigenvector, measure, pagerank, without_brief_edges
from amgs.graph.live import LiveGraph
from amgs.graph.traversal import strongest_path, within
from amgs.graph.view import GraphView, materialise
from amgs.settings import GraphSettings
from tests.engine.retrieval_world import NOW, Link, columns


def view(links: list[Link], nodes: int) -> GraphView:
    return materialise(columns(links), np.arange(1, nodes + 1, dtype=np.int64), NOW)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Link], int]:
    nodes = draw(st.integers(2, 12))
    ends = st.integers(1, nodes)
    relations = st.sampled_from(["related", "links_to", "next"])
    weights = st.integers(1, 10).map(lambda w: w / 10)
    links = st.builds(Link, ends, ends, relations, weights)
    return draw(st.lists(links, max_size=30)), nodes


def undirected(links: list[Link], nodes: int) -> networkx.Graph[int]:
    """The slow twin of Adjacency: parallel edges joined one by one."""
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(nodes))
    for link in links:
        if link.source != link.target:
            a, b = link.source - 1, link.target - 1
            before = graph[a][b]["strength"] if graph.has_edge(a, b) else 0.0
            graph.add_edge(a, b, strength=1 - (1 - before) * (1 - min(link.weight, 1 - 1e-12)))
    return graph


def scaled(values: dict[int, float]) -> list[float]:
    raised = [values[i] for i in range(len(values))]
    greatest = max(raised)
    return [v / greatest if greatest > 0 else 0.0 for v in raised]


@given(graphs())
def test_adjacency_degree_and_betweenness_agree_with_networkx(graph: tuple[list[Link], int]) -> None:
    links, nodes = graph
    twin = undirected(links, nodes)
    adjacency = view(links, nodes).adjacency
    for node in range(nodes):
        neighbours, strengths = view(links, nodes).around(node)
        assert neighbours.tolist() == sorted(twin[node])
        assert strengths.tolist() == pytest.approx([twin[node][n]["strength"] for n in sorted(twin[node])])
    assert degree(adjacency).tolist() == pytest.approx(scaled(dict(twin.degree())))
    between = scaled(networkx.betweenness_centrality(twin, normalized=False))
    assert betweenness(adjacency, nodes, seed=3).tolist() == pytest.approx(between, abs=1e-9)


@given(graphs())
def test_pagerank_agrees_with_networkx(graph: tuple[list[Link], int]) -> None:
    links, nodes = graph
    twin: networkx.DiGraph[int] = networkx.DiGraph()
    twin.add_nodes_from(range(nodes))
    for link in links:
        both = link.relation in SYMMETRIC
        for a, b in ((link.source - 1, link.target - 1), (link.target - 1, link.source - 1))[: 1 + both]:
            if a != b:
                twin.add_edge(a, b, weight=link.weight + (twin[a][b]["weight"] if twin.has_edge(a, b) else 0.0))
    ranks = networkx.pagerank(twin, max_iter=1000, tol=1e-12)
    lost = sum(rank for node, rank in ranks.items() if not twin.out_degree(node))
    jump = 0.15 / nodes + 0.85 * lost / nodes
    given_along = {node: rank - jump for node, rank in ranks.items()}
    expected = scaled(given_along) if max(given_along.values()) > 1e-9 else [0.0] * nodes
    assert pagerank(view(links, nodes)).tolist() == pytest.approx(expected, abs=1e-6)


def test_eigenvector_agrees_with_networkx_on_a_connected_graph() -> None:
    links = [
        Link(a, b, weight=w / 10) for a, b, w in [(1, 2, 9), (2, 3, 5), (3, 1, 4), (3, 4, 8), (4, 5, 2), (5, 2, 6)]
    ]
    twin = networkx.eigenvector_centrality_numpy(undirected(links, 5), weight="strength")
    assert eigenvector(view(links, 5).adjacency).tolist() == pytest.approx(scaled(twin), abs=1e-6)


# --- strength and time ------------------------------------------------------------------------------------


def test_what_is_brief_gives_and_takes_no_centrality_by_likeness_or_place() -> None:
    """Blocks 4 to 7 are short turns that resemble each other; 3 is like one of them, and links to 1."""
    turns = [Link(a, b, "related") for a in range(4, 8) for b in range(a + 1, 8)]
    links = [Link(1, 2, "related"), Link(3, 1, "links_to"), Link(3, 4, "related"), Link(5, 6, "next"), *turns]
    whole = view([*links, Link(7, 2, "links_to")], 7)
    assert int(np.argmax(measure(whole).importance())) >= 3
    brief = np.arange(4, 8, dtype=np.int64)
    seen = without_brief_edges(whole, brief)
    assert sorted(seen.columns.relation.tolist()) == ["links_to", "links_to", "related"]
    scores = measure(seen).importance()
    assert scores[3:6].max() < 1e-9 and scores[6] > 0.1 and int(np.argmax(scores)) in (0, 1)
    graph = LiveGraph(
        lambda: (whole.columns, whole.nodes), lambda: 1, FixedClock(NOW), GraphSettings(), brief=lambda: brief
    )
    assert graph.importance(list(range(1, 8))) == pytest.approx(dict(enumerate(scores.tolist(), 1)))
    assert graph.view().source.size == len(links) + 1
    assert without_brief_edges(whole, np.zeros(0, np.int64)) is whole


def test_the_live_graph_is_read_again_only_when_it_changed_or_grew_old() -> None:
    clock = FixedClock(NOW)
    reads: list[int] = []
    version = 1

    def load() -> tuple[object, object]:
        reads.append(version)
        return columns([Link(1, 2, decay_lambda=0.1)]), np.array([1, 2], dtype=np.int64)

    graph = LiveGraph(load, lambda: version, clock, GraphSettings(), ttl_seconds=60)  # type: ignore[arg-type]
    first = graph.view()
    assert graph.view().network is first.network and graph.importance([1, 3]) == {1: pytest.approx(1.0), 3: 0.0}
    version = 2
    assert graph.view() is not first
    clock.advance(timedelta(seconds=61))
    older = graph.view()
    assert older.network[0][1]["weight"] < first.network[0][1]["weight"]
    assert reads == [1, 2]
    assert float(older.strength[0]) < float(first.strength[0])
    clock.advance(timedelta(hours=-5))
    assert graph.view() is not older


# --- walking ----------------------------------------------------------------------------------------------


@given(graphs(), st.integers(0, 4))
def test_distances_agree_with_networkx(graph: tuple[list[Link], int], hops: int) -> None:
    links, nodes = graph
    expected = networkx.single_source_shortest_path_length(undirected(links, nodes), 0, cutoff=hops)
    reached = within(view(links, nodes), 1, hops)
    assert {r.number - 1: r.distance for r in reached} == dict(expected)
    assert view(links, nodes).distances(1, hops) == {r.number: r.distance for r in reached}
    assert list(reached) == sorted(reached, key=lambda r: (r.distance, -r.strength, r.number))


@given(graphs())
def test_the_strongest_path_is_the_one_networkx_finds(graph: tuple[list[Link], int]) -> None:
    links, nodes = graph
    twin = undirected(links, nodes)
    path = strongest_path(view(links, nodes), 1, nodes)
    if not networkx.has_path(twin, 0, nodes - 1):
        assert path == ()
        return
    best = networkx.dijkstra_path_length(twin, 0, nodes - 1, weight=lambda a, b, d: -math.log(d["strength"]))
    cost = sum(-math.log(twin[a - 1][b - 1]["strength"]) for a, b in pairwise(path))
    assert (path[0], path[-1]) == (1, nodes)
    assert cost == pytest.approx(best, abs=1e-9)
