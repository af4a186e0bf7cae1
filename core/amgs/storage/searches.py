"""Past searches: what was asked, and what the layers made of every candidate, for a number of searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A search. serial: its number. places: how many hits it gave at most. pool: how many candidates it had, of which
    the best are kept, as JSON; see `amgs.retrieval.stored_candidates`.
    """

    serial: int
    at: datetime
    query: str
    places: int
    pool: int
    candidates: str


class SearchStorage(Protocol):
    """Searches by their number, from 1."""

    def put(self, rows: Sequence[SearchRow], keep: int) -> None:
        """Keep searches, and of all only the latest `keep`. The change counter stays: it is no change of the memory."""
        ...

    def get(self, serial: int) -> SearchRow | None:
        """A search; None where it is not kept."""
        ...

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        """The latest searches, the newest first."""
        ...
