"""Conversations that came with an import: messages whose blocks the import made already."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from amgs.conversation import keeping
from amgs.conversation.resolved import keeping as mentions
from amgs.exchange.importers.records import ForeignConversation
from amgs.storage.messages import StoredMessage
from amgs.storage.store import Storage
from amgs.types.conversation import Message

_LONGEST = keeping.LONGEST_NAME - 8
"""Characters of a name, some left for a number behind it."""


@dataclass(frozen=True, slots=True)
class NewMessages:
    """Messages of a conversation that are not held yet, with the ids of their blocks."""

    conversation: str
    messages: tuple[tuple[Message, tuple[str, ...]], ...]


def placed(storage: Storage, found: Sequence[ForeignConversation]) -> list[NewMessages]:
    """Under which name each conversation is kept, and which of its messages are new.

    One that goes on from what is held under its name is continued, and one that is held whole is left out. Where
    another conversation has the name, a number stands behind it.
    """
    made: dict[str, NewMessages] = {}
    for one in found:
        wanted = _fit(one.name)
        for number in itertools.count(1):
            name = wanted if number == 1 else f"{wanted} ({number})"
            if name in made:
                continue
            held = [each.message for each in storage.messages.held(name)]
            if all(_same(*pair) for pair in zip(held, (m for m, _ in one.messages), strict=False)):
                made[name] = NewMessages(name, one.messages[len(held) :])
                break
    return [one for one in made.values() if one.messages]


def keep(storage: Storage, new: Sequence[NewMessages], operation: int) -> None:
    """Keep the messages, as part of an operation of the journal."""
    for one in new:
        storage.messages.add(one.conversation, [StoredMessage(*each) for each in one.messages], operation)
        mentions.note(storage, one.conversation, [message for message, _ in one.messages], operation)


def _same(held: Message, found: Message) -> bool:
    return (held.role, held.text, held.at, held.answers) == (found.role, found.text, found.at, found.answers)


def _fit(name: str) -> str:
    """A name that a conversation can have."""
    told = "".join(one if one.isprintable() and one != "#" else " " for one in name)
    return " ".join(told.split())[:_LONGEST].strip() or "conversation"
