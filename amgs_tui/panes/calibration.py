"""5 Calibration: how well the scores forecast usefulness, down to the single forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from amgs.text.words import plural
from amgs_app import operations
from amgs_app.calibration.rows import list_forecasts, verdict_of
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.catalogue import list_of
from amgs_app.render.format import share
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane, next_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs.calibration.results import CalibrationPlan, OutcomeGroups
    from amgs.types import ForecastCase, JournalEntry, Reliability
    from amgs_app.calibration.commands import GroupKind, Verdict
    from amgs_app.calls.call import Call
    from amgs_app.render.rows import RowList
    from amgs_app.results.memory import ForecastList
    from amgs_tui.host import Host
    from amgs_tui.messages import Failed, Follow

BINS = (5, 10, 20)
LATEST = 500
"""Forecasts that are read while no bin is chosen."""
UNDONE_HERE = frozenset({"feedback", "calibrate"})
"""What `U` undoes, if it is among the latest changes."""
CHANGES = 50


class CalibrationPane(ListPane):
    """The reliability diagram, its forecasts, and the plan of a recalibration."""

    NAME = "calibration"
    ASKS_AWAY = True
    SHOWS = frozenset({"calibration", "calibrate", "feedback"})
    PURPOSE = """\
Every block in a frame carries its score as a forecast: the probability that it will prove useful. Your verdict (u
useful, x useless, here or in the frame pane) is the outcome, and the next open forecast comes under the cursor; U
takes the last verdict back. From 20 verdicts on, the diagram plots forecast against outcome; on the diagonal the
scores mean what they say. The Brier score is the mean squared error: 0 is best. The arrows choose a bin of the
diagram; f shows one frame, category or type of edge alone. c previews a recalibration; press c again to apply it."""

    BINDINGS: ClassVar[list[Any]] = [
        show("u", "feedback('useful')", "useful", "calibration.useful", "It was useful; on to the next open forecast"),
        show(
            "x", "feedback('useless')", "useless", "calibration.useless", "It was useless; on to the next open forecast"
        ),
        show("right", "bin(1)", "bin", "calibration.bin", "Next bin of the diagram", key_display="←→"),
        hide("left", "bin(-1)", "bin", "calibration.bin_before", "Previous bin; from the first, back to all"),
        show("v", "whole", "view", "calibration.view", "Switch between the list and the diagram"),
        show("enter", "read", "read", "calibration.read", "Read the block of this forecast"),
        show("c", "calibrate", "plan", "calibration.calibrate", "Preview a recalibration; press again to apply it"),
        show(
            "f",
            "run('calibration groups')",
            "group",
            "calibration.groups",
            "Show one frame, category or type of edge, or all",
        ),
        show("d", "drop", "back", "calibration.drop", "Discard the preview"),
        show("U", "undo", "undo", "calibration.undo", "Undo the last verdict or recalibration"),
        show("b", "bins", "bins", "calibration.bins", "Cycle 5, 10 or 20 bins"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.table: Reliability | None = None
        self.found: ForecastList | None = None
        self._every: RowList[ForecastCase] | None = None
        self.plan: CalibrationPlan | None = None
        self.done: JournalEntry | None = None
        self.last: JournalEntry | None = None
        """The latest verdict or recalibration not undone."""
        self.bins = 10
        self.bin: int | None = None
        self.group: tuple[GroupKind, str] | None = None
        self.queue: bool | None = None
        self._next: str | None = None
        self._judged: str | None = None
        self._begins = True

    # --- what it shows ------------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        by, value = self.group or (None, None)
        yield operations.calibration.calibration(bins=self.bins, by=by, value=value)
        if self.bin is None:
            yield operations.calibration.calibration("forecasts", bins=self.bins, by=by, value=value, limit=LATEST)
        else:
            yield operations.calibration.calibration(
                "forecasts", bins=self.bins, bin=self.bin + 1, state="settled", by=by, value=value
            )

    def slot_of(self, call: Call[Any]) -> str:
        return call.arguments.get("view") or super().slot_of(call)

    def follow_up(self, call: Call[Any]) -> Follow | None:
        """Return a request for the latest changes, to follow a list of forecasts."""
        if call.arguments.get("view") != "forecasts":
            return None
        return lambda _: [operations.lifecycle.operations(limit=CHANGES)]

    def take(self, result: object) -> None:
        from amgs.calibration.results import Calibrated, CalibrationPlan
        from amgs.types import Outcome, Reliability
        from amgs_app.results.memory import ForecastList, OperationList

        match result:
            case Reliability():
                self.table = result
                self.bins = len(result.bins) or self.bins
            case ForecastList():
                self._take_forecasts(result)
            case Outcome():
                self._judged = result.prediction_id
            case OperationList():
                self._take_changes(result.operations)
            case Calibrated():
                self.done, self.plan, self.cursor = result.operation, None, 0
            case CalibrationPlan():
                self.done, self.plan, self.cursor = None, result, 0

    def _take_forecasts(self, forecasts: ForecastList) -> None:
        """Show a new list; the cursor stays on its forecast, or moves on from one that was just judged."""
        current_case, wanted = None if self._begins else self._case, self._next
        self.found, self._next, self._begins = forecasts, None, False
        self._every = list_forecasts(forecasts.cases, self.host.now())
        keep = wanted or ""
        if wanted is None and current_case is not None:
            outcome = current_case.outcome
            judged_elsewhere = outcome.actual is not None and not self.has_focus
            open_ones = (
                case.outcome.prediction_id
                for case in self.items
                if judged_elsewhere and case.outcome.actual is None and case.outcome.block_id == outcome.block_id
            )
            keep = next(open_ones, outcome.prediction_id)
        self.clip_cursor()
        self.place_on(case.outcome.prediction_id == keep for case in self.items)
        if wanted is not None:
            self.follow_cursor()

    def _take_changes(self, changes: Sequence[JournalEntry]) -> None:
        """Store the change that U would undo. After the undo of a verdict, move the cursor to the forecast that is open
        again.
        """
        was = self.last.id if self.last is not None and self.last.kind == "feedback" else None
        self.last = next((change for change in changes if not change.undone and change.kind in UNDONE_HERE), None)
        if self._judged is not None and any(change.undone and change.id == was for change in changes):
            self.place_on(case.outcome.prediction_id == self._judged for case in self.items)
            self._judged = None
            self.follow_cursor()

    @property
    def page(self) -> RowList[Any] | None:
        return self._every if self.plan is None else list_of(self.plan)

    @property
    def shown_places(self) -> tuple[int, ...] | None:
        return super().shown_places if self.plan is None else None

    @property
    def _case(self) -> ForecastCase | None:
        """Forecast under the cursor."""
        return self.row if self.plan is None else None

    @property
    def empty(self) -> bool:
        nothing = self.table is not None and not self.table.forecasts and self.group is None
        return nothing and self.plan is None

    def subtitle(self) -> str:
        if self.plan is not None:
            return "preview · c applies it · d discards it"
        if self.table is None:
            return ""
        if self.done is not None:
            return f"recalibrated as operation {self.done.id} · U undoes it"
        if self.bin is not None:
            chosen = self.table.bins[self.bin]
            return f"{share(chosen.low)} to {share(chosen.high)}: {plural(chosen.count, 'forecast')}"
        return "U undoes the last verdict" if self.last is not None and self.last.kind == "feedback" else ""

    def figure(self, canvas: Canvas) -> Figure | None:
        if self.plan is not None:
            return super().figure(canvas)
        if self.table is None:
            return None
        from amgs_app.calibration.figure import calibration

        return calibration(
            self.table,
            canvas,
            self.shown_rows,
            self.cursor,
            chosen=self.bin,
            of=" ".join(self.group) if self.group is not None else "",
            every=len(self._every.items) if self.sift.terms and self._every is not None else None,
            queue=self.queue,
        )

    # --- keys ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        match action:
            case "feedback" | "read":
                return self._case is not None
            case "drop":
                return self.plan is not None
            case "undo":
                return self.last is not None and self.plan is None
            case "bin" | "whole" | "run" | "bins":
                return self.plan is None
        return True

    def selection_changed(self, block_id: str | None) -> None:
        if self.plan is None and self.block_at_cursor() != block_id:
            self.place_on(case.outcome.block_id == block_id for case in self.items)
            self.repaint()
        self.refresh_bindings()

    def action_bin(self, by: int) -> None:
        """Go to the next bin with an outcome; after the last, and before the first, come all bins."""
        bins = self.table.bins if self.table is not None else ()
        self._show(next_of((None, *(n for n, of_bin in enumerate(bins) if of_bin.count)), self.bin, by))
        self.show_change()

    def _show(self, chosen: int | None) -> None:
        """Request the forecasts of a bin, or of all (None); the cursor begins at the top."""
        self.bin, self._begins, self.cursor = chosen, True, 0
        self.look()

    def action_whole(self) -> None:
        from amgs_app.calibration.figure import is_queue

        if self.table is not None:
            self.queue = not is_queue(self.table, self.bin, self.queue)
            self.repaint()

    def action_bins(self) -> None:
        self.bins = next_of(BINS, self.bins)
        self.bin = None
        self.look()

    def action_feedback(self, verdict: Verdict) -> None:
        """Judge the forecast under the cursor, and move to the next open one."""
        if self._case is None:
            return
        judged = self._case.outcome
        if judged.actual is not None:
            words = f"This forecast was judged {verdict_of(judged.actual)}."
            self.notify(words, title="Already judged", timeout=3)
            return
        after = [other.outcome for other in (*self.items[self.cursor + 1 :], *self.items[: self.cursor])]
        self._next = next((other for other in after if other.actual is None), judged).prediction_id
        self.ask(operations.calibration.feedback(verdict, block=judged.block_id, forecast=judged.prediction_id))

    def receive_failure(self, failure: Failed) -> None:
        if failure.request.command == "feedback":
            self._next = None
        super().receive_failure(failure)

    def action_calibrate(self) -> None:
        """Preview a recalibration; with a preview on the screen, apply it."""
        self.ask(operations.tuning.calibrate(dry_run=self.plan is None))

    def action_drop(self) -> None:
        self.plan = None
        self.cursor = 0
        self.show_change()

    def action_undo(self) -> None:
        """Undo the last verdict or recalibration; the workstation asks first."""
        if self.last is not None:
            self.done = None
            self.ask(operations.lifecycle.undo(self.last.id))

    def show_to_operator(self, command: str, result: object) -> None:
        """Offer the groups as choices, with their figures."""
        del command
        from amgs.calibration.results import OutcomeGroups

        if isinstance(result, OutcomeGroups):
            self.choose("Show which forecasts?", list(self._list_groups(result)), self._show_group)

    def _list_groups(self, result: OutcomeGroups) -> Iterable[Choice]:
        current = " ".join(self.group) if self.group is not None else ""
        for group in result.groups:
            name = "" if group.kind == "all" else f"{group.kind} {group.name}"
            brier = f", Brier {share(group.brier, 3)}" if group.brier is not None else ""
            summary = f"{group.outcomes:,} of {plural(group.forecasts, 'forecast')} judged{brier}"
            yield Choice(name, name or "all", summary, marked=name == current)

    def _show_group(self, name: str) -> None:
        kind, _, value = name.partition(" ")
        self.group = (cast("GroupKind", kind), value) if kind else None
        self._show(None)
