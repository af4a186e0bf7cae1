"""The table `searches`: the latest searches and their candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amgs.clock import as_utc
from amgs.storage.searches import SearchRow, SearchStorage
from amgs.storage.sql.connection import SqlConnection, stored

_COLUMNS = "serial, made_at, query, places, pool, candidates"


class SqlSearches(SearchStorage):
    """`SearchStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, rows: Sequence[SearchRow], keep: int) -> None:
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
        found = self._connection.rows(f"SELECT {_COLUMNS} FROM searches WHERE serial = ?", [serial])
        return _search(found[0]) if found else None

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        found = self._connection.rows(
            f"SELECT {_COLUMNS} FROM searches ORDER BY serial DESC LIMIT ?", [limit]
        )
        return tuple(map(_search, found))


def _search(row: Sequence[Any]) -> SearchRow:
    serial, at, query, places, pool, candidates = row
    return SearchRow(int(serial), as_utc(at), str(query), int(places), int(pool), str(candidates))
