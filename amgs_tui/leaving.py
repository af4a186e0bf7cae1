"""What the operator would lose by leaving now, and what the next start can go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs_focus.views import FocusView
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.state import ScreenState


def would_be_lost(screen: MainScreen, state: ScreenState, dispatcher: Dispatcher) -> list[str]:
    """A sentence for each thing that no later start can bring back; what is computed again by a key is none."""
    found = []
    if (running := dispatcher.by_operator) is not None:
        found.append(f"`{running.title}` is still running. Quitting stops it; unfinished work is lost.")
    if not state.persistent:
        found += [f"The draft with your {each} is not applied." for each in drafts_on(screen)]
    if state.recording:
        found.append("The recording is not saved yet: R saves it as a script.")
    if screen.asking and (typed := screen.prompt.typed.strip()):
        found.append(f"What you have typed is not entered yet: {typed}")
    return found


def drafts_on(screen: MainScreen) -> list[str]:
    """What the operator has drafted and not applied: `corrections to 2 blocks`."""
    return [pane.drafted for pane in screen.panes if pane.drafted]


def what_is_kept(view: FocusView | None, drafts: Sequence[str], state: ScreenState) -> list[str]:
    """What the next start can go on with, a sentence each, for the terminal that the operator comes back to.

    view: the working context that is open. drafts: what is drafted.
    """
    if not state.persistent:
        return []
    found = [f"Your {each} are kept: the next start goes on with them." for each in drafts]
    if view is not None and not state.attached:
        branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
        found.append(
            f"The working context is kept ({view.head:,} tokens{branches}): "
            "`r` in pane 6, or `focus resume`, continues it."
        )
    return found
