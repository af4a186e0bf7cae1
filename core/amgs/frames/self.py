"""Who is self: an explicit tag, nearness to the root anchor, and a threshold, together (AMGS §10.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from amgs.retrieval.score import reinforcement
from amgs.retrieval.sources import Sources
from amgs.settings import DEFAULT_PROFILES, ProfileSettings
from amgs.types import BlockFilter

ANCHOR_DISTANCE = 1
"""Blocks at most so many edges from the root anchor are near it."""

THRESHOLD = 0.75
"""Least mean of centrality and reinforcement, both in [0, 1], of an untagged block of the self."""

ANCHOR_META = {"anchor": "self"}
"""Metadata of the block that is the root anchor; without one it is the most central tagged block."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """Why a block belongs to self. tier: 0 tagged, 1 near the anchor, 2 emergent; lower ones are chosen
    first.
    """

    tier: int
    because: str


def identity(
    wanted: BlockFilter, sources: Sources, profiles: ProfileSettings = DEFAULT_PROFILES
) -> Mapping[int, Belonging]:
    """The blocks that belong to self, by number.

    Tagged blocks always do. What lies near the anchor, and what is central and often reinforced without a
    tag, does when it decays slowly: identity is what lasts. Where no block is tagged there is no self for others to
    belong to.
    """
    tagged = sources.blocks.numbers(replace(wanted, self_only=True)).tolist()
    found = {number: Belonging(0, "tagged as self") for number in tagged}
    if not tagged:
        return found
    lasting = _lasting(wanted, sources, tagged, profiles.durable)
    for number, belonging in lasting.items():
        found.setdefault(number, belonging)
    return found


def anchor(wanted: BlockFilter, sources: Sources, tagged: list[int]) -> int | None:
    """The root anchor: the block marked so, else the most central tagged block, ties to the oldest; None
    without either.
    """
    marked = sources.blocks.numbers(replace(wanted, meta={**wanted.meta, **ANCHOR_META})).tolist()
    if marked:
        return int(marked[0])
    importance = sources.graph.importance(tagged)
    return min(tagged, key=lambda number: (-importance[number], number), default=None)


def _lasting(wanted: BlockFilter, sources: Sources, tagged: list[int], slow: float) -> dict[int, Belonging]:
    """Untagged blocks near the anchor or over the threshold, that decay slowly. slow: λ per hour."""
    near: dict[int, int] = {}
    root = anchor(wanted, sources, tagged)
    if root is not None:
        near = sources.graph.view().distances(root, ANCHOR_DISTANCE)
    central = _central(sources)
    allowed = sources.blocks.numbers(wanted)
    numbers = np.array(sorted((near.keys() | central.keys()) - set(tagged)), dtype=np.int64)
    found: dict[int, Belonging] = {}
    for one in sources.blocks.stored(numbers[np.isin(numbers, allowed)].tolist()):
        if one.block.decay_lambda > slow:
            continue
        strength = (central.get(one.number, 0.0) + reinforcement(one.reinforcements)) / 2
        if one.number in near:
            hops = near[one.number]
            found[one.number] = Belonging(1, f"{hops} hop{'s' * (hops != 1)} from the anchor")
        elif strength >= THRESHOLD:
            found[one.number] = Belonging(2, f"central and reinforced ({strength:.2f})")
    return found


def _central(sources: Sources) -> dict[int, float]:
    """Blocks so central that reinforcement, which stays under 1, can lift their mean over the threshold."""
    standing = sources.graph.standing()
    enough = standing.scores >= max(2 * THRESHOLD - 1, 1e-9)
    return dict(zip(standing.numbers[enough].tolist(), standing.scores[enough].tolist(), strict=True))
