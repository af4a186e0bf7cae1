"""One request of an agent to its model, and what the model had in front of it when it answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from amgs.types.conversation import OptimisedContext

GatewayOutcome = Literal["answered", "refused", "unreachable", "broken off"]
"""answered: by the model's server, whatever it said. refused: by it, with an error. unreachable: there was no answer.
broken off: while it came.
"""


@dataclass(frozen=True, slots=True)
class GatewayExchange:
    """A request that went through the gateway, and its answer.

    number: from 1 since the gateway began. interface: the path it came by. asked: the last message of the user.
    history: how many messages the agent sent. context: what was sent instead, None where the request went on as it
    came; untouched: why it did. said: the answer's text. status: of HTTP, 0 without an answer. remembered: how many
    messages the memory took in; memory_ms: what it took before the request went on; first_byte_ms, all_ms: of the
    model's server.
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
