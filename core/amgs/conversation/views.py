"""Topics, open acts, summaries and the four memories of stored messages, each with the handles it was made from.

Nothing is copied, and reading writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from amgs.conversation.acts import DialogueAct, acts
from amgs.conversation.citing import handle, numbers, source
from amgs.conversation.material import MessageCounter, spans_of
from amgs.conversation.messages import number_sessions
from amgs.conversation.protection import asks
from amgs.conversation.segments import cut_topics, find_terms
from amgs.conversation.summaries import summary
from amgs.storage.messages import StoredMessage
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder, normalised
from amgs.types import Vector
from amgs.types.conversation_views import (
    ConversationAct,
    ConversationActs,
    ConversationExtract,
    ConversationMemories,
    ConversationTopic,
    ConversationTopics,
    MemberKind,
    MemoryMember,
    SummaryLevel,
    SummarySpan,
)


def topics(conversation: str, stored: Sequence[StoredMessage], vectors: Vector) -> ConversationTopics:
    """Find the topics of a conversation. vectors: (n, d) of its messages."""
    spans = find_topics(stored, vectors)
    terms = find_terms(["\n".join(held.message.text for held in stored[start:end]) for start, end, _ in spans])
    return ConversationTopics(
        conversation,
        tuple(
            ConversationTopic(_handle(stored, start, end - 1), end - start, chance, words)
            for (start, end, chance), words in zip(spans, terms, strict=True)
        ),
    )


def find_topics(stored: Sequence[StoredMessage], vectors: Vector) -> list[tuple[int, int, float]]:
    """Find (start, end, chance) of the topics of stored messages; see `cut_topics`."""
    return cut_topics([held.message.text for held in stored], vectors, _sessions(stored))


def _sessions(stored: Sequence[StoredMessage]) -> list[tuple[int, int]]:
    return spans_of(number_sessions([held.message for held in stored]))


def acts_of(conversation: str, stored: Sequence[StoredMessage], *, closed: bool) -> ConversationActs:
    """Find the acts of a conversation; those that are closed only where they are asked for."""
    found = _acts(stored)
    shown = [act for act in found if closed or act.closed_by is None]
    return ConversationActs(
        conversation,
        tuple(
            ConversationAct(
                act.kind,
                _handle(stored, act.place, act.place),
                _speaker(stored[act.place]),
                stored[act.place].message.text[act.start : act.end],
                act.start,
                act.end,
                act.chance,
                "" if act.closed_by is None else _handle(stored, act.closed_by, act.closed_by),
            )
            for act in shown
        ),
        len(found) - len(shown),
    )


def extract(
    conversation: str, stored: Sequence[StoredMessage], level: SummaryLevel, most: int, vectors: Vector
) -> ConversationExtract:
    """Summarise each part of a level, from the originals. most: sentences of a part. vectors: read for topics."""
    texts = [held.message.text for held in stored]
    times = [held.message.at for held in stored]
    parts = {
        "turn": lambda: [(place, place + 1) for place in range(len(texts))],
        "topic": lambda: [(start, end) for start, end, _ in find_topics(stored, vectors)],
        "session": lambda: _sessions(stored),
        "cumulative": lambda: [(0, len(texts))],
    }[level]()
    summaries = zip(parts, summary(texts, times, _acts(stored), parts, most), strict=True)
    spans = tuple(
        SummarySpan(
            _handle(stored, start, end - 1),
            span.slot,
            _handle(stored, span.place, span.place),
            texts[span.place][span.start : span.end],
            span.start,
            span.end,
        )
        for (start, end), cited in summaries
        for span in cited
    )
    return ConversationExtract(conversation, level, len(parts), spans)


def vectors_of(stored: Sequence[StoredMessage], storage: Storage, embedder: Embedder) -> Vector:
    """Return (n, d), of unit length: of each message the mean of its pieces, made now where it waits to be
    consolidated.
    """
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
    """Find the acts of those who speak: what a tool puts out, or a system prompt says, asks and promises nothing."""
    said = [n for n, held in enumerate(stored) if held.message.role in ("user", "assistant") and held.message.text]
    found = acts([stored[n].message.text for n in said], [_speaker(stored[n]) for n in said])
    return [
        replace(act, place=said[act.place], closed_by=None if act.closed_by is None else said[act.closed_by])
        for act in found
    ]


def _speaker(held: StoredMessage) -> str:
    return held.message.speaker or held.message.role


def _handle(stored: Sequence[StoredMessage], first: int, last: int) -> str:
    return handle(stored[first].message.number, stored[last].message.number)


_OPEN: tuple[MemberKind, ...] = ("question", "goal", "commitment")
_TOLD = 200
"""Characters of a message that are shown."""


def memories(
    conversation: str,
    stored: Sequence[StoredMessage],
    acts: ConversationActs,
    topics: ConversationTopics,
    statuses: Mapping[str, str],
    counter: MessageCounter,
    recent: int,
) -> ConversationMemories:
    """Return the memories of stored messages. acts: the open ones. statuses: of the blocks. recent: messages at
    hand.
    """
    messages = [one.message for one in stored]
    costs = {message.number: counter.cost(message) for message in messages}
    answered = {message.answers for message in messages if message.answers}
    calls = [(message, call) for message in messages for call in message.calls]

    def cost(first: int, last: int) -> int:
        return sum(costs.get(number, 0) for number in range(first, last + 1))

    def members() -> Iterator[MemoryMember]:
        for message in messages[-recent:]:
            here = handle(message.number, message.number)
            text = " ".join(source(message).split())[:_TOLD]
            yield MemoryMember("short-term", "message", here, text, costs[message.number])
        for kind in _OPEN:
            for act in acts.acts:
                if act.kind == kind:
                    text = f"{act.speaker}: {' '.join(act.text.split())}"
                    yield MemoryMember("working", kind, act.handle, text, counter.count(act.text))
        for message, call in calls:
            if call.id not in answered:
                text = f"{call.name} {call.arguments}"
                here = handle(message.number, message.number)
                yield MemoryMember("working", "call", here, text, counter.count(text))
        for start, end in spans_of(number_sessions(messages)):
            first, last = messages[start].number, messages[end - 1].number
            ids = {block for one in stored[start:end] for block in one.blocks}
            kept = sum(statuses.get(block) == "consolidated" for block in ids)
            text = f"{kept:,} of {len(ids):,} blocks consolidated"
            yield MemoryMember("long-term", "session", handle(first, last), text, cost(first, last))
        for topic in sorted(topics.topics, key=lambda one: (-one.chance, -numbers(one.handle)[0])):
            told = ", ".join(topic.terms)
            own = cost(*numbers(topic.handle))
            yield MemoryMember("episodic", "topic", topic.handle, told, own, topic.chance)

    last = messages[-1] if messages else None
    return ConversationMemories(
        conversation,
        tuple(members()),
        sum(message.role == "user" for message in messages),
        topics.topics[-1].terms if topics.topics else (),
        sum(call.id in answered for _, call in calls),
        last is not None and last.role == "assistant" and asks(last.text),
        counter.name,
        counter.estimated,
    )
