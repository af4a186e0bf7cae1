"""6 Working context: which spans of the lifetime the model holds as tokens and which as gists, step by
step, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events

from amgs_app import operations
from amgs_app.panes.row_fields import of_entries
from amgs_app.render.canvas import Canvas
from amgs_app.render.empty_state import notice
from amgs_tui.keys import hide, show
from amgs_tui.panes.base import Pane
from amgs_tui.panes.map_cursor import Axis, MapCursor, entry_holding, view_in
from amgs_tui.panes.run_controls import STEERING, STEERS, RunSteering

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_app.results.focus import LastRun
    from amgs_focus.records import TokenSpan
    from amgs_focus.trace.lineage import TraceSummary
    from amgs_focus.views import EntryExplanation, EntryView, FocusView
    from amgs_tui.host import Host
    from amgs_tui.messages import Failed, Follow

AXES: tuple[Axis, ...] = ("lifetime", "log", "context")
NEEDS_VIEW = frozenset({"step", "to_refocus", "refocus", "back", "play", "why", "axis", "zoom", "pan", "source"})
LOOKS = frozenset({"focus why", "focus tokens"})
"""Operations whose result is no new map."""
FRESH = frozenset({"frame open", "focus open", "focus resume"})
"""Those that begin a working context."""
WHY_LINES = 16


class FocusPane(Pane):
    """The live level-of-detail map with its transport and its inspector."""

    NAME = "focus"
    SHOWS = frozenset(
        {
            "frame open",
            "focus open",
            "focus step",
            "focus refocus",
            "focus back",
            "focus view",
            "focus why",
            "focus tokens",
            "focus steer",
            "focus measure",
            "focus set",
            "focus branch",
            "focus switch",
            "focus forget",
            "focus restore",
            "focus purge",
            "focus rebuild",
            "focus resume",
        }
    )
    PURPOSE = """\
The lifetime context from left to right, as the frozen model holds it now: fine spans are tokens, coarse
ones gists that stand for 32, 1,024, … tokens. Every few tokens it refocuses: what the text at hand needs is
expanded (▲), what it does not is collapsed (▽), within the window. Step it token by token, go back exactly,
and ask why any entry has its level. Measure what its detail is worth, pin it, forbid it, change a setting:
what you do in the past begins a branch, and two branches can be compared. Opened frames land here."""

    BINDINGS: ClassVar[list[Any]] = [
        show("full_stop", "step(1)", "token", "focus.step", "Decode one token"),
        show("enter", "why", "why", "focus.why", "Explain the span under the cursor in full"),
        show("n", "to_refocus", "next", "focus.next", "Decode to the next refocus"),
        show("greater_than_sign", "refocus", "refocus", "focus.refocus", "Refocus now, without decoding"),
        show("comma", "back(1)", "back", "focus.back", "Undo one token, exactly"),
        show("space", "play", "play", "focus.play", "Decode continuously (space or esc stops)"),
        show("v", "axis", "axis", "focus.axis", "Cycle the axis: lifetime, logarithm from the end, one column a span"),
        show(
            "plus,equals_sign",
            "zoom(1)",
            "zoom",
            "focus.zoom_in",
            "Zoom in 32 times, down to the text",
            key_display="+",
        ),
        show("minus", "zoom(-1)", "zoom", "focus.zoom_out", "Zoom out 32 times"),
        hide("left_curly_bracket", "pan(-1)", "pan", "focus.pan_left", "Pan half a map towards the beginning"),
        hide("right_curly_bracket", "pan(1)", "pan", "focus.pan_right", "Pan half a map towards the end"),
        show("o", "open", "open", "focus.open", "Open the last frame, or ask a question first"),
        show("r", "resume", "resume", "focus.resume", "Continue the working context of the last session"),
        *STEERING,
        *Pane.BINDINGS,
        hide("left", "walk(-1)", "span", "focus.left", "Previous span"),
        hide("right", "walk(1)", "span", "focus.right", "Next span"),
        hide("home", "edge(-1)", "first", "focus.first", "First span"),
        hide("end", "edge(1)", "last", "focus.last", "Last span"),
        hide("s", "source", "source", "focus.source", "Select the block this span came from"),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.view: FocusView | None = None
        self.cursor = 0
        self.steering = RunSteering(self, lambda: self.view, lambda: self.entry)
        self.adopt(self.steering)
        self.why: EntryExplanation | None = None
        self.axis: Axis = "lifetime"
        self.zoom = 1.0
        self.pan = 0
        self.tokens: TokenSpan | None = None
        self._tokens_of: FocusView | None = None
        """The map that the tokens were read for."""
        self.left: LastRun | None = None
        self.playing = False

    @property
    def entry(self) -> EntryView | None:
        """The entry under the cursor."""
        entries = self.view.entries if self.view is not None else ()
        return entries[self.cursor] if self.cursor < len(entries) else None

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.focus.view()]

    def take(self, result: object) -> None:
        from amgs_app.results.focus import LastRun, Opened, Resumed
        from amgs_focus.records import TokenSpan
        from amgs_focus.views import EntryExplanation

        match result:
            case TokenSpan():
                self.tokens, self._tokens_of = result, self.view
            case LastRun():
                self.left = result
            case EntryExplanation():
                self.why, self.cursor = result, result.entry.position
            case _:
                fresh = isinstance(result, Opened | Resumed)
                start = self.entry.start if self.entry is not None and not fresh else None
                self.view = view_in(result)
                self.cursor = entry_holding(self.view, start)
                self.why = None
                if fresh:
                    self.zoom, self.pan, self.playing = 1.0, 0, False

    def take_look(self, result: object) -> None:
        from amgs_focus.views import EntryExplanation

        # Where the operator has moved the cursor since, the explanation is of another entry.
        if not isinstance(result, EntryExplanation) or result.entry.position == self.cursor:
            self.take(result)

    def receive(self, command: str, result: object, looks: Iterable[object] = ()) -> None:
        from amgs_app.results.focus import Stepped
        from amgs_focus.records import TokenSpan
        from amgs_focus.views import EntryExplanation

        super().receive(command, result, looks)
        if self.has_place and not isinstance(result, EntryExplanation | TokenSpan):
            self._look_closer(explain=self.why is None)
        if self.playing and isinstance(result, Stepped) and result.refocus is None:
            self._play_on()

    def follow_up(self, call: Call[Any]) -> Follow | None:
        """What changes the map brings the inspector's part of the new one along."""
        name = call.operation.name
        if name in LOOKS or not self.has_place:
            return None
        return MapCursor(None, self.axis, 1.0, 0) if name in FRESH else self._map_cursor

    @property
    def _map_cursor(self) -> MapCursor:
        """Where the operator stands on the map."""
        token = self.entry.start if self.entry is not None else None
        return MapCursor(token, self.axis, self.zoom, self.pan)

    def _look_closer(self, *, explain: bool) -> None:
        """Have the tokens in sight read where they are few, unless they are here already.

        explain: the entry under the cursor too.
        """
        if self.view is None or not self.view.entries:
            return
        seen = self._map_cursor.tokens_in_sight(self.view, self.cursor)
        if seen is None:
            self.tokens = None
        elif self.tokens is not None and self._tokens_of is self.view:
            missing = (self.tokens.start, self.tokens.end) != (seen[0], min(seen[1], self.view.lifetime))
            seen = seen if missing else None
        why = operations.focus.why(str(self.cursor))
        read = operations.focus.tokens(seen[0], seen[1] - seen[0]) if seen is not None else None
        if explain:
            self.ask(why, origin="screen", follow=None if read is None else lambda _: [read])
        elif read is not None:
            self.ask(read, origin="screen")

    @property
    def empty(self) -> bool:
        return self.view is None

    def subtitle(self) -> str:
        if self.view is None:
            return ""
        if self.playing:
            return "playing · space or esc stops"
        told = f"{self.axis} axis · zoom {self.zoom:,.0f}×"
        return f"{told} · the answer is finished" if self.view.finished else told

    @property
    def left_edge(self) -> int:
        """The lifetime token at the left edge of the map."""
        if self.view is None:
            return 0
        return self._map_cursor.left_edge(self.view, self.cursor)

    def selection_changed(self, block_id: str | None) -> None:
        """The cursor goes to the first entry that holds the block, if it is not on one already."""
        if self.view is None or block_id is None:
            return
        spans = [span for span in self.view.sources if span.source == block_id]
        here = self.entry
        if not spans or (here and any(s.start < here.end and s.end > here.start for s in spans)):
            return
        self.pan = 0
        self.move_to(entry_holding(self.view, spans[0].start))

    def draw(self, canvas: Canvas) -> Text:
        if self.view is None:
            keys = ("o  open a frame", "2  assemble one for a question")
            if self.left is not None and self.left.trace is not None:
                return notice(
                    canvas,
                    "The last session left a working context",
                    ("r  continue it", *keys),
                    describe_trace(self.left.trace),
                )
            return notice(
                canvas,
                "No working context yet",
                keys,
                "An assembled frame becomes what the language model remembers; "
                "this pane shows how much of it is held in detail.",
            )
        from amgs_app.focus import figure as focus

        return focus.focus(
            self.view,
            canvas,
            axis=self.axis,
            zoom=self.zoom,
            offset=self.left_edge,
            selected=self.cursor,
            why=self.why,
            titles=self.host.titles,
            tokens=self.tokens,
        )

    def receive_failure(self, failure: Failed) -> None:
        self.playing = False
        super().receive_failure(failure)
        self.trouble = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """The transport is offered once something is open, a continuation while nothing is."""
        if action == "resume":
            return self.view is None and self.left is not None and self.left.trace is not None
        return self.view is not None or action not in NEEDS_VIEW | STEERS

    def show_to_operator(self, command: str, result: object) -> None:
        """What was asked for with enter is explained on a page of its own: the inspector may have cut it."""
        del command
        from amgs_focus.views import EntryExplanation

        if isinstance(result, EntryExplanation):
            from amgs_app.focus import figure as focus
            from amgs_tui.dialogs.reader import TextReader

            def draw(width: int) -> Text:
                canvas = self.host.canvas(width, WHY_LINES + len(result.parts))
                drawn = focus.why(result, canvas, titles=self.host.titles)
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
        self.ask(operations.focus.refocus())

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
        """Stop after the token at hand; whether it was playing."""
        was, self.playing = self.playing, False
        self._say(same_figure=True)
        return was

    def _play_on(self) -> None:
        if self.view is None or self.view.finished:
            self.playing = False
        else:
            self.ask(operations.focus.step(1))

    def action_resume(self) -> None:
        self.ask(operations.focus_trace.resume())

    def action_open(self) -> None:
        if self.host.last_frame is not None:
            self.ask(operations.frame.open_frame())
            return
        self.steering.naming = False
        hint = "Type a question; enter assembles SESSION for it and opens the frame as the lifetime."
        self.host.ask_line(self.NAME, "ask", hint=hint)

    def take_answer(self, line: str) -> None:
        """The name of a branch, or a question: for that the frame first, then its opening."""
        if self.steering.naming:
            self.steering.take_name(line)
            return
        self.ask(operations.frame.assemble("SESSION", query=line))
        self.ask(operations.frame.open_frame())

    # --- looking ------------------------------------------------------------------------------------------

    def move_to(self, place: int) -> None:
        """Put the cursor on an entry (clipped to those there are)."""
        if self.view is None or not self.view.entries:
            return
        self.cursor = max(0, min(place, len(self.view.entries) - 1))
        self.pan = 0
        if self.has_place:
            self._look_closer(explain=True)
        else:
            self.stale = True
        self.repaint()

    def action_walk(self, by: int) -> None:
        """Along the entries that the filter leaves, in the operator's order."""
        places = self.places
        if self.cursor in places:
            self.move_to(places[max(0, min(places.index(self.cursor) + by, len(places) - 1))])
        elif places:
            before = [place for place in places if place < self.cursor]
            after = [place for place in places if place > self.cursor]
            self.move_to(min(after) if after and (by > 0 or not before) else max(before))

    def action_edge(self, where: int) -> None:
        places = self.places
        if places:
            self.move_to(places[0] if where < 0 else places[-1])

    def all_rows(self) -> Sequence[Row]:
        entries = self.view.entries if self.view is not None else ()
        return of_entries(entries, self.host.titles)

    def follow_filter(self) -> None:
        places = self.places
        if self.sift and places and self.has_place:
            self.move_to(places[0])

    def action_why(self) -> None:
        if self.entry is not None:  # by name: a step that is still running may number the spans anew
            self.ask(operations.focus.why(str(self.entry.node)))

    def action_axis(self) -> None:
        self.axis = AXES[(AXES.index(self.axis) + 1) % len(AXES)]
        self.zoom, self.pan = 1.0, 0
        self._look_elsewhere()

    def action_zoom(self, direction: int) -> None:
        """One level of the tree deeper, or out."""
        if self.view is not None:
            from amgs_app.render.level_columns import zooms

            steps = zooms(self.view, self.axis)
            place = max(n for n, each in enumerate(steps) if each <= max(1.0, self.zoom))
            self.zoom = steps[max(0, min(place + direction, len(steps) - 1))]
            self._look_elsewhere()

    def action_pan(self, direction: int) -> None:
        """Half of what is in sight to the side, without moving the cursor."""
        if self.view is not None:
            from amgs_app.render.level_columns import window

            start, end = window(self.view, self.axis, self.zoom, self.left_edge)
            self.pan += direction * max(1, (end - start) // 2)
            self._look_elsewhere()

    def _look_elsewhere(self) -> None:
        """Another part of the map is in sight."""
        self._look_closer(explain=False)
        self._say()
        self.repaint()

    def action_source(self) -> None:
        if self.entry is not None and self.entry.source is not None:
            self.post_message(self.Picked(self.entry.source))

    def on_click(self, event: events.Click) -> None:
        """A click on the map puts the cursor on the entry drawn there."""
        offset = event.get_content_offset(self)
        if offset is None or self.view is None:
            return
        from amgs_app.focus import figure as focus

        place = focus.entry_at(
            self.view, self.canvas(), offset.x, axis=self.axis, zoom=self.zoom, offset=self.left_edge
        )
        if place is not None:
            self.move_to(place)


def describe_trace(trace: TraceSummary) -> str:
    """What the last session left, in a sentence."""
    steps = max((one.steps for one in trace.branches), default=0)
    branches = f" on {len(trace.branches)} branches" if len(trace.branches) > 1 else ""
    asked = f"“{trace.question}”: " if trace.question else ""
    model = trace.header.model.name
    return f"{asked}{steps:,} decoded tokens{branches}, a lifetime of {trace.lifetime:,} tokens, with {model}."
