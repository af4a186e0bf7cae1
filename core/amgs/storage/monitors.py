"""What the monitors saw, and what monitors and metrics read of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from amgs.types import EdgeKey


@dataclass(frozen=True, slots=True)
class MonitorValue:
    """One value a monitor saw; detail is what the next look is compared with."""

    at: datetime
    kind: str
    subject: str
    value: float | None
    detail: Mapping[str, float]


class MonitorStorage(Protocol):
    """The log of the monitors."""

    def append(self, seen: Sequence[MonitorValue]) -> None:
        """Record what was seen."""
        ...

    def latest(self, limit: int) -> tuple[MonitorValue, ...]:
        """The latest records, the newest first."""
        ...

    def last(self, kind: str) -> MonitorValue | None:
        """The latest record of a kind."""
        ...

    def cycles(self, kind: str) -> tuple[int, ...]:
        """Ids of the standing operations of a kind, the newest first."""
        ...

    def edges_changed(self, after: int) -> tuple[set[EdgeKey], set[EdgeKey]]:
        """Keys of the edges that standing operations made and took away after the one with this id."""
        ...
