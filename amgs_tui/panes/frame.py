"""2 Frame: a question, what memory offers for it, what got in and why, and the text that came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rich.text import Text
from textual import events

from amgs_tui.keys import quiet, shown
from amgs_tui.listings import of_candidates
from amgs_tui.panes.base import Ask, ListPane
from amgs_tui.panes.weighing import Weighing, written
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs.model import Candidate, Frame, SearchResult
    from amgs_tui.sifting import Row
    from amgs_tui.verbs.results import FrameList

FIRST_FRAME = "SESSION"
Show = Literal["both", "candidates", "text"]
SHOWS: tuple[Show, ...] = ("both", "candidates", "text")


class FramePane(ListPane):
    """The frame assembled last, or the hits of the last search."""

    NAME = "frame"
    SHOWS = frozenset({"frame assemble", "frame last", "search", "frame list"})
    PURPOSE = """\
A frame is the text that a question gets: what memory holds on it, chosen by a score of five parts within a
budget of tokens. The waterfall says how many candidates each layer brought; each row says what a block's
score is made of and what became of it. Open a frame as lifetime context to see what the language model
makes of it. Verdicts (u, x) settle the score as a forecast."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("e,enter", "ask", "ask", "frame.ask", "Ask something: assembles the frame for it"),
        shown("o", "open", "open", "frame.open", "Make this frame the model's lifetime context"),
        shown("u", "feedback('useful')", "useful", "frame.useful", "This block was useful"),
        shown("x", "feedback('useless')", "useless", "frame.useless", "This block was useless"),
        shown("f", "choose", "frame", "frame.choose", "Choose which frame is assembled"),
        shown("w", "why", "why", "frame.why", "Why this block is in or out, and what would change that"),
        shown(
            "right", "part(1)", "weights", "frame.part", "Which weight plus and minus move", key_display="←→"
        ),
        quiet("left", "part(-1)", "weights", "frame.part_before", "The weight before"),
        quiet("plus,equals_sign", "weigh(1)", "heavier", "frame.heavier", "More of this weight, at once"),
        quiet("minus", "weigh(-1)", "lighter", "frame.lighter", "Less of this weight, at once"),
        quiet("0", "unweigh", "own weights", "frame.unweigh", "The frame's own weights again"),
        shown(
            "a",
            "compare",
            "a/b",
            "frame.compare",
            "The frame's own weights beside yours: what moved, and why",
        ),
        shown("v", "view", "view", "frame.view", "Candidates and text, candidates, text"),
        *ListPane.BINDINGS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.frame: Frame | None = None
        self.search: SearchResult | None = None
        self.frames: FrameList | None = None
        self.chosen = FIRST_FRAME
        self.show: Show = "both"
        self.text_offset = 0
        self.weighing: Weighing | None = None

    def asks(self) -> Iterable[Ask]:
        return [("frame list", {})]

    def take(self, verb: str, result: Any) -> None:
        if verb == "frame list":
            self.frames = result
            return
        if verb == "frame last":
            if (
                result.frame is not None and self.frame is None
            ):  # as the last session left it; nothing is selected
                self.frame, self.chosen = result.frame, result.frame.name
            return
        self.cursor = self.text_offset = 0
        if verb == "frame assemble":
            if self.frame is None or (self.frame.name, self.frame.query) != (result.name, result.query):
                self.weighing = None
            self.frame, self.search = result, None
            self.chosen = result.name
        else:
            self.search = result
        self.moved()

    @property
    def every(self) -> Sequence[Candidate]:
        """The candidates or hits that there are."""
        if self.search is not None:
            return self.search.hits
        return self.frame.candidates if self.frame is not None else ()

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The rows of the table: those that the filter leaves, in the operator's order."""
        every = self.every
        return [every[place] for place in self.places] if self.sift else every

    def all_rows(self) -> Sequence[Row]:
        return of_candidates(self.every)

    def sifted(self) -> None:
        self.cursor = 0
        self.moved()

    @property
    def rows(self) -> int:
        return len(self.candidates)

    def subtitle(self) -> str:
        if self.weighing is not None and self.frame is not None:
            return f"{self.weighing.said()} · + − move · 0 as it was · a compares"
        return (
            f"{self.chosen} · e asks"
            if self.frame is None
            else f"{self.chosen} · o opens it as lifetime context"
        )

    def copied(self) -> str:
        """The frame's text, as a model would get it."""
        if self.frame is not None and self.search is None:
            return self.frame.text
        return super().copied()

    def moved(self) -> None:
        if self.candidates:
            self.post_message(self.Picked(self.candidates[self.cursor].block.id))

    def selection_changed(self, block_id: str | None) -> None:
        self.cursor = next((n for n, c in enumerate(self.candidates) if c.block.id == block_id), self.cursor)
        self.repaint()

    def action_move(self, by: int) -> None:
        if self.show == "text" and self.search is None:
            self.text_offset = max(0, self.text_offset + by)
            self.repaint()
        else:
            super().action_move(by)

    def on_click(self, event: events.Click) -> None:
        """Rows are clicked in the table; the text has none."""
        if self.show == "text" and self.search is None:
            event.prevent_default()

    def draw(self, canvas: Canvas) -> Text:
        if self.frame is None and self.search is None:
            keys = ("e  ask something", "f  choose the frame")
            return notice(
                canvas,
                "No frame yet",
                keys,
                "A frame is the text that a question gets: what memory holds on it, within a budget.",
            )
        from amgs_tui.pictures import frame

        rows = self.candidates
        selected = rows[self.cursor].block.id if rows else None
        places = self.places if self.sift else None
        if self.search is not None:
            return frame.search(self.search, canvas, selected=selected, shown=places)
        return frame.frame(
            self.frame,
            canvas,
            selected=selected,
            show=self.show,
            text_offset=self.text_offset,
            shown=places,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Keys that need a frame are not offered without one."""
        if action in ("open", "view", "part", "weigh", "unweigh", "compare"):
            return self.frame is not None and (action in ("open", "view") or self.search is None)
        if action == "why":
            return bool(self.candidates)
        return bool(self.candidates) if action == "feedback" else True

    def action_ask(self) -> None:
        query = self.frame.query if self.frame is not None else ""
        hint = "A question or some words; enter assembles the frame, esc leaves it."
        self.workstation.ask_line(self.NAME, f"{self.chosen} ?", query, hint=hint)

    def answered(self, line: str) -> None:
        """The question was entered."""
        self.ask("frame assemble", name=self.chosen, query=line)

    def action_choose(self) -> None:
        """Let the operator choose a frame; one with a question is assembled again at once."""
        from amgs_tui.screens.chooser import Choice, Chooser

        if self.frames is None:
            return
        choices = [
            Choice(each.name, each.name, each.purpose, marked=each.name == self.chosen)
            for each in self.frames.definitions
        ]
        self.workstation.push_screen(Chooser("Which frame?", choices), self._chose)

    def _chose(self, name: str | None) -> None:
        if name is None:
            return
        self.chosen = name
        self._say()
        if self.frame is not None:
            self.ask("frame assemble", name=name, query=self.frame.query)
        else:
            self.action_ask()

    # --- weights and reasons ------------------------------------------------------------------------------

    def action_why(self) -> None:
        """Follow the block under the cursor down the layers."""
        block = self.candidates[self.cursor].block.id
        if self.search is not None:
            self.ask("why", query=self.search.query, block=block)
        elif self.frame is not None:
            weights = self.weighing.text() if self.weighing is not None else None
            self.ask("why", query=self.frame.query, block=block, frame=self.frame.name, weights=weights)

    def action_part(self, by: int) -> None:
        if self.frame is not None:
            self.weighing = self._weights().walked(by)
            self._say()
            self.repaint()

    def action_weigh(self, by: int) -> None:
        """Move a weight, and rank anew at once: a look, which reinforces nothing."""
        if self.frame is not None:
            self.weighing = self._weights().moved(by)
            self._look_with(self.weighing.text())

    def action_unweigh(self) -> None:
        if self.weighing is not None:
            self.weighing = replace(self.weighing, now=self.weighing.first)
            self._look_with(self.weighing.text())

    def action_compare(self) -> None:
        """A: the frame's own weights, B: the operator's."""
        if self.frame is None or self.weighing is None or not self.weighing.changed:
            self.notify("Move a weight first: ← → choose it, + and − move it.", title="Nothing to compare")
            return
        name, query = self.frame.name, self.frame.query
        own = written(self.weighing.first)
        mine = self.weighing.text()
        self.ask("frame compare", a=name, b=name, query=query, weights_a=own, weights_b=mine)

    def _weights(self) -> Weighing:
        """What the keys move: begun with the weights that the frame on the screen was ranked by."""
        if self.weighing is None and self.frame is not None:
            return Weighing(self.frame.weights, self.frame.weights)
        if self.weighing is None:
            raise RuntimeError("weights are moved on a frame")
        return self.weighing

    def _look_with(self, weights: str) -> None:
        if self.frame is not None:
            name, query = self.frame.name, self.frame.query
            self.ask("frame assemble", origin="screen", name=name, query=query, weights=weights, look=True)
        self._say()

    def action_open(self) -> None:
        self.ask("frame open")

    def action_feedback(self, verdict: str) -> None:
        block = self.candidates[self.cursor].block
        self.ask("feedback", verdict=verdict, block=block.id)

    def action_view(self) -> None:
        self.show = SHOWS[(SHOWS.index(self.show) + 1) % len(SHOWS)]
        self.repaint()
