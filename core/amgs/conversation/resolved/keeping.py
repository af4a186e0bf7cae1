"""Store the mentions in messages: by their form as messages are added, by grammar when `resolve` is called.

The parser takes three seconds to load and eight milliseconds a message, the rules less than a millisecond: so adding
messages stores what the rules find, and the messages wait for `resolve`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from amgs.conversation.coreference.passage import GrammarParser
from amgs.conversation.resolved import patterns
from amgs.conversation.resolved.reading import find_by_grammar
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.text import names
from amgs.text.plural import plural
from amgs.types.conversation import Message
from amgs.types.mention_types import MentionType
from amgs.types.mentions import ConversationEntity, ConversationResolved, ResolvedMention

KIND = "resolve"
_CONTEXT = 40
"""Messages before the first waiting one that are parsed as its context."""


def note(storage: Storage, conversation: str, messages: Sequence[Message], operation: int) -> None:
    """Store the mentions that rules find in messages that an operation has just added."""
    storage.mentions.add(conversation, _find_by_shape(messages), operation)


def resolve(storage: Storage, conversation: str, now: datetime, parser: GrammarParser) -> ConversationResolved:
    """Parse the waiting messages and store their mentions, with a journal entry.

    Raises ModelError without a parser; nothing is changed then.
    """
    waiting = storage.mentions.waiting(conversation)
    if not waiting:
        return ConversationResolved(conversation, 0, 0)
    first = max(1, waiting[0] - _CONTEXT)
    messages = [stored_message.message for stored_message in storage.messages.held(conversation, first)]
    known = storage.mentions.held(conversation, first)
    # Messages that came before there were mentions have none.
    known_numbers = {mention.number for mention in known if mention.detector == patterns.NAME}
    new = list(_find_by_shape([m for m in messages if m.number in set(waiting) - known_numbers]))
    new += find_by_grammar(messages, frozenset(waiting), (*known, *new), parser)
    with storage.transaction():
        summary = f"conversation {conversation}, {plural(len(waiting), 'message')} resolved"
        operation = journal.write(storage, KIND, now, summary, []).id
        storage.mentions.add(conversation, new, operation)
        storage.mentions.mark(conversation, waiting, operation)
    return ConversationResolved(conversation, len(waiting), len(new), operation)


def _find_by_shape(messages: Sequence[Message]) -> tuple[ResolvedMention, ...]:
    return tuple(mention for message in messages for mention in patterns.find_by_shape(message))


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
