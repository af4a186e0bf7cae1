"""The command line: commands after a colon, or answers to a pane's question. It covers the two lowest lines, so that
nothing above moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from amgs_app.terminal.printable import printable_line
from amgs_tui.host import Complete, Completion, Explain


class LineInput(Input):
    """An input that leaves tab and the arrows to the prompt around it."""

    DEFAULT_CSS = """
    LineInput, LineInput:focus { border: none; height: 1; padding: 0; background: $panel; width: 1fr; }
    """

    @dataclass
    class Steered(Message):
        """A key that completes or moves through the history: tab, shift+tab, up, down, escape."""

        key: str

    KEYS: ClassVar[frozenset[str]] = frozenset({"tab", "shift+tab", "up", "down", "escape"})

    def _on_paste(self, event: events.Paste) -> None:
        """Paste several lines as one, joined by blanks; a single line stays as it is."""
        event.stop()
        event.prevent_default()
        lines = event.text.splitlines()
        text = " ".join(filter(None, map(str.strip, lines))) if len(lines) > 1 else "".join(lines)
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *sorted(self.selection))

    async def on_key(self, event: events.Key) -> None:
        if event.key in self.KEYS:
            event.stop()
            event.prevent_default()
            self.post_message(self.Steered(event.key))


class Candidates(Widget):
    """The completions on one line, with the chosen one marked; else the hint."""

    DEFAULT_CSS = """
    Candidates { height: 1; background: $surface; color: $muted; }
    """

    words: reactive[tuple[Completion, ...]] = reactive(())
    chosen: reactive[int] = reactive(-1)
    hint: reactive[str] = reactive("")

    def render(self) -> Content:
        width = self.size.width
        if not self.words:
            return Content.assemble((f" {printable_line(self.hint)}", "$muted")).truncate(width, ellipsis=True)
        first = max(0, self.chosen - 3)
        pieces: list[tuple[str, str]] = []
        room = width - 1
        for place in range(first, len(self.words)):
            word = f" {printable_line(self.words[place].label)} "
            if len(word) > room:
                pieces.append(("…", "$muted"))
                break
            pieces.append((word, "bold $background on $accent" if place == self.chosen else "$foreground"))
            room -= len(word)
        return Content.assemble(*pieces)


class Prompt(Widget):
    """Asks for a line. `open` shows it, Answered has the line, Left means that it was closed without."""

    DEFAULT_CSS = """
    Prompt { height: 2; layout: vertical; display: none; }
    Prompt.-open { display: block; }
    Prompt Horizontal { height: 1; background: $panel; }
    Prompt #prompt-label {
        width: auto; color: $accent; text-style: bold; padding: 0 0 0 1; background: $panel;
    }
    """

    @dataclass
    class Answered(Message):
        """A line was entered. topic: what it was asked for."""

        topic: str
        line: str

    class Left(Message):
        """The prompt was closed without an answer."""

    def __init__(self) -> None:
        super().__init__(id="prompt")
        self._topic = ""
        self._complete: Complete = lambda _line: ()
        self._explain: Explain = lambda _line: ""
        self._history: dict[str, list[str]] = {}
        self._place = 0
        self._typed = ""
        self._blank = False

    def compose(self) -> ComposeResult:
        yield Candidates()
        with Horizontal():
            yield Static("", id="prompt-label")
            yield LineInput(id="prompt-input", select_on_focus=False)

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def typed(self) -> str:
        """Text in the line."""
        return self.query_one(LineInput).value

    def open(
        self,
        topic: str,
        label: str,
        value: str = "",
        *,
        hint: str = "",
        complete: Complete = lambda _line: (),
        explain: Explain | None = None,
        blank: bool = False,
        replace: bool = False,
    ) -> None:
        """Open the line.

        topic: returned with the answer, with its own history. blank: an empty line is an answer too. replace: typing
        replaces the value, which ↑ restores.
        """
        if replace and value and self._history.get(topic, [])[-1:] != [value]:
            self._history.setdefault(topic, []).append(value)
        self._blank = blank
        self._topic, self._complete = topic, complete
        self._explain = explain or (lambda _line: hint)
        self._place = len(self._history.get(topic, ()))
        self.query_one("#prompt-label", Static).update(Content(printable_line(label) + " "))
        line = self.query_one(LineInput)
        line.value = value
        line.cursor_position = len(value)
        if replace:
            line.selection = Selection(0, len(value))
        self.add_class("-open")
        self.screen.set_focus(line)  # at once, so that the line gets keys typed ahead
        self._offer(value)

    def close(self) -> None:
        self.remove_class("-open")

    def _offer(self, typed: str) -> None:
        """Show completions of the typed text."""
        self._typed = typed
        shown = self.query_one(Candidates)
        shown.chosen = -1
        shown.words = tuple(self._complete(typed))
        shown.hint = self._explain(typed)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        shown = self.query_one(Candidates)
        if shown.chosen < 0 or event.value != shown.words[shown.chosen].line:
            self._offer(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        line = event.value.strip()
        self.close()
        if line:
            history = self._history.setdefault(self._topic, [])
            if not history or history[-1] != line:
                history.append(line)
        if line or self._blank:
            self.post_message(self.Answered(self._topic, line))
        else:
            self.post_message(self.Left())

    def on_line_input_steered(self, event: LineInput.Steered) -> None:
        event.stop()
        match event.key:
            case "escape":
                self.close()
                self.post_message(self.Left())
            case "tab":
                self._cycle(1)
            case "shift+tab":
                self._cycle(-1)
            case "up":
                self._walk(-1)
            case _:
                self._walk(1)

    def _cycle(self, by: int) -> None:
        """Put the next completion into the line."""
        shown = self.query_one(Candidates)
        if shown.words:
            shown.chosen = (shown.chosen + by) % len(shown.words) if shown.chosen >= 0 else (0 if by > 0 else -1)
            shown.chosen %= len(shown.words)
            self._write(shown.words[shown.chosen].line)

    def _walk(self, by: int) -> None:
        """Move through earlier entries under the same topic."""
        history = self._history.get(self._topic, [])
        self._place = max(0, min(self._place + by, len(history)))
        self._write(history[self._place] if self._place < len(history) else "")

    def _write(self, text: str) -> None:
        line = self.query_one(LineInput)
        line.value = text
        line.cursor_position = len(text)
