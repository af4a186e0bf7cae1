"""A command line with history, completion and a hint of what the command takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from amgs_app.panes.row_filter import list_candidates
from amgs_app.terminal.output import printable_line
from amgs_tui.host import Complete, Completion, Explain

if TYPE_CHECKING:
    from amgs.types import Block, FrameDefinition, JournalEntry
    from amgs_app.calls.registry import Registry


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
    """The completions on a single line, with the chosen completion marked; else the hint."""

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


MOST_BLOCKS = 5_000


class CompletionCache:
    """Blocks, frames and operations from results; replaces the memory in completion."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        self.listed: tuple[str, ...] = ()
        self._blocks: dict[str, Block] = {}
        self._frames: tuple[FrameDefinition, ...] = ()
        self._operations: tuple[JournalEntry, ...] = ()
        self._entities: dict[str, None] = {}

    def learn(self, result: Any, *, listed: bool) -> None:
        """Store the blocks, entities, frames and operations of a result; listed: @1, @2, … refer to its blocks from now
        on, if there are several.
        """
        inner = getattr(result, "result", result)
        blocks = [*_blocks_of(inner)]
        for block in blocks:
            self._blocks[block.id] = block
            if block.id not in self.titles:
                self.titles[block.id] = block.title
        while len(self._blocks) > MOST_BLOCKS:
            oldest = next(iter(self._blocks))
            del self._blocks[oldest], self.titles[oldest]
        if listed and len(blocks) > 1:
            self.listed = tuple(block.id for block in blocks)
        for entity in (*getattr(inner, "entities", ()), *getattr(inner, "related", ())):
            self._entities |= dict.fromkeys((entity.name, *getattr(entity, "aliases", ())))
        self._frames = getattr(inner, "definitions", self._frames)
        self._operations = _journal_of(inner) or self._operations

    def find(self, text: str, limit: int) -> list[Block]:
        """Return blocks whose title contains the text or whose id begins with it."""
        wanted = text.lower()
        return [
            block for block in self._blocks.values() if block.id.startswith(wanted) or wanted in block.title.lower()
        ][:limit]

    def block(self, block_id: str) -> Block:
        return self._blocks[block_id]

    def entity_names(self, start: str, limit: int) -> list[str]:
        """Return names of entities with this prefix, ignoring case."""
        return [name for name in self._entities if name.casefold().startswith(start.casefold())][:limit]

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        return self._frames

    def operations(self, limit: int) -> tuple[JournalEntry, ...]:
        return self._operations[:limit]


def _blocks_of(result: Any) -> list[Block]:
    """Return the blocks in a result in order, without records of another memory."""
    from amgs.types import Block

    values: list[Any] = [getattr(result, name, None) for name in ("block", "center")]
    for name in ("blocks", "candidates", "hits", "rows", "items", "mentions"):
        several = getattr(result, name, None)
        if name == "candidates" and several is not None and hasattr(result, "spans"):
            several = list_candidates(result)  # a frame's rows are numbered as its table has them
        if isinstance(several, tuple):
            values += [getattr(row, "block", row) for row in several]
    return [block for block in values if isinstance(block, Block)]


def _journal_of(result: Any) -> tuple[JournalEntry, ...]:
    """Return the journal entries in a result, without those of other programs."""
    from amgs.types import JournalEntry

    several = getattr(result, "operations", None)
    listed = several if isinstance(several, tuple) else ()
    return tuple(entry for entry in listed if isinstance(entry, JournalEntry))


def complete(registry: Registry | None, line: str, known: CompletionCache) -> list[Completion]:
    """Return completions of a line; none before the operations are loaded."""
    if registry is None:
        return []
    from amgs_app.calls import completion

    suggestions = completion.complete(registry, line, known, known.listed)
    return [
        Completion(suggestion.label or suggestion.text, line[: len(line) - suggestion.replaces] + suggestion.text)
        for suggestion in suggestions
    ]


def explain(registry: Registry | None, line: str) -> str:
    """Return the usage of the command in a line."""
    if registry is None:
        return "The commands are still loading."
    from amgs_app.terminal.line import LineError, split

    try:
        words = split(line)
    except LineError as error:
        return error.message
    chosen, _ = registry.find(words)
    if chosen is not None:
        return f"{chosen.usage()}   {chosen.summary}"
    return "" if words else "Type a command; tab completes, ↑ recalls earlier commands, esc cancels."
