"""The keys that work everywhere. Each has an id, by which the settings may give it another key, and a
tooltip.

None of them is a key that a terminal or tmux keeps for itself (ctrl+b, ctrl+s, ctrl+z, …).
"""

from __future__ import annotations

from typing import Any

from textual.binding import Binding

from amgs_tui.widgets.arrangement import PANES


def quiet(key: str, action: str, description: str, id: str, tooltip: str, **more: Any) -> Binding:
    """A binding that the key bar leaves to the help."""
    return Binding(key, action, description, show=False, id=id, tooltip=tooltip, **more)


EVERYWHERE: list[Any] = [
    *(
        quiet(str(n), f"go('{name}')", name, f"app.go_{name}", f"To the {name} pane")
        for n, name in enumerate(PANES, 1)
    ),
    quiet("tab", "walk(1)", "next pane", "app.next_pane", "To the next pane"),
    quiet("shift+tab", "walk(-1)", "pane before", "app.previous_pane", "To the pane before"),
    quiet("escape", "stop_or_return", "stop", "app.stop", "Stop what runs, else leave the large view"),
    quiet("z", "maximise", "large", "app.maximise", "Give the pane the whole screen, or back"),
    Binding("slash", "find", "find", id="app.find", tooltip="Find a block and select it"),
    quiet("t", "theme", "theme", "app.theme", "The next colour theme"),
    quiet("r", "reload", "reload", "app.reload", "Look at everything again"),
    quiet("ctrl+p", "command_palette", "palette", "app.palette", "All verbs, searchable"),
    Binding(
        "question_mark,f1",
        "help",
        "help",
        key_display="?",
        id="app.help",
        tooltip="What this pane is for, and its keys",
    ),
    Binding("colon", "command", "command", id="app.command", tooltip="Type any verb, with completion"),
    Binding("q", "quit", "quit", id="app.quit", tooltip="Leave the workstation"),
    quiet("ctrl+c", "interrupt", "stop", "app.interrupt", "Stop what runs", system=True),
]
