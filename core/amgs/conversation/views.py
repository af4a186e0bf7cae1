"""Topics, open acts and summaries of stored messages, each with the handles of what it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from amgs.conversation.acts import DialogueAct, acts
from amgs.conversation.handles import handle
from amgs.conversation.segments import TopicSegment, segments, sittings
from amgs.conversation.summaries import summary
from amgs.storage.messages import StoredMessage
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder, normalised
from amgs.types import Vector
from amgs.types.conversation_views import (
    ConversationAct,
    ConversationActs,
    ConversationExtract,
    ConversationTopic,
    ConversationTopics,
    SummaryLevel,
    SummarySpan,
)


def topics(conversation: str, stored: Sequence[StoredMessage], vectors: Vector) -> ConversationTopics:
    """The topics of a conversation. vectors: (n, d) of its messages."""
    return ConversationTopics(
        conversation,
        tuple(
            ConversationTopic(
                _handle(stored, one.first, one.last),
                one.last - one.first + 1,
                one.chance,
                one.thread,
                one.terms,
            )
            for one in _segments(stored, vectors)
        ),
    )


def acts_of(conversation: str, stored: Sequence[StoredMessage], *, closed: bool) -> ConversationActs:
    """The acts of a conversation; those that are closed only where they are asked for."""
    texts = [one.message.text for one in stored]
    speakers = _speakers(stored)
    found = _acts(stored)
    shown = [one for one in found if closed or one.closed_by is None]
    return ConversationActs(
        conversation,
        tuple(
            ConversationAct(
                one.kind,
                _handle(stored, one.place, one.place),
                speakers[one.place],
                texts[one.place][one.start : one.end],
                one.start,
                one.end,
                one.chance,
                "" if one.closed_by is None else _handle(stored, one.closed_by, one.closed_by),
            )
            for one in shown
        ),
        len(found) - len(shown),
    )


def extract(
    conversation: str, stored: Sequence[StoredMessage], level: SummaryLevel, most: int, vectors: Vector
) -> ConversationExtract:
    """A summary of each part of a level, from the originals. most: sentences of a part. vectors: read for topics."""
    texts = [one.message.text for one in stored]
    times = [one.message.at for one in stored]
    if level == "turn":
        parts = [(place, place + 1) for place in range(len(texts))]
    elif level == "topic":
        parts = [(one.first, one.last + 1) for one in _segments(stored, vectors)]
    elif level == "session":
        parts = sittings(len(texts), times)
    else:
        parts = [(0, len(texts))] if texts else []
    made = summary(texts, times, _acts(stored), parts, most)
    spans = [
        SummarySpan(
            _handle(stored, start, end - 1),
            one.slot,
            _handle(stored, one.place, one.place),
            texts[one.place][one.start : one.end],
            one.start,
            one.end,
        )
        for (start, end), found in zip(parts, made, strict=True)
        for one in found
    ]
    return ConversationExtract(conversation, level, len(parts), tuple(spans))


def vectors_of(stored: Sequence[StoredMessage], storage: Storage, embedder: Embedder) -> Vector:
    """(n, d), of unit length: of each message the mean of its pieces, made now where it waits to be consolidated."""
    blocks = storage.blocks.get(sorted({i for one in stored for i in one.blocks}), embeddings=True)
    held = [[blocks[i].embedding for i in one.blocks if i in blocks] for one in stored]
    missing = [place for place, found in enumerate(held) if not found or any(v is None for v in found)]
    whole = set(range(len(stored))).difference(missing)
    vectors = np.zeros((len(stored), embedder.dimension), dtype=np.float32)
    for place in whole:
        vectors[place] = np.mean([v for v in held[place] if v is not None], axis=0)
    if missing:
        vectors[missing] = embedder.embed([stored[place].message.text for place in missing])
    return normalised(vectors)


def _acts(stored: Sequence[StoredMessage]) -> list[DialogueAct]:
    """The acts of those who speak: what a tool puts out, or a system prompt says, asks and promises nothing."""
    said = [
        n for n, one in enumerate(stored) if one.message.role in ("user", "assistant") and one.message.text
    ]
    speakers = _speakers(stored)
    found = acts([stored[n].message.text for n in said], [speakers[n] for n in said])
    return [
        replace(one, place=said[one.place], closed_by=None if one.closed_by is None else said[one.closed_by])
        for one in found
    ]


def _speakers(stored: Sequence[StoredMessage]) -> list[str]:
    return [one.message.speaker or one.message.role for one in stored]


def _segments(stored: Sequence[StoredMessage], vectors: Vector) -> tuple[TopicSegment, ...]:
    return segments([one.message.text for one in stored], vectors, [one.message.at for one in stored])


def _handle(stored: Sequence[StoredMessage], first: int, last: int) -> str:
    return handle(stored[first].message.number, stored[last].message.number)
