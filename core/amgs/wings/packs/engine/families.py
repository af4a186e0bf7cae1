"""The relations of the memory in four families, and how they link a pack to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from amgs.graph.view import GraphView
from amgs.wings.packs.values import FAMILIES, PackLink, RelationFamily

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


def links(name: str, members: Mapping[str, Collection[int]], view: GraphView) -> tuple[PackLink, ...]:
    """What links a pack to others. members: of all packs, by name, as numbers of blocks. A relation counts once for two
    packs where one has its one end and the other its other, whatever else they share.
    """
    own = set(members[name])
    having: dict[int, list[str]] = {}
    for other, numbers in members.items():
        for number in set(numbers):
            having.setdefault(number, []).append(other)
    counts: Counter[tuple[str, RelationFamily]] = Counter()
    for row in view.edges_among(set(having)).tolist():
        family = family_of(str(view.columns.relation[row]))
        a, b = int(view.columns.source[row]), int(view.columns.target[row])
        others = {other for here, there in ((a, b), (b, a)) if here in own for other in having[there]}
        counts.update((other, family) for other in others - {name})
    found = [PackLink(other, family, count) for (other, family), count in counts.items()]
    return tuple(sorted(found, key=lambda one: (one.name, FAMILIES.index(one.family))))
