"""The table `mentions`: what words of messages mean, kept beside the messages, which stay as they were said."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from amgs.storage.connection import SqlConnection
from amgs.storage.messages import STANDING
from amgs.types.mentions import ResolvedMention

_OF_STANDING = (
    f"mentions n JOIN {STANDING} m ON m.conversation = n.conversation AND m.number = n.number AND m.added_by IS NOT "
    "DISTINCT FROM n.said_by LEFT JOIN operations f ON f.id = n.added_by WHERE f.undone IS NOT TRUE"
)
"""Mentions whose operation stands, of messages that do."""


class MentionStorage:
    """Mentions by conversation and message. One counts while its message does, and the operation that found it."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def add(self, conversation: str, mentions: Sequence[ResolvedMention], operation: int) -> None:
        """Note mentions in messages that are held."""
        if not mentions:
            return
        rows = [
            (
                one.number,
                one.start,
                one.end,
                one.kind,
                one.type,
                json.dumps(list(one.means), ensure_ascii=False),
                None if one.antecedent is None else json.dumps(list(one.antecedent)),
                one.confidence,
                one.because,
                one.detector,
            )
            for one in mentions
        ]
        columns = ", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in _COLUMNS.items())
        self._connection.execute(
            f"INSERT INTO mentions SELECT m.conversation, m.number, m.added_by, span_start, span_end, kind, type, "
            f"means::JSON, antecedent::JSON, confidence, because, detector, ? FROM (SELECT {columns}) r "
            f"JOIN {STANDING} m ON m.number = r.of WHERE m.conversation = ?",
            [operation, *(list(values) for values in zip(*rows, strict=True)), conversation],
            structural=False,
        )

    def held(self, conversation: str, first: int = 1, last: int | None = None) -> tuple[ResolvedMention, ...]:
        """The mentions in the messages from one number to another, both included, in the order of the words.

        An alias, by which older stores make two names one, is none.
        """
        upto = "" if last is None else " AND n.number <= ?"
        rows = self._connection.rows(
            "SELECT n.number, span_start, span_end, m.content, n.kind, type, means::VARCHAR, confidence, because, "
            f"detector, antecedent::VARCHAR FROM {_OF_STANDING} AND n.kind <> 'alias' "
            f"AND n.conversation = ? AND n.number >= ?{upto} "
            "ORDER BY n.number, span_start, span_end DESC, n.kind, detector",
            [conversation, first, *([] if last is None else [last])],
        )
        return tuple(map(_mention, rows))

    def mark(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Note that messages that are held were read by the parser."""
        self._connection.execute(
            "UPDATE messages SET resolved_by = ? WHERE conversation = ? AND number IN (SELECT unnest(?::BIGINT[])) AND "
            "added_by NOT IN (SELECT id FROM operations WHERE undone) AND (ended_by IS NULL OR ended_by IN "
            "(SELECT id FROM operations WHERE undone))",
            [operation, conversation, list(numbers)],
            structural=False,
        )

    def waiting(self, conversation: str) -> tuple[int, ...]:
        """The numbers of the messages that were not, in order."""
        rows = self._connection.rows(
            f"SELECT m.number FROM {STANDING} m LEFT JOIN operations r ON r.id = m.resolved_by WHERE "
            "m.conversation = ? AND (m.resolved_by IS NULL OR r.undone) ORDER BY m.number",
            [conversation],
        )
        return tuple(int(row[0]) for row in rows)

    def faults(self) -> tuple[tuple[str, int, str], ...]:
        """(conversation, number, what is wrong) of mentions of no message, or beyond the characters of theirs."""
        rows = self._connection.rows(
            "SELECT n.conversation, n.number, CASE WHEN m.number IS NULL THEN 'it is of no message' ELSE "
            "'it is of characters that the message has not' END FROM mentions n LEFT JOIN messages m ON "
            "m.conversation = n.conversation AND m.number = n.number AND m.added_by IS NOT DISTINCT FROM n.said_by "
            "WHERE m.number IS NULL OR span_start < 0 OR span_start >= span_end OR span_end > length(m.content) "
            "ORDER BY 1, 2, 3"
        )
        return tuple((str(name), int(number), str(told)) for name, number, told in rows)


_COLUMNS = {
    "of": "BIGINT",
    "span_start": "BIGINT",
    "span_end": "BIGINT",
    "kind": "VARCHAR",
    "type": "VARCHAR",
    "means": "VARCHAR",
    "antecedent": "VARCHAR",
    "confidence": "DOUBLE",
    "because": "VARCHAR",
    "detector": "VARCHAR",
}


def _mention(row: Sequence[Any]) -> ResolvedMention:
    number, start, end, content, kind, type_, means, confidence, because, detector, antecedent = row
    told = None if antecedent is None else json.loads(antecedent)
    return ResolvedMention(
        int(number),
        int(start),
        int(end),
        str(content)[int(start) : int(end)],
        kind,
        type_,
        tuple(map(str, json.loads(means))),
        float(confidence),
        str(because),
        str(detector),
        None if told is None else (int(told[0]), int(told[1]), int(told[2])),
    )
