"""Mentions in the store: what the words' shape tells as messages are added, what the grammar tells when it is asked.

The parser takes three seconds to load and eight milliseconds a message, the rules below one: so `add` keeps what the
rules tell, and the messages wait for `resolve`.
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
"""Messages before the first one that waits that are read with it."""


def note(storage: Storage, conversation: str, messages: Sequence[Message], operation: int) -> None:
    """Keep what the shape of the words tells of messages that an operation has just added."""
    storage.mentions.add(conversation, _find_by_shape(messages), operation)


def resolve(storage: Storage, conversation: str, now: datetime, parser: GrammarParser) -> ConversationResolved:
    """Read the messages that wait with the parser and keep what they mention, as one journal entry.

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
"""Kinds that a conversation is on only where several messages have them."""


def gather_entities(
    mentions: Iterable[ResolvedMention], type: MentionType | None = None
) -> tuple[ConversationEntity, ...]:
    """Return the entities of mentions, the most often mentioned first, of equals the one that comes first.

    Nothing but the normal form and the type makes two mentions one entity; a pronoun counts for what it means.
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
    ordered = tuple(sorted(members, key=lambda mention: (mention.number, mention.start)))
    forms = Counter(mention.means[0] for mention in ordered if len(mention.means) == 1)
    name = max(forms, key=lambda form: (forms[form], form)) if forms else " and ".join(ordered[0].means)
    confidences = [mention.confidence for mention in ordered if mention.kind != "reference"]
    owned = _OWNED.match(name) if ordered[0].kind == "personal" else None
    return ConversationEntity(
        name, type, ordered, max(confidences or [mention.confidence for mention in ordered]), owned[1] if owned else ""
    )


def split_by_confidence(mentions: Sequence[ResolvedMention], least: float) -> tuple[tuple[ResolvedMention, ...], int]:
    """Return those of a confidence of `least` or more, and how many are less sure."""
    sure_mentions = tuple(mention for mention in mentions if mention.confidence >= least)
    return sure_mentions, len(mentions) - len(sure_mentions)
