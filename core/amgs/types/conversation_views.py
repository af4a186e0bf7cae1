"""What is read out of a conversation beside its messages: topics, what is open, summaries. All cite the originals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

SummaryLevel = Literal["turn", "topic", "session", "cumulative"]
SUMMARY_LEVELS: tuple[SummaryLevel, ...] = get_args(SummaryLevel)


@dataclass(frozen=True, slots=True)
class ConversationTopic:
    """Neighbouring messages on one topic. handle: restores them. chance: in [0, 1], how likely the topic changed before
    them, 1 where a sitting begins. thread: shared with the topics on the same thing. terms: words that tell it from the
    others.
    """

    handle: str
    messages: int
    chance: float
    thread: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversationTopics:
    """The topics of a conversation in the order of time; every message is in one."""

    conversation: str
    topics: tuple[ConversationTopic, ...]


@dataclass(frozen=True, slots=True)
class ConversationAct:
    """A question, goal or commitment. text: characters [start, end) of the message at the handle. chance: in [0, 1],
    how likely it is one. closed_by: the handle of the message that closed it, "" while it is open.
    """

    kind: str
    handle: str
    speaker: str
    text: str
    start: int
    end: int
    chance: float
    closed_by: str


@dataclass(frozen=True, slots=True)
class ConversationActs:
    """The questions, goals and commitments of a conversation. closed: how many closed ones are not shown."""

    conversation: str
    acts: tuple[ConversationAct, ...]
    closed: int


@dataclass(frozen=True, slots=True)
class SummarySpan:
    """Characters [start, end) of the message at the handle, of the summarised part. slot: sentence, decision, question,
    name, number, date, path or command.
    """

    part: str
    slot: str
    handle: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ConversationExtract:
    """A summary in the words of a conversation. level: turn, topic, session or cumulative. parts: how many it has."""

    conversation: str
    level: str
    parts: int
    spans: tuple[SummarySpan, ...]
