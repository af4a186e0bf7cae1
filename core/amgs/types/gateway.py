"""A request of an agent to its model through the gateway, its tokens, and the context that the model had."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.conversation import ContextMessage, OptimisedContext


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request as the model's server counts them; each input token is in one of the first three.

    fresh: read at full price. written: to the cache. cached: read from the cache. output: written by the model.
    """

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0

    @property
    def window(self) -> int:
        """Tokens that the model read."""
        return self.fresh + self.written + self.cached


GatewayOutcome = Literal["answered", "refused", "unreachable", "broken off"]
"""answered: by the model's server, whatever it said. refused: with an error. unreachable: no answer. broken off: during
the answer.
"""
PromptKind = Literal["system prompt", "tools"]
PrefixPart = Literal["model", "tools", "system prompt", "message"]


def prompt_id(text: str) -> str:
    """Return the SHA-256 of a prompt, under which it is stored."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class GatewayPrompt:
    """Part of a request besides its conversation.

    text: a system prompt, or definitions of tools as JSON, without keys of tool servers. after: number of the message
    before it, 0 at the beginning. tokens: 0 if not counted.
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
    """Common beginning of a request and the previous one of its conversation, which a provider's cache can serve.

    before: number of the previous request. changed: what differs first; None if the request begins with all of the
    previous request. message: numbers of the first different message, if any. same: tokens before the difference.
    again: tokens after it that the previous request had too, so that they were read twice.
    """

    before: int
    changed: PrefixPart | None
    message: tuple[int, int] | None
    same: int
    again: int


@dataclass(frozen=True, slots=True)
class GatewayExchange:
    """A request through the gateway, and its answer.

    number: from 1, in the memory. interface: path of the request. asked: the user's last message. history: number of
    messages that the agent sent. context: what was sent instead, None if the request was passed on unchanged;
    untouched: the reason; whole: its messages then, without system prompts. said: text of the answer, characters its
    length. status: HTTP status, 0 without an answer. remembered: messages added to the memory; memory_ms: time for that
    before the request was passed on; first_byte_ms, all_ms: of the model's server. until, answered: numbers of the
    request's last message and of the answer in the conversation, 0 if they are not in it. tokens: of the messages sent,
    of tokens_before by the agent; 0 if not counted. beside: of system prompts and tools sent with them, with the chat
    template. reserved: of the budget, for the answer. counted: of the whole request by the model's server, 0 if not
    reported; usage: the same in detail. digest: SHA-256 of the messages sent. missing: why they cannot be shown, else
    "". prompts: system prompts and tool definitions in order; None if not stored. changed: which of them differ from
    the previous request of the conversation. prefix: common beginning with that request; None if unknown. In a list of
    exchanges, context, whole, prompts and prefix are empty.
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
