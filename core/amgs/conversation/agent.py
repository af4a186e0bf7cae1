"""A conversation as an agent carries it on: what is said is kept, and each context goes on from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from amgs.conversation.messages import GivenMessage
from amgs.types import JournalEntry
from amgs.types.conversation import (
    ContextConfiguration,
    ContextStrategy,
    ConversationAdded,
    ConversationStats,
    OptimisedContext,
)


class KeepsConversations(Protocol):
    """`memory.conversation` of a memory, or of a client of a served one."""

    def add(self, conversation: str, messages: Sequence[GivenMessage]) -> ConversationAdded: ...

    def optimise(
        self,
        conversation: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        previous: str = "",
    ) -> OptimisedContext: ...

    def stats(self, conversation: str) -> ConversationStats: ...

    def clear(self, conversation: str) -> JournalEntry: ...


class AgentConversation:
    """See the module. budget, strategy, configuration: as `optimise` takes them.

    The plan of each context is given to the next, so that what a provider has cached stays valid while it fits.
    """

    def __init__(
        self,
        conversations: KeepsConversations,
        name: str,
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
    ) -> None:
        self._conversations = conversations
        self.name = name
        self._budget = budget
        self._strategy: ContextStrategy | None = strategy
        self._configuration: ContextConfiguration = configuration
        self.plan = ""

    def say(self, *messages: GivenMessage) -> ConversationAdded:
        """Keep what was said, in any style that `add` reads; raises MessageError for what is no conversation."""
        return self._conversations.add(self.name, messages)

    def context(self, query: str = "") -> OptimisedContext:
        """What the model should read now, for the user's last message unless given; raises what `optimise` raises."""
        made = self._conversations.optimise(
            self.name,
            query,
            budget=self._budget,
            strategy=self._strategy,
            configuration=self._configuration,
            previous=self.plan,
        )
        self.plan = made.plan
        return made

    def stats(self) -> ConversationStats:
        """What is held, by role and in tokens."""
        return self._conversations.stats(self.name)

    def clear(self) -> JournalEntry:
        """Hold it no longer; `undo` brings it back."""
        self.plan = ""
        return self._conversations.clear(self.name)
