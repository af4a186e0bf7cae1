"""The table `exchanges`: the latest requests of agents to their model through the gateway, without the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """A request. last: the last message of its conversation that it, or its answer, holds; 0 for none. record: what
    else there is to tell, as JSON; see `amgs.conversation.exchanges`.
    """

    number: int
    at: datetime
    conversation: str
    last: int
    record: str


_COLUMNS = "number, made_at, conversation, last, record"


class ExchangeStorage:
    """Requests by their number, from 1."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, row: ExchangeRow, keep: int) -> None:
        """Keep a request, and of all only the latest `keep`. The change counter stays: it is no change of the
        memory.
        """
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
        """A request; None where it is not kept."""
        found = self._connection.rows(f"SELECT {_COLUMNS} FROM exchanges WHERE number = ?", [number])
        return _exchange(found[0]) if found else None

    def latest(self, limit: int, conversation: str | None = None) -> Sequence[ExchangeRow]:
        """The latest requests, of one conversation or of all, the newest first."""
        named = "" if conversation is None else "WHERE conversation = ? "
        found = self._connection.rows(
            f"SELECT {_COLUMNS} FROM exchanges {named}ORDER BY number DESC LIMIT ?",
            [*([] if conversation is None else [conversation]), limit],
        )
        return tuple(map(_exchange, found))


def _exchange(row: Sequence[Any]) -> ExchangeRow:
    number, made_at, conversation, last, record = row
    return ExchangeRow(int(number), as_utc(made_at), str(conversation), int(last), str(record))
