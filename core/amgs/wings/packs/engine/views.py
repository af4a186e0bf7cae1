"""Packs as the rule for proposals sees them: what took the place of members, and how long they lie unread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from amgs.decay import hours_between, relevance_at
from amgs.storage.store import Storage
from amgs.types import Block
from amgs.wings.packs.engine import continuum, keeping
from amgs.wings.packs.engine.proposals import PackView
from amgs.wings.packs.store import PackStorage
from amgs.wings.packs.values import Pack, PackUse

_YEAR = 365.0
_LIVE = ("raw", "consolidated")
_SUCCESSORS = ("superseded_by", "merged_into")
_LONGEST = 32
"""Steps from a block to what holds now."""


def views(
    storage: Storage,
    packs: Sequence[Pack],
    uses: Mapping[str, Sequence[PackUse]],
    now: datetime,
    threshold: float,
) -> tuple[PackView, ...]:
    """Packs with their members, whoever took the place of one, and how likely each is needed within a year.

    uses: by name, the newest first. threshold: relevance below which a block has faded.
    """
    held = storage.blocks.get([i for one in packs for i in one.blocks])
    heirs = {i: heir for i, heir in ((i, _heir(storage, block)) for i, block in held.items()) if heir}
    made = []
    for pack in packs:
        born = PackStorage(storage).versions(pack.name)[0].created_at
        one = keeping.usage(pack, uses.get(pack.name, ()), born, now)
        age = max(hours_between(born, now), 0.0) / 24.0
        unread = max(hours_between(one.last_used or born, now), 0.0) / 24.0
        last = max(age - unread, 0.0) if one.uses else 0.0
        own = {i: held[i] for i in pack.blocks if i in held}
        faded = [
            relevance_at(block.decay_lambda, block.last_reinforced_at, now) < threshold
            for block in own.values()
        ]
        made.append(
            PackView(
                one,
                {i: block for i, block in own.items() if block.status in _LIVE},
                {i: heirs[i] for i in own if i in heirs},
                age,
                unread,
                continuum.needed(one.uses, last, age, _YEAR),
                sum(faded) / max(len(faded), 1),
            )
        )
    return tuple(made)


def _heir(storage: Storage, block: Block) -> Block | None:
    """The live block that holds in its place; None where none took it."""
    seen, at = {block.id}, block
    for _ in range(_LONGEST):
        after = next((str(at.meta[key]) for key in _SUCCESSORS if at.meta.get(key)), "")
        found = storage.blocks.get([after]).get(after) if after and after not in seen else None
        if found is None:
            break
        seen.add(found.id)
        at = found
    return at if at is not block and at.status in _LIVE and not at.superseded else None
