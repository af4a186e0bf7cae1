"""What the rows of lists of sessions, and of one session, are filtered and sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from amgs_app.panes.row_filter import Listing, Row
from amgs_app.render.format import age, short_count, span

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.sessions.listing import ListedSession

LISTING: Final = Listing(
    ("agent", "project", "id", "what"),
    ("turns", "compactions", "tokens", "days", "seconds", "errors", "again"),
    ("days", "compactions", "turns", "tokens", "errors", "again", "project"),
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
            "what": one.what,
            "seconds": one.seconds,
            "errors": one.errors,
            "again": one.again,
        }
        for one in sessions
    ]


CELLS: Final = "when id project* agent? took:n turns:n tokens:n ▼:n errors:n again:n what/"
"""The columns of the list of sessions, as `sheet` reads them."""


def cells_of(sessions: Sequence[ListedSession], now: datetime) -> list[tuple[str, ...]]:
    """What people see of sessions, a cell a column."""
    from amgs.wings.sessions.listing import short_ids

    return [
        (
            age(one.changed, now),
            id,
            one.project.rstrip("/").rpartition("/")[2],
            one.agent,
            "" if one.seconds is None else span(one.seconds),
            _told(one.turns),
            "" if one.tokens is None else short_count(one.tokens),
            _told(one.compactions or None),
            _told(one.errors or None),
            _told(one.again or None),
            one.what or "nothing was said",
        )
        for one, id in zip(sessions, short_ids(sessions), strict=True)
    ]


def _told(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
