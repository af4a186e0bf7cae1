"""Table `reviews`: findings (possible contradictions, duplicates) that wait for the operator's verdict.

A finding counts while the operation that found it is not undone, a verdict while its own operation is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, stored

if TYPE_CHECKING:
    from amgs.types import Review


_STANDING = (
    "SELECT r.id, r.kind, r.older_id, r.newer_id, r.because, r.confidence, r.found_at, "
    "CASE WHEN v.id IS NULL OR v.undone THEN 'open' ELSE r.verdict END AS state, "
    "CASE WHEN v.id IS NULL OR v.undone THEN NULL ELSE v.id END AS decided_by "
    "FROM reviews r JOIN operations f ON f.id = r.found_by AND NOT f.undone "
    "LEFT JOIN operations v ON v.id = r.operation_id"
)


class ReviewStorage(StoragePart):
    """Findings and verdicts."""

    def add(self, reviews: Sequence[Review], operation: int) -> None:
        """Store findings, each under its own number."""
        for review in reviews:
            self._note(
                "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                [
                    review.id,
                    review.kind,
                    review.older_id,
                    review.newer_id,
                    review.because,
                    review.confidence,
                    stored(review.found_at),
                    operation,
                ],
            )

    def next_id(self) -> int:
        """Return the number of the next finding; numbers are never reused."""
        return self._count("SELECT coalesce(max(id), 0) + 1 FROM reviews")

    def waiting(self) -> int:
        """Count the open findings."""
        return self._count(f"SELECT count(*) FROM ({_STANDING}) WHERE state = 'open'")

    def everything(self) -> tuple[Review, ...]:
        """Return the valid findings, open ones first, then by falling confidence."""
        rows = self._rows(f"SELECT * FROM ({_STANDING}) AS r ORDER BY state <> 'open', confidence DESC, id")
        return tuple(_review(row) for row in rows)

    def decide(self, review: int, verdict: str, operation: int) -> None:
        """Store a verdict and the operation that applied it."""
        self._note("UPDATE reviews SET verdict = ?, operation_id = ? WHERE id = ?", [verdict, operation, review])


def _review(row: Sequence[Any]) -> Review:
    from amgs.types import Review

    number, kind, older, newer, because, confidence, at, state, operation = row
    return Review(number, kind, older, newer, because, confidence, as_utc(at), state, operation)
