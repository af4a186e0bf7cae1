"""What a conversation is about: topics, what is open, summaries, the four memories, and what its words mean."""

from __future__ import annotations

from collections.abc import Sequence

from amgs import bounds
from amgs.api.part import MemoryPart
from amgs.conversation import citing, keeping, views
from amgs.conversation.coreference.parser import packaged_parser
from amgs.conversation.coreference.resolver import ABSTAINS_BELOW
from amgs.conversation.resolved import keeping as resolved
from amgs.conversation.resolved.keeping import gather_entities, split_by_confidence
from amgs.conversation.tokens import MessageCounter
from amgs.errors import UsageError
from amgs.storage.messages import StoredMessage
from amgs.types import Vector
from amgs.types.conversation_views import (
    SUMMARY_LEVELS,
    ConversationActs,
    ConversationExtract,
    ConversationMemories,
    ConversationTopics,
    SummaryLevel,
)
from amgs.types.mentions import (
    MENTION_TYPES,
    ConversationEntities,
    ConversationResolved,
    MentionType,
    ResolvedMention,
)


def _confidence(least: float) -> float:
    """Raises UsageError for what is no confidence."""
    if not 0.0 <= least <= 1.0:
        raise UsageError(f"{least:g} is no confidence.", way_out="Give a number from 0 to 1.")
    return least


class ConversationContents(MemoryPart):
    """The part of `memory.conversation` that reads one conversation whole; only `resolve` writes."""

    def topics(self, conversation: str) -> ConversationTopics:
        """What is talked of, in the order of time, and which topics are on the same thing."""
        with self._context.storage.snapshot():
            stored = keeping.read_held(self._context.storage, conversation)
            vectors = self._vectors(stored)
        return views.topics(conversation, stored, vectors)

    def memories(self, conversation: str, *, recent: int = 20) -> ConversationMemories:
        """What is at hand, what is open, what is held for long and which episodes there were; and the state of the
        conversation: turns, topic, calls that are done, whether the user is asked back. Writes nothing.

        recent: messages at hand.
        """
        most = bounds.count("recent", recent)
        storage = self._context.storage
        with storage.snapshot():
            stored = keeping.read_held(storage, conversation)
            vectors = self._vectors(stored)
            blocks = storage.blocks.get(sorted({block for one in stored for block in one.blocks}))
        return views.memories(
            conversation,
            stored,
            views.acts_of(conversation, stored, closed=False),
            views.topics(conversation, stored, vectors),
            {number: block.status for number, block in blocks.items()},
            MessageCounter.of(self._context.count_tokens),
            most,
        )

    def acts(self, conversation: str, *, closed: bool = False) -> ConversationActs:
        """Questions, goals and commitments that are open; the closed ones too where they are asked for."""
        stored = keeping.read_held(self._context.storage, conversation)
        return views.acts_of(conversation, stored, closed=closed)

    def summary(
        self, conversation: str, level: SummaryLevel = "cumulative", *, sentences: int = 5
    ) -> ConversationExtract:
        """A summary in the words of a conversation, by turn, topic, session or of all; always from the originals.

        sentences: of a part, at most. Raises UsageError for another level.
        """
        if level not in SUMMARY_LEVELS:
            raise UsageError(
                f"There is no level {level!r}.", way_out=f"The levels are {', '.join(SUMMARY_LEVELS)}."
            )
        most = bounds.count("sentences", sentences)
        with self._context.storage.snapshot():
            stored = keeping.read_held(self._context.storage, conversation)
            vectors = self._vectors(stored if level == "topic" else ())
        return views.extract(conversation, stored, level, most, vectors)

    def _vectors(self, stored: Sequence[StoredMessage]) -> Vector:
        return views.vectors_of(stored, self._context.storage, self._context.embedder)

    def resolve(self, conversation: str) -> ConversationResolved:
        """Read the messages that were added since the last time with the parser, and keep what they mention beside
        them, as one journal entry: names with their types, whose something is, whom pronouns mean. `add` itself keeps
        what needs no parser: dates, amounts, addresses, paths. `undo` takes it back.

        Raises UnknownConversationError, or ModelError without spaCy's model; nothing is changed then.
        """
        storage = self._context.storage
        keeping.read_held(storage, conversation, 1, 1)
        return resolved.resolve(storage, conversation, self._context.clock.now(), packaged_parser())

    def mentions(
        self, conversation: str, handle: str = "", *, least: float = ABSTAINS_BELOW
    ) -> tuple[ResolvedMention, ...]:
        """What words of a conversation mean, of all its messages or of those a handle names, in the order of the words.

        least: confidence in [0, 1] below which nothing is said. Raises UnknownConversationError, or UsageError for
        another confidence.
        """
        first, last = citing.numbers(handle) if handle else (1, None)
        with self._context.storage.snapshot():
            keeping.read_held(self._context.storage, conversation, first, last)
            found = self._context.storage.mentions.held(conversation)
        asked = [one for one in found if first <= one.number and (last is None or one.number <= last)]
        return split_by_confidence(asked, _confidence(least))[0]

    def entities(
        self, conversation: str, *, type: MentionType | None = None, least: float = ABSTAINS_BELOW
    ) -> ConversationEntities:
        """What a conversation speaks of, the most often mentioned first, with each mention; writes nothing.

        type: only entities of this type. least: as in `mentions`. What only the parser finds is told of messages that
        `resolve` has read. Raises what `mentions` raises, and UsageError for a type that is none.
        """
        if type is not None and type not in MENTION_TYPES:
            raise UsageError(
                f"There is no type {type!r} of entities.", way_out=f"Types are {', '.join(MENTION_TYPES)}."
            )
        storage = self._context.storage
        with storage.snapshot():
            keeping.read_held(storage, conversation, 1, 1)
            found = storage.mentions.held(conversation)
            waiting = len(storage.mentions.waiting(conversation))
        told, withheld = split_by_confidence(found, _confidence(least))
        return ConversationEntities(conversation, gather_entities(told, type), withheld, waiting, least)
