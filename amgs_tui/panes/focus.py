"""6 Working context: what the language model reads of the memory now, as tokens or as gists, step by step, why, and
what it answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text

from amgs_app import operations
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.glyphs import notice
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.run_controls import STEERING, STEERS, RunSteering

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amgs_app.calls.call import Call
    from amgs_app.focus.figure import Side
    from amgs_app.focus.rows import Named
    from amgs_app.render.rows import RowList
    from amgs_app.results.focus import LastRun
    from amgs_focus.dependence import AnswerDependence
    from amgs_focus.trace.lineage import TraceSummary
    from amgs_focus.views import EntryExplanation, EntryView, FocusView
    from amgs_tui.host import Host
    from amgs_tui.messages import Failed, Follow

NEEDS_VIEW = frozenset({"step", "to_refocus", "refocus", "back", "play", "why", "zoom", "numbers", "answer", "without"})
FRESH = frozenset({"frame open", "focus open", "focus trace"})
"""Commands that begin a working context."""
WHY_LINES = 24


class FocusPane(ListPane):
    """The window as text beside the memory, with keys to step and an explanation.

    token: lifetime token under the cursor. why: explanation of its entry.
    """

    NAME = "focus"
    SHOWS = frozenset(
        {
            "frame open",
            "focus open",
            "focus step",
            "focus back",
            "focus view",
            "focus why",
            "focus steer",
            "focus measure",
            "focus set",
            "focus branch",
            "focus forget",
            "focus rebuild",
            "focus trace",
        }
    )
    PURPOSE = """\
What the language model has read, and what not: left the texts of the memory, right what it reads of them now, word for
word, or one grey line for a gist, a vector that stands for 32 tokens or more. Every few tokens it refocuses: what the
text at hand needs is opened (▲), what it does not is closed (▽), within the window. Step it token by token, go back
exactly, and ask why a passage is read or not. Measure what it is worth, pin it, keep it shut, change a setting: what
you do in the past begins a branch, and two branches can be compared. Opened frames land here."""

    BINDINGS: ClassVar[list[Any]] = [
        show("full_stop", "step(1)", "token", "focus.step", "Decode one token"),
        show("enter", "why", "why", "focus.why", "Explain the passage under the cursor in full"),
        show("n", "to_refocus", "next", "focus.next", "Decode to the next refocus"),
        show("greater_than_sign", "refocus", "refocus", "focus.refocus", "Refocus now, without decoding"),
        show("comma", "back(1)", "back", "focus.back", "Undo one token, exactly"),
        show("space", "play", "play", "focus.play", "Decode continuously (space or esc stops)"),
        show("a", "answer", "which block", "focus.answer", "Which opened block each word of the answer depends on"),
        show("x", "without", "without", "focus.without", "Shut this block, and decode the answer again beside it"),
        show("tab", "side", "memory", "focus.side", "The memory, or the window, where there is no room for both"),
        show("w", "numbers", "numbers", "focus.numbers", "All numbers, the whole map, and what the last refocus did"),
        show("plus,equals_sign", "zoom(1)", "zoom", "focus.zoom_in", "Zoom the map in 32 times", key_display="+"),
        show("minus", "zoom(-1)", "zoom", "focus.zoom_out", "Zoom the map out 32 times"),
        show("o", "open", "open", "focus.open", "Open the last frame, or ask a question first"),
        show("r", "resume", "resume", "focus.resume", "Continue the working context of the last session"),
        *STEERING,
        *ListPane.BINDINGS,
        hide("left", "move(-1)", "passage", "focus.left", "Previous passage"),
        hide("right", "move(1)", "passage", "focus.right", "Next passage"),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.view: FocusView | None = None
        self.token: int | None = None
        self.why: EntryExplanation | None = None
        self.depends: AnswerDependence | None = None
        self.left: LastRun | None = None
        self.zoom = 1.0
        self.side: Side = "window"
        self.numbers = False
        self.playing = False
        self._page: RowList[Named] | None = None
        self.steering = RunSteering(self, lambda: self.view, lambda: self.entry)
        self.adopt(self.steering)

    @property
    def page(self) -> RowList[Named] | None:
        return self._page

    @property
    def entry(self) -> EntryView | None:
        """Entry under the cursor."""
        return self.row[0] if self.row is not None else None

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.focus.view()]

    def take(self, result: object) -> None:
        from amgs_app.focus.figure import first_token
        from amgs_app.focus.rows import list_entries
        from amgs_app.results.focus import LastRun, Opened, RunPosition
        from amgs_focus.views import EntryExplanation, FocusView

        if isinstance(result, LastRun):
            self.left = result
        elif isinstance(result, EntryExplanation):
            self.why = result
            if self.token is None or not result.entry.start <= self.token < result.entry.end:
                self._stand_on(result.entry.start)
        elif type(result).__name__ == "AnswerDependence":
            self.depends = cast("AnswerDependence", result)
            if self.depends.block is not None and self.view is not None:
                self.why = None
                self._stand_on(self.depends.block.index * self.view.block_size)
        elif isinstance(view := result if isinstance(result, FocusView) else getattr(result, "view", None), FocusView):
            self.view, self.why = view, None
            if self.depends is not None and "".join(word.text for word in self.depends.words) != view.text:
                self.depends = None
            self._page = list_entries(view)
            if isinstance(result, Opened) or (isinstance(result, RunPosition) and result.how == "resume"):
                self.token, self.zoom, self.playing = None, 1.0, False
            self._stand_on(first_token(view) if self.token is None else self.token)

    def _stand_on(self, token: int | None) -> None:
        """Put the cursor on the passage with a token, if the filter leaves it."""
        from amgs_app.focus.figure import entry_holding

        self.token = token
        place = entry_holding(self.view, token)
        self.place_on(named[0].position == place for named in self.items)
        self.clip_cursor()

    def take_look(self, result: object) -> None:
        from amgs_focus.views import EntryExplanation

        # After the cursor has moved, the explanation is of another entry.
        if not isinstance(result, EntryExplanation) or (
            self.entry is not None and result.entry.node == self.entry.node
        ):
            self.take(result)

    def receive(self, command: str, result: object, looks: Iterable[object] = ()) -> None:
        from amgs_app.results.focus import Stepped

        super().receive(command, result, looks)
        if self.has_place and self.why is None and self.entry is not None:
            self.ask(operations.focus.why(str(self.entry.node)), origin="screen")
        if self.playing and isinstance(result, Stepped) and result.refocus is None:
            self._play_on()

    def follow_up(self, call: Call[Any]) -> Follow | None:
        """Return a request to explain the passage at the cursor after a change of the window."""
        if call.operation.name == "focus why" or not self.has_place:
            return None
        from amgs_app.focus.figure import entry_holding, first_token

        token = None if call.operation.name in FRESH else self.token

        def look(result: Any) -> list[Call[Any]]:
            view = getattr(result, "view", result)
            entries = getattr(view, "entries", ())
            if not entries:
                return []
            place = entry_holding(view, first_token(view) if token is None else token)
            return [operations.focus.why(str(entries[place].node))]

        return look

    @property
    def empty(self) -> bool:
        return self.view is None

    def subtitle(self) -> str:
        if self.view is None:
            return ""
        if self.playing:
            return "playing · space or esc stops"
        parts = [f"map zoomed {self.zoom:,.0f}×"] if self.zoom > 1 else []
        parts += [f"tab {'memory' if self.side == 'window' else 'window'}"] if self._is_narrow else []
        return " · ".join([*parts, *(["the answer is finished"] if self.view.finished else [])])

    def selection_changed(self, block_id: str | None) -> None:
        """Move the cursor to the first passage of the block, unless it is on such a passage."""
        if self.view is None or block_id is None:
            return
        spans = [span for span in self.view.sources if span.source == block_id]
        entry = self.entry
        if spans and not (entry and any(span.start < entry.end and span.end > entry.start for span in spans)):
            self._stand_on(spans[0].start)
            self._explain()
            self.repaint()

    # --- the picture ----------------------------------------------------------------------------------------

    def figure(self, canvas: Canvas) -> Figure | None:
        if self.view is None:
            return None
        from amgs_app.focus.figure import focus
        from amgs_app.render.level_columns import offset_for

        place = self.entry.position if self.entry is not None else None
        return focus(
            self.view,
            canvas,
            selected=place,
            why=self.why,
            zoom=self.zoom,
            offset=offset_for(self.view, place or 0, self.zoom),
            side=self.side,
            depends=self.depends,
            numbers=self.numbers,
        )

    def draw(self, canvas: Canvas) -> Text:
        if self.view is not None:
            return super().draw(canvas)
        keys = ("o  open a frame", "2  assemble a frame for a question")
        if self.left is not None and self.left.trace is not None:
            description = describe_trace(self.left.trace)
            return notice(canvas, "The last session left a working context", ("r  continue it", *keys), description)
        return notice(
            canvas,
            "No working context yet",
            keys,
            "An assembled frame becomes what the language model remembers; "
            "this pane shows what of it the model reads word for word.",
        )

    def receive_failure(self, failure: Failed) -> None:
        self.playing = False
        super().receive_failure(failure)
        self.trouble = None

    @property
    def _is_narrow(self) -> bool:
        from amgs_app.focus.figure import BOTH_FROM

        return self.content_size.width < BOTH_FROM and not self.numbers

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that need a run while there is none, and resuming while there is one."""
        if action == "resume":
            return self.view is None and self.left is not None and self.left.trace is not None
        if action == "side":
            return self.view is not None and self._is_narrow
        if self.view is None and action in NEEDS_VIEW | STEERS:
            return False
        return super().check_action(action, parameters)

    def show_to_operator(self, command: str, result: object) -> None:
        """Show a requested explanation on a page, since the pane may cut it."""
        del command
        from amgs_focus.views import EntryExplanation

        if isinstance(result, EntryExplanation):
            from amgs_app.focus.rows import WHY
            from amgs_tui.dialogs.reader import TextReader

            def draw(width: int) -> Text:
                sheet = Figure(self.host.canvas(width, WHY_LINES))
                WHY.of("", (result,)).draw_detail(sheet, result)
                drawn = sheet.render()
                drawn.rstrip()
                return drawn

            self.app.push_screen(TextReader(f"Why {result.entry.node}", draw))

    # --- transport ----------------------------------------------------------------------------------------

    def action_step(self, count: int) -> None:
        self.ask(operations.focus.step(count))

    def action_to_refocus(self) -> None:
        if self.view is not None:
            self.ask(operations.focus.step(self.view.next_refocus_in + 1))

    def action_refocus(self) -> None:
        self.ask(operations.focus.step(refocus=True))

    def action_back(self, count: int) -> None:
        self.playing = False
        self.ask(operations.focus.back(count))

    def action_scrub(self, direction: int) -> None:
        self.playing = False
        self.steering.action_scrub(direction)

    def action_play(self) -> None:
        self.playing = not self.playing
        self._say(same_figure=True)
        if self.playing:
            self._play_on()

    def stop_playing(self) -> bool:
        """Stop after the current token; return whether it was playing."""
        was, self.playing = self.playing, False
        self._say(same_figure=True)
        return was

    def _play_on(self) -> None:
        if self.view is None or self.view.finished:
            self.playing = False
        else:
            self.ask(operations.focus.step(1))

    def action_resume(self) -> None:
        self.ask(operations.focus_trace.trace(resume=True))

    def action_open(self) -> None:
        if self.host.last_frame is not None:
            self.ask(operations.frame.open_frame())
            return
        self.steering.naming = False
        hint = "Type a question; enter assembles SESSION for it and opens the frame as the lifetime."
        self.host.ask_line(self.NAME, "ask", hint=hint)

    def take_answer(self, line: str) -> None:
        """Use the line as the name of a branch, or as a question, for which a frame is assembled and opened."""
        if self.steering.naming:
            self.steering.take_name(line)
            return
        self.ask(operations.frame.assemble("SESSION", query=line))
        self.ask(operations.frame.open_frame())

    # --- looking ------------------------------------------------------------------------------------------

    def follow_cursor(self) -> None:
        super().follow_cursor()
        if self.entry is not None:
            self.token = self.entry.start
        self._explain()

    def _explain(self) -> None:
        if self.has_place and self.entry is not None:
            self.ask(operations.focus.why(str(self.entry.node)), origin="screen")
        else:
            self.stale = True

    def action_why(self) -> None:
        if self.entry is not None:  # by name: a running step may renumber the entries
            self.ask(operations.focus.why(str(self.entry.node)))

    def action_answer(self) -> None:
        self.ask(operations.focus.why(answer=True))

    def action_without(self) -> None:
        if self.entry is not None:
            self.ask(operations.focus_trace.branch(without=str(self.entry.node)))

    def action_side(self) -> None:
        self.side = "memory" if self.side == "window" else "window"
        self.show_change()

    def action_numbers(self) -> None:
        self.numbers = not self.numbers
        self.show_change()

    def action_zoom(self, direction: int) -> None:
        """Zoom in or out by a level of the tree."""
        if self.view is not None:
            from amgs_app.render.level_columns import zooms

            steps = zooms(self.view)
            place = max(n for n, zoom in enumerate(steps) if zoom <= max(1.0, self.zoom))
            self.zoom = steps[max(0, min(place + direction, len(steps) - 1))]
            self.show_change()


def describe_trace(trace: TraceSummary) -> str:
    """Return a sentence about the trace that the last session left."""
    steps = max((branch.steps for branch in trace.branches), default=0)
    branches = f" on {len(trace.branches)} branches" if len(trace.branches) > 1 else ""
    question = f"“{trace.question}”: " if trace.question else ""
    model = trace.header.model.name
    return f"{question}{steps:,} decoded tokens{branches}, a lifetime of {trace.lifetime:,} tokens, with {model}."
