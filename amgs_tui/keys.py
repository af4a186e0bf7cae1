"""The keys that work everywhere. Each has an id, by which the settings may give it another key, and a
tooltip.

None of them is a key that a terminal or tmux keeps for itself (ctrl+b, ctrl+s, ctrl+z, …).
"""

from __future__ import annotations

from typing import Any

from textual.binding import Binding

from amgs_tui.widgets.arrangement import PANES


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
