"""Findings that wait for the operator's verdict.

A finding counts while the operation that found it stands, a verdict while its own operation stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from amgs.types import Review


class ReviewStorage(Protocol):
    """Findings and verdicts."""

    def add(self, found: Sequence[Review], operation: int) -> None:
        """Write findings under the numbers that they carry."""
        ...

    def next_id(self) -> int:
        """The number that the next finding gets; numbers are not given out twice."""
        ...

    def waiting(self) -> int:
        """How many findings are open."""
        ...

    def everything(self) -> tuple[Review, ...]:
        """The findings that stand, open ones first, the surest first."""
        ...

    def decide(self, review: int, verdict: str, operation: int) -> None:
        """Note a verdict and the operation that carried it out."""
        ...
