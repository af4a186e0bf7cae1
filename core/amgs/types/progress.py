"""Progress and cancellation of a long action."""

from __future__ import annotations

from collections.abc import Callable

from amgs.errors import Cancelled


class Progress:
    """Handed into every long action: it reports, and asks whether to stop.

    report(done, total, doing) is called from the working thread. A cancelled action raises Cancelled at its next
    report and leaves the store as it was.
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
        """Say how far it is; raises Cancelled when the operator has asked to stop."""
        if self._cancelled:
            raise Cancelled("It was stopped before its end.", way_out="What was done by then is kept.")
        if self._report is not None:
            self._report(done, total, doing)
