"""What words of messages mean: kept beside the messages, which stay as they were said."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from amgs.types.mentions import ResolvedMention


class MentionStorage(Protocol):
    """Mentions by conversation and message. One counts while its message does, and the operation that found it."""

    def add(self, conversation: str, mentions: Sequence[ResolvedMention], operation: int) -> None:
        """Note mentions in messages that are held."""
        ...

    def held(self, conversation: str, first: int = 1, last: int | None = None) -> tuple[ResolvedMention, ...]:
        """The mentions in the messages from one number to another, both included, in the order of the words."""
        ...

    def mark(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Note that messages that are held were read by the parser."""
        ...

    def waiting(self, conversation: str) -> tuple[int, ...]:
        """The numbers of the messages that were not, in order."""
        ...

    def faults(self) -> tuple[tuple[str, int, str], ...]:
        """(conversation, number, what is wrong) of mentions of no message, or beyond the characters of theirs."""
        ...
