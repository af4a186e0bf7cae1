"""What the rows of lists of packs are filtered and sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from amgs_app.panes.row_filter import Listing, Row

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.packs.values import PackProposal, PackRoute, PackUsage

LISTING: Final = Listing(
    ("name", "keywords", "state"),
    ("needed", "gain", "uses", "useful", "tokens", "members", "days"),
    ("needed", "gain", "uses", "days", "tokens", "name"),
)
"""The fields of all three lists: of packs, of those for a question, of proposals."""


def of_packs(packs: Sequence[PackUsage], now: datetime) -> list[Row]:
    """The rows of the packs. days: since it was read last. state: would go, where others are to fit."""
    return [
        {
            "name": one.pack.name,
            "keywords": " ".join(one.pack.keywords),
            "state": "would go" if one.forget else "",
            "needed": one.needed,
            "uses": one.uses,
            "useful": one.success,
            "tokens": one.pack.tokens,
            "members": len(one.pack.members),
            "days": None if one.last_used is None else (now - one.last_used).total_seconds() / 86400,
        }
        for one in packs
    ]


def of_routed(result: PackRoute) -> list[Row]:
    """The rows of the packs for a question. state: in or out. gain: what each adds to all terms."""
    return [
        {
            "name": one.pack.name,
            "keywords": " ".join(one.pack.keywords),
            "state": state,
            "gain": one.gain,
            "tokens": one.tokens,
            "members": len(one.pack.members),
        }
        for state, routed in (("in", result.packs), ("out", result.left_out))
        for one in routed
    ]


def of_proposals(proposals: Sequence[PackProposal]) -> list[Row]:
    """The rows of proposals about packs. name: of the packs. state: the action. keywords: why. needed: how sure."""
    return [
        {"name": " + ".join(one.packs), "keywords": one.because, "state": one.action, "needed": one.sure}
        for one in proposals
    ]
