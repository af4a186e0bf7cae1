"""The four memories of a conversation: what is at hand, what is open, what is kept for long, and its episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

MemoryKind = Literal["short-term", "working", "long-term", "episodic"]
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
"""short-term: the last messages; working: what is open; long-term: all that is held, by session; episodic: topics."""

MemberKind = Literal["message", "question", "goal", "commitment", "call", "session", "topic"]


@dataclass(frozen=True, slots=True)
class MemoryMember:
    """What a memory holds: messages, by their handle, which restores them. text: what is open, or tells them from the
    others. tokens: of the messages, or of what is open. surprise: in [0, 1], of a topic: how likely the talk turned
    there; 0 for others.
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
        """The members of a memory."""
        return tuple(one for one in self.members if one.memory == memory)
