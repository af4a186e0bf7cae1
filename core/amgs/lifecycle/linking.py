"""Edges between a new block and what is there: sequence, links, shared names, likeness (AMGS §8.2 step 4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from amgs.decay import PROFILES
from amgs.model import Edge, Vector
from amgs.settings import ConsolidationSettings
from amgs.text.markdown import slug

NEXT, LINKS_TO, MENTIONS_SAME, RELATED, DUPLICATES = (
    "next",
    "links_to",
    "mentions_same",
    "related",
    "duplicates",
)

# What makes two similar blocks duplicates: nearly the same direction, and mostly the same words.
_DUPLICATE_COSINE = 0.9
_DUPLICATE_OVERLAP = 0.6
# A name that many blocks share says little; a pair of blocks gets an edge for its rarest ones.
_COMMON_NAME = 12
_NAME_EDGES = 6
_ROWS = 512
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Node:
    """What linking must know of a block.

    sources: where it came from. follows: source -> source of the piece before. links: slugs. entities: names.
    """

    id: str
    content: str
    created_at: datetime
    title: str = ""
    sources: tuple[str, ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


def node(
    block_id: str,
    content: str,
    created_at: datetime,
    meta: Mapping[str, Any],
    *,
    entities: Sequence[str] | None = None,
) -> Node:
    """A node from a block's meta; entities given override those in meta."""
    sources = meta.get("sources") or ([meta["source"]] if meta.get("source") else [])
    follows = meta.get("follows")
    return Node(
        id=block_id,
        content=content,
        created_at=created_at,
        title=str(meta.get("title") or ""),
        sources=tuple(str(s) for s in sources),
        follows=dict(follows) if isinstance(follows, Mapping) else {},
        links=tuple(meta.get("links") or ()),
        entities=tuple(entities if entities is not None else meta.get("entities") or ()),
    )


@dataclass(frozen=True, slots=True)
class Space:
    """Nodes with their embeddings: nodes n, matrix (n, d) of unit rows."""

    nodes: tuple[Node, ...]
    matrix: Vector


def link(
    fresh: Space, known: Space, settings: ConsolidationSettings, now: datetime
) -> dict[str, tuple[Edge, ...]]:
    """The edges that consolidating `fresh` brings, by the fresh block that brings them; each key once.

    An edge may begin at a known block: a link that was waiting for its target, or the piece before.
    """
    everything = (*known.nodes, *fresh.nodes)
    new = {n.id for n in fresh.nodes}
    seen: set[tuple[str, str, str]] = set()
    found: dict[str, list[Edge]] = {n.id: [] for n in fresh.nodes}
    proposals = (
        _sequence(everything, now),
        _links(everything, now),
        _likeness(fresh, known, settings, now),
        _shared_names(everything, new, now),
    )
    for edges in proposals:
        for edge in edges:
            key = (edge.source_id, edge.target_id, edge.relation_type)
            owner = edge.source_id if edge.source_id in new else edge.target_id
            if owner in new and edge.source_id != edge.target_id and key not in seen:
                seen.add(key)
                found[owner].append(edge)
    return {i: tuple(edges) for i, edges in found.items()}


def _edge(
    source: str, target: str, relation: str, weight: float, confidence: float, profile: str, now: datetime
) -> Edge:
    weight, confidence = (round(min(1.0, max(0.0, x)), 4) for x in (weight, confidence))
    return Edge(source, target, relation, weight, confidence, now, now, PROFILES[profile])


def _sequence(nodes: Iterable[Node], now: datetime) -> Iterator[Edge]:
    """`next` from a turn or part to the one after it."""
    nodes = tuple(nodes)
    at = {source: n.id for n in nodes for source in n.sources}
    for n in nodes:
        for before in n.follows.values():
            if before in at:
                yield _edge(at[before], n.id, NEXT, 0.6, 0.99, "core", now)


def _links(nodes: Iterable[Node], now: datetime) -> Iterator[Edge]:
    """`links_to` for each `[[slug]]`: the note whose file or title has that name.

    Of a split note its first part.
    """
    nodes = tuple(nodes)
    at: dict[str, str] = {}
    for n in nodes:
        for source in n.sources:
            path, _, piece = source.partition("#")
            if piece in ("", "1"):
                at.setdefault(slug(PurePosixPath(path).stem), n.id)
                at.setdefault(slug(str(PurePosixPath(path).with_suffix(""))), n.id)
        if n.title and not any("#" in s and not s.endswith("#1") for s in n.sources):
            at.setdefault(slug(n.title), n.id)
    for n in nodes:
        for target in n.links:
            if target in at:
                yield _edge(n.id, at[target], LINKS_TO, 0.8, 0.95, "core", now)


def _shared_names(nodes: Sequence[Node], new: set[str], now: datetime) -> Iterator[Edge]:
    """`mentions_same` between blocks that share rare names.

    Weight by the rarest name and by how many are shared.
    """
    holders: dict[str, list[int]] = {}
    for row, n in enumerate(nodes):
        for name in set(n.entities):
            holders.setdefault(name.lower(), []).append(row)
    limit = max(_COMMON_NAME, math.isqrt(len(nodes)))
    spread = math.log(len(nodes) + 1)
    pairs: dict[tuple[int, int], list[float]] = {}
    for rows in holders.values():
        if 2 <= len(rows) <= limit:
            rarity = math.log((len(nodes) + 1) / len(rows)) / spread
            for i, a in enumerate(rows):
                for b in rows[i + 1 :]:
                    if nodes[a].id in new or nodes[b].id in new:
                        pairs.setdefault((a, b), []).append(rarity)
    degree: dict[int, int] = {}
    # Strongest first, so that the limit a block keeps its best.
    ranked = sorted(pairs.items(), key=lambda pair: (-_joined(pair[1]), pair[0]))
    for (a, b), rarities in ranked:
        if degree.get(a, 0) < _NAME_EDGES and degree.get(b, 0) < _NAME_EDGES:
            degree[a], degree[b] = degree.get(a, 0) + 1, degree.get(b, 0) + 1
            later, earlier = _by_age(nodes[a], nodes[b])
            sure = 0.5 + 0.15 * min(3, len(rarities))
            yield _edge(later.id, earlier.id, MENTIONS_SAME, _joined(rarities), sure, "durable", now)


def _joined(rarities: Sequence[float]) -> float:
    """Noisy or: every further shared name adds, none takes it over 1."""
    return 1.0 - math.prod(1.0 - 0.6 * r for r in rarities)


def _likeness(fresh: Space, known: Space, settings: ConsolidationSettings, now: datetime) -> Iterator[Edge]:
    """`related` to the nearest blocks by cosine; `duplicates` where also the words agree."""
    nodes = (*known.nodes, *fresh.nodes)
    if not fresh.nodes or settings.neighbours == 0 or len(nodes) < 2:
        return
    matrix = np.concatenate([known.matrix, fresh.matrix]) if len(known.nodes) else fresh.matrix
    first = len(known.nodes)
    wanted = min(settings.neighbours, len(nodes) - 1)
    for start in range(0, len(fresh.nodes), _ROWS):
        # (rows, n) cosines; a block is not its own neighbour.
        cosines = fresh.matrix[start : start + _ROWS] @ matrix.T
        rows = np.arange(cosines.shape[0])
        cosines[rows, first + start + rows] = -1.0
        best = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
        for row in rows:
            me = nodes[first + start + int(row)]
            order = sorted(best[row], key=lambda column: (-cosines[row, column], column))
            for column in order:
                cosine = float(cosines[row, column])
                if cosine >= settings.similarity:
                    yield from _alike(me, nodes[int(column)], cosine, settings.similarity, now)


def _alike(a: Node, b: Node, cosine: float, floor: float, now: datetime) -> Iterator[Edge]:
    later, earlier = _by_age(a, b)
    sure = 0.5 + 0.45 * (cosine - floor) / max(1e-9, 1.0 - floor)
    yield _edge(later.id, earlier.id, RELATED, cosine, sure, "durable", now)
    if cosine >= _DUPLICATE_COSINE and overlap(a.content, b.content) >= _DUPLICATE_OVERLAP:
        yield _edge(later.id, earlier.id, DUPLICATES, cosine, 0.9, "core", now)


def overlap(a: str, b: str) -> float:
    """Jaccard overlap of two texts' words, in [0, 1]."""
    first, second = set(_WORD.findall(a.lower())), set(_WORD.findall(b.lower()))
    union = first | second
    return len(first & second) / len(union) if union else 1.0


def _by_age(a: Node, b: Node) -> tuple[Node, Node]:
    """(later, earlier); equal instants are told apart by id: a pair has one direction, whoever asks."""
    return (a, b) if (a.created_at, a.id) > (b.created_at, b.id) else (b, a)
