"""Forecasts, and what came of them (AMGS §7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from amgs.types import Outcome

ForecastGroup = Literal["frame", "category", "relation"]
"""What forecasts are told apart by; relation: the type of an edge that was walked to the block."""


CaseRow: TypeAlias = "tuple[Outcome, str, tuple[str, ...], datetime]"
"""(forecast, query of its assembly, types of the edges walked to its block, instant it was made)."""


GroupRow = tuple[
    Literal["all", "frame", "category", "relation"], str, int, int, float | None, float | None, float | None
]
"""(kind, name, forecasts, outcomes, mean of the decided forecasts, rate at which they came true, Brier score)."""


class ForecastStorage(Protocol):
    """The log of forecasts and their outcomes."""

    def next_serial(self) -> int:
        """The serial that the next forecast will have, from 1."""
        ...

    def insert(
        self,
        forecasts: Sequence[Outcome],
        assembly_id: str,
        first_serial: int,
        scores: Sequence[float] | None = None,
    ) -> None:
        """Log open forecasts of one assembly, with serials from `first_serial`.

        scores: the composite scores that they were made from, where they are not the scores themselves.
        """
        ...

    def scored(self) -> tuple[tuple[float, float], ...]:
        """(composite score, outcome) of every decided forecast, the oldest first."""
        ...

    def put_curve(self, operation: int, curve: str) -> None:
        """Keep the curve, as JSON, that an operation has fitted from scores to outcomes."""
        ...

    def curve(self) -> str | None:
        """The curve in use, as JSON: that of the latest operation that stands; None before the first."""
        ...

    def open_forecast(
        self, block_id: str, assembly_id: str | None = None, prediction_id: str | None = None
    ) -> Outcome | None:
        """The latest forecast of a block that has no outcome yet, of one assembly or that very one when it is named."""
        ...

    def verdicts(self, frame: str, query: str) -> dict[str, float]:
        """What came of the latest forecast of each block that a frame selected for a query; open ones are left out."""
        ...

    def decide(self, prediction_id: str, actual: float, brier: float, at: datetime) -> None:
        """Write what came of a forecast."""
        ...

    def reopen(self, prediction_ids: Sequence[str]) -> None:
        """Take the outcomes of forecasts back: each waits for a verdict again."""
        ...

    def decided(
        self,
        *,
        by: ForecastGroup | None = None,
        value: str | None = None,
        limit: int | None = None,
    ) -> tuple[Outcome, ...]:
        """Forecasts with an outcome, the latest verdict first; `at` is the instant of the verdict."""
        ...

    def cases(
        self,
        *,
        decided: bool | None,
        in_bin: tuple[int, int] | None = None,
        by: ForecastGroup | None = None,
        value: str | None = None,
        limit: int,
    ) -> tuple[CaseRow, ...]:
        """Forecasts in full, the latest verdict (else the latest forecast) first.

        decided: with an outcome, still without one, or (None) both. in_bin: (bin from 0, number of bins).
        """
        ...

    def judged(self, ids: Sequence[str] | None = None) -> dict[str, tuple[int, int]]:
        """(times useful, verdicts) of all blocks or of those named; those that were never judged are left out."""
        ...

    def latest(self, limit: int) -> tuple[Outcome, ...]:
        """The latest forecasts, decided or not, the newest first."""
        ...

    def count(self, *, by: ForecastGroup | None = None, value: str | None = None) -> int:
        """How many forecasts were logged, of all or of one frame, category or relation type."""
        ...

    def groups(self) -> tuple[GroupRow, ...]:
        """All forecasts together, then by frame, by category and by relation type."""
        ...

    def counts(self) -> tuple[int, int, float | None]:
        """(forecasts, outcomes, mean Brier score or None)."""
        ...
