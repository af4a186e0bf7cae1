"""Control of a run: scrub, measure, pin, forbid and force spans, branch, and compare branches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs_app import operations
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs_focus.views import EntryView, FocusView
    from amgs_tui.panes.base import Pane

SCRUB: Final = 8
"""Tokens that a scrubbing key moves by."""
STEERING: Final[list[Any]] = [
    hide("left_square_bracket", "scrub(-1)", "scrub", "focus.earlier", "Eight tokens back"),
    hide("right_square_bracket", "scrub(1)", "scrub", "focus.later", "Eight tokens forward"),
    hide("L", "live", "live", "focus.live", "Go to the live end"),
    hide("m", "measure", "measure", "focus.measure", "Measure what this passage's detail is worth"),
    hide("p", "say('pin')", "pin", "focus.pin", "Pin or unpin: this passage will not close"),
    hide("f", "say('forbid')", "forbid", "focus.forbid", "Keep shut or release: this passage will not open"),
    hide("u", "force", "force", "focus.force", "Open or close this passage at the next refocus"),
    hide("S", "setting", "set", "focus.set", "Change thresholds, window and other settings from here on"),
    hide("B", "branch", "branch", "focus.branch", "Begin a named branch here"),
    hide("b", "branches", "branches", "focus.branches", "Switch to another branch"),
    hide("d", "diff", "diff", "focus.diff", "Compare this branch with another"),
]
STEERS: Final = frozenset(("scrub", "live", "measure", "say", "force", "branch", "branches", "diff", "setting"))
"""Actions that need a run."""


@dataclass(eq=False)
class RunSteering:
    """The keys of a pane that control a run. view: the run; entry: the entry under the cursor."""

    pane: Pane
    view: Callable[[], FocusView | None]
    entry: Callable[[], EntryView | None]
    naming: bool = False
    """Whether the requested line is the name of a branch."""

    # --- through time -------------------------------------------------------------------------------------

    def action_scrub(self, direction: int) -> None:
        """Move through the decoded tokens; an undone token is repeated exactly."""
        view = self.view()
        if view is None:
            return
        if direction > 0:
            self._forward(min(SCRUB, view.head - view.position))
        elif view.position:
            self.pane.ask(operations.focus.back(min(SCRUB, view.position)))

    def action_live(self) -> None:
        if (view := self.view()) is not None:
            self._forward(view.head - view.position)

    def _forward(self, count: int) -> None:
        if count:
            self.pane.ask(operations.focus.step(count))
        else:
            self.pane.notify("You are at the live end. Press . to decode.", timeout=3)

    # --- entries ------------------------------------------------------------------------------------------

    def action_measure(self) -> None:
        if (entry := self.entry()) is not None:  # by name: a running step may renumber the entries
            self.pane.ask(operations.focus.measure(str(entry.node)))

    def action_say(self, word: Literal["pin", "forbid"]) -> None:
        """Pin or forbid the entry under the cursor, or release it."""
        if (entry := self.entry()) is not None:
            release = entry.pinned if word == "pin" else entry.forbidden
            self.pane.ask(operations.focus.steer(str(entry.node), word, release=release))

    def action_force(self) -> None:
        if (entry := self.entry()) is not None:
            action: Literal["expand", "collapse"] = "expand" if entry.level else "collapse"
            self.pane.ask(operations.focus.steer(str(entry.node), action))

    def action_setting(self) -> None:
        self.pane.host.command("focus set tau_expand ")

    # --- branches -----------------------------------------------------------------------------------------

    def action_branch(self) -> None:
        """Ask for the name of a new branch."""
        if (view := self.view()) is not None:
            hint = f"A name, or enter for branch-{len(view.branches)}. It begins at step {view.position}."
            self.naming = True
            self.pane.host.ask_line(self.pane.NAME, "branch", hint=hint, blank=True)

    def take_name(self, line: str) -> None:
        """Begin a branch; the engine names it if the name is empty."""
        self.naming = False
        self.pane.ask(operations.focus_trace.branch(line.strip() or None))

    def action_branches(self) -> None:
        """Choose a branch to switch to."""

        def switch(name: str) -> None:
            self.pane.ask(operations.focus_trace.branch(name, switch=True))

        self._choose_branch("Switch to which branch?", switch)

    def action_diff(self) -> None:
        """Choose a branch to compare with."""
        if (view := self.view()) is not None:
            current = view.branch
            self._choose_branch(
                f"Compare {current} with",
                lambda name: self.pane.ask(operations.focus_trace.branch(current, diff=[name])),
            )

    def _choose_branch(self, title: str, then: Callable[[str], None]) -> None:
        view = self.view()
        others = [branch for branch in view.branches if not branch.active] if view is not None else []
        if not others:
            words = "B begins a branch here; a change to the past begins it automatically."
            self.pane.notify(words, title="There is only this branch", timeout=5)
            return
        choices = [
            Choice(
                branch.name, branch.name, f"from {branch.parent or 'the start'} at {branch.at}, {branch.steps} tokens"
            )
            for branch in others
        ]
        self.pane.choose(title, choices, then)
