"""The keys that work everywhere. Each has an id, by which the settings may give it another key, and a
tooltip.

None of them is a key that a terminal or tmux keeps for itself (ctrl+b, ctrl+s, ctrl+z, …).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, Keys

from amgs_tui.widgets.arrangement import PANES

SWALLOWED: Final = frozenset(
    {"ctrl+a", "ctrl+b", "ctrl+c", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+q", "ctrl+s", "ctrl+z"}
)
"""Keys that a terminal, tmux or screen keeps for itself, or that arrive as another key."""


def shown(key: str, action: str, label: str, id: str, tooltip: str, **more: Any) -> Binding:
    """A binding for the key bar. Bindings of one widget with the same label stand there as one."""
    return Binding(key, action, label, id=id, tooltip=tooltip, **more)


def quiet(key: str, action: str, label: str, id: str, tooltip: str, **more: Any) -> Binding:
    """A binding that the key bar leaves to the help."""
    return Binding(key, action, label, show=False, id=id, tooltip=tooltip, **more)


EVERYWHERE: list[Any] = [
    *(
        quiet(str(number), f"go('{name}')", name, f"app.go_{name}", f"To the {name} pane")
        for number, name in enumerate(PANES, 1)
    ),
    quiet("tab", "walk(1)", "next pane", "app.next_pane", "To the next pane"),
    quiet("shift+tab", "walk(-1)", "pane before", "app.previous_pane", "To the pane before"),
    quiet("escape", "stop_or_return", "stop", "app.stop", "Stop what runs, else leave the large view"),
    quiet("z", "maximise", "large", "app.maximise", "Give the pane the whole screen, or back"),
    shown("slash", "find", "find", "app.find", "Find a block and select it"),
    quiet("p", "peek", "read block", "app.peek", "Read the selected block in full"),
    quiet("R", "record", "record", "app.record", "Record what you do as a script; again to save it"),
    quiet("asterisk", "bookmark", "bookmark", "app.bookmark", "Put a bookmark on the selected block, or off"),
    quiet("apostrophe", "bookmarks", "bookmarks", "app.bookmarks", "The blocks with a bookmark"),
    quiet(
        "y",
        "copy_pane",
        "copy",
        "app.copy_pane",
        "Copy what the pane holds: a frame's text, else its picture",
    ),
    quiet("t", "theme", "theme", "app.theme", "The next colour theme"),
    quiet("r", "reload", "reload", "app.reload", "Look at everything again"),
    quiet("ctrl+p", "command_palette", "palette", "app.palette", "All verbs, searchable"),
    shown(
        "question_mark,f1", "help", "help", "app.help", "What this pane is for, and its keys", key_display="?"
    ),
    shown("colon", "command", "command", "app.command", "Type any verb, with completion"),
    shown("q", "quit", "quit", "app.quit", "Leave the workstation"),
    quiet("ctrl+c", "interrupt", "stop", "app.interrupt", "Stop what runs", system=True),
]


def remapped(wanted: Mapping[str, str], known: Iterable[Binding]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The keymap of the settings, and a sentence for each entry that cannot be used.

    wanted: keys by the id of a binding, several with commas. known: every binding there is. A key that
    another binding of the same widget has, or has everywhere, would hide it: refused.
    """
    keys_of: dict[str, list[str]] = {}
    for binding in known:
        keys_of.setdefault(str(binding.id), []).extend(_split(binding.key))
    keymap: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        fault = _fault(name, _split(keys), {**keys_of, **{each: [] for each in wanted}, **_taken(keymap)})
        if fault or name not in keys_of:
            problems.append(f"{name} = {keys!r}: {fault if name in keys_of else 'there is no such action'}.")
        else:
            keymap[name] = keys
    return keymap, tuple(problems)


def _fault(name: str, keys: list[str], keys_of: Mapping[str, list[str]]) -> str:
    for key in keys:
        if key in SWALLOWED:
            return f"terminals keep {key} for themselves"
        if not _is_key(key.rpartition("+")[2]):
            return f"there is no key called {key}"
        near = (other for other in keys_of if other != name and _meet(other, name))
        taken = next((other for other in near if key in keys_of[other]), None)
        if taken is not None:
            return f"{key} is the key of {taken}"
    return "" if keys else "no key is named"


def _meet(one: str, other: str) -> bool:
    """Whether two actions are offered at the same time: on the same widget, or one of them everywhere."""
    first, second = one.split(".")[0], other.split(".")[0]
    return first == second or "app" in (first, second) or "list" in (first, second)


def _taken(keymap: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: _split(keys) for name, keys in keymap.items()}


def _split(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",") if key.strip()]


def _is_key(name: str) -> bool:
    """Whether a key without its modifiers is one: a character, a named key, or a character by its name."""
    if len(name) == 1 or name in _NAMED:
        return True
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True


_NAMED: Final = frozenset(str(key.value) for key in Keys) | frozenset(REPLACED_KEYS.values()) | {"slash"}
