"""The journal (what was done to the memory) as a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from amgs_app.render.rows import RowList, Rows

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.types import JournalEntry

JOURNAL: Final = Rows["JournalEntry"](
    "#:n kind! at:age summary*! blocks:n? edges:n? undone~ state. id:n.",
    lambda done: (
        done.id,
        done.kind,
        done.at,
        done.summary,
        done.blocks,
        done.edges,
        done.undone,
        "undone" if done.undone else "stands",
        done.id,
    ),
    empty=("The journal is empty.",),
)
LISTING: Final = JOURNAL.listing


def list_journal(operations: Iterable[JournalEntry], now: datetime | None = None) -> RowList[JournalEntry]:
    """List journal entries, latest first. now: for ages."""
    return JOURNAL.of("journal", operations, now=now)
