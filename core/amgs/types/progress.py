"""Progress and cancellation of a long action."""

from __future__ import annotations

from collections.abc import Callable

from amgs.errors import Cancelled


class Progress:
    """Passed to long actions, which report progress and check for cancellation by it.

    report(done, total, doing) is called in the working thread. A cancelled action raises Cancelled at its next report;
    only what it had committed by then, such as earlier batches, stays in the store.
    """

    def __init__(self, report: Callable[[int, int, str], None] | None = None) -> None:
        self._report = report
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def __call__(self, done: int, total: int, doing: str = "") -> None:
        """Report progress; raises Cancelled if the action was cancelled."""
        if self._cancelled:
            raise Cancelled("It was stopped before its end.", way_out="What was done by then is kept.")
        if self._report is not None:
            self._report(done, total, doing)
