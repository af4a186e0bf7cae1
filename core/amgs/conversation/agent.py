"""A conversation as an agent carries it on: what is said is kept, and each context goes on from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Unpack

from amgs.conversation.messages import GivenMessage
from amgs.types import JournalEntry
from amgs.types.conversation import ContextOptions, ConversationAdded, ConversationStats, OptimisedContext


class KeepsConversations(Protocol):
    """`memory.conversation` of a memory, or of a client of a served one."""

    def add(self, conversation: str, messages: Sequence[GivenMessage]) -> ConversationAdded: ...

    def optimise(self, *args: Any, **options: Any) -> OptimisedContext: ...

    def stats(self, conversation: str) -> ConversationStats: ...

    def clear(self, conversation: str) -> JournalEntry: ...


class AgentConversation:
    """See the module. options: as `optimise` takes them.

    The plan of each context is given to the next, so that what a provider has cached stays valid while it fits.
    """

    def __init__(self, conversations: KeepsConversations, name: str, **options: Unpack[ContextOptions]) -> None:
        self._conversations, self._options = conversations, options
        self.name = name
        self.plan = ""

    def say(self, *messages: GivenMessage) -> ConversationAdded:
        """Keep what was said, in any style that `add` reads; raises MessageError for what is no conversation."""
        return self._conversations.add(self.name, messages)

    def context(self, query: str = "") -> OptimisedContext:
        """Choose what the model should read now, for the user's last message unless given; raises what `optimise`
        raises.
        """
        context = self._conversations.optimise(self.name, query, **{**self._options, "previous": self.plan})
        self.plan = context.plan
        return context

    def stats(self) -> ConversationStats:
        """Count what is held, by role and in tokens."""
        return self._conversations.stats(self.name)

    def clear(self) -> JournalEntry:
        """Hold it no longer; `undo` brings it back."""
        self.plan = ""
        return self._conversations.clear(self.name)
