"""Edges that consolidation proposes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.index.neighbours import nearest
from amgs.lifecycle.linking import Fresh, LinkContext, LinkNode, link
from amgs.settings import ConsolidationSettings
from amgs.types import Edge, Vector
from tests.unit import linking_twin

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SETTINGS = ConsolidationSettings()


def at(name: str, hour: int = 0, **more: object) -> LinkNode:
    """A node of that id; its number is given when it is linked."""
    return LinkNode(0, name, NOW + timedelta(hours=hour), **more)  # type: ignore[arg-type]


def linked(
    nodes: list[LinkNode], rows: list[list[float]] | None = None, *, texts: dict[str, str] | None = None, known: int = 0
) -> dict[str, tuple[Edge, ...]]:
    """The edges when the first `known` nodes are there and the others come."""
    matrix = unit(rows, len(nodes))
    numbered = [replace(n, number=10 + i) for i, n in enumerate(nodes)]
    there = LinkContext(numbered[:known])
    near = nearest(matrix[known:], matrix[:known], SETTINGS.neighbours, floor=SETTINGS.similarity)
    words = texts or {n.id: n.id for n in nodes}
    fresh = Fresh(tuple(numbered[known:]), tuple(words[n.id] for n in nodes[known:]), matrix[known:], near)
    return link(fresh, there, lambda ids: {i: words[i] for i in ids}, SETTINGS, NOW)


def unit(rows: list[list[float]] | None, count: int) -> Vector:
    matrix = np.eye(max(1, count), 64) if rows is None else np.array(rows)
    matrix = matrix[:count].astype(np.float32)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def kinds(edges: dict[str, tuple[Edge, ...]], relation: str) -> list[tuple[str, str]]:
    return [(e.source_id, e.target_id) for own in edges.values() for e in own if e.relation_type == relation]


@pytest.mark.parametrize("known", [0, 1])
def test_near_copies_are_duplicates_and_mere_likeness_is_not(known: int) -> None:
    text = "the dome stalled at azimuth two hundred on the night of the third"
    texts = {"a": text, "b": f"really, {text}", "c": "other words entirely here"}
    nodes = [at("a"), at("b", 1), at("c", 2)]
    found = linked(nodes, [[1, 0.01], [1, 0.02], [1, 0.03]], texts=texts, known=known)
    assert kinds(found, "duplicates") == [("b", "a")]
    assert len(kinds(found, "related")) == 3


@settings(deadline=None)
@given(st.data())
def test_linking_agrees_with_holding_every_block_beside_every_other(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 14))
    names = st.lists(st.sampled_from(["A", "B", "a", "E-17", "Ilse"]), max_size=3, unique=True)
    nodes = [
        at(
            f"n{i:02}",
            data.draw(st.integers(0, 3)),
            title=data.draw(st.sampled_from(["", "D", "x"])),
            entities=tuple(data.draw(names)),
            sources=(f"d.md#{data.draw(st.integers(1, 5))}",),
            follows={f"d.md#{i}": f"d.md#{data.draw(st.integers(1, 5))}"},
            links=(data.draw(st.sampled_from(["d", "x"])),),
        )
        for i in range(count)
    ]
    # Drawn, so that no two cosines are equal but for their last bits.
    rows = np.random.default_rng(data.draw(st.integers(0, 999))).normal(size=(count, 3)).tolist()
    words = st.lists(st.sampled_from(["dome", "motor", "rain"]), min_size=1, max_size=3).map(" ".join)
    texts = {n.id: data.draw(words) for n in nodes}
    known = data.draw(st.integers(0, count - 1))
    found = linked(nodes, rows, texts=texts, known=known)
    edges = [e for own in found.values() for e in own]
    twin = linking_twin.link(nodes, texts, unit(rows, count), known, SETTINGS)
    assert len({(e.source_id, e.target_id, e.relation_type) for e in edges}) == len(edges)
    weights = {(e.source_id, e.target_id, e.relation_type): e.weight for e in edges}
    expected = {(source, target, relation): weight for source, target, relation, weight in twin}
    # The fast way multiplies in blocks: its cosines differ in their last bits, and so may the rounded weight.
    assert weights == pytest.approx(expected, abs=1.01e-4)
    for edge in edges:
        assert edge.source_id != edge.target_id
        assert 0 <= edge.confidence <= 1
