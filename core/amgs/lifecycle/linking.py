"""Make the edges of new blocks: sequence, links, shared names, similarity (AMGS §8.2 step 4).

A block is compared only with likely neighbours: the part before it, the notes it links to, the latest blocks with its
rare names, and the nearest vectors; so the work grows with the new blocks only. `consolidate` calls `link`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.decay import PROFILES
from amgs.identity import file_of, piece_of
from amgs.index.neighbours import Near, nearest
from amgs.ingest.document import list_references, slugs_of
from amgs.lifecycle.self_detection import find_author
from amgs.settings import ConsolidationSettings
from amgs.text import names
from amgs.text.differences import differ
from amgs.text.markdown import slug
from amgs.types import Edge, Vector


@dataclass(frozen=True, slots=True)
class LinkNode:
    """What linking needs of a block.

    sources: its sources. follows: the locator of the part before it, by source. links: slugs that it links to.
    entities: names in it. author: who signed it, if it is about the self.
    """

    number: int
    id: str
    created_at: datetime
    title: str = ""
    sources: tuple[str, ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    author: str = ""


def node(number: int, block_id: str, created_at: datetime, meta: Mapping[str, Any]) -> LinkNode:
    """Return a node from a block's meta."""
    sources = meta.get("sources") or ([meta["source"]] if meta.get("source") else [])
    follows = meta.get("follows")
    return LinkNode(
        number=number,
        id=block_id,
        created_at=created_at,
        title=str(meta.get("title") or ""),
        sources=tuple(str(s) for s in sources),
        follows=dict(follows) if isinstance(follows, Mapping) else {},
        links=tuple(dict.fromkeys((*(meta.get("links") or ()), *list_references(meta)))),
        entities=tuple(meta.get("entities") or ()),
        author=find_author(meta),
    )


class LinkContext:
    """Indexes of the blocks that new ones may be linked to. A block is a row, in the order in which it was added."""

    def __init__(self, nodes: Iterable[LinkNode] = ()) -> None:
        self.ids: list[str] = []
        self.created: list[datetime] = []
        self.sources: dict[str, int] = {}
        """The row that came from a source, the last if there are several."""
        self.followers: dict[str, list[int]] = {}
        """Rows by the source of the piece before them."""
        self.places: dict[str, int] = {}
        """The row of a note by the slugs of its file and its title, the first if there are several."""
        self.linkers: dict[str, list[int]] = {}
        """Rows by the slugs they link to."""
        self.holders: dict[str, list[int]] = {}
        """Rows by the keys of the names they hold."""
        self.name_edges: Counter[int] = Counter()
        """How many edges for shared names a row received since this was read."""
        self.authors: Counter[str] = Counter()
        self._numbers: list[int] = []
        self._row_of: dict[int, int] = {}
        self.add(nodes)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Running numbers of the blocks, ascending: (n,)."""
        return np.sort(np.array(self._numbers, dtype=np.int64))

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each number, −1 for an unknown number; any shape."""
        return np.array([self._row_of.get(n, -1) for n in numbers.ravel().tolist()], dtype=np.int64).reshape(
            numbers.shape
        )

    def add(self, nodes: Iterable[LinkNode]) -> None:
        """Add blocks as the next rows."""
        for n in nodes:
            row = len(self.ids)
            self.ids.append(n.id)
            self.created.append(n.created_at)
            self._numbers.append(n.number)
            self._row_of[n.number] = row
            for source in n.sources:
                self.sources[source] = row
            for before in n.follows.values():
                self.followers.setdefault(before, []).append(row)
            for name in places(n):
                self.places.setdefault(name, row)
            for target in n.links:
                self.linkers.setdefault(target, []).append(row)
            for name in dict.fromkeys(map(names.key, n.entities)):
                self.holders.setdefault(name, []).append(row)
            if n.author:
                self.authors[n.author] += 1

    def note_author(self, meta: Mapping[str, Any]) -> None:
        """Count who signed a self note that is no row."""
        if find_author(meta):
            self.authors[find_author(meta)] += 1


def places(n: LinkNode) -> Iterator[str]:
    """Yield the slugs that link to a note: of its file and its title; for a divided note only its first
    part has them.
    """
    for source in n.sources:
        path, piece = file_of(source), piece_of(source)
        if piece in ("", "1") and PurePosixPath(path).name:
            yield from slugs_of(path)
    if n.title and all(piece_of(s) in ("", "1") for s in n.sources):
        yield slug(n.title)


NEXT, LINKS_TO, MENTIONS_SAME, RELATED, DUPLICATES = ("next", "links_to", "mentions_same", "related", "duplicates")

# What makes two similar blocks duplicates: nearly the same direction, and mostly the same words.
_DUPLICATE_COSINE = 0.9
_DUPLICATE_OVERLAP = 0.6
# A name that many blocks share says little; a pair of blocks gets an edge for its rarest ones.
_COMMON_NAME = 12
_NAME_EDGES = 6
_NAME_FAN_OUT = 32
"""Latest blocks with a name that are considered for a new block."""

_WORD = re.compile(r"\w+")

Contents = Callable[[Sequence[str]], Mapping[str, str]]
"""Reads the texts of blocks by their ids."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """New blocks: n nodes, their texts and unit vectors (n, d). near: the nearest known blocks, by row of
    the context.
    """

    nodes: tuple[LinkNode, ...]
    contents: tuple[str, ...]
    matrix: Vector
    near: Near


def link(
    fresh: Fresh, known: LinkContext, read: Contents, settings: ConsolidationSettings, now: datetime
) -> dict[str, tuple[Edge, ...]]:
    """Return the edges of new blocks, by the new block's id, without repeats; add the blocks to `known`.

    An edge may start at a known block: a link whose target was missing, or the part before. read: reads the texts of
    known blocks that may be copies.
    """
    first = len(known)
    known.add(fresh.nodes)
    new = {n.id for n in fresh.nodes}
    seen: set[tuple[str, str, str]] = set()
    edges_by_node: dict[str, list[Edge]] = {n.id: [] for n in fresh.nodes}
    proposals = (
        _sequence(fresh.nodes, known, first, now),
        _links(fresh.nodes, known, first, now),
        _likeness(fresh, known, first, read, settings, now),
        _link_shared_names(fresh.nodes, known, first, now),
    )
    for edges in proposals:
        for edge in edges:
            key = (edge.source_id, edge.target_id, edge.relation_type)
            owner = edge.source_id if edge.source_id in new else edge.target_id
            if owner in new and edge.source_id != edge.target_id and key not in seen:
                seen.add(key)
                edges_by_node[owner].append(edge)
    return {i: tuple(edges) for i, edges in edges_by_node.items()}


def _edge(
    source: str, target: str, relation: str, weight: float, confidence: float, profile: str, now: datetime
) -> Edge:
    weight, confidence = (round(min(1.0, max(0.0, x)), 4) for x in (weight, confidence))
    return Edge(source, target, relation, weight, confidence, now, now, PROFILES[profile])


def _sequence(nodes: Sequence[LinkNode], known: LinkContext, first: int, now: datetime) -> Iterator[Edge]:
    """Yield `next` edges from a turn or part to the next."""
    for n in nodes:
        for source in n.sources:
            for row in known.followers.get(source, ()):
                if row < first and known.ids[known.sources[source]] == n.id:
                    yield _edge(n.id, known.ids[row], NEXT, 0.6, 0.99, "core", now)
    for n in nodes:
        for before in n.follows.values():
            if before in known.sources:
                yield _edge(known.ids[known.sources[before]], n.id, NEXT, 0.6, 0.99, "core", now)


def _links(nodes: Sequence[LinkNode], known: LinkContext, first: int, now: datetime) -> Iterator[Edge]:
    """Yield a `links_to` edge for each `[[slug]]`, to the note with that file name or title; to the first part of a
    divided note.
    """
    for n in nodes:
        for name in places(n):
            for row in known.linkers.get(name, ()):
                if row < first and known.ids[known.places[name]] == n.id:
                    yield _edge(known.ids[row], n.id, LINKS_TO, 0.8, 0.95, "core", now)
    for n in nodes:
        for target in n.links:
            if target in known.places:
                yield _edge(n.id, known.ids[known.places[target]], LINKS_TO, 0.8, 0.95, "core", now)


# --- shared names -----------------------------------------------------------------------------------------


def _link_shared_names(nodes: Sequence[LinkNode], known: LinkContext, first: int, now: datetime) -> Iterator[Edge]:
    """Yield `mentions_same` edges between blocks that share rare names, weighted by rarity and number."""
    pairs, weights, shared = _pairs_by_names(nodes, known, first)
    # Strongest first, so that the limit for a block drops its weakest edges.
    for at in np.lexsort((pairs[:, 1], pairs[:, 0], -np.round(weights, 9))).tolist():
        a, b = int(pairs[at, 0]), int(pairs[at, 1])
        if known.name_edges[a] < _NAME_EDGES and known.name_edges[b] < _NAME_EDGES:
            known.name_edges.update((a, b))
            later, earlier = _by_age(known, a, b)
            sure = 0.5 + 0.15 * min(3, int(shared[at]))
            yield _edge(later, earlier, MENTIONS_SAME, float(weights[at]), sure, "durable", now)


def _pairs_by_names(
    nodes: Sequence[LinkNode], known: LinkContext, first: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return pairs of rows that share names (m, 2), the second of them new; their joint weight (m,), a noisy or; and
    the number of shared names (m,). first: the first new row.
    """
    limit = max(_COMMON_NAME, math.isqrt(len(known)))
    spread = math.log(len(known) + 1)
    earlier: list[NDArray[np.int64]] = []
    later: list[NDArray[np.int64]] = []
    rarities: list[NDArray[np.float64]] = []
    for name in dict.fromkeys(names.key(e) for n in nodes for e in n.entities):
        rows = known.holders[name]
        if not 2 <= len(rows) <= limit:
            continue
        members = np.array(rows, dtype=np.int64)
        start = int(np.searchsorted(members, first))
        # Each new holder beside the latest ones before it.
        for back in range(1, min(_NAME_FAN_OUT, len(rows) - 1) + 1):
            at = np.arange(max(start, back), len(rows))
            earlier.append(members[at - back])
            later.append(members[at])
            rarities.append(np.full(at.size, math.log((len(known) + 1) / len(rows)) / spread))
    if not earlier:
        return np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0, np.int64)
    every = np.stack([np.concatenate(earlier), np.concatenate(later)], axis=1)
    keys = every[:, 0] * len(known) + every[:, 1]
    _, first_places, group, shared = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    unsure = np.bincount(group, weights=np.log1p(-0.6 * np.concatenate(rarities)))
    return every[first_places], -np.expm1(unsure), shared


# --- likeness ---------------------------------------------------------------------------------------------


def _likeness(
    fresh: Fresh, known: LinkContext, first: int, read: Contents, settings: ConsolidationSettings, now: datetime
) -> Iterator[Edge]:
    """Yield `related` edges to the nearest blocks by cosine, `duplicates` where the words agree too."""
    if settings.neighbours == 0:
        return
    among = nearest(fresh.matrix, fresh.matrix, settings.neighbours, floor=settings.similarity, own=0)
    near = Near(np.where(among.rows >= 0, among.rows + first, -1), among.cosines).join(fresh.near)
    pairs = [
        (first + at, int(row), float(cosine))
        for at, (rows, cosines) in enumerate(zip(near.rows, near.cosines, strict=True))
        for row, cosine in zip(rows, cosines, strict=True)
        if row >= 0 and cosine >= settings.similarity
    ]
    asked = {known.ids[b] for _, b, cosine in pairs if b < first and cosine >= _DUPLICATE_COSINE}
    texts = {**(read(sorted(asked)) if asked else {}), **dict(zip(known.ids[first:], fresh.contents, strict=True))}
    for a, b, cosine in pairs:
        later, earlier = _by_age(known, a, b)
        sure = 0.5 + 0.45 * (cosine - settings.similarity) / max(1e-9, 1.0 - settings.similarity)
        yield _edge(later, earlier, RELATED, cosine, sure, "durable", now)
        if (
            cosine >= _DUPLICATE_COSINE
            and overlap(texts.get(later, ""), texts.get(earlier, "")) >= _DUPLICATE_OVERLAP
            and not differ(texts.get(later, ""), texts.get(earlier, ""))
        ):
            yield _edge(later, earlier, DUPLICATES, cosine, 0.9, "core", now)


def overlap(a: str, b: str) -> float:
    """Return the Jaccard overlap of two texts' words, in [0, 1]."""
    first, second = set(_WORD.findall(a.lower())), set(_WORD.findall(b.lower()))
    union = first | second
    return len(first & second) / len(union) if union else 1.0


def _by_age(known: LinkContext, a: int, b: int) -> tuple[str, str]:
    """Return the ids as (later, earlier), ties by id, so that a pair always has the same direction."""
    end, other = (known.created[a], known.ids[a]), (known.created[b], known.ids[b])
    return (end[1], other[1]) if end > other else (other[1], end[1])
