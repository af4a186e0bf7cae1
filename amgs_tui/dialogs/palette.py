"""ctrl+p: every key action, command and theme, found by name, key or description; what was used last comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from amgs.text.words import plural
from amgs_app.terminal.line import near, nearness
from amgs_tui.dialogs.chooser import NarrowingList

if TYPE_CHECKING:
    pass


NARROW_NAMES: Final = 20
"""Cells for names on a narrow screen; a longer name shifts its own description."""
LOOSEST: Final = 4
"""Most characters over which typed letters may be spread in a name, as a multiple of their number."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the operator can do.

    where: its pane, if it is a pane's key. ready: whether the pane offers it now. synonyms: other words for it.
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
        """Key under which its use is stored."""
        return f"{self.where}/{self.name}"


def matching(actions: Sequence[Action], typed: str) -> list[Action]:
    """Return the actions that contain every typed word or have the typed key: by name, synonym or key before text,
    available ones first; then those whose name contains the typed letters in order, closest together first.

    If there are none, return those whose names have words similar to the typed ones.
    """
    words = _fold(typed).split()
    letters = "".join(words)
    ranked: list[tuple[Any, ...]] = []
    for place, action in enumerate(actions):
        name, synonyms = _fold(action.name.removesuffix(" …")), [_fold(synonym) for synonym in action.synonyms]
        everything = " ".join((name, _fold(f"{action.text} {action.where}"), *synonyms))
        key = typed.strip() in action.keys.split()
        if key or all(word in everything for word in words):
            other, *rank = nearness(name, synonyms, words)
            ranked.append((other and not key, *rank, not action.ready, 0, place, action))
        elif 0 < (spread := _spread(name, letters)) <= LOOSEST * len(letters):
            ranked.append((True, True, 1, 0, not action.ready, spread, place, action))
    if ranked:
        return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1])]
    meant = {word: _guess_words(word, actions) for word in words}
    return [
        action for action in actions if all(not meant[word].isdisjoint(_fold(action.name).split()) for word in words)
    ]


def _guess_words(typed: str, actions: Sequence[Action]) -> set[str]:
    """Return the words of names that a mistyped word may mean."""
    known = {word for action in actions for word in _fold(action.name).split()}
    return set(near(typed, sorted(known)))


def _fold(text: str) -> str:
    """Return a text without case and in a single spelling: maximize finds maximise, color finds colour."""
    return text.casefold().replace("iz", "is").replace("color", "colour")


def _spread(name: str, letters: str) -> int:
    """Return over how many characters of a name the letters are spread in order; 0 if it does not contain them."""
    begin = at = name.find(letters[:1])
    for letter in letters[1:]:
        if at < 0:
            return 0
        at = name.find(letter, at + 1)
    return at - begin + 1 if at >= 0 else 0


class ActionPalette(NarrowingList[Action | None]):
    """Lists actions and narrows them by what is typed; returns the chosen action."""

    DEFAULT_CSS = """
    ActionPalette > Vertical { width: 110; max-height: 86%; }
    ActionPalette OptionList { max-height: 24; }
    """
    heading = "Command palette"
    HINT = "enter runs · ↑ ↓ walk · esc back"
    PLACEHOLDER = "what you want to do: a name, a word of the description, a key"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape", "leave", "back", id="palette.close", tooltip="Back"),
        Binding("down", "walk(1)", "next", id="palette.next", tooltip="Next action", priority=True),
        Binding("up", "walk(-1)", "previous", id="palette.previous", tooltip="Previous action", priority=True),
        Binding("enter", "choose", "run", id="palette.run", tooltip="Run this action", priority=True),
    ]

    def __init__(self, actions: Sequence[Action], recent: Sequence[str]) -> None:
        super().__init__()
        used = {name: place for place, name in enumerate(recent)}
        self._actions = sorted(actions, key=lambda action: used.get(action.id, len(used)))
        self._listed: list[Action] = []

    def on_mount(self) -> None:
        self.query_one(Input).focus()
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
        note = plural(len(self._listed), "action") if self._listed else "No action matches."
        self.show_rows([_option(action, wide) for action in self._listed], note)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._listed[event.option_index])

    def action_choose(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self._listed[at])


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
