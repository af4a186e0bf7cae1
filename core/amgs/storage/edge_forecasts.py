"""The edges by which the block of a forecast was reached (AMGS §7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from amgs.types import EdgeKey


@dataclass(frozen=True, slots=True)
class EdgeVerdicts:
    """An edge and the verdicts on what it led to that nothing has learned from yet."""

    key: EdgeKey
    hits: float
    count: int


class EdgeForecastStorage(Protocol):
    """Which edges led to the block of a forecast, and what verdicts say of them."""

    def insert(self, walked: Iterable[tuple[str, EdgeKey]]) -> None:
        """Log (prediction id, key of an edge walked to its block)."""
        ...

    def open_verdicts(self, predictions: Sequence[str] | None = None) -> tuple[EdgeVerdicts, ...]:
        """Per edge: the sum of the outcomes and how many. What a standing operation counted is left out.

        predictions: only edges by which the blocks of these forecasts were reached; None for all.
        """
        ...

    def count_in(self, operation: int, keys: Sequence[EdgeKey]) -> None:
        """Note that an operation has learned from the open verdicts on these edges."""
        ...
