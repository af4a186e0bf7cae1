"""State of the screen that lasts until the next start.

A small file of the user stores the choices in the palette, the theme, and the selected block of each store; the store
itself stores the layout: places of panes, filters of their lists, and the theme. Also tells what the operator would
lose by leaving now.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations
from amgs_app.places.paths import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs_app.panes.layout import Layout
    from amgs_focus.views import FocusView
    from amgs_tui.appearance import Appearance
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.state import ScreenState


MOST_RECENT: Final = 12
"""Most recent actions stored."""
MOST_STORES: Final = 50
"""Most stores whose selection is stored."""


def file_of_user() -> Path:
    """Return the path of the user's file."""
    import platformdirs

    return Path(platformdirs.user_state_dir("amgs", appauthor=False)) / "screen.json"


class KeptState:
    """Read at the start, written when the operator leaves; without a file it lasts only while the program runs.

    recent: ids of the palette's actions, latest first. theme: last chosen in any store.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        state = _read(file)
        self.recent = state["recent"]
        self.theme: str = state["theme"]
        self._selected: dict[str, str] = state["selected"]

    def note_use(self, action: str) -> None:
        """Record the use of an action in the palette."""
        self.recent = [action, *(recent_action for recent_action in self.recent if recent_action != action)][
            :MOST_RECENT
        ]

    def find_selected(self, store: str) -> str:
        """Return the block that was selected when this store was left; "" for none."""
        return self._selected.get(store, "")

    def write(self, store: str, selected: str) -> None:
        """Save the state for the next start; other stores' selections, written by other workstations, stay. A
        disk error is ignored.
        """
        if self._file is None:
            return
        others = {name: block for name, block in _read(self._file)["selected"].items() if name != store}
        if store and selected:
            others[store] = selected
        state = {"recent": self.recent, "theme": self.theme, "selected": dict(list(others.items())[-MOST_STORES:])}
        with suppress(OSError):
            write_whole(self._file, json.dumps(state, indent=1))


def _read(file: Path | None) -> dict[str, Any]:
    """Return the content of the file, without what cannot be read."""
    state: Any = {}
    if file is not None:
        with suppress(OSError, ValueError):
            state = json.loads(file.read_text(encoding="utf-8"))
    state = state if isinstance(state, dict) else {}
    recent, theme, selected = state.get("recent"), state.get("theme"), state.get("selected")
    return {
        "recent": [action for action in recent if isinstance(action, str)] if isinstance(recent, list) else [],
        "theme": theme if isinstance(theme, str) else "",
        "selected": {str(name): block for name, block in selected.items() if isinstance(block, str)}
        if isinstance(selected, dict)
        else {},
    }


def describe_losses(screen: MainScreen, state: ScreenState, dispatcher: Dispatcher) -> list[str]:
    """Return a sentence for each thing that a later start cannot restore, except what can be computed again."""
    sentences = []
    if (running := dispatcher.by_operator) is not None:
        sentences.append(f"`{running.title}` is still running. Quitting stops it; unfinished work is lost.")
    if not state.persistent:
        sentences += [f"The draft with your {draft} is not applied." for draft in drafts_on(screen)]
    if state.recording:
        sentences.append("The recording is not saved yet: R saves it as a script.")
    if screen.asking and (typed := screen.prompt.typed.strip()):
        sentences.append(f"What you have typed is not entered yet: {typed}")
    return sentences


def drafts_on(screen: MainScreen) -> list[str]:
    """Return the operator's unapplied drafts: `corrections to 2 blocks`."""
    return [pane.drafted for pane in screen.panes if pane.drafted]


def describe_kept_state(view: FocusView | None, drafts: Sequence[str], state: ScreenState) -> list[str]:
    """Return what the next start can continue with, a sentence each, printed in the terminal on leaving. view: the open
    working context. drafts: unapplied drafts.
    """
    if not state.persistent:
        return []
    sentences = [f"Your {draft} are saved: the next start goes on with them." for draft in drafts]
    if view is not None and not state.attached:
        branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
        sentences.append(
            f"The working context is saved ({view.head:,} tokens{branches}): "
            "`r` in pane 6, or `focus trace --resume`, continues it."
        )
    return sentences


@dataclass(eq=False)
class SavedLayout:
    """Applies a layout, and stores the present layout in the store."""

    screen: MainScreen
    appearance: Appearance
    dispatcher: Dispatcher

    def use(self, layout: Layout) -> None:
        """Apply a layout."""
        self.appearance.use_remembered(layout.theme)
        self.screen.use_layout(layout)

    def remember(self) -> None:
        """Store the present layout in the store, if there is one."""
        if self.screen.has_class("-front"):
            return
        body = self.screen.body
        layout = operations.workspace.arrange(
            body.main,
            beside=",".join(name for name in body.beside if name != body.main),
            large=body.maximised,
            theme=self.appearance.chosen_theme,
        )
        self.dispatcher.ask(layout, slot="layout", origin="screen")

    def choose_theme(self, name: str) -> None:
        """Use a theme chosen by the operator, and store it."""
        self.appearance.choose_theme(name)
        self.remember()
