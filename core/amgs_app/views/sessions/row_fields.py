"""Lists of sessions and of a session's parts, with the fields to filter and sort them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from amgs.text.plural import plural
from amgs_app.render.format import age, short_count, span
from amgs_app.render.rows import RowList, Rows

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.sessions.listing import ListedSession, SessionListing

SESSIONS: Final = Rows["tuple[ListedSession, str]"](
    "when:age id! what*! project*~ agent?? took? turns:n? tokens:n? ▼:n~ errors:n~ again:n~ seconds:n. compactions:n.",
    lambda row: (
        row[0].changed,
        row[1],
        row[0].what or "nothing was said",
        row[0].project.rstrip("/").rpartition("/")[2],
        row[0].agent,
        "" if row[0].seconds is None else span(row[0].seconds),
        row[0].turns,
        row[0].tokens,
        row[0].compactions or None,
        row[0].errors or None,
        row[0].again or None,
        row[0].seconds,
        row[0].compactions,
    ),
    lambda row: [(row[0].id, row[0].agent), ("project", row[0].project), ("what", row[0].what), ("file", row[0].path)],
    empty=("No session lies here.",),
)
LISTING: Final = SESSIONS.listing


def list_found(result: SessionListing) -> RowList[tuple[ListedSession, str]]:
    """Return the sessions on this machine, each with a prefix of its id that identifies it."""
    from amgs.wings.sessions.listing import short_ids

    rows = zip(result.sessions, short_ids(result.sessions), strict=True)
    title = f"{plural(len(result.sessions), 'session')} of agents on this machine"
    return SESSIONS.of(title, rows, now=result.at)


CELLS: Final = "when id project* agent? took:n turns:n tokens:n ▼:n errors:n again:n what/"
"""Columns of the list of sessions for `sheet`."""


def cells_of(sessions: Sequence[ListedSession], now: datetime) -> list[tuple[str, ...]]:
    """Return the cells of sessions as shown."""
    from amgs.wings.sessions.listing import short_ids

    return [
        (
            age(session.changed, now),
            id,
            session.project.rstrip("/").rpartition("/")[2],
            session.agent,
            "" if session.seconds is None else span(session.seconds),
            _format_number(session.turns),
            "" if session.tokens is None else short_count(session.tokens),
            _format_number(session.compactions or None),
            _format_number(session.errors or None),
            _format_number(session.again or None),
            session.what or "nothing was said",
        )
        for session, id in zip(sessions, short_ids(sessions), strict=True)
    ]


def _format_number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
