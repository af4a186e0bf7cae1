"""One request of an agent to its model through the gateway, and what the model had in front of it when it answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.conversation import ContextMessage, OptimisedContext

GatewayOutcome = Literal["answered", "refused", "unreachable", "broken off"]
"""answered: by the model's server, whatever it said. refused: by it, with an error. unreachable: there was no answer.
broken off: while it came.
"""


@dataclass(frozen=True, slots=True)
class GatewayExchange:
    """A request that went through the gateway, and its answer.

    number: from 1, in the memory. interface: the path it came by. asked: the last message of the user. history: how
    many messages the agent sent. context: what was sent instead, None where the request went on as it came; untouched:
    why it did; whole: its messages then, system prompts left out. said: the answer's text, characters its length.
    status: of HTTP, 0 without an answer. remembered: how many messages the memory took in; memory_ms: what it took
    before the request went on; first_byte_ms, all_ms: of the model's server.

    until, answered: numbers of the last message of the request and of the answer in the conversation, 0 where it does
    not hold them. tokens: of the messages that were sent, of tokens_before that the agent sent; 0 where nobody counted.
    beside: of the system prompts and tools that were sent with them, which are not kept, with what a chat template puts
    around them. reserved: of the budget, kept free for the answer. counted: of the whole request as the model's server
    counted, 0 where it does not say. digest: SHA-256 of the
    messages that were sent. missing: why they cannot be shown, "" where they can; a list of exchanges has neither
    context nor whole.
    """

    number: int
    at: datetime
    conversation: str
    interface: str
    model: str
    asked: str
    history: int
    context: OptimisedContext | None
    untouched: str
    said: str
    outcome: GatewayOutcome
    status: int
    remembered: int
    memory_ms: float
    first_byte_ms: float
    all_ms: float
    whole: tuple[ContextMessage, ...] = ()
    until: int = 0
    answered: int = 0
    characters: int = 0
    tokens: int = 0
    tokens_before: int = 0
    beside: int = 0
    reserved: int = 0
    counted: int = 0
    digest: str = ""
    missing: str = ""

    @property
    def messages(self) -> tuple[ContextMessage, ...]:
        """What the model was sent."""
        return self.whole if self.context is None else self.context.messages
