"""Texts to read above the panes: help, results that no pane shows, a yes-or-no question, and fatal errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.console import RenderableType
from rich.markup import escape
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amgs_app import operations
from amgs_app.terminal.output import printable, printable_line
from amgs_tui.messages import Failed

if TYPE_CHECKING:
    from amgs.types import Block
    from amgs.types.diagnosis import Diagnosis
    from amgs_tui.host import Host


_FRAME = """
    align: center middle;
    & > VerticalScroll {
        width: 72; max-width: 94%; height: auto; max-height: 90%;
        background: $surface; padding: 1 2; scrollbar-size-vertical: 1;
    }
    & Static { width: 1fr; height: auto; }
"""


class Confirm(ModalScreen[bool]):
    """A yes-or-no question."""

    DEFAULT_CSS = f"Confirm {{ {_FRAME} & > VerticalScroll {{ border: round $warn; }} }}"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("y,enter", "answer(True)", "yes", id="confirm.yes", tooltip="Do it"),
        Binding("n,escape", "answer(False)", "no", id="confirm.no", tooltip="Cancel: change nothing"),
    ]

    def __init__(self, title: str, words: str) -> None:
        super().__init__()
        self._words = Content.assemble(
            (f"{printable(title)}\n\n", "bold $warn"),
            f"{printable(words)}\n\n",
            ("y", "bold $accent"),
            " yes    ",
            ("n", "bold $accent"),
            " no",
        )

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._words)

    def on_mount(self) -> None:
        """Clear earlier notices, which would cover the question."""
        self.app.clear_notifications()

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Fatal(ModalScreen[None]):
    """A fatal error: what happened, what to do, and the key that quits."""

    DEFAULT_CSS = f"Fatal {{ {_FRAME} & > VerticalScroll {{ border: heavy $bad; }} }}"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("q,enter,escape", "leave", "quit", id="fatal.quit", tooltip="Quit the workstation")
    ]

    def __init__(self, failure: Failed) -> None:
        super().__init__()
        self.failure = failure

    def compose(self) -> ComposeResult:
        failure = self.failure
        pieces: list[str | tuple[str, str]] = [(f"✗ {failure.title}\n\n", "bold $bad"), printable(failure.message)]
        if failure.way_out:
            pieces += ["\n\n", (printable(failure.way_out), "$foreground")]
        if failure.detail:
            pieces += ["\n\n", (printable(failure.detail.rstrip()), "$muted")]
        pieces += ["\n\n", ("q", "bold $accent"), " quits"]
        with VerticalScroll():
            yield Static(Content.assemble(*pieces))

    def action_leave(self) -> None:
        failure = self.failure
        message = f"amgs: {failure.title}: {failure.message} {failure.way_out}".rstrip()
        self.app.exit(return_code=failure.exit_code, message=escape(printable(message)))


LEAST_WIDTH: Final = 100
EDGES: Final = 4
"""Cells of the border and padding, on both sides."""
SCROLLBAR: Final = 1
"""Cells left free, so that a scroll bar does not change line breaks."""

Page = Content | RenderableType | Callable[[int], Content | RenderableType]
"""A text, or a function that draws it for a width in cells."""


class TextReader(ModalScreen[None]):
    """A titled, scrolling page; esc, q, enter and ? close it.

    hint: shown at the lower edge. needs: width in cells at which no line is cut, used if the terminal is wide enough.
    """

    DEFAULT_CSS = """
    TextReader { align: center middle; }
    TextReader > VerticalScroll {
        width: 100; max-width: 96%; height: auto; max-height: 92%;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted; padding: 0 1; scrollbar-size-vertical: 1;
    }
    TextReader Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape,q,enter,question_mark,f1", "leave", "close", id="reader.close", tooltip="Back to the panes"),
        Binding("up,k", "scroll(-1)", "up", show=False, id="reader.up", tooltip="One line up"),
        Binding("down,j", "scroll(1)", "down", show=False, id="reader.down", tooltip="One line down"),
        Binding("pageup", "scroll(-12)", "page up", show=False, id="reader.page_up", tooltip="One page up"),
        Binding("pagedown,space", "scroll(12)", "page", show=False, id="reader.page_down", tooltip="One page down"),
    ]

    def __init__(self, title: str, page: Page, hint: str = "↑ ↓ scroll · esc closes", needs: int = 0) -> None:
        super().__init__()
        self.heading = title
        self._page = page
        self._hint = hint
        self._needs = needs + EDGES + SCROLLBAR

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False) as frame:
            frame.border_title = Content(printable_line(self.heading))
            frame.border_subtitle = self._hint
            frame.styles.width = self._wide
            # Draw for the coming width, so that it does not open empty and then change its size.
            inside = min(self._wide, self.app.size.width * 96 // 100) - EDGES - SCROLLBAR
            yield Static(self._page(max(1, inside)) if callable(self._page) else self._page, id="reader-page")

    @property
    def _wide(self) -> int:
        """Return the width: two thirds of a wide terminal, all of a narrow terminal, and at least what the page needs,
        if possible.
        """
        return max(LEAST_WIDTH, self.app.size.width * 2 // 3, self._needs)

    def on_mount(self) -> None:
        self.on_resize()
        # What was drawn has the colours of the theme at that time.
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw())

    def on_resize(self) -> None:
        self.query_one(VerticalScroll).styles.width = self._wide
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        page = self.query_one("#reader-page", Static)
        if callable(self._page) and page.size.width:
            page.update(self._page(page.size.width - SCROLLBAR))

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_leave(self) -> None:
        self.dismiss(None)


class BlockPage(TextReader):
    """A page about a block. Its keys close it and open the command line with the block's id."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("t", "begin('block set {id} --tag ')", "tag", id="reader.tag", tooltip="Tag the block"),
        Binding(
            "n", "begin('block set {id} --note \"')", "note", id="reader.note", tooltip="Write a note on the block"
        ),
        Binding(
            "e", "begin('edge set {id} ')", "edge", id="reader.edge", tooltip="Add an edge from the block to another"
        ),
    ]

    def __init__(self, host: Host, block: Block, page: Page) -> None:
        super().__init__("Block", page, "↑ ↓ scroll · t tag · n note · e edge · esc closes")
        self._host = host
        self._block = block

    def action_begin(self, line: str) -> None:
        """Select the block and open the command line with the beginning of a command about it."""
        self.dismiss(None)
        self._host.pick(self._block.id)
        self._host.command(line.format(id=self._block.id[:12]))


class DiagnosisPage(TextReader):
    """A page about a missed fact. Its keys close it."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("c", "apply", "apply", id="diagnosis.apply", tooltip="Carry out the fix; undo takes it back"),
        Binding("t", "test", "test", id="diagnosis.test", tooltip="Make a test of it in a file of questions"),
        Binding("b", "block", "block", id="diagnosis.block", tooltip="Select the block that holds the fact"),
    ]

    def __init__(self, host: Host, diagnosis: Diagnosis, page: Page) -> None:
        applies = diagnosis.trial is not None and diagnosis.trial.fix.applies
        keys = ("c applies the fix", "t makes a test") if applies else ("t makes a test",)
        super().__init__("Diagnosis", page, " · ".join(("↑ ↓ scroll", *keys, "b block", "esc closes")))
        self._host = host
        self._found = diagnosis

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable `apply` for a fix that is up to the caller, and `block` for a fact in no block."""
        if action == "apply":
            return self._found.trial is not None and self._found.trial.fix.applies
        return self._found.block is not None if action == "block" else True

    def action_apply(self) -> None:
        """Apply the fix: the diagnosis is repeated, and what it proposes then is done."""
        diagnosis, request = self._found, self._found.request
        recorded = request.kind == "gateway call"
        self.dismiss(None)
        self._host.ask(
            operations.diagnose.diagnose(
                diagnosis.answer,
                missed=diagnosis.missed,
                apply=True,
                question="" if recorded else request.query,
                frame=request.frame,
                budget=request.budget if request.kind in ("question", "conversation") else None,
                exchange=int(request.id) if recorded else None,
                conversation="" if recorded else request.conversation,
                block=diagnosis.block.id if diagnosis.block is not None else "",
            )
        )

    def action_test(self) -> None:
        """Open the command line with the command that writes the test."""
        self.dismiss(None)
        question, fact = (text.replace('"', "'") for text in (self._found.request.query, self._found.missed))
        self._host.command(f'test questions.yml --add "{question}" --contains "{fact}"')

    def action_block(self) -> None:
        self.dismiss(None)
        if self._found.block is not None:
            self._host.pick(self._found.block.id)
