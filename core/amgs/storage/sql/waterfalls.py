"""The table `waterfalls`: the candidates of the latest assemblies."""

from __future__ import annotations

from amgs.storage.sql.connection import SqlConnection
from amgs.storage.waterfalls import WaterfallRow, WaterfallStorage


class SqlWaterfalls(WaterfallStorage):
    """`WaterfallStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, row: WaterfallRow, keep: int) -> None:
        self._connection.execute(
            "DELETE FROM waterfalls WHERE serial IN (SELECT serial FROM waterfalls ORDER BY serial DESC OFFSET ?)",
            [max(keep - 1, 0)],
            structural=False,
        )
        if keep > 0:
            self._connection.execute(
                "INSERT INTO waterfalls VALUES (?, ?)", [row.serial, row.candidates], structural=False
            )

    def get(self, serial: int) -> str | None:
        value = self._connection.value("SELECT candidates FROM waterfalls WHERE serial = ?", [serial])
        return None if value is None else str(value)
