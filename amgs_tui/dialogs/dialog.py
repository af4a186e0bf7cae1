"""A yes-or-no question, and the dialog for fatal errors."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.markup import escape
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amgs_app.terminal.printable import printable
from amgs_tui.messages import Failed

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
