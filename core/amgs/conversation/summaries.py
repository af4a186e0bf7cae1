"""Extractive summaries of a turn, a topic, a session and all so far, and other views of stored messages:
topics, open acts, the four memories. All are spans of the messages themselves, each cited.

A summary is never summarised, so that making it again, or five times, gives the same; whoever brings a model
that writes summaries of its own implements AbstractiveSummariser.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

import numpy as np

from amgs.conversation.citing import handle, numbers, source
from amgs.conversation.cohesion import cut_topics, find_terms, stems
from amgs.conversation.findings import SLOTS, DialogueAct, Slot, acts, find_slots, names_of
from amgs.conversation.material import MessageCounter, spans_of
from amgs.conversation.messages import number_sessions
from amgs.conversation.protection import ends_with_question
from amgs.storage.messages import StoredMessage
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder, normalise_rows
from amgs.text.prose import sentences
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

_OF_SLOT = 8
"""Spans of a slot in a part, sentences aside."""
_OPEN: tuple[Literal["question", "commitment"], ...] = ("question", "commitment")
_ALIKE = 0.6
"""A sentence that has so much of its words in a sentence already taken is left out."""


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Characters [start, end) of the message at a place, from 0, and what they are."""

    slot: Slot
    place: int
    start: int
    end: int


class AbstractiveSummariser(Protocol):
    """Writes a summary in words of its own; it is shown as such, beside the spans it summarises, never stored as what
    was said.
    """

    @property
    def name(self) -> str: ...

    def summarise(self, texts: Sequence[str], most_tokens: int) -> str:
        """Return a summary of messages in the order of time, in at most so many tokens."""
        ...


def summary(
    texts: Sequence[str],
    times: Sequence[datetime | None],
    acts: Sequence[DialogueAct],
    parts: Sequence[tuple[int, int]],
    most: int,
) -> list[tuple[CitedSpan, ...]]:
    """Return for each part (start, end) of n messages at most `most` sentences and its slots, in the order of time.

    Sentences: see `key_sentences`. A finding that is told twice in a part is cited where it was said last.
    """
    names = names_of(texts)
    order = {slot: place for place, slot in enumerate(SLOTS)}
    summaries = []
    for (start, end), spans in zip(parts, key_sentences(texts, parts, most), strict=True):
        spans += _findings(texts, times, start, end, names)
        for kind in _OPEN:
            spans += [
                CitedSpan(kind, act.place, act.start, act.end)
                for act in acts
                if act.kind == kind and act.closed_by is None and start <= act.place < end
            ][-_OF_SLOT:]
        summaries.append(tuple(sorted(spans, key=lambda span: (order[span.slot], span.place, span.start))))
    return summaries


def key_sentences(texts: Sequence[str], parts: Sequence[tuple[int, int]], most: int) -> list[list[CitedSpan]]:
    """Return for each part (start, end) of n messages at most `most` key sentences, the best first.

    A sentence is rated by its words, those that distinguish the part from the others counting most; none repeats
    another.
    """
    counted = [stems("\n".join(texts[a:b])) for a, b in parts]
    among = Counter(stem for words in counted for stem in words)
    key_spans = []
    for (start, end), words in zip(parts, counted, strict=True):
        weight = {stem: (1 + math.log(n)) * math.log(1 + (1 + len(parts)) / among[stem]) for stem, n in words.items()}
        key_spans.append(_sentences(texts, start, end, weight, most))
    return key_spans


def _sentences(texts: Sequence[str], start: int, end: int, weight: dict[str, float], most: int) -> list[CitedSpan]:
    """Return the sentences that weigh most, none that repeats another."""
    candidates: list[tuple[float, CitedSpan, frozenset[str]]] = []
    for place in range(start, end):
        for a, b in sentences(texts[place]):
            words = frozenset(stems(texts[place][a:b]))
            if words:
                worth = sum(weight[word] for word in words if word in weight) / math.sqrt(4 + len(words))
                candidates.append((worth, CitedSpan("sentence", place, a, b), words))
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1].place, candidate[1].start))
    taken: list[tuple[CitedSpan, frozenset[str]]] = []
    for _, span, words in candidates:
        if len(taken) == most:
            break
        if all(len(words & other) < _ALIKE * min(len(words), len(other)) for _, other in taken):
            taken.append((span, words))
    return [span for span, _ in taken]


def _findings(
    texts: Sequence[str], times: Sequence[datetime | None], start: int, end: int, names: re.Pattern[str]
) -> list[CitedSpan]:
    """Return the latest findings of each slot, each text once."""
    latest: dict[tuple[Slot, str], CitedSpan] = {}
    for place in range(start, end):
        for slot, a, b in find_slots(texts[place], times[place] if times else None, names):
            key = slot, texts[place][a:b].casefold()
            latest.pop(key, None)
            latest[key] = CitedSpan(slot, place, a, b)
    findings = list(latest.values())
    return [span for slot in SLOTS for span in [finding for finding in findings if finding.slot == slot][-_OF_SLOT:]]


def topics(conversation: str, stored: Sequence[StoredMessage], vectors: Vector) -> ConversationTopics:
    """Find the topics of a conversation. vectors: (n, d) of its messages."""
    spans = find_topics(stored, vectors)
    terms = find_terms(
        ["\n".join(stored_message.message.text for stored_message in stored[start:end]) for start, end, _ in spans]
    )
    return ConversationTopics(
        conversation,
        tuple(
            ConversationTopic(_handle(stored, start, end - 1), end - start, chance, words)
            for (start, end, chance), words in zip(spans, terms, strict=True)
        ),
    )


def find_topics(stored: Sequence[StoredMessage], vectors: Vector) -> list[tuple[int, int, float]]:
    """Find (start, end, chance) of the topics of stored messages; see `cut_topics`."""
    return cut_topics([stored_message.message.text for stored_message in stored], vectors, _sessions(stored))


def _sessions(stored: Sequence[StoredMessage]) -> list[tuple[int, int]]:
    return spans_of(number_sessions([stored_message.message for stored_message in stored]))


def acts_of(conversation: str, stored: Sequence[StoredMessage], *, closed: bool) -> ConversationActs:
    """Find the acts (questions, goals, commitments) of a conversation. closed: include those that are closed."""
    dialogue_acts = _acts(stored)
    shown = [act for act in dialogue_acts if closed or act.closed_by is None]
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
        len(dialogue_acts) - len(shown),
    )


def extract(
    conversation: str, stored: Sequence[StoredMessage], level: SummaryLevel, most: int, vectors: Vector
) -> ConversationExtract:
    """Summarise each part of a level, from the originals. most: sentences of a part. vectors: read for topics."""
    texts = [stored_message.message.text for stored_message in stored]
    times = [stored_message.message.at for stored_message in stored]
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
    """Return unit vectors of the messages (n, d): the mean of each message's blocks, embedded now where
    they are raw.
    """
    blocks = storage.blocks.get(
        sorted({i for stored_message in stored for i in stored_message.blocks}), embeddings=True
    )
    embeddings = [[blocks[i].embedding for i in stored_message.blocks if i in blocks] for stored_message in stored]
    missing = [
        place
        for place, message_embeddings in enumerate(embeddings)
        if not message_embeddings or any(v is None for v in message_embeddings)
    ]
    whole = set(range(len(stored))).difference(missing)
    vectors = np.zeros((len(stored), embedder.dimension), dtype=np.float32)
    for place in whole:
        vectors[place] = np.mean([v for v in embeddings[place] if v is not None], axis=0)
    if missing:
        vectors[missing] = embedder.embed([stored[place].message.text for place in missing])
    return normalise_rows(vectors)


def _acts(stored: Sequence[StoredMessage]) -> list[DialogueAct]:
    """Find the acts of users and assistants; tool outputs and system prompts ask and promise nothing."""
    turn_places = [
        n
        for n, stored_message in enumerate(stored)
        if stored_message.message.role in ("user", "assistant") and stored_message.message.text
    ]
    dialogue_acts = acts([stored[n].message.text for n in turn_places], [_speaker(stored[n]) for n in turn_places])
    return [
        replace(
            act, place=turn_places[act.place], closed_by=None if act.closed_by is None else turn_places[act.closed_by]
        )
        for act in dialogue_acts
    ]


def _speaker(stored_message: StoredMessage) -> str:
    return stored_message.message.speaker or stored_message.message.role


def _handle(stored: Sequence[StoredMessage], first: int, last: int) -> str:
    return handle(stored[first].message.number, stored[last].message.number)


_OPEN_KINDS: tuple[MemberKind, ...] = ("question", "goal", "commitment")
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
    messages = [stored_message.message for stored_message in stored]
    costs = {message.number: counter.cost(message) for message in messages}
    answered = {message.answers for message in messages if message.answers}
    calls = [(message, call) for message in messages for call in message.calls]

    def cost(first: int, last: int) -> int:
        return sum(costs.get(number, 0) for number in range(first, last + 1))

    def members() -> Iterator[MemoryMember]:
        """Yield what each memory contains, kind by kind."""
        for message in messages[-recent:]:
            here = handle(message.number, message.number)
            text = " ".join(source(message).split())[:_TOLD]
            yield MemoryMember("short-term", "message", here, text, costs[message.number])
        for kind in _OPEN_KINDS:
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
            ids = {block for stored_message in stored[start:end] for block in stored_message.blocks}
            count = sum(statuses.get(block) == "consolidated" for block in ids)
            text = f"{count:,} of {len(ids):,} blocks consolidated"
            yield MemoryMember("long-term", "session", handle(first, last), text, cost(first, last))
        for topic in sorted(
            topics.topics,
            key=lambda conversation_topic: (-conversation_topic.chance, -numbers(conversation_topic.handle)[0]),
        ):
            label = ", ".join(topic.terms)
            own = cost(*numbers(topic.handle))
            yield MemoryMember("episodic", "topic", topic.handle, label, own, topic.chance)

    last = messages[-1] if messages else None
    return ConversationMemories(
        conversation,
        tuple(members()),
        sum(message.role == "user" for message in messages),
        topics.topics[-1].terms if topics.topics else (),
        sum(call.id in answered for _, call in calls),
        last is not None and last.role == "assistant" and ends_with_question(last.text),
        counter.name,
        counter.estimated,
    )
