"""The desk between the stage and the engine's threads: requests go out, reports come in, and each finds its
place.

A report on a request that a newer one has replaced is dropped. A result comes to the front only where the operator
has stayed since they asked for it. Errors stand in the status line or in a toast, or in a modal when nothing can go
on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from amgs_app.printable import printable
from amgs_app.themes import load_all
from amgs_tui.engine_worker import OPEN, EngineWorker, Execute, Opening, kind_of
from amgs_tui.main_screen import MainScreen
from amgs_tui.messages import (
    EngineEvent,
    EngineReport,
    EngineRequest,
    Failed,
    Finished,
    Origin,
    Progressed,
    RequestCancelled,
    Started,
)
from amgs_tui.panes.focus import FocusPane
from amgs_tui.widgets.arrangement import PANES
from amgs_tui.widgets.status import Doing, Kind, Said, seconds

if TYPE_CHECKING:
    from amgs.types import UndoPlan
    from amgs_app.operations.call import Call

TICK_SECONDS: Final = 0.1
"""How often a running action's clock is redrawn."""
CLOCK_SECONDS: Final = 15.0
"""How often the header's hour is redrawn."""
PATIENCE_SECONDS: Final = 0.5
"""A look that the screen takes by itself is not spoken of before it takes this long."""
WORTH_SAYING: Final = 0.1
"""How many seconds an action must take for its time to be told."""
FADES_SECONDS: Final = 15.0
"""How long the status line keeps what was said last."""
OVER_SECONDS: Final = 4.0
"""How long what is said stands before what else is running."""

MOST_REFUSALS: Final = 4
"""Refused inputs that a toast names."""
STORE_CODE: Final = 4
"""Exit code of every error of the store: before the first look at it, any of them is the end."""
STAYS: Final = frozenset({"feedback", "status"})
"""Verbs whose pane is not brought to the front: the operator goes on where they are."""


ASKING: Final = "asking"
"""The slot of a plan that the operator is asked about before it is carried out."""

ASK_FIRST: Final = frozenset({"undo"})
"""The verbs that ask first, known here without loading the registry."""


def _to_be_asked(verb: str, arguments: Mapping[str, Any], line: str) -> Call[Any] | None:
    """The dry run that comes before a command which asks first; None for every other."""
    if (verb or line.strip().partition(" ")[0]) not in ASK_FIRST:
        return None
    from amgs_app.operations.line import LineError
    from amgs_app.operations.standard import standard

    registry = standard()
    try:
        call = registry.parse(line) if line else registry.call(verb, **arguments)
    except LineError:
        return None  # the engine says what is wrong with it
    if call is None or not call.operation.asks or call.arguments["yes"] or call.arguments["dry_run"]:
        return None
    return replace(call, arguments={**call.arguments, "dry_run": True})


class Dispatcher(MainScreen):
    """A stage with an engine behind it. open_session makes the Session, in the engine's thread."""

    def __init__(self, open_session: Callable[[], Any], execute: Execute, **stage: Any) -> None:
        super().__init__(**stage)
        self.engine = EngineWorker(open_session, execute, self._deliver, kind_of=kind_of)
        self.unanswered: dict[int, int] = {}
        """Requests without an answer, by id: how often the operator had moved when they were made."""
        self._doing: dict[int, tuple[EngineRequest, float]] = {}
        self._progress: dict[int, Progressed] = {}
        self._waiting: EngineRequest | None = None
        self._going_on: int | None = None
        self._stopping = False
        self._said_at = 0.0
        self._first_look = True

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self._tick)
        self.set_interval(CLOCK_SECONDS, self.draw_header)
        self.call_after_refresh(self.begin)

    def begin(self) -> None:
        """Start the engine's thread: the first picture is on the screen."""
        self.unanswered[0] = self.moves
        self.engine.start()
        self.submit("status", slot="status", origin="screen")
        self.submit("frame last", slot="frame last", origin="screen")

    # --- out ----------------------------------------------------------------------------------------------

    def submit(
        self,
        verb: str = "",
        arguments: Mapping[str, Any] | None = None,
        *,
        line: str = "",
        slot: str = "",
        origin: Origin = "operator",
    ) -> EngineRequest | None:
        """Hand an action to the engine's threads; None when the same one already waits.

        One that asks first is looked at first: its plan becomes the question.
        """
        if origin == "operator" and (plan := _to_be_asked(verb, arguments or {}, line)) is not None:
            verb, arguments, line, slot, origin = plan.operation.name, plan.arguments, "", ASKING, "screen"
        request = self.engine.submit(verb, arguments, line=line, slot=slot, origin=origin)
        if request is not None:
            # What a pane asks because of an answer belongs to the moment in which the operator asked for that.
            self.unanswered[request.id] = self.moves if self._going_on is None else self._going_on
            if origin == "operator" and self._going_on is None:
                self._said_before()
                self._waiting = request
        return request

    def _said_before(self) -> None:
        """A new action: an error of the one before has been read."""
        if self.status.said.kind in ("bad", "warn"):
            self.status.said = Said("")

    def say(self, text: str, kind: Kind = "note") -> None:
        """Put a sentence into the status line, for a while; it stands before what is running."""
        self.status.said, self._said_at = Said(text, kind), time.perf_counter()
        self.status.over = bool(self._doing)

    def look(self) -> None:
        """Have every pane look again: those on the screen now, the others when they come there."""
        self.submit("status", slot="status", origin="screen")
        for pane in self.panes:
            pane.look()

    def action_reload(self) -> None:
        self.look()

    @property
    def operator_runs(self) -> EngineRequest | None:
        """What runs because the operator asked for it."""
        return self.engine.by_operator

    def stop(self) -> None:
        """Ask the running action to stop."""
        if self.engine.cancel() is not None:
            self._stopping = True
            self._tick()

    def action_stop_or_return(self) -> None:
        """Stop what the operator has started; with nothing to stop, leave the large view."""
        focus = self.pane("focus")
        played = isinstance(focus, FocusPane) and focus.stop_playing()
        if self.operator_runs is not None:
            self.stop()
        elif self.body.maximised and not played:
            self.action_maximise()

    def action_interrupt(self) -> None:
        """Ctrl-C never kills: it stops what runs, and says how to leave."""
        if self.operator_runs is not None:
            self.stop()
        else:
            self.notify("Press q to quit the workstation.", title="Nothing runs", timeout=3)

    # --- in -----------------------------------------------------------------------------------------------

    def _deliver(self, event: EngineEvent) -> None:
        """Called in the engine's thread."""
        self.post_message(EngineReport(event))

    def on_engine_report(self, report: EngineReport) -> None:
        """Put a report where it belongs."""
        event = report.event
        if not self.stands:
            return  # the screen is being taken down; the engine's last words find nobody
        if isinstance(event, Started):
            self._started(event.request)
        elif isinstance(event, Progressed):
            self._progress[event.request.id] = event
            self._tick()
        else:
            moves = self.unanswered.pop(event.request.id, self.moves)
            if isinstance(event, RequestCancelled) and event.superseded:
                return
            self._ended(event.request)
            self._going_on = moves
            try:
                if isinstance(event, Finished):
                    self._finished(event)
                elif isinstance(event, Failed):
                    self._failed(event)
                else:
                    self._cancelled(event)
            finally:
                self._going_on = None

    def _started(self, request: EngineRequest) -> None:
        self._doing[request.id] = request, time.perf_counter()
        self._stopping = False
        if self._waiting is not None and self._waiting.id == request.id:
            self._waiting = None
        for pane in self.panes_of(request.verb):
            pane.started(request)
        self._tick()

    def _ended(self, request: EngineRequest) -> None:
        self._doing.pop(request.id, None)
        self._progress.pop(request.id, None)
        self._stopping = False
        for pane in self.panes:
            if pane.busy is not None and pane.busy.id == request.id:
                pane.ended()
        self._tick()

    def _finished(self, event: Finished) -> None:
        if event.verb == OPEN:
            self._opened(event.result)
            return
        if self.engine.is_stale(event.request):
            return
        by_operator = event.request.origin == "operator"
        self.knowledge.learn(event.result, listed=by_operator)
        self.take(event)
        for pane in self.panes_of(event.verb):
            pane.finished(event.verb, event.result)
            if pane.NAME in ("focus", "decay"):
                self.draw_header()  # the model, the threshold
        if by_operator:
            self._operator_finished(event)

    def _opened(self, opening: Opening) -> None:
        """The session is there: its clock, the operator's own palettes, the theme that was asked for."""
        if self._now is None and opening.clock is not None:
            self._now = opening.clock.now
        folders = [folder for folder in opening.theme_folders if folder not in self.theme_folders]
        if folders:
            more, problems = load_all(folders)
            self.add_palettes(more)
            self.tell_problems(problems)
        self.use_symbols(opening.symbols)
        self.use_keys(opening.keys)
        asked = self.asked_theme or opening.theme
        if asked in self.palettes:
            self.set_theme(asked)
        elif asked:
            words = f"There is no theme {asked!r}. Available: {', '.join(self.palettes)}."
            self.notify(words, title="Unknown theme", severity="warning", markup=False)

    def take(self, event: Finished) -> None:
        """Results that concern the whole screen."""
        match event.verb:
            case "status":
                self.overview = event.result
                self.draw_header()
                if self._first_look:
                    self._first_look = False
                    self._welcome()
            case "frame assemble":
                self.last_frame = event.result
            case "frame last":
                self.last_frame = self.last_frame or event.result.frame
            case "undo" if event.request.slot == ASKING:
                self._ask_to_undo(event.result)
            case "select":
                self.selected = event.result.block.id
            case "theme":
                if event.result.name != self.theme:
                    self.choose_theme(event.result.name)
            case "show":
                self.go(event.result.pane)
            case "layout set" | "layout use" if event.request.origin == "operator":
                self.use_layout(event.result)
            case "layout use" if self.untouched:  # how the last session left the screen
                self.use_layout(event.result)
            case "filter" | "sort":
                self.use_sifts({event.result.pane: event.result.sift})
            case "record" | "save":
                self.recording = event.verb == "record"
                self.draw_header()

    def _welcome(self) -> None:
        """The first look at the store: an empty one takes the corpus in by itself."""
        if self.overview is not None and not sum(self.overview.store.blocks.values()):
            self.submit("ingest")
        else:
            self.submit("layout use", slot="layout", origin="screen")

    def _operator_finished(self, event: Finished) -> None:
        """Say what came of it, show the pane that has it, and have the others look again."""
        from amgs_app.operations.hints import hint_by_keys
        from amgs_app.render.sentences import say

        took = f"   {seconds(event.elapsed)}" if event.elapsed >= WORTH_SAYING else ""
        pane = event.answer.pane if event.verb not in STAYS else None
        there = ""
        if pane is not None and self._has_stayed:
            self.go(pane)
        elif pane is not None and pane not in self.body.shown:
            there = f" · {PANES.index(pane) + 1} shows it"
        words = say(event.result, event.verb) or f"{event.answer.line}: done"
        lacks = hint_by_keys(event.result, self.overview.store.blocks) if self.overview is not None else ""
        self.say(f"{f'{lacks} · ' if lacks else ''}{words}{there}{took}", "warn" if lacks else "good")
        self._warn_of_refusals(event.result)
        for shower in self.panes_of(event.verb):
            shower.shown_to_operator(event.verb, event.result)
        if event.verb.startswith("focus "):
            self.pane("overview").repaint()  # the memory is as it was; the loop's picture counts tokens
        elif event.answer.writes:
            self.look()

    def _ask_to_undo(self, plan: UndoPlan) -> None:
        """Say what an undo will take back and do it after a yes; one that others stand on is refused by the engine."""
        from amgs_app.render.figures.format import undoing
        from amgs_tui.dialogs.dialog import Confirm

        def answered(yes: bool | None) -> None:
            if yes:
                self.submit("undo", {"operation": plan.operation.id, "yes": True})

        if plan.later:
            answered(True)
        else:
            self.push_screen(Confirm("Undo this change?", undoing(plan, self.now())), answered)

    @property
    def _has_stayed(self) -> bool:
        """Whether the operator is where they were when they asked for what is answered now, and types nothing."""
        at_rest = len(self.screen_stack) == 1 and not self.floor.has_class("-asking")
        return at_rest and self._going_on in (None, self.moves)

    def _warn_of_refusals(self, result: Any) -> None:
        """Inputs that were not taken in, or not as they were meant, are named, not just counted."""
        for name, title in (("refused", "not taken in"), ("warnings", "not read as meant")):
            told = getattr(result, name, ())
            if told:
                lines = [f"{each.source}: {each.reason}" for each in told[:MOST_REFUSALS]]
                more = len(told) - len(lines)
                lines += [f"and {more} more"] if more else []
                words, title = "\n".join(lines), f"{len(told)} {title}"
                self.notify(words, title=title, severity="warning", timeout=10, markup=False)

    def _failed(self, failure: Failed) -> None:
        if failure.fatal or (self.overview is None and failure.exit_code == STORE_CODE):
            from amgs_tui.dialogs.dialog import Fatal

            if isinstance(self.screen, Fatal):
                return
            self.push_screen(Fatal(failure))
            return
        if self.engine.is_stale(failure.request):
            return
        for pane in self.panes_of(failure.request.verb):
            pane.failed(failure)
        if failure.request.origin == "operator" or failure.request.slot == ASKING:
            if failure.detail:
                self._read_fault(failure)
            else:
                self.say_error(failure.title, failure.message, failure.way_out)

    def say_error(self, title: str, message: str, way_out: str = "") -> None:
        """Say once what went wrong and what to do: in the status line where that has the place, else in a toast."""
        line = f"{title}: {message} {way_out}".rstrip()
        if len(line) < self.status.size.width and "\n" not in line and not self._doing:
            self.say(line, "bad")
        else:
            words = f"{message}\n{way_out}".rstrip()
            self.notify(words, title=title, severity="error", timeout=12, markup=False)

    def _read_fault(self, failure: Failed) -> None:
        """A fault of the program itself: its whole report, to read and to copy."""
        from amgs_tui.dialogs.reader import TextReader

        words = f"{failure.message}\n\n{failure.way_out}\n\n{failure.detail}"
        self.push_screen(TextReader(failure.title, Content(printable(words))))

    def _cancelled(self, event: RequestCancelled) -> None:
        self.say(f"Stopped: {event.request.title}. {event.message}", "warn")
        self.look()

    def _tick(self) -> None:
        """Redraw the line of what runs; let fade what was said."""
        if not self.stands:
            return
        now = time.perf_counter()
        self._fade(now - self._said_at)
        shown = self._shown_run(now)
        if shown is None:
            self.status.doing = None
            return
        request, begun = shown
        seen = self._progress.get(request.id)
        self.status.doing = Doing(
            title="opening the session" if request.verb == OPEN else request.title,
            doing=seen.doing if seen else "",
            done=seen.done if seen else 0,
            total=seen.total if seen else 0,
            elapsed=now - begun,
            remaining=seen.remaining if seen else None,
            waiting=self.engine.waiting,
            stopping=self._stopping,
            stoppable=request.origin == "operator",
        )
        self.status.frame += 1
        if self._waiting is not None and now - begun >= PATIENCE_SECONDS:
            self._say_what_it_waits_for(self._waiting)

    def _shown_run(self, now: float) -> tuple[EngineRequest, float] | None:
        """What runs and is worth a line: the operator's own before the screen's looks, the older before the newer."""
        worth = [
            (request, begun)
            for request, begun in self._doing.values()
            if request.origin == "operator" or request.verb == OPEN or now - begun >= PATIENCE_SECONDS
        ]
        return min(worth, key=lambda run: (run[0].origin != "operator", run[1]), default=None)

    def _fade(self, age: float) -> None:
        """What was said gives way to what runs, and after a while to nothing."""
        if self.status.over and age >= OVER_SECONDS:
            self.status.over = False
        if self.status.said.text and age >= FADES_SECONDS:
            self.status.said = Said("")

    def _say_what_it_waits_for(self, request: EngineRequest) -> None:
        """Once: behind what the operator's request waits."""
        self._waiting = None
        if self.engine.waits(request):
            self.say(f"{request.title} waits for {self.waits_for}")

    @property
    def waits_for(self) -> str:
        """What is running, and how long it still takes: `consolidate, about 40 s left`; empty while nothing runs."""
        shown = self._shown_run(time.perf_counter())
        if shown is None:
            return ""
        request, _ = shown
        seen = self._progress.get(request.id)
        left = f", about {seconds(round(seen.remaining))} left" if seen and seen.remaining else ""
        return f"{'the session to open' if request.verb == OPEN else request.title}{left}"
