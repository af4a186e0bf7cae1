"""The table `exchanges`: the latest requests through the gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amgs.clock import as_utc
from amgs.storage.exchanges import ExchangeRow, ExchangeStorage
from amgs.storage.sql.connection import SqlConnection, stored

_COLUMNS = "number, made_at, conversation, last, record"


class SqlExchanges(ExchangeStorage):
    """`ExchangeStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, row: ExchangeRow, keep: int) -> None:
        self._connection.execute("DELETE FROM exchanges WHERE number = ?", [row.number], counted=False)
        self._connection.execute(
            "INSERT INTO exchanges VALUES (?, ?, ?, ?, ?)",
            [row.number, stored(row.at), row.conversation, row.last, row.record],
            counted=False,
        )
        self._connection.execute(
            "DELETE FROM exchanges WHERE number IN "
            "(SELECT number FROM exchanges ORDER BY number DESC OFFSET ?)",
            [keep],
            counted=False,
        )

    def get(self, number: int) -> ExchangeRow | None:
        found = self._connection.rows(f"SELECT {_COLUMNS} FROM exchanges WHERE number = ?", [number])
        return _exchange(found[0]) if found else None

    def latest(self, limit: int, conversation: str | None = None) -> Sequence[ExchangeRow]:
        named = "" if conversation is None else "WHERE conversation = ? "
        found = self._connection.rows(
            f"SELECT {_COLUMNS} FROM exchanges {named}ORDER BY number DESC LIMIT ?",
            [*([] if conversation is None else [conversation]), limit],
        )
        return tuple(map(_exchange, found))


def _exchange(row: Sequence[Any]) -> ExchangeRow:
    number, made_at, conversation, last, record = row
    return ExchangeRow(int(number), as_utc(made_at), str(conversation), int(last), str(record))
