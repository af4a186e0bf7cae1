"""ctrl+p: every key action, command and theme, found by name, key or description; what was used last comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amgs_app.render.figures.format import plural

BENCHES: Final = "bench "
"""What the names of the benchmarks begin with: they are listed last."""
RECENT: Final = 6
"""Actions that are remembered as used last."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the operator can do.

    where: the pane it belongs to, if it is one of a pane's keys. ready: whether the pane offers it now.
    """

    name: str
    text: str
    run: Callable[[], object]
    keys: str = ""
    where: str = ""
    ready: bool = True

    @property
    def id(self) -> str:
        """What it is remembered by."""
        return f"{self.where}/{self.name}"


def matching(actions: Sequence[Action], typed: str) -> list[Action]:
    """The actions that have every typed word, those that have it in their name before those that have it in their
    text, and of equals those that are offered now; where none has, those whose name has the letters in their order.
    """
    words = _folded(typed).split()
    ranked = []
    for place, action in enumerate(actions):
        name, everything = _folded(action.name), _folded(f"{action.name} {action.text} {action.where}")
        if all(word in everything for word in words) or typed.strip() in action.keys.split():
            starts = sum(any(part.startswith(word) for part in name.split()) for word in words)
            inside = sum(word in name for word in words)
            exact = name == " ".join(words) or typed.strip() in action.keys.split()
            bench = action.name.startswith(BENCHES)
            ranked.append((not exact, -starts, -inside, not action.ready, bench, place, action))
    if ranked:
        return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1])]
    letters = "".join(words)
    return [action for action in actions if _holds(_folded(action.name), letters)]


def _folded(text: str) -> str:
    """Without case, and with one spelling: maximize finds maximise, color finds colour."""
    return text.casefold().replace("iz", "is").replace("color", "colour")


def _holds(name: str, letters: str) -> bool:
    signs = iter(name)
    return all(letter in signs for letter in letters)


class ActionPalette(ModalScreen[Action | None]):
    """Lists actions and narrows them down by what is typed; ends with the chosen one."""

    DEFAULT_CSS = """
    ActionPalette { align: center top; }
    ActionPalette > Vertical {
        width: 110; max-width: 96%; height: auto; max-height: 86%; margin-top: 2;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    ActionPalette Input, Palette Input:focus { border: none; height: 1; padding: 0 1; background: $panel; }
    ActionPalette OptionList, Palette OptionList:focus {
        border: none; height: auto; max-height: 24; background: $surface; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    ActionPalette Static { height: 1; padding: 0 1; color: $muted; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape", "leave", "back", id="palette.close", tooltip="Back"),
        Binding("down", "walk(1)", "next", id="palette.next", tooltip="Next action", priority=True),
        Binding(
            "up", "walk(-1)", "previous", id="palette.previous", tooltip="Previous action", priority=True
        ),
        Binding("enter", "choose", "run", id="palette.run", tooltip="Run this action", priority=True),
    ]

    def __init__(self, actions: Sequence[Action], recent: Sequence[str]) -> None:
        super().__init__()
        used = {name: place for place, name in enumerate(recent)}
        self._actions = sorted(actions, key=lambda action: used.get(action.id, len(used)))
        self._listed: list[Action] = []

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Command palette"
            frame.border_subtitle = "enter runs · ↑ ↓ walk · esc back"
            yield Input(placeholder="what you want to do: a name, a word of the description, a key")
            yield Static()
            yield OptionList()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.query_one(OptionList).can_focus = False
        self._list("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._list(event.value)

    def _list(self, typed: str) -> None:
        self._listed = matching(self._actions, typed) if typed.strip() else list(self._actions)
        wide = min(28, max((len(action.name) for action in self._listed), default=0))
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options([_option(action, wide) for action in self._listed])
        if self._listed:
            listed.highlighted = 0
        note = plural(len(self._listed), "action") if self._listed else "No action matches."
        self.query_one(Static).update(note)

    def action_walk(self, by: int) -> None:
        listed = self.query_one(OptionList)
        (listed.action_cursor_down if by > 0 else listed.action_cursor_up)()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._listed[event.option_index])

    def action_choose(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self._listed[at])

    def action_leave(self) -> None:
        self.dismiss(None)


def _option(action: Action, wide: int) -> Option:
    where = f"  {action.where}" if action.where else ""
    return Option(
        Content.assemble(
            (f"{action.keys:>7} ", "bold $accent"),
            (action.name.ljust(wide), "bold $foreground"),
            f"  {action.text}",
            (where, "$muted"),
        )
    )
