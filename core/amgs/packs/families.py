"""The relations of the memory in four families, and how they link packs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from amgs.graph.view import GraphView
from amgs.types.pack_families import FAMILIES, PackLink, RelationFamily

FAMILY_OF: Mapping[str, RelationFamily] = {
    "related": "semantic",
    "duplicates": "semantic",
    "contradicts": "semantic",
    "derived_from": "semantic",
    "next": "temporal",
    "previous": "temporal",
    "supersedes": "temporal",
    "causes": "causal",
    "mentions_same": "entity",
    "links_to": "entity",
}
"""The family of each relation. That something followed, or turned out well, makes it no cause: only `causes` is."""


def family_of(relation: str) -> RelationFamily:
    """The family of a relation; one that somebody named himself is semantic."""
    return FAMILY_OF.get(relation, "semantic")


def rows_of(view: GraphView) -> Mapping[RelationFamily, NDArray[np.int64]]:
    """Rows of the edges of each family: (k,) ascending."""
    kinds = np.array([FAMILIES.index(family_of(str(one))) for one in view.columns.relation], dtype=np.int64)
    return {family: np.flatnonzero(kinds == place) for place, family in enumerate(FAMILIES)}


def links(members: Mapping[str, Collection[int]], view: GraphView) -> tuple[PackLink, ...]:
    """What links packs, whose members are given by name as numbers of blocks. A relation counts once for two packs
    where one has its one end and the other its other, whatever else they share.
    """
    having: dict[int, list[str]] = {}
    for name, numbers in members.items():
        for number in set(numbers):
            having.setdefault(number, []).append(name)
    counts: Counter[tuple[str, str, RelationFamily]] = Counter()
    for row in view.edges_among(set(having)).tolist():
        family = family_of(str(view.columns.relation[row]))
        ends = (int(view.columns.source[row]), int(view.columns.target[row]))
        pairs = {(min(a, b), max(a, b)) for a in having[ends[0]] for b in having[ends[1]] if a != b}
        counts.update((a, b, family) for a, b in pairs)
    order = {family: place for place, family in enumerate(FAMILIES)}
    return tuple(
        PackLink(a, b, family, count)
        for (a, b, family), count in sorted(
            counts.items(), key=lambda one: (one[0][0], one[0][1], order[one[0][2]])
        )
    )
