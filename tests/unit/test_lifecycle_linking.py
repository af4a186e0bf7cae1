"""Edges that consolidation proposes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.lifecycle.linking import Node, Space, link, overlap
from amgs.model import Edge
from amgs.settings import ConsolidationSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SETTINGS = ConsolidationSettings()


def space(nodes: list[Node], rows: list[list[float]] | None = None) -> Space:
    matrix = (
        np.array(rows, dtype=np.float32)
        if rows is not None
        else np.eye(max(1, len(nodes)), 32, dtype=np.float32)
    )
    matrix = matrix[: len(nodes)]
    return Space(tuple(nodes), matrix / np.linalg.norm(matrix, axis=1, keepdims=True))


EMPTY = Space((), np.zeros((0, 32), dtype=np.float32))


def at(name: str, hour: int = 0, **more: object) -> Node:
    fields = {"content": name, "created_at": NOW + timedelta(hours=hour), **more}
    return Node(id=name, **fields)  # type: ignore[arg-type]


def kinds(edges: dict[str, tuple[Edge, ...]], relation: str) -> list[tuple[str, str]]:
    return [(e.source_id, e.target_id) for own in edges.values() for e in own if e.relation_type == relation]


def test_a_turn_is_followed_by_the_next_one() -> None:
    one, two = at("one", sources=("d.md#1",)), at("two", sources=("d.md#2",), follows={"d.md#2": "d.md#1"})
    assert kinds(link(space([one, two]), EMPTY, SETTINGS, NOW), "next") == [("one", "two")]


@pytest.mark.parametrize("first", ["one", "two"])
def test_neighbours_consolidated_apart_are_linked_whichever_came_first(first: str) -> None:
    nodes = {
        "one": at("one", sources=("d.md#1",)),
        "two": at("two", sources=("d.md#2",), follows={"d.md#2": "d.md#1"}),
    }
    known = nodes.pop(first)
    (fresh,) = nodes.values()
    found = link(space([fresh]), Space((known,), np.eye(1, 32, 5, dtype=np.float32)), SETTINGS, NOW)
    assert kinds(found, "next") == [("one", "two")]


def test_a_link_finds_the_note_by_file_name_or_title_and_a_split_note_by_its_first_part() -> None:
    nodes = [
        at("a", links=("kitchen", "the-plate-vault", "manual", "nowhere")),
        at("b", sources=("notes/places/kitchen.md",)),
        at("c", sources=("x.md",), title="The plate vault"),
        at("d", sources=("manual.md#1",), title="Manual"),
        at("e", sources=("manual.md#2",), title="Manual"),
    ]
    found = kinds(link(space(nodes), EMPTY, SETTINGS, NOW), "links_to")
    assert found == [("a", "b"), ("a", "c"), ("a", "d")]


def test_a_link_that_waited_for_its_note_is_made_when_it_comes() -> None:
    known = Space((at("a", links=("kitchen",)),), np.eye(1, 32, 5, dtype=np.float32))
    found = link(space([at("b", sources=("kitchen.md",))]), known, SETTINGS, NOW)
    assert kinds(found, "links_to") == [("a", "b")]
    assert found["b"][0].source_id == "a"


def test_likeness_gives_an_edge_from_the_later_to_the_earlier_above_the_threshold_only() -> None:
    nodes = [at("old", 0), at("new", 5), at("far", 9)]
    found = link(space(nodes, [[1, 0, 0], [0.9, 0.3, 0], [0, 0, 1]]), EMPTY, SETTINGS, NOW)
    assert kinds(found, "related") == [("new", "old")]


def test_near_copies_are_duplicates_and_mere_likeness_is_not() -> None:
    text = "the dome stalled at azimuth two hundred on the night of the third"
    nodes = [
        at("a", content=text),
        at("b", 1, content=f"{text} again"),
        at("c", 2, content="other words entirely here"),
    ]
    found = link(space(nodes, [[1, 0.01], [1, 0.02], [1, 0.03]]), EMPTY, SETTINGS, NOW)
    assert kinds(found, "duplicates") == [("b", "a")]
    assert len(kinds(found, "related")) == 3


def test_rare_names_link_and_common_ones_do_not() -> None:
    nodes = [at(f"n{i}", i, entities=("Tally",)) for i in range(40)]
    nodes += [at("p", 50, entities=("QX-7741-B", "Tally")), at("q", 51, entities=("qx-7741-b",))]
    assert kinds(link(space(nodes, np.eye(42, 64).tolist()), EMPTY, SETTINGS, NOW), "mentions_same") == [
        ("q", "p")
    ]


def test_no_neighbours_asked_for_gives_no_related_edges() -> None:
    nodes = [at("a"), at("b", 1)]
    settings = ConsolidationSettings(neighbours=0)
    assert kinds(link(space(nodes, [[1, 0], [1, 0]]), EMPTY, settings, NOW), "related") == []


@given(st.data())
def test_edges_are_sane_whatever_the_blocks(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    names = st.lists(st.sampled_from(["A", "B", "E-17", "Ilse"]), max_size=3, unique=True)
    nodes = [
        at(
            f"n{i}",
            data.draw(st.integers(0, 3)),
            entities=tuple(data.draw(names)),
            sources=(f"d.md#{data.draw(st.integers(1, 5))}",),
            follows={f"d.md#{i}": f"d.md#{data.draw(st.integers(1, 5))}"},
            links=(data.draw(st.sampled_from(["d", "x"])),),
        )
        for i in range(count)
    ]
    numbers = st.lists(st.floats(-1, 1).filter(lambda x: abs(x) > 1e-3), min_size=4, max_size=4)
    rows = [data.draw(numbers) for _ in nodes]
    cut = data.draw(st.integers(0, count - 1))
    whole = space(nodes, rows)
    known, fresh = Space(whole.nodes[:cut], whole.matrix[:cut]), Space(whole.nodes[cut:], whole.matrix[cut:])
    found = link(fresh, known, SETTINGS, NOW)
    edges = [e for own in found.values() for e in own]
    new = {n.id for n in fresh.nodes}
    assert len({(e.source_id, e.target_id, e.relation_type) for e in edges}) == len(edges)
    for edge in edges:
        assert edge.source_id != edge.target_id
        assert edge.source_id in new or edge.target_id in new
        assert 0 <= edge.weight <= 1
        assert 0 <= edge.confidence <= 1


def test_overlap_counts_words_once() -> None:
    assert overlap("The dome, the dome", "the dome") == 1.0
    assert overlap("a b", "c d") == 0.0
    assert overlap("", "") == 1.0
