"""Views of a conversation: generated texts and what survives in them; topics, acts, summaries, memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

SummaryLevel = Literal["turn", "topic", "session", "cumulative"]
SUMMARY_LEVELS: tuple[SummaryLevel, ...] = get_args(SummaryLevel)


@dataclass(frozen=True, slots=True)
class ConversationTopic:
    """Neighbouring messages on one topic.

    handle: restores them. chance: probability that the topic changed before them, 1 at the beginning of a session.
    terms: words that distinguish it.
    """

    handle: str
    messages: int
    chance: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversationTopics:
    """Topics of a conversation in order of time; every message is in one."""

    conversation: str
    topics: tuple[ConversationTopic, ...]


@dataclass(frozen=True, slots=True)
class ConversationAct:
    """A question, goal or commitment.

    text: characters [start, end) of the message. chance: probability that it is one. closed_by: handle of the message
    that closed it, "" while it is open.
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
    """Questions, goals and commitments of a conversation. closed: number of closed ones not shown."""

    conversation: str
    acts: tuple[ConversationAct, ...]
    closed: int


@dataclass(frozen=True, slots=True)
class SummarySpan:
    """Characters [start, end) of a message in the summarised part. slot: sentence, decision, question, name, number,
    date, path or command.
    """

    part: str
    slot: str
    handle: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ConversationExtract:
    """A summary in the conversation's own words. level: turn, topic, session or cumulative. parts: number of summarised
    parts.
    """

    conversation: str
    level: str
    parts: int
    spans: tuple[SummarySpan, ...]


MemoryKind = Literal["short-term", "working", "long-term", "episodic"]
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
"""short-term: the last messages; working: open items; long-term: everything, by session; episodic: topics."""

MemberKind = Literal["message", "question", "goal", "commitment", "call", "session", "topic"]


@dataclass(frozen=True, slots=True)
class MemoryMember:
    """Member of a memory: messages, with the handle that restores them.

    text: the open item, or distinguishing words. tokens: of the messages or the open item. surprise: of a topic,
    probability that the topic changed there; else 0.
    """

    memory: MemoryKind
    kind: MemberKind
    handle: str
    text: str
    tokens: int
    surprise: float = 0.0


@dataclass(frozen=True, slots=True)
class ConversationMemories:
    """The memories of a conversation, all views of its messages, and its state.

    members: short-term and long-term in order of time, working by kind, episodic by falling surprise. turns: messages
    of the user. topic: words of the present topic. calls_done: tool calls with a result. asked_back: the last message
    asks the user. Tokens are counted by `counter`.
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
"""minimal: names, numbers and the like; standard: also the most important sentences; detailed: every sentence with one
of these; complete: the messages.
"""

SurvivalVerdict = Literal["whole", "one handle away", "lost", "invented"]
VERDICTS: tuple[SurvivalVerdict, ...] = get_args(SurvivalVerdict)
"""Best to worst."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a generated text.

    number: of the message whose characters [start, end) it is, in its text followed by its calls; 0 if it comes from
    none: a handle, a label, a speaker.
    """

    text: str
    number: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ClassSurvival:
    """What survives of a class, such as numbers or paths.

    Of `there` different ones in the messages: in_window verbatim in the text, one_handle_away restorable by a handle in
    it, and lost. missing: the latest that are not in the text, with the handles of their messages. invented: in the
    text but not in the messages.
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
    """Return the worst verdict on a class."""
    return max((survival.verdict for survival in classes), key=VERDICTS.index, default="whole")


GIVEN_TEXT = "a given text"


@dataclass(frozen=True, slots=True)
class ConversationSurvival:
    """What survives of a conversation, or of some messages, in a window, by class.

    of: the window, in words. tokens: of the window; history: of the messages; both counted by `counter`.
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
