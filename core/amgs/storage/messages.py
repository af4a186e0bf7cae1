"""The tables `messages`, conversations exactly as they were said, and `standing_messages`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored
from amgs.types.conversation import ConversationSummary, Message, ToolCall


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message and the ids of its pieces, in order; none where it says nothing."""

    message: Message
    blocks: tuple[str, ...]


STANDING = (
    "(SELECT m.* FROM messages m LEFT JOIN operations a ON a.id = m.added_by LEFT JOIN operations e "
    "ON e.id = m.ended_by WHERE a.undone IS NOT TRUE AND (m.ended_by IS NULL OR e.undone))"
)
"""The messages whose operations stand and that no standing operation has ended."""
_COLUMNS = "number, role, content, said_at, speaker, calls::VARCHAR, answers, pinned, blocks::VARCHAR"


class MessageStorage:
    """Messages by conversation and number. A message counts while the operation that added it stands, and its end while
    the one that ended it does.
    """

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def add(self, conversation: str, messages: Sequence[StoredMessage], operation: int) -> None:
        """Note messages of a conversation."""
        for one in messages:
            said = one.message
            calls = json.dumps([[c.id, c.name, c.arguments] for c in said.calls], ensure_ascii=False)
            self._connection.execute(
                "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                [
                    conversation,
                    said.number,
                    said.role,
                    said.text,
                    None if said.at is None else stored(said.at),
                    said.speaker,
                    calls,
                    said.answers,
                    said.pinned,
                    json.dumps(list(one.blocks)),
                    operation,
                ],
                structural=False,
            )

    def stand(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Note that every context is to keep these messages whole."""
        self._connection.execute(
            "INSERT INTO standing_messages SELECT ?, unnest(?::BIGINT[]), ?, NULL",
            [conversation, sorted(numbers), operation],
            structural=False,
        )

    def fall(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Note that contexts need not keep these messages any more."""
        self._connection.execute(
            "UPDATE standing_messages SET ended_by = ? WHERE conversation = ? AND (ended_by IS NULL OR ended_by IN "
            "(SELECT id FROM operations WHERE undone)) AND number IN (SELECT unnest(?::BIGINT[]))",
            [operation, conversation, sorted(numbers)],
            structural=False,
        )

    def standing(self, conversation: str) -> frozenset[int]:
        """The numbers of messages that every context is to keep whole, of those that are held."""
        # Of another message that later came under the same number and name, nothing was said.
        rows = self._connection.rows(
            "SELECT DISTINCT s.number FROM standing_messages s LEFT JOIN operations a ON a.id = s.added_by "
            f"LEFT JOIN operations e ON e.id = s.ended_by JOIN {STANDING} m ON m.number = s.number "
            "AND m.conversation = s.conversation WHERE s.conversation = ? AND a.undone IS NOT TRUE "
            "AND (s.ended_by IS NULL OR e.undone) AND s.added_by > m.added_by",
            [conversation],
        )
        return frozenset(int(row[0]) for row in rows)

    def end(self, conversation: str, operation: int) -> None:
        """Note that a conversation is no longer held."""
        self._connection.execute(
            "UPDATE messages SET ended_by = ? WHERE conversation = ? AND (ended_by IS NULL OR ended_by IN "
            "(SELECT id FROM operations WHERE undone)) AND added_by NOT IN "
            "(SELECT id FROM operations WHERE undone)",
            [operation, conversation],
            structural=False,
        )

    def held(self, conversation: str, first: int = 1, last: int | None = None) -> tuple[StoredMessage, ...]:
        """The messages of a conversation from one number to another, both included, in order."""
        upto = "" if last is None else " AND number <= ?"
        rows = self._connection.rows(
            f"SELECT {_COLUMNS} FROM {STANDING} WHERE conversation = ? AND number >= ?{upto} ORDER BY number",
            [conversation, first, *([] if last is None else [last])],
        )
        return tuple(map(_message, rows))

    def some(self, conversation: str, numbers: Collection[int]) -> dict[int, StoredMessage]:
        """Those messages of a conversation that are held of these numbers."""
        rows = self._connection.rows(
            f"SELECT {_COLUMNS} FROM {STANDING} WHERE conversation = ? AND number IN (SELECT unnest(?::BIGINT[]))",
            [conversation, list(numbers)],
        )
        return {one.message.number: one for one in map(_message, rows)}

    def count(self, conversation: str) -> int:
        """How many messages a conversation has; 0 for one that is not held."""
        return int(
            self._connection.value(f"SELECT count(*) FROM {STANDING} WHERE conversation = ?", [conversation])
        )

    def conversations(self) -> tuple[ConversationSummary, ...]:
        """The conversations that are held, by name."""
        rows = self._connection.rows(
            f"SELECT conversation, count(*), min(said_at), max(said_at) FROM {STANDING} "
            "GROUP BY conversation ORDER BY conversation"
        )
        return tuple(
            ConversationSummary(str(name), int(size), _at(first), _at(last))
            for name, size, first, last in rows
        )


def _at(value: Any) -> datetime | None:
    return None if value is None else as_utc(value)


def _message(row: Sequence[Any]) -> StoredMessage:
    number, role, content, said_at, speaker, calls, answers, pinned, blocks = row
    made = tuple(ToolCall(str(i), str(name), str(given)) for i, name, given in json.loads(calls))
    message = Message(
        int(number),
        role,
        str(content),
        _at(said_at),
        str(speaker),
        made,
        str(answers),
        pinned=bool(pinned),
    )
    return StoredMessage(message, tuple(map(str, json.loads(blocks))))
