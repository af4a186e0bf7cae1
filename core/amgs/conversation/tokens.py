"""What messages cost a model to read."""

from __future__ import annotations

from dataclasses import dataclass

from amgs.text.tokens import CountTokens, approximate_tokens
from amgs.types.conversation import ContextMessage, Message

ESTIMATE = "estimate"
OVERHEAD = 4
"""Tokens that a chat template puts around a message."""


@dataclass(frozen=True, slots=True)
class MessageCounter:
    """Counts the tokens of messages. name: of the model whose tokens they are; ESTIMATE where words and signs stand in
    for them.
    """

    count: CountTokens = approximate_tokens
    name: str = ESTIMATE

    @classmethod
    def of(cls, count: CountTokens) -> MessageCounter:
        """The counter behind a function that counts the tokens of a text."""
        if count is approximate_tokens:
            return cls()
        name = str(getattr(count, "name", "the given tokenizer"))
        return cls(count, name or ESTIMATE)

    @property
    def estimated(self) -> bool:
        """Whether no tokenizer is known."""
        return self.name == ESTIMATE

    def cost(self, message: Message | ContextMessage) -> int:
        """Tokens of a message in a chat template: its text, who speaks, its calls and what stands around it."""
        calls = sum(self.count(c.name) + self.count(c.arguments) + OVERHEAD for c in message.calls)
        speaker = self.count(message.speaker) if message.speaker else 0
        return OVERHEAD + speaker + self.count(message.text) + calls
