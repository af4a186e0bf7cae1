"""Tables `messages` and `standing_messages`: conversations word for word; `mentions`: what words in them refer to;
`exchanges`, `prompts` and `exchange_prompts`: the gateway's latest requests with their system prompts and tools.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, to_stored_time
from amgs.types.conversation import ConversationSummary, Message, ToolCall
from amgs.types.conversation_views import ResolvedMention
from amgs.types.gateway import GatewayPrompt, PromptKind, Usage


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message and the ids of its blocks in order; none if it has no text."""

    message: Message
    blocks: tuple[str, ...]


STANDING = (
    "(SELECT m.* FROM messages m LEFT JOIN operations a ON a.id = m.added_by LEFT JOIN operations e "
    "ON e.id = m.ended_by WHERE a.undone IS NOT TRUE AND (m.ended_by IS NULL OR e.undone))"
)
"""SQL: messages whose operation is not undone and that no valid operation has removed."""
_COLUMNS = "number, role, content, said_at, speaker, calls::VARCHAR, answers, pinned, blocks::VARCHAR"


class MessageStorage(StoragePart):
    """Messages by conversation and number.

    A message counts while the operation that added it is not undone; its removal while the operation that removed it is
    not.
    """

    def add(self, conversation: str, messages: Sequence[StoredMessage], operation: int) -> None:
        """Store messages of a conversation."""
        for stored_message in messages:
            message = stored_message.message
            calls = json.dumps([[c.id, c.name, c.arguments] for c in message.calls], ensure_ascii=False)
            self._note(
                "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                [
                    conversation,
                    message.number,
                    message.role,
                    message.text,
                    None if message.at is None else to_stored_time(message.at),
                    message.speaker,
                    calls,
                    message.answers,
                    message.pinned,
                    json.dumps(list(stored_message.blocks)),
                    operation,
                ],
            )

    def keep_whole(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Record that every context must contain these messages whole."""
        self._note(
            "INSERT INTO standing_messages SELECT ?, unnest(?::BIGINT[]), ?, NULL",
            [conversation, sorted(numbers), operation],
        )

    def release(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Record that contexts need not contain these messages any more."""
        self._note(
            "UPDATE standing_messages SET ended_by = ? WHERE conversation = ? AND (ended_by IS NULL OR ended_by IN "
            "(SELECT id FROM operations WHERE undone)) AND number IN (SELECT unnest(?::BIGINT[]))",
            [operation, conversation, sorted(numbers)],
        )

    def read_kept(self, conversation: str) -> frozenset[int]:
        """Return the numbers of present messages that every context must contain whole."""
        # Not a later message that was added under the same name and number.
        rows = self._rows(
            "SELECT DISTINCT s.number FROM standing_messages s LEFT JOIN operations a ON a.id = s.added_by "
            f"LEFT JOIN operations e ON e.id = s.ended_by JOIN {STANDING} m ON m.number = s.number "
            "AND m.conversation = s.conversation WHERE s.conversation = ? AND a.undone IS NOT TRUE "
            "AND (s.ended_by IS NULL OR e.undone) AND s.added_by > m.added_by",
            [conversation],
        )
        return frozenset(row[0] for row in rows)

    def end(self, conversation: str, operation: int) -> None:
        """Record that a conversation was removed."""
        self._note(
            "UPDATE messages SET ended_by = ? WHERE conversation = ? AND (ended_by IS NULL OR ended_by IN "
            "(SELECT id FROM operations WHERE undone)) AND added_by NOT IN "
            "(SELECT id FROM operations WHERE undone)",
            [operation, conversation],
        )

    def read_messages(self, conversation: str, first: int = 1, last: int | None = None) -> tuple[StoredMessage, ...]:
        """Return the messages of a conversation from `first` to `last`, both included, in order."""
        upto = "" if last is None else " AND number <= ?"
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM {STANDING} WHERE conversation = ? AND number >= ?{upto} ORDER BY number",
            [conversation, first, *([] if last is None else [last])],
        )
        return tuple(map(_message, rows))

    def some(self, conversation: str, numbers: Collection[int]) -> dict[int, StoredMessage]:
        """Return those of a conversation's messages that have these numbers, by number."""
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM {STANDING} WHERE conversation = ? AND number IN (SELECT unnest(?::BIGINT[]))",
            [conversation, list(numbers)],
        )
        return {message.message.number: message for message in map(_message, rows)}

    def count(self, conversation: str) -> int:
        """Count the messages of a conversation; 0 if there is none of that name."""
        return self._count(f"SELECT count(*) FROM {STANDING} WHERE conversation = ?", [conversation])

    def conversations(self) -> tuple[ConversationSummary, ...]:
        """Return the conversations by name."""
        rows = self._rows(
            f"SELECT conversation, count(*), min(said_at), max(said_at) FROM {STANDING} "
            "GROUP BY conversation ORDER BY conversation"
        )
        return tuple(ConversationSummary(name, size, _at(first), _at(last)) for name, size, first, last in rows)


def _at(value: Any) -> datetime | None:
    return None if value is None else as_utc(value)


def _message(row: Sequence[Any]) -> StoredMessage:
    number, role, content, said_at, speaker, calls, answers, pinned, blocks = row
    tool_calls = tuple(ToolCall(i, name, arguments) for i, name, arguments in json.loads(calls))
    message = Message(number, role, content, _at(said_at), speaker, tool_calls, answers, pinned=bool(pinned))
    return StoredMessage(message, tuple(map(str, json.loads(blocks))))


_OF_STANDING = (
    f"mentions n JOIN {STANDING} m ON m.conversation = n.conversation AND m.number = n.number AND m.added_by IS NOT "
    "DISTINCT FROM n.said_by LEFT JOIN operations f ON f.id = n.added_by WHERE f.undone IS NOT TRUE"
)
"""SQL: mentions whose operation is not undone, in present messages."""


class MentionStorage(StoragePart):
    """Mentions by conversation and message. A mention counts while its message and the operation that found it do."""

    def add(self, conversation: str, mentions: Sequence[ResolvedMention], operation: int) -> None:
        """Store mentions in present messages."""
        if not mentions:
            return
        rows = [
            (
                mention.number,
                mention.start,
                mention.end,
                mention.kind,
                mention.type,
                json.dumps(list(mention.means), ensure_ascii=False),
                None if mention.antecedent is None else json.dumps(list(mention.antecedent)),
                mention.confidence,
                mention.because,
                mention.detector,
            )
            for mention in mentions
        ]
        columns = ", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in _MENTION_COLUMNS.items())
        self._note(
            f"INSERT INTO mentions SELECT m.conversation, m.number, m.added_by, span_start, span_end, kind, type, "
            f"means::JSON, antecedent::JSON, confidence, because, detector, ? FROM (SELECT {columns}) r "
            f"JOIN {STANDING} m ON m.number = r.of WHERE m.conversation = ?",
            [operation, *(list(values) for values in zip(*rows, strict=True)), conversation],
        )

    def read_mentions(self, conversation: str, first: int = 1, last: int | None = None) -> tuple[ResolvedMention, ...]:
        """Return the mentions in messages from `first` to `last`, both included, in the order of the text.

        Aliases, which older stores used to join two names, are left out.
        """
        upto = "" if last is None else " AND n.number <= ?"
        rows = self._rows(
            "SELECT n.number, span_start, span_end, m.content, n.kind, type, means::VARCHAR, confidence, because, "
            f"detector, antecedent::VARCHAR FROM {_OF_STANDING} AND n.kind <> 'alias' "
            f"AND n.conversation = ? AND n.number >= ?{upto} "
            "ORDER BY n.number, span_start, span_end DESC, n.kind, detector",
            [conversation, first, *([] if last is None else [last])],
        )
        return tuple(map(_mention, rows))

    def mark(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Record that messages were read by the parser."""
        self._note(
            "UPDATE messages SET resolved_by = ? WHERE conversation = ? AND number IN (SELECT unnest(?::BIGINT[])) AND "
            "added_by NOT IN (SELECT id FROM operations WHERE undone) AND (ended_by IS NULL OR ended_by IN "
            "(SELECT id FROM operations WHERE undone))",
            [operation, conversation, list(numbers)],
        )

    def waiting(self, conversation: str) -> tuple[int, ...]:
        """Return the numbers of messages that the parser has not read, in order."""
        rows = self._rows(
            f"SELECT m.number FROM {STANDING} m LEFT JOIN operations r ON r.id = m.resolved_by WHERE "
            "m.conversation = ? AND (m.resolved_by IS NULL OR r.undone) ORDER BY m.number",
            [conversation],
        )
        return tuple(row[0] for row in rows)

    def faults(self) -> tuple[tuple[str, int, str], ...]:
        """Return (conversation, number, what is wrong) of mentions without a message, or beyond its end."""
        return tuple(
            self._rows(
                "SELECT n.conversation, n.number, CASE WHEN m.number IS NULL THEN 'it is of no message' ELSE "
                "'it is of characters that the message has not' END FROM mentions n LEFT JOIN messages m ON "
                "m.conversation = n.conversation AND m.number = n.number AND m.added_by IS NOT DISTINCT FROM n.said_by "
                "WHERE m.number IS NULL OR span_start < 0 OR span_start >= span_end OR span_end > length(m.content) "
                "ORDER BY 1, 2, 3"
            )
        )


_MENTION_COLUMNS = {
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
    antecedent_span = None if antecedent is None else json.loads(antecedent)
    return ResolvedMention(
        number,
        start,
        end,
        content[start:end],
        kind,
        type_,
        tuple(map(str, json.loads(means))),
        confidence,
        because,
        detector,
        None if antecedent_span is None else (antecedent_span[0], antecedent_span[1], antecedent_span[2]),
    )


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """A gateway request.

    last: number of the last message that it or its answer contains, 0 for none. record: the rest as JSON; see
    `amgs.conversation.exchanges`. usage: None if the model's server did not report it. prompt_count: number of stored
    prompts; None if they were not stored.
    """

    number: int
    at: datetime
    conversation: str
    last: int
    record: str
    usage: Usage | None = None
    prompt_count: int | None = None


PromptIds = dict[PromptKind, tuple[str, ...]]
"""Prompt ids of a request by kind, in order."""

_EXCHANGE_COLUMNS = "number, made_at, conversation, last, record, prompt_count, fresh, written, cached, output"


class ExchangeStorage(StoragePart):
    """Gateway requests by number, from 1. Writing them does not raise the change counter."""

    def put(self, row: ExchangeRow, keep: int, prompts: Sequence[GatewayPrompt] = ()) -> None:
        """Store a request with its prompts, and delete all but the latest `keep` requests; inside a transaction."""
        used = row.usage
        counts = [None] * 4 if used is None else [used.fresh, used.written, used.cached, used.output]
        self._write("DELETE FROM exchanges WHERE number = ?", [row.number])
        self._write("DELETE FROM exchange_prompts WHERE exchange = ?", [row.number])
        self._write(
            f"INSERT INTO exchanges ({_EXCHANGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [row.number, to_stored_time(row.at), row.conversation, row.last, row.record, row.prompt_count, *counts],
        )
        for position, prompt in enumerate(prompts):
            self._write(
                "INSERT INTO prompts (id, content) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE id = ?)",
                [prompt.id, prompt.text, prompt.id],
            )
            self._write(
                "INSERT INTO exchange_prompts (exchange, position, kind, after, prompt) VALUES (?, ?, ?, ?, ?)",
                [row.number, position, prompt.kind, prompt.after, prompt.id],
            )
        oldest = "SELECT number FROM exchanges ORDER BY number DESC OFFSET ?"
        self._write(f"DELETE FROM exchanges WHERE number IN ({oldest})", [keep])
        for table, bare in WITHOUT_EXCHANGE.items():
            self._write(f"DELETE FROM {table} WHERE {bare}", [])

    def get(self, number: int) -> ExchangeRow | None:
        """Return a request; None if it was deleted."""
        rows = self._rows(f"SELECT {_EXCHANGE_COLUMNS} FROM exchanges WHERE number = ?", [number])
        return _exchange(rows[0]) if rows else None

    def before(self, row: ExchangeRow) -> ExchangeRow | None:
        """Return the previous request of the same conversation; None if it was deleted."""
        rows = self._rows(
            f"SELECT {_EXCHANGE_COLUMNS} FROM exchanges WHERE conversation = ? AND number < ? "
            "ORDER BY number DESC LIMIT 1",
            [row.conversation, row.number],
        )
        return _exchange(rows[0]) if rows else None

    def latest(self, limit: int, conversation: str | None = None) -> Sequence[ExchangeRow]:
        """Return the latest requests, of a conversation or all, newest first."""
        named = "" if conversation is None else "WHERE conversation = ? "
        rows = self._rows(
            f"SELECT {_EXCHANGE_COLUMNS} FROM exchanges {named}ORDER BY number DESC LIMIT ?",
            [*([] if conversation is None else [conversation]), limit],
        )
        return tuple(map(_exchange, rows))

    def prompts(self, number: int) -> tuple[GatewayPrompt, ...]:
        """Return the prompts of a request, in order."""
        rows = self._rows(
            "SELECT e.kind, p.content, e.after FROM exchange_prompts e JOIN prompts p ON p.id = e.prompt "
            "WHERE e.exchange = ? ORDER BY e.position",
            [number],
        )
        return tuple(GatewayPrompt(kind, content, after) for kind, content, after in rows)

    def prompt_ids(self, conversations: Collection[str]) -> dict[str, dict[int, PromptIds]]:
        """Return the prompt ids of every request of these conversations that has stored prompts, by conversation and
        number, oldest first.
        """
        rows = self._rows(
            "SELECT e.conversation, e.number, p.kind, p.prompt FROM exchanges e "
            "LEFT JOIN exchange_prompts p ON p.exchange = e.number "
            "WHERE e.prompt_count IS NOT NULL AND e.conversation IN (SELECT unnest(?::VARCHAR[])) "
            "ORDER BY e.number, p.position",
            [list(conversations)],
        )
        prompts: dict[str, dict[int, PromptIds]] = {}
        for conversation, number, kind, prompt in rows:
            ids = prompts.setdefault(conversation, {}).setdefault(number, {})
            if kind is not None:
                ids[kind] = (*ids.get(kind, ()), prompt)
        return prompts

    def _write(self, statement: str, parameters: Sequence[object]) -> None:
        self._execute(statement, parameters, counted=False)


WITHOUT_EXCHANGE = {
    "exchange_prompts": "exchange NOT IN (SELECT number FROM exchanges)",
    "prompts": "id NOT IN (SELECT prompt FROM exchange_prompts)",
}
"""SQL conditions for rows that belong to no stored request, by table, in the order of deletion."""


def _exchange(row: Sequence[Any]) -> ExchangeRow:
    number, made_at, conversation, last, record, prompts, *counts = row
    usage = None if counts[0] is None else Usage(*(int(count or 0) for count in counts))
    prompt_count = None if prompts is None else prompts
    return ExchangeRow(number, as_utc(made_at), conversation, last, record, usage, prompt_count)
