"""The table `searches`: what was asked last, and what the layers made of every candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A search. serial: its number. places: how many hits it gave at most. pool: how many candidates it had, of which
    the best are kept, as JSON; see `amgs.retrieval.stored_candidates`.
    """

    serial: int
    at: datetime
    query: str
    places: int
    pool: int
    candidates: str


_COLUMNS = "serial, made_at, query, places, pool, candidates"


class SearchStorage:
    """Searches by their number, from 1."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, rows: Sequence[SearchRow], keep: int) -> None:
        """Keep searches, and of all only the latest `keep`. The change counter stays: it is no change of the memory."""
        for row in rows[-keep:] if keep else ():
            self._connection.execute(
                "INSERT INTO searches VALUES (?, ?, ?, ?, ?, ?)",
                [row.serial, stored(row.at), row.query, row.places, row.pool, row.candidates],
                counted=False,
            )
        self._connection.execute(
            "DELETE FROM searches WHERE serial IN (SELECT serial FROM searches ORDER BY serial DESC OFFSET ?)",
            [keep],
            counted=False,
        )

    def get(self, serial: int) -> SearchRow | None:
        """A search; None where it is not kept."""
        found = self._connection.rows(f"SELECT {_COLUMNS} FROM searches WHERE serial = ?", [serial])
        return _search(found[0]) if found else None

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        """The latest searches, the newest first."""
        found = self._connection.rows(
            f"SELECT {_COLUMNS} FROM searches ORDER BY serial DESC LIMIT ?", [limit]
        )
        return tuple(map(_search, found))


def _search(row: Sequence[Any]) -> SearchRow:
    serial, at, query, places, pool, candidates = row
    return SearchRow(int(serial), as_utc(at), str(query), int(places), int(pool), str(candidates))
