"""Global keys. Each has an id, by which the settings may change it, and a tooltip. None is a key that terminals or tmux
intercept (ctrl+b, ctrl+s, ctrl+z, …).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from typing import Any, Final

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, Keys

from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_tui.widgets.tabs import TITLES

SWALLOWED: Final = frozenset(
    {"ctrl+a", "ctrl+b", "ctrl+c", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+q", "ctrl+s", "ctrl+z"}
)
"""Keys that a terminal, tmux or screen intercepts, or that arrive as another key."""


def show(key: str, action: str, label: str, id: str, tooltip: str, **more: Any) -> Binding:
    """Return a binding for the key bar, which combines a widget's bindings with the same label."""
    return Binding(key, action, label, id=id, tooltip=tooltip, **more)


def hide(key: str, action: str, label: str, id: str, tooltip: str, **more: Any) -> Binding:
    """Return a binding that is only listed in the help."""
    return Binding(key, action, label, show=False, id=id, tooltip=tooltip, **more)


EVERYWHERE: list[Any] = [
    *(
        hide(
            "grave_accent" if key == "`" else key,
            f"go('{name}')",
            name,
            f"app.go_{name}",
            f"Go to the {TITLES[name][0].lower()} pane",
        )
        for key, name in zip(PANE_KEYS, PANES, strict=False)
    ),
    hide("tab", "walk(1)", "next pane", "app.next_pane", "Next pane"),
    hide("shift+tab", "walk(-1)", "previous pane", "app.previous_pane", "Previous pane"),
    hide("escape", "stop_or_return", "stop", "app.stop", "Unmark, stop what is running, or leave the full-screen view"),
    hide("z", "maximise", "maximise", "app.maximise", "Maximise the pane, or restore it"),
    show("slash", "find", "find", "app.find", "Find a block and select it"),
    hide("p", "peek", "read block", "app.peek", "Read the selected block in full"),
    hide("R", "record", "record", "app.record", "Record what you do as a script; again to save it"),
    hide("H", "history", "history", "app.history", "Show the commands that your keys have run"),
    hide("T", "traffic", "traffic", "app.traffic", "Show who asks a served memory what"),
    hide(
        "y",
        "copy_pane",
        "copy",
        "app.copy_pane",
        "Copy what the mouse marked, else the pane: a frame's text, or the picture as text",
    ),
    hide("U", "undo", "undo", "app.undo", "Undo the last change (asks first)"),
    hide("t", "theme", "theme", "app.theme", "Next colour theme, dark or light"),
    hide("r", "reload", "refresh", "app.reload", "Refresh"),
    hide("ctrl+p", "command_palette", "palette", "app.palette", "Command palette: every command and key, searchable"),
    show(
        "question_mark,f1",
        "help",
        "help",
        "app.help",
        "Help for this pane; ? again opens the glossary",
        key_display="?",
    ),
    show("colon", "command", "command", "app.command", "Type a command, with completion"),
    show("q", "quit", "quit", "app.quit", "Quit the workstation"),
    hide("ctrl+c", "interrupt", "stop", "app.interrupt", "Stop what is running", system=True),
]


def remap(
    wanted: Mapping[str, str], offered: Collection[Collection[Binding]]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the keymap of the settings, and a sentence for each entry that cannot be used.

    wanted: keys by the id of a binding, several separated by commas. offered: for each pane, all bindings available
    while it has the focus, including global ones; no two of them may share a key.
    """
    together: list[set[str]] = []
    keys_of: dict[str, list[str]] = {}
    for bindings in offered:
        together.append(set())
        for binding in bindings:
            name = str(binding.id)
            together[-1].add(name)
            keys_of[name] = [*dict.fromkeys((*keys_of.get(name, ()), *_split(binding.key)))]
    binding_keys = keys_of | {name: [] for name in wanted}  # what is remapped has given its old keys up
    keymap: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        if name not in keys_of:
            fault = "there is no such action"
        else:
            near = set[str]().union(*(names for names in together if name in names)) - {name}
            fault = _fault(_split(keys), {other: binding_keys[other] for other in sorted(near)})
        if fault:
            problems.append(f'{name} = "{keys}" {fault}' if fault.startswith("is ") else f'{name} = "{keys}": {fault}')
        else:
            keymap[name] = keys
            binding_keys[name] = _split(keys)
    if not problems:
        return keymap, ()
    keymap, more = remap(keymap, offered)  # what was refused keeps its keys, which others may have counted on
    return keymap, (*problems, *more)


def own_commands(
    wanted: Mapping[str, str], offered: Collection[Collection[Binding]], keymap: Mapping[str, str]
) -> tuple[list[Binding], tuple[str, ...]]:
    """Return bindings for the commands in the settings, and a sentence for each entry that cannot be used.

    wanted: lines by key. offered: as in remap; no pane may use the key otherwise. keymap: keys that the settings assign
    to other actions.
    """
    from amgs_app.calls.standard import standard
    from amgs_app.shell.script import split_pipe
    from amgs_app.terminal.line import LineError

    binding_keys = {
        str(binding.id): _split(keymap.get(str(binding.id), binding.key))
        for bindings in offered
        for binding in bindings
    }
    own_bindings: list[Binding] = []
    problems: list[str] = []
    for key, line in wanted.items():
        fault = "one key is wanted" if len(_split(key)) != 1 else _fault(_split(key), binding_keys)
        start = read_beginning(line)
        if not fault and start is None:
            try:
                if standard().parse(split_pipe(line)[0]) is None:
                    fault = "no command is given"
            except LineError as error:
                fault = error.message
        if fault:
            problems.append(f'"{key}" = "{line}": {fault}')
        else:
            own_bindings.append(
                hide(key.strip(), f"own_command({len(own_bindings)})", line, f"own.{key.strip()}", f"Your own: {line}")
            )
    return own_bindings, tuple(problems)


def read_beginning(line: str) -> str | None:
    """Return the beginning of a line that ends in … and is to be completed; None for a complete one."""
    for mark in ("…", "..."):
        if line.endswith(mark):
            return f"{line.removesuffix(mark).rstrip()} "
    return None


def _fault(keys: list[str], near: Mapping[str, list[str]]) -> str:
    """Return what is wrong with the keys of an action. near: keys of actions that are available together with it."""
    for key in keys:
        if key in SWALLOWED:
            return f"terminals reserve {key}"
        if not _is_key(key.rpartition("+")[2]):
            return f"there is no key called {key}"
        taken = next((other for other, theirs in near.items() if key in theirs), None)
        if taken is not None:
            return f"is already used by {taken}" if len(keys) == 1 else f"{key} is already used by {taken}"
    return "" if keys else "no key is given"


def _split(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",") if key.strip()]


def _is_key(name: str) -> bool:
    """Return whether a key without modifiers is valid: a character, a named key, or a character by name."""
    if len(name) == 1 or name in _NAMED:
        return True
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True


_NAMED: Final = frozenset(str(key.value) for key in Keys) | frozenset(REPLACED_KEYS.values()) | {"slash"}
