"""What the operator would lose by leaving now, and what the next start can go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs_focus.views import FocusView
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.state import ScreenState


def would_be_lost(screen: MainScreen, state: ScreenState, dispatcher: Dispatcher) -> list[str]:
    """A sentence for each thing that no later start can bring back; what is computed again by a key is none."""
    found = []
    if (running := dispatcher.by_operator) is not None:
        found.append(f"`{running.title}` is still running. Quitting stops it; unfinished work is lost.")
    found += [pane.unsaved for pane in screen.panes if pane.unsaved]
    if state.recording:
        found.append("The recording is not saved yet: R saves it as a script.")
    if screen.asking and (typed := screen.prompt.typed.strip()):
        found.append(f"What you have typed is not entered yet: {typed}")
    return found


def what_is_kept(view: FocusView | None, state: ScreenState) -> str:
    """What the next start can go on with, for the terminal that the operator comes back to.

    view: the working context that is open.
    """
    if view is None or not state.persistent or state.attached:
        return ""
    branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
    return (
        f"The working context is kept ({view.head:,} tokens{branches}): "
        "`r` in pane 6, or `focus resume`, continues it."
    )
