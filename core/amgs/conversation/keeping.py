"""Store conversations: their messages, the mentions in them, and the blocks created from them, by which a search finds
them. `add_messages` serves the API and the gateway, `assign_names` and `keep` serve imports.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from amgs.clock import place
from amgs.conversation import mention_finder
from amgs.conversation.coreference.passage import GrammarParser
from amgs.conversation.mention_finder import find_by_grammar
from amgs.conversation.messages import number_sessions
from amgs.errors import MessageError, UnknownConversationError
from amgs.exchange.importers.records import ForeignConversation, speaker
from amgs.identity import block_id, file_of
from amgs.ingest import raw_blocks
from amgs.ingest.document import cut
from amgs.ingest.raw_blocks import RawBlock
from amgs.log import journal
from amgs.sessions.messages import call_text
from amgs.storage.messages import StoredMessage
from amgs.storage.store import Storage
from amgs.text import names
from amgs.text.language_model import approximate_tokens
from amgs.text.words import plural
from amgs.types.conversation import ConversationAdded, Message
from amgs.types.conversation_views import ConversationEntity, ConversationResolved, MentionType, ResolvedMention

RESOLVE_KIND = "resolve"
_CONTEXT = 40
"""Messages before the first waiting message that are parsed as its context."""


def note(storage: Storage, conversation: str, messages: Sequence[Message], operation: int) -> None:
    """Store the mentions that rules find in messages that an operation has just added."""
    storage.mentions.add(conversation, _find_by_shape(messages), operation)


def resolve(storage: Storage, conversation: str, now: datetime, parser: GrammarParser) -> ConversationResolved:
    """Parse the waiting messages and store their mentions, with a journal entry.

    Raises ModelError without a parser; nothing is changed then.

    The parser takes three seconds to load and eight milliseconds a message, so that messages wait for it after they
    were added; what rules find is stored at once.
    """
    waiting = storage.mentions.waiting(conversation)
    if not waiting:
        return ConversationResolved(conversation, 0, 0)
    first = max(1, waiting[0] - _CONTEXT)
    messages = [stored_message.message for stored_message in storage.messages.read_messages(conversation, first)]
    known = storage.mentions.read_mentions(conversation, first)
    # Messages that came before there were mentions have none.
    known_numbers = {mention.number for mention in known if mention.detector == mention_finder.SHAPE}
    new = list(_find_by_shape([m for m in messages if m.number in set(waiting) - known_numbers]))
    new += find_by_grammar(messages, frozenset(waiting), (*known, *new), parser)
    with storage.transaction():
        summary = f"conversation {conversation}, {plural(len(waiting), 'message')} resolved"
        operation = journal.write(storage, RESOLVE_KIND, now, summary, []).id
        storage.mentions.add(conversation, new, operation)
        storage.mentions.mark(conversation, waiting, operation)
    return ConversationResolved(conversation, len(waiting), len(new), operation)


def _find_by_shape(messages: Sequence[Message]) -> tuple[ResolvedMention, ...]:
    return tuple(mention for message in messages for mention in mention_finder.find_by_shape(message))


_OWNED = re.compile(r"(.+?)’s ")
_TWICE = frozenset({"concept"})
"""Kinds of entity that count only where several messages mention them."""


def gather_entities(
    mentions: Iterable[ResolvedMention], type: MentionType | None = None
) -> tuple[ConversationEntity, ...]:
    """Group mentions to entities, the most often mentioned first, ties by first mention.

    Two mentions are the same entity when their normal form and type are equal; a pronoun counts for what it means.
    """
    groups: dict[tuple[MentionType, str], list[ResolvedMention]] = defaultdict(list)
    references: list[ResolvedMention] = []
    for mention in mentions:
        if mention.kind == "reference":
            references.append(mention)
        else:
            groups[mention.type, names.key(mention.means[0])].append(mention)
    for mention in references:
        for name in mention.means:
            groups[mention.type, names.key(name)].append(mention)
    entities = [
        _entity(of_type, members)
        for (of_type, _), members in groups.items()
        if type in (None, of_type)
        and not (members[0].kind in _TWICE and len({member.number for member in members}) < 2)
    ]
    return tuple(
        sorted(
            entities, key=lambda entity: (-len(entity.mentions), entity.mentions[0].number, entity.mentions[0].start)
        )
    )


def _entity(type: MentionType, members: Sequence[ResolvedMention]) -> ConversationEntity:
    """Return the entity of mentions with the same normal form and type."""
    ordered = tuple(sorted(members, key=lambda mention: (mention.number, mention.start)))
    forms = Counter(mention.means[0] for mention in ordered if len(mention.means) == 1)
    name = max(forms, key=lambda form: (forms[form], form)) if forms else " and ".join(ordered[0].means)
    confidences = [mention.confidence for mention in ordered if mention.kind != "reference"]
    owned = _OWNED.match(name) if ordered[0].kind == "personal" else None
    return ConversationEntity(
        name, type, ordered, max(confidences or [mention.confidence for mention in ordered]), owned[1] if owned else ""
    )


def split_by_confidence(mentions: Sequence[ResolvedMention], least: float) -> tuple[tuple[ResolvedMention, ...], int]:
    """Return the mentions with a confidence of `least` or more, and the number of the others."""
    sure_mentions = tuple(mention for mention in mentions if mention.confidence >= least)
    return sure_mentions, len(mentions) - len(sure_mentions)


KIND = "ingest"
_PIECE = 1000
"""Characters of a piece at most."""
_WORD_PIECES = 240
"""Tokens of a piece at most: what the embedder reads, less some for the speaker's name."""
LONGEST_NAME = 120


def source_of(conversation: str, session: int) -> str:
    """Return the name of the source that stands for a session of a conversation."""
    return f"conversation/{conversation}/{session}"


def sources_of(storage: Storage, conversation: str) -> list[str]:
    """Return the names of a conversation's sources, one for each session with blocks."""
    start = source_of(conversation, 0)[:-1]
    named = [source.name for source in storage.sources.names() if source.name.startswith(start)]
    wanted = [name for name in named if name[len(start) :].isdecimal()]
    return sorted({piece.source for piece in storage.sources.read_pieces(wanted)}) if wanted else []


def add_messages(
    storage: Storage,
    conversation: str,
    messages: Sequence[Message],
    now: datetime,
    before: Sequence[Message] = (),
    notes: Sequence[str] = (),
) -> ConversationAdded:
    """Store messages and ingest their text as blocks, in a single transaction with a journal entry.

    before: the messages that are stored already. notes: remarks that the result repeats. Raises MessageError for an
    invalid name.
    """
    check_name(conversation)
    first = messages[0].number if messages else storage.messages.count(conversation) + 1
    if not messages:
        return ConversationAdded(conversation, first, first - 1, 0, tuple(notes))
    messages = [_place_message(message, now.tzinfo) for message in messages]
    with storage.transaction():
        blocks: list[RawBlock] = []
        stored_messages: list[StoredMessage] = []
        numbers = number_sessions((*before, *messages))
        source, last = "", ""
        if before:
            source = source_of(conversation, numbers[len(before) - 1])
            last = _last_locator(storage, source)
        for message, session in zip(messages, numbers[len(before) :], strict=True):
            if source != source_of(conversation, session):
                source, last = source_of(conversation, session), ""
            drafts = list(_drafts(conversation, source, message, last))
            if drafts:
                last = str(drafts[-1].meta["source"])
            blocks += drafts
            stored_messages.append(StoredMessage(message, tuple(block_id(d.content) for d in drafts)))
        report = raw_blocks.ingest(
            storage, blocks, now, origin=f"conversation {conversation}", source_of=lambda piece: file_of(piece)
        )
        operation = report.operation
        if operation is None:
            summary = f"{plural(len(messages), 'message')} of conversation {conversation}"
            operation = journal.write(storage, KIND, now, summary, []).id
        storage.messages.add(conversation, stored_messages, operation)
        note(storage, conversation, messages, operation)
    return ConversationAdded(
        conversation, first, messages[-1].number, len(report.added), tuple(notes), operation, len(report.again)
    )


def read_held(
    storage: Storage, conversation: str, first: int = 1, last: int | None = None
) -> tuple[StoredMessage, ...]:
    """Return the messages of a conversation; raises UnknownConversationError for an unknown name."""
    stored_messages = storage.messages.read_messages(conversation, first, last)
    if not stored_messages and not storage.messages.count(conversation):
        known = [summary.name for summary in storage.messages.conversations()]
        way_out = (
            f"The conversations are: {', '.join(known[:5])}{', …' if len(known) > 5 else ''}."
            if known
            else "None is held."
        )
        raise UnknownConversationError(f"There is no conversation {conversation[:60]!r}.", way_out=way_out)
    return stored_messages


def check_name(conversation: str) -> None:
    """Raise MessageError for an invalid name of a conversation."""
    fit = conversation.strip() == conversation and 0 < len(conversation) <= LONGEST_NAME
    if not fit or "#" in conversation or not conversation.isprintable():
        raise MessageError(
            f"{conversation[:40]!r} is no name for a conversation.",
            way_out=f"Use up to {LONGEST_NAME} printable characters without #.",
        )


def _last_locator(storage: Storage, source: str) -> str:
    """Return the locator of a session's last block, which the next block follows; "" if none."""
    source_pieces = storage.sources.read_pieces([source])
    return source_pieces[-1].locator if source_pieces else ""


def _drafts(conversation: str, source: str, message: Message, before: str) -> Iterator[RawBlock]:
    """Yield a message as raw blocks `Name: text`, short enough to be embedded whole, each following the previous block.

    before: locator of the block before the first; "" for none.
    """
    who = message.speaker or speaker(message.role)
    calls = [call_text(call.name, call.arguments) for call in message.calls]
    parts = pieces("\n\n".join(part for part in (message.text, *calls) if part.strip()))
    for part, text in enumerate(parts, 1):
        here = f"{source}#{message.number}" + (f"#{part}" if len(parts) > 1 else "")
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
    """Divide a text into parts short enough to be embedded whole."""
    parts: list[str] = []
    for part in cut(text, _PIECE):
        size = approximate_tokens(part)
        limit = len(part) if size <= _WORD_PIECES else max(len(part) * _WORD_PIECES // size, 1)
        parts += cut(part, limit)
    return tuple(parts)


_LONGEST = LONGEST_NAME - 8
"""Characters of a name, less some for a number after it."""


@dataclass(frozen=True, slots=True)
class NewMessages:
    """Messages of a conversation that are not stored yet, each with the ids of its blocks."""

    conversation: str
    messages: tuple[tuple[Message, tuple[str, ...]], ...]


def assign_names(storage: Storage, conversations: Sequence[ForeignConversation]) -> list[NewMessages]:
    """Return the name under which to store each imported conversation, and which of its messages are new.

    A conversation that continues the stored one of its name is continued; a conversation that is stored wholly is left
    out. Where another conversation has the name, a number is added.
    """
    by_name: dict[str, NewMessages] = {}
    for conversation in conversations:
        wanted = _fit_name(conversation.name)
        for number in itertools.count(1):
            name = wanted if number == 1 else f"{wanted} ({number})"
            if name in by_name:
                continue
            history = [stored_message.message for stored_message in storage.messages.read_messages(name)]
            if all(
                _is_same_message(*pair) for pair in zip(history, (m for m, _ in conversation.messages), strict=False)
            ):
                by_name[name] = NewMessages(name, conversation.messages[len(history) :])
                break
    return [new_messages for new_messages in by_name.values() if new_messages.messages]


def keep(storage: Storage, new: Sequence[NewMessages], operation: int, zone: tzinfo | None) -> None:
    """Store new messages as part of a journalled operation. zone: time zone of messages that do not give theirs."""
    for new_messages in new:
        storage.messages.add(
            new_messages.conversation, [StoredMessage(*pair) for pair in new_messages.messages], operation
        )
        messages = [_place_message(message, zone) for message, _ in new_messages.messages]
        note(storage, new_messages.conversation, messages, operation)


def _place_message(message: Message, zone: tzinfo | None) -> Message:
    return message if message.at is None else replace(message, at=place(message.at, zone))


def _is_same_message(original: Message, message: Message) -> bool:
    """Return whether two messages have the same role, text, time and answered call."""
    return (original.role, original.text, original.at, original.answers) == (
        message.role,
        message.text,
        message.at,
        message.answers,
    )


def _fit_name(name: str) -> str:
    """Return a valid name for a conversation, near the requested one."""
    text = "".join(character if character.isprintable() and character != "#" else " " for character in name)
    return " ".join(text.split())[:_LONGEST].strip() or "conversation"
