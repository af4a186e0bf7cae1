"""State of the screen that lasts from one start to the next: in a small file of the user the choices in the palette,
the theme, and the selected block of each store; in the store itself the layout, which is the places of panes, the
filters of their lists, and the theme.

What the operator would lose by leaving now is told here too.
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
"""Actions that are remembered as used last."""
MOST_STORES: Final = 50
"""Stores whose selection is remembered."""


def file_of_user() -> Path:
    """Return where the screen of this user keeps it."""
    import platformdirs

    return Path(platformdirs.user_state_dir("amgs", appauthor=False)) / "screen.json"


class KeptState:
    """Read once at the start, written when the operator leaves; without a file it lasts as long as the program.

    recent: ids of the palette's actions, the latest first. theme: the one that was chosen last, in any store.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        state = _read(file)
        self.recent = state["recent"]
        self.theme: str = state["theme"]
        self._selected: dict[str, str] = state["selected"]

    def note_use(self, action: str) -> None:
        """Record the choice of an action in the palette."""
        self.recent = [action, *(recent_action for recent_action in self.recent if recent_action != action)][
            :MOST_RECENT
        ]

    def find_selected(self, store: str) -> str:
        """Return the block that was selected when this store was left; "" for none."""
        return self._selected.get(store, "")

    def write(self, store: str, selected: str) -> None:
        """Keep it for the next start. Another workstation may have written meanwhile: its stores stay."""
        if self._file is None:
            return
        others = {name: block for name, block in _read(self._file)["selected"].items() if name != store}
        if store and selected:
            others[store] = selected
        selections = dict(list(others.items())[-MOST_STORES:])
        state = {"recent": self.recent, "theme": self.theme, "selected": selections}
        with suppress(OSError):
            write_whole(self._file, json.dumps(state, indent=1))


def _read(file: Path | None) -> dict[str, Any]:
    """Return what the file says; what of it cannot be read says nothing."""
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
    """Return a sentence for each thing that no later start can restore; what a key computes again is none."""
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
    """Return what the operator has drafted and not applied: `corrections to 2 blocks`."""
    return [pane.drafted for pane in screen.panes if pane.drafted]


def describe_kept_state(view: FocusView | None, drafts: Sequence[str], state: ScreenState) -> list[str]:
    """Return what the next start can go on with, a sentence each, for the terminal that the operator comes back to.

    view: the working context that is open. drafts: what is drafted.
    """
    if not state.persistent:
        return []
    sentences = [f"Your {draft} are kept: the next start goes on with them." for draft in drafts]
    if view is not None and not state.attached:
        branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
        sentences.append(
            f"The working context is kept ({view.head:,} tokens{branches}): "
            "`r` in pane 6, or `focus trace --resume`, continues it."
        )
    return sentences


@dataclass(eq=False)
class SavedLayout:
    """Uses a layout, and has the store remember the present one."""

    screen: MainScreen
    appearance: Appearance
    dispatcher: Dispatcher

    def use(self, layout: Layout) -> None:
        """Arrange the screen so."""
        self.appearance.use_remembered(layout.theme)
        self.screen.use_layout(layout)

    def remember(self) -> None:
        """Have the store remember how the screen is arranged now, where there is one."""
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
        """Use a theme because the operator wants it, and remember it."""
        self.appearance.choose_theme(name)
        self.remember()
