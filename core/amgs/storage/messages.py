"""The messages of conversations: exactly as they were said, with the blocks by which a search finds them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from amgs.types.conversation import ConversationSummary, Message


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message and the ids of its pieces, in order; none where it says nothing."""

    message: Message
    blocks: tuple[str, ...]


class MessageStorage(Protocol):
    """Messages by conversation and number. A message counts while the operation that added it stands, and its end while
    the one that ended it does.
    """

    def add(self, conversation: str, messages: Sequence[StoredMessage], operation: int) -> None:
        """Note messages of a conversation."""
        ...

    def end(self, conversation: str, operation: int) -> None:
        """Note that a conversation is no longer held."""
        ...

    def stand(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Note that every context is to keep these messages whole."""
        ...

    def fall(self, conversation: str, numbers: Collection[int], operation: int) -> None:
        """Note that contexts need not keep these messages any more."""
        ...

    def standing(self, conversation: str) -> frozenset[int]:
        """The numbers of messages that every context is to keep whole, of those that are held."""
        ...

    def held(self, conversation: str, first: int = 1, last: int | None = None) -> tuple[StoredMessage, ...]:
        """The messages of a conversation from one number to another, both included, in order."""
        ...

    def some(self, conversation: str, numbers: Collection[int]) -> dict[int, StoredMessage]:
        """Those messages of a conversation that are held of these numbers."""
        ...

    def count(self, conversation: str) -> int:
        """How many messages a conversation has; 0 for one that is not held."""
        ...

    def conversations(self) -> tuple[ConversationSummary, ...]:
        """The conversations that are held, by name."""
        ...
