"""One request of an agent to its model through the gateway, and what the model had in front of it when it answered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.conversation import ContextMessage, OptimisedContext
    from amgs.types.usage import Usage

GatewayOutcome = Literal["answered", "refused", "unreachable", "broken off"]
"""answered: by the model's server, whatever it said. refused: by it, with an error. unreachable: there was no answer.
broken off: while it came.
"""
PromptKind = Literal["system prompt", "tools"]
PrefixPart = Literal["model", "tools", "system prompt", "message"]


def prompt_id(text: str) -> str:
    """SHA-256 of a prompt, by which it is kept."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class GatewayPrompt:
    """Part of a request beside its conversation.

    text: the words of a system prompt, or the definitions of tools as JSON, without keys for servers of tools. after:
    the number of the message that it stands behind, 0 at the beginning. tokens: 0 where nobody counted.
    """

    kind: PromptKind
    text: str
    after: int = 0
    tokens: int = 0

    @property
    def id(self) -> str:
        """SHA-256 of the text."""
        return prompt_id(self.text)


@dataclass(frozen=True, slots=True)
class PrefixComparison:
    """Length of the common beginning of a request and the one before it in its conversation: that far a provider's
    cache can serve.

    before: the number of that request. changed: what differs first; None where it begins with the whole of it. message:
    the numbers of the first message that differs, where it is one. same: tokens in front of the difference. again:
    tokens behind it that the request before had too, so that they had to be read a second time.
    """

    before: int
    changed: PrefixPart | None
    message: tuple[int, int] | None
    same: int
    again: int


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
    beside: of the system prompts and tools that were sent with them, with what a chat template puts around them.
    reserved: of the budget, kept free for the answer. counted: of the whole request as the model's server counted, 0
    where it does not say; usage: the same apart. digest: SHA-256 of the messages that were sent. missing: why they
    cannot be shown, "" where they can.

    prompts: system prompts and definitions of tools in the order of the request; None where they were not kept.
    changed: which of them differ from those of the request before it of the same conversation. prefix: how far it
    begins like that one; None where that cannot be told. A list of exchanges has no context, whole, prompts and prefix.
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
    usage: Usage | None = None
    prompts: tuple[GatewayPrompt, ...] | None = None
    changed: tuple[PromptKind, ...] = ()
    prefix: PrefixComparison | None = None

    @property
    def messages(self) -> tuple[ContextMessage, ...]:
        """Messages that the model received."""
        return self.whole if self.context is None else self.context.messages
