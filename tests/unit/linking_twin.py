"""The obvious way to link: every block beside every other. Slow; what `amgs.lifecycle.linking` must agree with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from amgs.lifecycle.linking import DUPLICATES, LINKS_TO, MENTIONS_SAME, NEXT, RELATED, LinkNode, overlap
from amgs.settings import ConsolidationSettings
from amgs.text.differences import differ
from amgs.text.markdown import slug
from amgs.types import Vector

Found = tuple[str, str, str, float]
"""(source, target, relation, weight)."""


def link(
    nodes: Sequence[LinkNode], texts: Mapping[str, str], matrix: Vector, first: int, settings: ConsolidationSettings
) -> set[Found]:
    """The edges when the nodes from `first` on are new."""
    new = {n.id for n in nodes[first:]}
    found: dict[tuple[str, str, str], float] = {}
    for source, target, relation, weight in (
        *_sequence(nodes),
        *_links(nodes),
        *_likeness(nodes, texts, matrix, first, settings),
        *_shared_names(nodes, new),
    ):
        if (source in new or target in new) and source != target:
            found.setdefault((source, target, relation), round(min(1.0, max(0.0, weight)), 4))
    return {(*key, weight) for key, weight in found.items()}


def _sequence(nodes: Sequence[LinkNode]) -> Iterator[Found]:
    at = {source: n.id for n in nodes for source in n.sources}
    for n in nodes:
        for before in n.follows.values():
            if before in at:
                yield at[before], n.id, NEXT, 0.6


def _links(nodes: Sequence[LinkNode]) -> Iterator[Found]:
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
                yield n.id, at[target], LINKS_TO, 0.8


def _shared_names(nodes: Sequence[LinkNode], new: set[str]) -> Iterator[Found]:
    holders: dict[str, list[int]] = {}
    for row, n in enumerate(nodes):
        for name in {e.lower() for e in n.entities}:
            holders.setdefault(name, []).append(row)
    pairs: dict[tuple[int, int], list[float]] = {}
    for rows in holders.values():
        if 2 <= len(rows) <= max(12, math.isqrt(len(nodes))):
            rarity = math.log((len(nodes) + 1) / len(rows)) / math.log(len(nodes) + 1)
            for i, a in enumerate(rows):
                for b in rows[i + 1 :]:
                    if nodes[a].id in new or nodes[b].id in new:
                        pairs.setdefault((a, b), []).append(rarity)
    joined = {pair: 1.0 - math.prod(1.0 - 0.6 * r for r in own) for pair, own in pairs.items()}
    degree = dict.fromkeys(range(len(nodes)), 0)
    for (a, b), weight in sorted(joined.items(), key=lambda pair: (-round(pair[1], 9), pair[0])):
        if degree[a] < 6 and degree[b] < 6:
            degree[a], degree[b] = degree[a] + 1, degree[b] + 1
            later, earlier = _by_age(nodes[a], nodes[b])
            yield later, earlier, MENTIONS_SAME, weight


def _likeness(
    nodes: Sequence[LinkNode], texts: Mapping[str, str], matrix: Vector, first: int, settings: ConsolidationSettings
) -> Iterator[Found]:
    for row in range(first, len(nodes)):
        cosines = (matrix @ matrix[row]).tolist()
        order = sorted((c for c in range(len(nodes)) if c != row), key=lambda c: (-cosines[c], c))
        for column in order[: settings.neighbours]:
            if cosines[column] >= settings.similarity:
                later, earlier = _by_age(nodes[row], nodes[column])
                yield later, earlier, RELATED, cosines[column]
                if (
                    cosines[column] >= 0.9
                    and overlap(texts[later], texts[earlier]) >= 0.6
                    and not differ(texts[later], texts[earlier])
                ):
                    yield later, earlier, DUPLICATES, cosines[column]


def _by_age(a: LinkNode, b: LinkNode) -> tuple[str, str]:
    return (a.id, b.id) if (a.created_at, a.id) > (b.created_at, b.id) else (b.id, a.id)
