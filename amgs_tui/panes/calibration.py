"""5 Calibration: how well the scores forecast what proved useful, down to the single forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs_tui.keys import quiet, shown
from amgs_tui.listings import of_forecasts
from amgs_tui.panes.base import Ask, ListPane
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice
from amgs_tui.pictures.words import plural, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs.calibration.results import CalibrationPlan, OutcomeGroups
    from amgs.model import ForecastCase, Operation, Reliability
    from amgs_tui.sifting import Row
    from amgs_tui.verbs.results import ForecastList

BINS = (5, 10, 20)
LATEST = 500
"""Forecasts that are fetched while no bin is chosen."""


class CalibrationPane(ListPane):
    """The reliability diagram, the forecasts behind it, and the plan that would make them better."""

    NAME = "calibration"
    SHOWS = frozenset(
        {"calibration table", "calibration forecasts", "calibration groups", "calibrate", "feedback"}
    )
    PURPOSE = """\
Every block that a frame selects carries its score as a forecast: so likely will it prove useful. A verdict
(u useful, x useless, here or in the frame pane) settles it. The diagram holds forecast against outcome; on
the diagonal the scores mean what they say. The Brier score is the mean squared error, 0 is best. The arrows
choose a bin of the diagram and walk the forecasts in it; f shows one frame, category or type of edge alone;
c plans a recalibration, which nothing happens by until c is pressed again."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("u", "feedback('useful')", "useful", "calibration.useful", "The selected block was useful"),
        shown("x", "feedback('useless')", "useless", "calibration.useless", "The selected block was useless"),
        shown("right", "bin(1)", "bin", "calibration.bin", "The next bin of the diagram", key_display="←→"),
        quiet("left", "bin(-1)", "bin", "calibration.bin_before", "The bin before; before the first, all"),
        shown(
            "enter", "whole", "list", "calibration.list", "The forecasts over the whole pane, or beside it"
        ),
        shown(
            "c",
            "calibrate",
            "plan",
            "calibration.calibrate",
            "Plan how outcomes would move confidences; then carry the plan out",
        ),
        shown("f", "group", "group", "calibration.groups", "One frame, category or type of edge, or all"),
        shown("d", "drop", "back", "calibration.drop", "Leave the plan; nothing has happened"),
        shown("U", "undo", "undo", "calibration.undo", "Take the recalibration back that was just made"),
        shown("b", "bins", "bins", "calibration.bins", "5, 10 or 20 steps of the forecast"),
        *ListPane.BINDINGS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.table: Reliability | None = None
        self.found: ForecastList | None = None
        self.plan: CalibrationPlan | None = None
        self.done: Operation | None = None
        self.bins = 10
        self.bin: int | None = None
        self.group: tuple[str, str] | None = None
        self.alone = False

    # --- what it shows ------------------------------------------------------------------------------------

    def asks(self) -> Iterable[Ask]:
        only = {} if self.group is None else {"by": self.group[0], "value": self.group[1]}
        inside = {"limit": LATEST} if self.bin is None else {"bin": self.bin + 1, "state": "settled"}
        yield "calibration table", {"bins": self.bins, **only}
        yield "calibration forecasts", {"bins": self.bins, **inside, **only}

    def take(self, verb: str, result: Any) -> None:
        match verb:
            case "calibration table":
                self.table = result
                self.bins = len(result.bins) or self.bins
            case "calibration forecasts":
                self.found = result
                self.cursor = max(0, min(self.cursor, self.rows - 1))
            case "calibrate":
                self.done = getattr(result, "operation", None)
                self.plan = None if self.done is not None else result
                self.cursor = 0

    @property
    def cases(self) -> Sequence[ForecastCase]:
        """The forecasts that the filter leaves, in the operator's order."""
        every = self.found.cases if self.found is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    def all_rows(self) -> Sequence[Row]:
        return of_forecasts(self.found.cases) if self.found is not None else ()

    def sifted(self) -> None:
        self.cursor = 0
        self.moved()

    @property
    def rows(self) -> int:
        if self.plan is not None:
            return len(self.plan.blocks) + len(self.plan.edges)
        return len(self.cases)

    def moved(self) -> None:
        """The block under the cursor becomes the selection; an edge has none."""
        if self.plan is not None:
            chosen = self.plan.blocks[self.cursor].block_id if self.cursor < len(self.plan.blocks) else None
        else:
            cases = self.cases
            chosen = cases[self.cursor].outcome.block_id if cases else None
        if chosen is not None:
            self.post_message(self.Picked(chosen))

    def subtitle(self) -> str:
        if self.plan is not None:
            return "a plan · c carries it out · d leaves it"
        if self.table is None:
            return ""
        if self.done is not None:
            return f"recalibrated as operation {self.done.id} · U takes it back"
        of = f" of {' '.join(self.group)}" if self.group is not None else ""
        settled = f"{self.table.outcomes:,} of {self.table.forecasts:,} forecasts settled{of}"
        return f"{self._step()} · {settled}" if self.bin is not None else settled

    def _step(self) -> str:
        """The chosen bin in words."""
        one = self.table.bins[self.bin] if self.table is not None and self.bin is not None else None
        return (
            "" if one is None else f"{share(one.low)} to {share(one.high)}: {plural(one.count, 'forecast')}"
        )

    def draw(self, canvas: Canvas) -> Text:
        if self.table is None:
            return notice(canvas, "Calibration", (), "Waiting for the memory …")
        if self.plan is not None:
            from amgs_tui.pictures import recalibration

            return recalibration.plan(self.plan, canvas, cursor=self.cursor)
        if not self.table.forecasts and self.group is None:
            keys = ("2  assemble a frame", "u x  say there which blocks were useful")
            return notice(canvas, "No forecasts yet", keys, "Every block that a frame selects is a forecast.")
        from amgs_tui.pictures import calibration, forecasts

        now, cases = self.workstation.now(), self.cases
        if self.alone:
            title = self._step() or plural(len(cases), "forecast")
            return forecasts.forecasts(cases, canvas, now=now, cursor=self.cursor, title=title)
        every = len(self.found.cases) if self.found is not None and self.sift.terms else None
        return calibration.calibration(
            self.table,
            canvas,
            now=now,
            cases=cases,
            cursor=self.cursor,
            chosen=self.bin,
            of=" ".join(self.group) if self.group is not None else "",
            every=every,
        )

    # --- keys ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        match action:
            case "feedback":
                return self.workstation.selected is not None
            case "drop":
                return self.plan is not None
            case "undo":
                return self.done is not None and self.plan is None
            case "bin" | "whole" | "group" | "bins":
                return self.plan is None
        return True

    def selection_changed(self, block_id: str | None) -> None:
        cases = self.cases
        held = cases[self.cursor].outcome.block_id if self.cursor < len(cases) else None
        if self.plan is None and block_id != held:
            here = (n for n, case in enumerate(cases) if case.outcome.block_id == block_id)
            self.cursor = next(here, self.cursor)
            self.repaint()
        self.refresh_bindings()

    def action_bin(self, by: int) -> None:
        """The next bin that has an outcome; beyond the first and the last, all of them."""
        filled = [n for n, one in enumerate(self.table.bins) if one.count] if self.table is not None else []
        turn: list[int | None] = [None, *filled]
        place = turn.index(self.bin) if self.bin in turn else 0
        self.bin = turn[(place + by) % len(turn)]
        self.cursor = 0
        self._say()
        self.repaint()
        self.look()

    def action_whole(self) -> None:
        self.alone = not self.alone
        self.repaint()

    def action_bins(self) -> None:
        self.bins = BINS[(BINS.index(self.bins) + 1) % len(BINS)] if self.bins in BINS else BINS[0]
        self.bin = None
        self.look()

    def action_feedback(self, verdict: str) -> None:
        self.ask("feedback", verdict=verdict, block=self.workstation.selected)

    def action_calibrate(self) -> None:
        """The plan first; with the plan on the screen, carry it out."""
        self.ask("calibrate", dry_run=self.plan is None)

    def action_drop(self) -> None:
        self.plan = None
        self.cursor = 0
        self._say()
        self.repaint()
        self.refresh_bindings()

    def action_undo(self) -> None:
        if self.done is not None:
            operation, self.done = self.done.id, None
            self.ask("undo", operation=operation)

    # --- groups -------------------------------------------------------------------------------------------

    def action_group(self) -> None:
        self.ask("calibration groups")

    def shown_to_operator(self, verb: str, result: Any) -> None:
        """The groups are a list to choose from, each with its figures."""
        if verb == "calibration groups":
            self._choose(result)

    def _choose(self, found: OutcomeGroups) -> None:
        from amgs_tui.screens.chooser import Choice, Chooser

        choices = []
        for each in found.groups:
            name = "" if each.kind == "all" else f"{each.kind} {each.name}"
            brier = f", Brier {share(each.brier, 3)}" if each.brier is not None else ""
            told = f"{each.outcomes:,} of {plural(each.forecasts, 'forecast')} settled{brier}"
            here = " ".join(self.group) if self.group is not None else ""
            choices.append(Choice(name, name or "all", told, marked=name == here))
        self.workstation.push_screen(Chooser("Which forecasts?", choices), self._chose)

    def _chose(self, name: str | None) -> None:
        if name is None:
            return
        kind, _, value = name.partition(" ")
        self.group = (kind, value) if kind else None
        self.bin, self.cursor = None, 0
        self.look()
