"""5 Calibration: how well the scores forecast what proved useful."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs_tui.keys import shown
from amgs_tui.panes.base import Ask, Pane
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amgs.model import Outcome, Reliability

BINS = (5, 10, 20)


class CalibrationPane(Pane):
    """The reliability diagram and the Brier score."""

    NAME = "calibration"
    SHOWS = frozenset({"calibration table", "feedback"})
    PURPOSE = """\
Every block that a frame selects carries its score as a forecast: so likely will it prove useful. A verdict
(u useful, x useless, here or in the frame pane) settles it. The diagram holds forecast against outcome; on
the diagonal the scores mean what they say. The Brier score is the mean squared error, 0 is best."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("u", "feedback('useful')", "useful", "calibration.useful", "The selected block was useful"),
        shown("x", "feedback('useless')", "useless", "calibration.useless", "The selected block was useless"),
        shown("g", "groups", "groups", "calibration.groups", "By frame, category and type of edge"),
        shown(
            "c", "calibrate", "calibrate", "calibration.calibrate", "Plan how outcomes would move confidences"
        ),
        shown("b", "bins", "bins", "calibration.bins", "5, 10 or 20 steps of the forecast"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.table: Reliability | None = None
        self.outcomes: list[Outcome] = []
        self.bins = 10

    def asks(self) -> Iterable[Ask]:
        return [("calibration table", {"bins": self.bins})]

    def take(self, verb: str, result: Any) -> None:
        if verb == "feedback":
            self.outcomes = [result, *self.outcomes][:100]
        else:
            self.table = result

    def subtitle(self) -> str:
        if self.table is None:
            return ""
        return f"{self.table.outcomes:,} of {self.table.forecasts:,} forecasts settled"

    def draw(self, canvas: Canvas) -> Text:
        if self.table is None:
            return notice(canvas, "Calibration", (), "Waiting for the memory …")
        if not self.table.forecasts:
            keys = ("2  assemble a frame", "u x  say there which blocks were useful")
            return notice(canvas, "No forecasts yet", keys, "Every block that a frame selects is a forecast.")
        from amgs_tui.pictures import calibration

        return calibration.calibration(
            self.table,
            canvas,
            now=self.workstation.now(),
            outcomes=self.outcomes,
            titles=self.workstation.titles,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return self.workstation.selected is not None if action == "feedback" else True

    def selection_changed(self, block_id: str | None) -> None:  # noqa: ARG002
        self.refresh_bindings()

    def action_groups(self) -> None:
        self.ask("calibration groups")

    def action_calibrate(self) -> None:
        """The plan first: what is applied is typed without --dry-run."""
        self.workstation.action_command("calibrate --dry-run")

    def action_feedback(self, verdict: str) -> None:
        self.ask("feedback", verdict=verdict, block=self.workstation.selected)

    def action_bins(self) -> None:
        self.bins = BINS[(BINS.index(self.bins) + 1) % len(BINS)]
        self.look()
