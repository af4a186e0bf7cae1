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

from amgs.text.plural import plural
from amgs_app.terminal.line import near, nearness

NARROW_NAMES: Final = 20
"""Cells for the names where the screen is narrow; a longer one pushes its own description aside."""
LOOSEST: Final = 4
"""Over how many times their number typed letters may be spread in a name."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the operator can do.

    where: the pane it belongs to, if it is one of a pane's keys. ready: whether the pane offers it now. synonyms: what
    else people call it.
    """

    name: str
    text: str
    run: Callable[[], object]
    keys: str = ""
    where: str = ""
    ready: bool = True
    synonyms: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What it is remembered by."""
        return f"{self.where}/{self.name}"


def matching(actions: Sequence[Action], typed: str) -> list[Action]:
    """The actions that have every typed word: by name or synonym before by text, of equals those that are offered now,
    then those whose name has the typed letters in their order, the closest together first. Where there are none, those
    whose name has a word like each typed one.
    """
    words = _folded(typed).split()
    letters = "".join(words)
    ranked: list[tuple[Any, ...]] = []
    for place, action in enumerate(actions):
        name, synonyms = _folded(action.name.removesuffix(" …")), [_folded(one) for one in action.synonyms]
        everything = " ".join((name, _folded(f"{action.text} {action.where}"), *synonyms))
        key = typed.strip() in action.keys.split()
        if key or all(word in everything for word in words):
            other, *rank = nearness(name, synonyms, words)
            ranked.append((other and not key, *rank, not action.ready, 0, place, action))
        elif 0 < (spread := _spread(name, letters)) <= LOOSEST * len(letters):
            ranked.append((True, True, 1, 0, not action.ready, spread, place, action))
    if ranked:
        return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1])]
    meant = {word: _meant(word, actions) for word in words}
    return [
        action
        for action in actions
        if all(not meant[word].isdisjoint(_folded(action.name).split()) for word in words)
    ]


def _meant(typed: str, actions: Sequence[Action]) -> set[str]:
    """The words of names that a mistyped word may stand for."""
    known = {word for action in actions for word in _folded(action.name).split()}
    return set(near(typed, sorted(known)))


def _folded(text: str) -> str:
    """Without case, and with one spelling: maximize finds maximise, color finds colour."""
    return text.casefold().replace("iz", "is").replace("color", "colour")


def _spread(name: str, letters: str) -> int:
    """Over how many characters of a name the letters lie that it has in their order; 0 where it has not."""
    begin = at = name.find(letters[:1])
    for letter in letters[1:]:
        if at < 0:
            return 0
        at = name.find(letter, at + 1)
    return at - begin + 1 if at >= 0 else 0


class ActionPalette(ModalScreen[Action | None]):
    """Lists actions and narrows them down by what is typed; ends with the chosen one."""

    DEFAULT_CSS = """
    ActionPalette { align: center top; }
    ActionPalette > Vertical {
        width: 110; max-width: 96%; height: auto; max-height: 86%; margin-top: 2;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    ActionPalette Input, ActionPalette Input:focus { border: none; height: 1; padding: 0 1; background: $panel; }
    ActionPalette OptionList, ActionPalette OptionList:focus {
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
        if typed.strip():
            self._listed = matching(self._actions, typed)
        else:
            self._listed = list(self._actions)
        most = NARROW_NAMES if self.app.size.width < 100 else 28
        wide = min(most, max((len(action.name) for action in self._listed), default=0))
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
