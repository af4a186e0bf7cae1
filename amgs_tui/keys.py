"""Global keys, each with an id for the settings and a tooltip, and the meaning of each key: the same in every pane,
with exceptions and their reasons. None is a key that terminals or tmux intercept (ctrl+b, ctrl+s, …).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, Keys

from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_tui.widgets.bars import TITLES
from amgs_tui.wing_panes import wing_panes

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
    binding_keys = keys_of | {name: [] for name in wanted}  # what is remapped loses its old keys
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
    from amgs_app.calls.registry import standard
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
    """Return the beginning of a line that ends in … and is to be completed; None for a complete line."""
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


_ACTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "a": ("compare with another way of doing it", ("frame.compare", "conversation.compare")),
        "b": ("change how much: a budget, a number of bins", ("calibration.bins", "conversation.budget")),
        "c": (
            "carry out: what is drafted, or the pane's own step",
            ("inbox.consolidate", "decay.make_so", "calibration.calibrate"),
        ),
        "d": ("draft a change, or discard the draft", ("inbox.plan", "calibration.drop")),
        "e": ("ask a question", ("frame.ask", "conversation.ask")),
        "f": ("choose which is shown", ("frame.choose", "graph.filter", "calibration.groups", "conversation.strategy")),
        "i": ("put something new in", ("inbox.ingest", "graph.add_edge")),
        "m": ("measure", ("focus.measure", "overview.measure")),
        "n": ("go on to the next step", ("focus.next", "overview.next")),
        "o": ("open", ("frame.open", "focus.open", "conversation.choose")),
        "s": ("where it came from", ("inbox.sources", "conversation.exchanges")),
        "u": (
            "say yes: useful, right, accepted",
            ("frame.useful", "graph.confirm", "calibration.useful", "focus.force"),
        ),
        "v": (
            "view it another way",
            ("frame.view", "graph.communities", "decay.view", "calibration.view", "conversation.view"),
        ),
        "w": ("explain why", ("frame.why", "conversation.why")),
        "x": (
            "say no: useless, wrong, left out",
            ("inbox.leave_out", "frame.useless", "graph.cut", "calibration.useless", "focus.without"),
        ),
        "r": ("look again", ()),
        "slash": ("find", ()),
        "p": ("read the selected block", ()),
        "K": ("keep for later", ("conversation.keep",)),
        "E": ("type the export to a file", ()),
        "L": ("go to the live end", ("focus.live", "conversation.live")),
        "U": ("undo the last change", ("calibration.undo", "overview.undo")),
        "enter": (
            "open or read what the cursor is on",
            ("inbox.read", "frame.read", "decay.read", "calibration.read", "overview.open", "conversation.read"),
        ),
        "left": (
            "walk what lies beside",
            (
                "inbox.edge_before",
                "frame.part_before",
                "graph.edge_before",
                "decay.sooner",
                "calibration.bin_before",
                "focus.left",
                "overview.station_before",
            ),
        ),
        "right": (
            "walk what lies beside",
            ("inbox.edge", "graph.edge", "decay.later", "calibration.bin", "focus.right", "overview.station"),
        ),
        "plus": ("more of it", ("inbox.surer", "frame.heavier", "graph.heavier", "focus.zoom_in")),
        "minus": ("less of it", ("inbox.less_sure", "frame.lighter", "graph.lighter", "focus.zoom_out")),
        "0": ("as it was", ("inbox.as_proposed", "frame.unweigh")),
        "left_square_bracket": ("another stretch of time", ("decay.fewer", "focus.earlier", "conversation.earlier")),
        "right_square_bracket": ("another stretch of time", ("decay.more", "focus.later", "conversation.later")),
        "backspace": ("go back", ("graph.back",)),
        "left_curly_bracket": ("another stretch, in large steps", ("conversation.earlier_10",)),
        "right_curly_bracket": ("another stretch, in large steps", ("conversation.later_10",)),
        "S": ("set how it runs", ("focus.set",)),
        "equals_sign": ("more of it", ("inbox.surer", "frame.heavier", "graph.heavier", "focus.zoom_in")),
    }
)

ACTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        key: (act, (*names, *chain.from_iterable(wing.acts.get(key, ()) for wing in wing_panes().values())))
        for key, (act, names) in _ACTS.items()
    }
)
"""By key: its meaning, and the actions of panes that have it.

A key listed with a single pane only, such as r and p, has that meaning in all others too. Other keys may be used freely
within a pane.
"""

EXCEPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "inbox.review": "the queue of findings is the inbox seen by what contradicts what",
        "frame.missed": "the measure of a frame is the fact that it lacks",
        "graph.walk": "to open a neighbour is to stand on it",
        "graph.way": "the path says why two blocks belong together",
        "decay.what_if": "w asks what would be, as why asks what is",
        "focus.branches": "B begins a branch, b goes to one",
        "focus.diff": "nothing is drafted there; d tells branches apart",
        "focus.pin": "a span has no block of its own to read; enter explains it",
        "focus.side": "where there is room for one side, the next thing to see is the other",
        "focus.answer": "the answer is asked for what it depends on",
        "focus.numbers": "the window is text; w shows the working behind it",
        "focus.forbid": "p pins, f forbids; x leaves a block out and answers again",
        "focus.why": "what lies behind a span is why it is there",
        "focus.resume": "the pane looks again by itself after each step",
        "conversation.restore": "the pane looks again by itself; r restores",
        "conversation.single": "what is measured there stands beside each message",
        "frame.part": "the weights lie beside each other",
        "inbox.category": "a draft has no question; e edits its category",
        "conversation.summary": "a conversation has no settings of its own; S reads its summary",
        **dict(chain.from_iterable(wing.exceptions.items() for wing in wing_panes().values())),
    }
)
"""By the id of an action that has the key of another meaning: the reason."""
