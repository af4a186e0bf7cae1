"""What a caller hands to the engine: a clock, and what is told how far a long action is."""

from __future__ import annotations

from typing import Protocol


class PerfClock(Protocol):
    """Seconds on a monotonic clock; one that stands still gives durations of 0."""

    def perf(self) -> float: ...


class ProgressCallback(Protocol):
    """Told how far a long action is. Raising from it cancels the action, which then leaves nothing behind."""

    def __call__(self, done: int, total: int, doing: str) -> None: ...
