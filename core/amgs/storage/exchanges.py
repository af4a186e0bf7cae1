"""Requests of agents to their model that went through the gateway, without the texts of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """A request. last: the last message of its conversation that it, or its answer, holds; 0 for none. record: what
    else there is to tell, as JSON; see `amgs.conversation.exchanges`.
    """

    number: int
    at: datetime
    conversation: str
    last: int
    record: str


class ExchangeStorage(Protocol):
    """Requests by their number, from 1."""

    def put(self, row: ExchangeRow, keep: int) -> None:
        """Keep a request, and of all only the latest `keep`. The change counter stays: it is no change of the
        memory.
        """
        ...

    def get(self, number: int) -> ExchangeRow | None:
        """A request; None where it is not kept."""
        ...

    def latest(self, limit: int, conversation: str | None = None) -> Sequence[ExchangeRow]:
        """The latest requests, of one conversation or of all, the newest first."""
        ...
