"""Conversations in the store: messages as they were said, and the blocks by which a search finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from amgs.errors import MessageError, UnknownConversationError
from amgs.exchange.importers.parts import call_text
from amgs.exchange.importers.records import speaker
from amgs.identity import block_id, file_of
from amgs.ingest import raw_blocks
from amgs.ingest.pieces import cut
from amgs.ingest.raw_blocks import RawBlock
from amgs.log import journal
from amgs.storage.messages import StoredMessage
from amgs.storage.protocol import Storage
from amgs.text.tokens import approximate_tokens
from amgs.types.conversation import ConversationAdded, Message

KIND = "ingest"
_PIECE = 1000
"""Characters of a piece at most."""
_WORD_PIECES = 240
"""Word pieces that an embedder reads of a text, some left for who speaks."""
_LONGEST_NAME = 120


def source_of(conversation: str) -> str:
    """The name of the source that a conversation is."""
    return f"conversation/{conversation}"


def add(
    storage: Storage,
    conversation: str,
    messages: Sequence[Message],
    now: datetime,
    notes: Sequence[str] = (),
) -> ConversationAdded:
    """Keep messages and take their pieces in, in one transaction with one journal entry.

    Raises MessageError for a name that cannot be one.
    """
    check_name(conversation)
    first = messages[0].number if messages else storage.messages.count(conversation) + 1
    if not messages:
        return ConversationAdded(conversation, first, first - 1, 0, tuple(notes))
    with storage.transaction():
        made, before, held = [], _last_place(storage, conversation), []
        for message in messages:
            drafts = list(_drafts(conversation, message, before))
            if drafts:
                before = str(drafts[-1].meta["source"])
            made += drafts
            held.append(StoredMessage(message, tuple(block_id(d.content) for d in drafts)))
        report = raw_blocks.ingest(
            storage, made, now, told=f"conversation {conversation}", source_of=lambda piece: file_of(piece)
        )
        operation = report.operation
        if operation is None:
            told = f"{len(messages):,} messages of conversation {conversation}"
            operation = journal.write(storage, KIND, now, told, []).id
        storage.messages.add(conversation, held, operation)
    return ConversationAdded(
        conversation, first, messages[-1].number, len(report.added), tuple(notes), operation
    )


def held(
    storage: Storage, conversation: str, first: int = 1, last: int | None = None
) -> tuple[StoredMessage, ...]:
    """The messages of a conversation; raises UnknownConversationError for one that is not held."""
    found = storage.messages.held(conversation, first, last)
    if not found and not storage.messages.count(conversation):
        known = [one.name for one in storage.messages.conversations()]
        told = f"There are {', '.join(known[:5])}." if known else "None is held."
        raise UnknownConversationError(f"There is no conversation {conversation[:60]!r}.", way_out=told)
    return found


def check_name(conversation: str) -> None:
    """Raise MessageError for a name that cannot be one."""
    fit = conversation.strip() == conversation and 0 < len(conversation) <= _LONGEST_NAME
    if not fit or "#" in conversation or not conversation.isprintable():
        raise MessageError(
            f"{conversation[:40]!r} is no name for a conversation.",
            way_out=f"Use up to {_LONGEST_NAME} printable characters without #.",
        )


def _last_place(storage: Storage, conversation: str) -> str:
    """The source of the last piece of a conversation; empty where there is none."""
    found = storage.sources.held([source_of(conversation)])
    return found[-1].locator if found else ""


def _drafts(conversation: str, message: Message, before: str) -> Iterator[RawBlock]:
    """A message in pieces that an embedder reads whole, `Name: text`, each of which follows the one before it."""
    who = message.speaker or speaker(message.role)
    calls = [call_text(call.name, call.arguments) for call in message.calls]
    parts = pieces("\n\n".join(part for part in (message.text, *calls) if part.strip()))
    for part, text in enumerate(parts, 1):
        here = f"{source_of(conversation)}#{message.number}" + (f"#{part}" if len(parts) > 1 else "")
        meta: dict[str, Any] = {
            "kind": "dialogue",
            "conversation": conversation,
            "order": message.number,
            "role": message.role,
            "speaker": who,
            "source": here,
        }
        if len(parts) > 1:
            meta |= {"part": part, "parts": len(parts)}
        if before:
            meta["follows"] = before
        yield RawBlock(f"{who}: {text}", message.at, meta)
        before = here


def pieces(text: str) -> tuple[str, ...]:
    """A text in parts that an embedder reads whole."""
    found: list[str] = []
    for part in cut(text, _PIECE):
        size = approximate_tokens(part)
        limit = len(part) if size <= _WORD_PIECES else max(len(part) * _WORD_PIECES // size, 1)
        found += cut(part, limit)
    return tuple(found)
