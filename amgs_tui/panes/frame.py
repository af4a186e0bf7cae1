"""2 Frame: a question, the candidates for it, which of them were selected and why, and the resulting text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from rich.text import Text
from textual import events

from amgs_app import operations
from amgs_app.render.candidates import list_frame, list_hits
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.glyphs import notice
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane, next_of
from amgs_tui.panes.weight_editor import WEIGHING, FrameWeighing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amgs.types import Candidate, Frame, SearchResult
    from amgs_app.calibration.commands import Verdict
    from amgs_app.calls.call import Call
    from amgs_app.render.candidates import CandidateRow
    from amgs_app.render.rows import RowList
    from amgs_app.results.memory import FrameList, LastFrame
    from amgs_tui.host import Host

FIRST_FRAME = "SESSION"
Show = Literal["both", "candidates", "text"]
SHOWS: tuple[Show, ...] = get_args(Show)


class FramePane(ListPane):
    """The frame assembled last, or the hits of the last search. verdicts: on the frame's blocks, by id."""

    NAME = "frame"
    SHOWS = frozenset({"frame assemble", "frame last", "search", "frame list"})
    PURPOSE = """\
A frame is the text that a question gets: blocks of the memory, chosen by a score of five parts within a budget
of tokens. The waterfall says how many candidates each layer brought. Each row is a candidate: what its score is
made of, and whether it is in, or out and why. A composite lists the part that answers the question first. ✓ and ✗
mark what you judged with u and x: a verdict settles the score as a forecast. Weights that you change apply to every
part of the frame until 0 resets them. Open a frame as lifetime context to see what the language model makes of it."""

    BINDINGS: ClassVar[list[Any]] = [
        show("e", "ask", "ask", "frame.ask", "Ask a question: assembles the frame for it"),
        show("enter", "read", "read", "frame.read", "Read this block; without a frame: ask"),
        show(
            "o",
            "run('frame open')",
            "open",
            "frame.open",
            "Make this frame the model's lifetime context (about a minute)",
        ),
        show("u", "feedback('useful')", "useful", "frame.useful", "This block was useful"),
        show("x", "feedback('useless')", "useless", "frame.useless", "This block was useless"),
        show("f", "choose", "frame", "frame.choose", "Choose which frame is assembled"),
        show("w", "why", "why", "frame.why", "Why this row is in or out, and what would change that"),
        hide("m", "missed", "missed", "frame.missed", "Say which fact is missing, and find out why"),
        *WEIGHING,
        show("v", "view", "view", "frame.view", "Cycle the view: both, candidates, text"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.frame: Frame | None = None
        self.search: SearchResult | None = None
        self.frames: FrameList | None = None
        self.chosen = FIRST_FRAME
        self.show: Show = "both"
        self.text_offset = 0
        self.weighing = FrameWeighing(self, lambda: self.frame)
        self.adopt(self.weighing)
        self.verdicts: Mapping[str, float] = {}
        self._page: RowList[CandidateRow] | None = None

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.frame.frames(), operations.frame.last()]

    def take(self, result: object) -> None:
        from amgs.types import Frame, SearchResult
        from amgs_app.results.memory import FrameList, LastFrame

        match result:
            case FrameList():
                self.frames = result
            case LastFrame():
                self._take_last(result)
            case Frame():
                candidate = self._row
                self._take_frame(result)
                # If the same question was ranked again, the cursor stays on its block.
                self._take_rows(candidate if self.weighing.weights is not None else None)
            case SearchResult():
                self.search = result
                self._page = list_hits(result)
                self._take_rows(None)

    def _take_rows(self, candidate: Candidate | None) -> None:
        """Put the cursor on the same candidate of new rows, or at the top (None)."""
        self.text_offset = 0
        self.cursor = 0
        if candidate is not None:
            self.place_on(_key(row.item) == _key(candidate) for row in self.items)
        self.follow_cursor()

    def _take_last(self, result: LastFrame) -> None:
        """Show the last session's frame if there is none, without selecting a block; and the verdicts on the present
        frame.
        """
        if result.frame is None:
            return
        if self.frame is None:
            self.frame, self.chosen = result.frame, result.frame.name
        if (self.frame.name, self.frame.query) == (result.frame.name, result.frame.query):
            self.verdicts = result.verdicts
        if self.search is None:
            self._page = list_frame(self.frame, self.verdicts)

    def _take_frame(self, frame: Frame) -> None:
        same = self.frame is not None and (self.frame.name, self.frame.query) == (frame.name, frame.query)
        self.weighing.take(frame, same=same)
        if not same:
            self.verdicts = {}
        self.frame, self.search = frame, None
        self._page = list_frame(frame, self.verdicts)
        self.chosen = frame.name

    @property
    def page(self) -> RowList[CandidateRow] | None:
        return self._page

    @property
    def _row(self) -> Candidate | None:
        """Candidate under the cursor."""
        return self.row.item if self.row is not None else None

    def subtitle(self) -> str:
        if self.weighing.weights is not None and self.frame is not None:
            return str(self.weighing)
        return f"{self.chosen} · e asks" if self.frame is None else f"{self.chosen} · o opens it as lifetime context"

    def copy_text(self) -> str:
        """Return the frame's text, as a model would read it; of a search, the picture as text."""
        if self.frame is not None and self.search is None:
            return self.frame.text
        return super().copy_text()

    def on_focus(self) -> None:
        """Select the block under the cursor for all panes, if none is selected."""
        if self.host.selected is None:
            self.follow_cursor()

    def selection_changed(self, block_id: str | None) -> None:
        """Move the cursor to the selected block unless it is there: a composite may list a block once for each part."""
        if self.block_at_cursor() != block_id:
            self.place_on(row.item.block.id == block_id for row in self.items)
            self.repaint()

    def action_move(self, by: int) -> None:
        if self.show == "text" and self.search is None:
            self._scroll_text(by)
        else:
            super().action_move(by)

    def action_page(self, by: int) -> None:
        if self.show == "text" and self.search is None:
            self._scroll_text(by * max(1, self.content_size.height - 8))
        else:
            super().action_page(by)

    def _scroll_text(self, by: int) -> None:
        self.text_offset = max(0, self.text_offset + by)
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a row of the table; a click on the text does nothing."""
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
        return super().draw(canvas)

    def figure(self, canvas: Canvas) -> Figure | None:
        from amgs_app.frames import figure as frame
        from amgs_app.render import candidates as search

        if self.search is not None:
            return search.search(self.search, canvas, self.shown_rows, self.cursor)
        return frame.frame(
            self.frame,
            canvas,
            self.shown_rows,
            self.cursor,
            show=self.show,
            text_offset=self.text_offset,
            lacks=self._lacks,
        )

    @property
    def _lacks(self) -> str:
        """Hint for a frame without candidates: blocks in the inbox, and the keys that consolidate them; "" for none."""
        overview = self.host.overview
        if overview is None or self.frame is None or self.frame.candidates:
            return ""
        from amgs_app.calls.hints import hint_by_keys

        return hint_by_keys(self.frame, overview.store.blocks)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable the keys that need a frame, a search or a row while there is none."""
        if action in ("run", "view", "part", "weigh", "unweigh", "compare"):
            return self.frame is not None and (action in ("run", "view") or self.search is None)
        if action == "missed":
            return self.search is not None or (self.frame is not None and bool(self.frame.query))
        if action == "why":
            return bool(self.items)
        return bool(self.items) if action == "feedback" else True

    def action_ask(self) -> None:
        query = self.frame.query if self.frame is not None else ""
        hint = "Type a question or some words; enter assembles the frame, ↑ brings back earlier questions, esc cancels."
        self.ask_line(f"{self.chosen} ?", self._assemble, query, hint=hint, replace=True)

    def _assemble(self, question: str) -> None:
        self.ask(operations.frame.assemble(self.chosen, query=question))

    def action_read(self) -> None:
        """Read the block under the cursor; without rows, ask a question."""
        if self.items:
            super().action_read()
        else:
            self.action_ask()

    def action_missed(self) -> None:
        """Ask which fact is missing from the result, and diagnose why."""
        hint = "Type the missing fact in the words of its note; enter finds out why it is not here, esc cancels."
        self.ask_line("missed ?", self._diagnose, hint=hint, replace=True)

    def _diagnose(self, fact: str) -> None:
        question, frame = self._asked
        self.ask(operations.diagnose.diagnose("", missed=fact, question=question, frame=frame))

    @property
    def _asked(self) -> tuple[str, str]:
        """The question on the screen, and the name of its frame, "" for a search."""
        if self.search is not None:
            return self.search.query, ""
        return ("", "") if self.frame is None else (self.frame.query, self.frame.name)

    def action_choose(self) -> None:
        """Choose a frame; if a frame is on view, the new one is assembled at once for its question."""
        if self.frames is None:
            return
        choices = [
            Choice(definition.name, definition.name, definition.purpose, marked=definition.name == self.chosen)
            for definition in self.frames.definitions
        ]
        self.choose("Which frame?", choices, self._use_frame)

    def _use_frame(self, name: str) -> None:
        self.chosen = name
        self._say()
        if self.frame is not None:
            self.ask(operations.frame.assemble(name, query=self.frame.query))
        else:
            self.action_ask()

    # --- weights and reasons ------------------------------------------------------------------------------

    def action_why(self) -> None:
        """Explain the row under the cursor, in a composite as a candidate of its part."""
        row = self._row
        if row is None:
            return
        if self.search is not None:
            self.ask(operations.search.why(self.search.query, row.block.id))
        elif self.frame is not None:
            self.ask(
                operations.search.why(
                    self.frame.query,
                    row.block.id,
                    frame=self.frame.name,
                    child=row.child or None,
                    weights=self.weighing.moved_weights,
                    last=True,
                )
            )

    def action_feedback(self, verdict: Verdict) -> None:
        row = self._row
        if row is None:
            return
        block = row.block.id
        if self.search is None and not self._is_in(block):
            self.notify("Only a block that is in the frame has a forecast.", title="Nothing to judge")
        elif self.search is None and block in self.verdicts:
            judgement = "useful" if self.verdicts[block] >= 0.5 else "useless"
            self.notify(f"You judged this block {judgement} for this question.", title="Already judged")
        else:
            self.ask(operations.calibration.feedback(verdict, block))

    def _is_in(self, block_id: str) -> bool:
        return self.frame is not None and any(candidate.block.id == block_id for candidate in self.frame.selected)

    def action_view(self) -> None:
        self.show = next_of(SHOWS, self.show)
        self.repaint()


def _key(row: Candidate) -> tuple[str, str]:
    """Return what identifies a row of a frame, since a block may be a candidate of several parts."""
    return row.child, row.block.id
