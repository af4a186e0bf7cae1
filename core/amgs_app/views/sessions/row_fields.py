"""What the rows of lists of sessions, and of one session, are filtered and sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from amgs_app.panes.row_filter import Listing, Row

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.sessions.listing import ListedSession

LISTING: Final = Listing(
    ("agent", "project", "id"),
    ("turns", "compactions", "tokens", "days"),
    ("days", "compactions", "turns", "tokens", "project"),
)
"""The fields of the list of sessions."""


def of_sessions(sessions: Sequence[ListedSession], now: datetime) -> list[Row]:
    """The rows of sessions. days: since the file was written last."""
    return [
        {
            "agent": one.agent,
            "project": one.project,
            "id": one.id,
            "turns": one.turns,
            "compactions": one.compactions,
            "tokens": one.tokens,
            "days": (now - one.changed).total_seconds() / 86400,
        }
        for one in sessions
    ]
