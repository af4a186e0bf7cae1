"""Gather the members of SELF: blocks tagged so, blocks near the root anchor, and central, often reinforced blocks
(AMGS §10.1).
"""

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
"""Metadata that marks a block as the root anchor; `find_anchor` says which block it is where none is marked."""

_OF_SELF = ("value", "preference")
_MOST = 200
"""Number of values and preferences, the last used, among which an anchor is sought."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """Why a block is a member of a frame, whatever the layers of a search say; lower tiers are selected first."""

    because: str
    tier: int = 0


Members = Mapping[int, Belonging]
"""Members of a frame, by the block's number."""


def gather_identity(wanted: BlockFilter, sources: Sources, settings: Settings) -> Members:
    """Return the members of SELF: tagged blocks always; blocks near the anchor, and central and often reinforced ones,
    only where they decay slowly, because identity is what lasts.
    """
    tagged = sources.blocks.numbers(replace(wanted, self_only=True)).tolist()
    members = {number: Belonging("tagged as self") for number in tagged}
    near: dict[int, int] = {}
    root = find_anchor(wanted, sources, tagged)
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


def find_anchor(wanted: BlockFilter, sources: Sources, tagged: list[int]) -> int | None:
    """Return the number of the root anchor: the marked block, else the most central tagged one, else the most central
    of the operator's values and preferences; ties to the oldest, None where there is none.
    """
    marked = sources.blocks.numbers(replace(wanted, meta={**wanted.meta, **ANCHOR_META})).tolist()
    if marked:
        return int(marked[0])
    roots = tagged or _own_statements(wanted, sources)
    importance = sources.graph.importance(roots)
    return min(roots, key=lambda number: (-importance[number], number), default=None)


def _own_statements(wanted: BlockFilter, sources: Sources) -> list[int]:
    """Return numbers of values and preferences without an author or speaker: the operator's own."""
    stored = sources.blocks.stored(sources.blocks.numbers(replace(wanted, categories=_OF_SELF), limit=_MOST).tolist())
    signs = ("author", "speaker")
    return [s.number for s in stored if s.block.category in _OF_SELF and not any(map(s.block.meta.get, signs))]


def _central(sources: Sources, threshold: float) -> dict[int, float]:
    """Return the centrality, by number, of blocks that can reach the threshold on the mean of centrality and
    reinforcement, which is under 1.
    """
    standing = sources.graph.standing()
    enough = standing.scores >= max(2 * threshold - 1, 1e-9)
    return dict(zip(standing.numbers[enough].tolist(), standing.scores[enough].tolist(), strict=True))
