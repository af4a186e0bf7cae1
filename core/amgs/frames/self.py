"""Decide membership in self by an explicit tag, nearness to the root anchor and a threshold, together (AMGS §10.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from amgs.retrieval.score import reinforcement
from amgs.retrieval.sources import Sources
from amgs.settings import Settings
from amgs.text.plural import plural
from amgs.types import BlockFilter

ANCHOR_META = {"anchor": "self"}
"""Metadata of the block that is the root anchor; without one it is the most central tagged block, or else the most
central one of a value or preference.
"""

_OF_SELF = ("value", "preference")
_MOST = 200
"""So many values and preferences, the last used, are looked at for an anchor."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """Reason for a block's membership in a frame whatever the layers say; lower tiers are chosen first."""

    because: str
    tier: int = 0


Members = Mapping[int, Belonging]
"""The blocks that a frame chooses from, by number."""


def identity(wanted: BlockFilter, sources: Sources, settings: Settings) -> Members:
    """Return the blocks that belong to self: those tagged so always do. What lies near the anchor, and what is central
    and often reinforced, does when it decays slowly: identity is what lasts.
    """
    tagged = sources.blocks.numbers(replace(wanted, self_only=True)).tolist()
    members = {number: Belonging("tagged as self") for number in tagged}
    near: dict[int, int] = {}
    root = anchor(wanted, sources, tagged)
    if root is not None:
        near = sources.graph.view().distances(root, settings.identity.anchor_distance)
    central = _central(sources, settings.identity.threshold)
    allowed = sources.blocks.numbers(wanted)
    numbers = np.array(sorted((near.keys() | central.keys()) - set(tagged)), dtype=np.int64)
    for stored in sources.blocks.stored(numbers[np.isin(numbers, allowed)].tolist()):
        if stored.block.decay_lambda > settings.decay.profiles.durable:
            continue
        strength = (central.get(stored.number, 0.0) + reinforcement(stored.reinforcements)) / 2
        if stored.number in near:
            hops = near[stored.number]
            leg = f"{plural(hops, 'hop')} from the anchor" if hops else "the anchor: the most central of its kind"
            members[stored.number] = Belonging(leg, 1)
        elif strength >= settings.identity.threshold:
            members[stored.number] = Belonging(f"central and reinforced ({strength:.2f})", 2)
    return members


def anchor(wanted: BlockFilter, sources: Sources, tagged: list[int]) -> int | None:
    """Return the root anchor, see `ANCHOR_META`, ties to the oldest; None where nothing may be it."""
    marked = sources.blocks.numbers(replace(wanted, meta={**wanted.meta, **ANCHOR_META})).tolist()
    if marked:
        return int(marked[0])
    roots = tagged or _own_words(wanted, sources)
    importance = sources.graph.importance(roots)
    return min(roots, key=lambda number: (-importance[number], number), default=None)


def _own_words(wanted: BlockFilter, sources: Sources) -> list[int]:
    """Return values and preferences that nobody else signed."""
    stored = sources.blocks.stored(sources.blocks.numbers(replace(wanted, categories=_OF_SELF), limit=_MOST).tolist())
    signs = ("author", "speaker")
    return [s.number for s in stored if s.block.category in _OF_SELF and not any(map(s.block.meta.get, signs))]


def _central(sources: Sources, threshold: float) -> dict[int, float]:
    """Blocks so central that reinforcement, which stays under 1, can lift their mean over the threshold."""
    standing = sources.graph.standing()
    enough = standing.scores >= max(2 * threshold - 1, 1e-9)
    return dict(zip(standing.numbers[enough].tolist(), standing.scores[enough].tolist(), strict=True))
