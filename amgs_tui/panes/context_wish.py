"""What an operator wants to see of a conversation: the next question to the context optimiser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations

if TYPE_CHECKING:
    from amgs.types.conversation import (
        ContextConfiguration,
        ContextSpan,
        ContextStrategy,
        FateChange,
        SpanFate,
    )
    from amgs_app.calls.call import Call

STRATEGIES: Final[Mapping[ContextStrategy, str]] = {
    "mask": "old outputs of tools as one line, then the oldest go",
    "extractive": "what answers the question stays whole",
    "hybrid": "what answers the question, whole or cited in part",
    "levels": "each topic whole, in an extract, as findings, or not",
}
"""What each does, in a few words."""

CONFIGURATIONS: Final[Mapping[ContextConfiguration, str]] = {
    "high-compression": "half of the budget, each topic by what it is worth",
    "high-fidelity": "more of the latest messages, and what was decided and is owed",
}
"""Beside the default one, what each does, in a few words."""


@dataclass(frozen=True, slots=True)
class ContextWish:
    """What the operator wants to see. until: after which message, None for the last. keep: handles of what was
    restored. other: the strategy to compare with, None for none.
    """

    conversation: str = ""
    query: str = ""
    budget: int | None = None
    strategy: ContextStrategy = "extractive"
    configuration: ContextConfiguration = "default"
    until: int | None = None
    keep: tuple[str, ...] = ()
    other: ContextStrategy | None = None

    def restored_in(self, span: ContextSpan | FateChange) -> tuple[str, ...]:
        """The handles of what was restored that end in a span."""
        return tuple(one for one in self.keep if span.first <= last_of(one) <= span.last)

    @property
    def call(self) -> Call[Any]:
        if self.other is not None:
            return operations.conversation.compare(
                self.conversation,
                self.query,
                budget=self.budget,
                a=self.other,
                b=self.strategy,
                until=self.until,
                keep=list(self.keep) or None,
            )
        return operations.conversation.optimise(
            self.conversation,
            self.query,
            budget=self.budget,
            strategy=self.strategy,
            configuration=self.configuration,
            until=self.until,
            keep=list(self.keep) or None,
        )


def fate_of(span: ContextSpan | FateChange) -> SpanFate:
    """What becomes of messages; in a comparison, under the strategy that is looked at."""
    from amgs.types.conversation import ContextSpan

    return span.fate if isinstance(span, ContextSpan) else span.after


def last_of(handle: str) -> int:
    """The number of the last message of a handle."""
    return int(handle.lstrip("#").rpartition("-")[2])
