"""Mentions in the store: what the words' shape tells as messages are added, what the grammar tells when it is asked.

The parser takes three seconds to load and eight milliseconds a message, the rules below one: so `add` keeps what the
rules tell, and the messages wait for `resolve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.resolved import patterns
from amgs.conversation.resolved.reading import by_grammar
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.text.plural import plural
from amgs.types.conversation import Message
from amgs.types.mentions import ConversationResolved, ResolvedMention

KIND = "resolve"
_CONTEXT = 40
"""Messages before the first one that waits that are read with it."""


def note(storage: Storage, conversation: str, messages: Sequence[Message], operation: int) -> None:
    """Keep what the shape of the words tells of messages that an operation has just added."""
    storage.mentions.add(conversation, _by_shape(messages), operation)


def resolve(
    storage: Storage, conversation: str, now: datetime, parser: GrammarParser
) -> ConversationResolved:
    """Read the messages that wait with the parser and keep what they mention, as one journal entry.

    Raises ModelError without a parser; nothing is changed then.
    """
    waiting = storage.mentions.waiting(conversation)
    if not waiting:
        return ConversationResolved(conversation, 0, 0)
    first = max(1, waiting[0] - _CONTEXT)
    messages = [one.message for one in storage.messages.held(conversation, first)]
    known = storage.mentions.held(conversation, first)
    # Messages that came before there were mentions have none.
    told = {one.number for one in known if one.detector == patterns.NAME}
    new = list(_by_shape([m for m in messages if m.number in set(waiting) - told]))
    new += by_grammar(messages, frozenset(waiting), (*known, *new), parser)
    with storage.transaction():
        summary = f"conversation {conversation}, {plural(len(waiting), 'message')} resolved"
        operation = journal.write(storage, KIND, now, summary, []).id
        storage.mentions.add(conversation, new, operation)
        storage.mentions.mark(conversation, waiting, operation)
    return ConversationResolved(conversation, len(waiting), len(new), operation)


def _by_shape(messages: Sequence[Message]) -> tuple[ResolvedMention, ...]:
    return tuple(one for message in messages for one in patterns.by_shape(message))
