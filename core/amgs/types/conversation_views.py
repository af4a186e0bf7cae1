"""Views of a conversation: texts generated from it and what survives there; topics, acts, summaries, memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

SummaryLevel = Literal["turn", "topic", "session", "cumulative"]
SUMMARY_LEVELS: tuple[SummaryLevel, ...] = get_args(SummaryLevel)


@dataclass(frozen=True, slots=True)
class ConversationTopic:
    """Neighbouring messages on one topic. handle: restores them. chance: in [0, 1], how likely the topic changed before
    them, 1 where a sitting begins. terms: words that tell it from the others.
    """

    handle: str
    messages: int
    chance: float
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


MemoryKind = Literal["short-term", "working", "long-term", "episodic"]
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
"""short-term: the last messages; working: what is open; long-term: all that is held, by session; episodic: topics."""

MemberKind = Literal["message", "question", "goal", "commitment", "call", "session", "topic"]


@dataclass(frozen=True, slots=True)
class MemoryMember:
    """Member of a memory: messages, by their handle, which restores them.

    text: the open part, or the words that distinguish them. tokens: of the messages, or of the open part. surprise: in
    [0, 1], of a topic: how likely the talk turned there; 0 for others.
    """

    memory: MemoryKind
    kind: MemberKind
    handle: str
    text: str
    tokens: int
    surprise: float = 0.0


@dataclass(frozen=True, slots=True)
class ConversationMemories:
    """The memories of a conversation, all views of the messages that are held, and its state.

    members: short-term in the order of time; working too, by kind; long-term in the order of time; episodic, the most
    surprising first. turns: messages of the user. topic: words that tell what is talked of now. calls_done: calls of
    tools that have their result. asked_back: whether the last message asks the user. tokens as `counter` counts.
    """

    conversation: str
    members: tuple[MemoryMember, ...]
    turns: int
    topic: tuple[str, ...]
    calls_done: int
    asked_back: bool
    counter: str
    estimated: bool

    def of(self, memory: MemoryKind) -> tuple[MemoryMember, ...]:
        """Return the members of a memory."""
        return tuple(member for member in self.members if member.memory == memory)


RestoreLevel = Literal["minimal", "standard", "detailed", "complete"]
RESTORE_LEVELS: tuple[RestoreLevel, ...] = get_args(RestoreLevel)
"""minimal: names, numbers and their like; standard: and the sentences that weigh most; detailed: every sentence that
holds one of them; complete: the messages.
"""

SurvivalVerdict = Literal["whole", "one handle away", "lost", "invented"]
VERDICTS: tuple[SurvivalVerdict, ...] = get_args(SurvivalVerdict)
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text that was made of messages.

    number: of the message whose characters [start, end) it is, counted in its text and, after it, its calls; 0 where it
    is no message's: a handle, a label, who speaks.
    """

    text: str
    number: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ClassSurvival:
    """Survival of one class, such as all numbers or all paths, in messages: of `there` different ones, the numbers that
    stand in the window word for word, that only a handle in it brings back, and that are lost.

    missing: the latest of those that are not in the window, with the handle of their message. invented: what the window
    has of this class and the messages do not.
    """

    kind: str
    there: int
    in_window: int
    one_handle_away: int
    lost: int
    missing: tuple[tuple[str, str], ...] = ()
    invented: tuple[str, ...] = ()

    @property
    def verdict(self) -> SurvivalVerdict:
        """Worst verdict on a member of the class."""
        if self.invented:
            return "invented"
        return "lost" if self.lost else "one handle away" if self.one_handle_away else "whole"


def worst(classes: Sequence[ClassSurvival]) -> SurvivalVerdict:
    """Return the verdict of the class that fared worst."""
    return max((survival.verdict for survival in classes), key=VERDICTS.index, default="whole")


GIVEN_TEXT = "a given text"


@dataclass(frozen=True, slots=True)
class ConversationSurvival:
    """Survival of a conversation, or of the messages at a handle, in a window, class by class.

    of: what the window is, in words. tokens: of the window; history: of the messages; both as `counter` counts.
    """

    conversation: str
    handle: str
    of: str
    classes: tuple[ClassSurvival, ...]
    tokens: int
    history: int
    counter: str
    estimated: bool

    @property
    def verdict(self) -> SurvivalVerdict:
        """Worst verdict on a class; never a mean."""
        return worst(self.classes)
