"""Steering a run: scrub it, measure, pin, forbid and force spans, branch, and compare branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from amgs_app import operations
from amgs_tui.keys import hide
from amgs_tui.panes.lists import FilterablePane

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs_focus.views import EntryView, FocusView
    from amgs_tui.host import Host

SCRUB: Final = 8
"""Tokens that one key of the scrubber goes over."""


class SteeringPane(FilterablePane):
    """A pane over a run's `view` with a `cursor` on one of its entries."""

    BINDINGS: ClassVar[list[Any]] = [
        hide("left_square_bracket", "scrub(-1)", "scrub", "focus.earlier", "Eight tokens back"),
        hide(
            "right_square_bracket",
            "scrub(1)",
            "scrub",
            "focus.later",
            "Eight tokens forward",
        ),
        hide("L", "live", "live", "focus.live", "Go to the live end"),
        hide("m", "measure", "measure", "focus.measure", "Measure what this span's detail is worth: ΔNLL"),
        hide("p", "say('pin')", "pin", "focus.pin", "Pin or unpin: this span will not collapse"),
        hide("x", "say('forbid')", "forbid", "focus.forbid", "Forbid or release: this span will not expand"),
        hide("u", "force", "force", "focus.force", "Expand or collapse this span at the next refocus"),
        hide("S", "setting", "set", "focus.set", "Change τ, N_diff, W_max and other settings from here on"),
        hide("B", "branch", "branch", "focus.branch", "Begin a named branch here"),
        hide("b", "branches", "branches", "focus.branches", "Switch to another branch"),
        hide(
            "d",
            "diff",
            "diff",
            "focus.diff",
            "Compare this branch with another",
        ),
        *FilterablePane.BINDINGS,
    ]
    STEERS: ClassVar[frozenset[str]] = frozenset(
        ("scrub", "live", "measure", "say", "force", "branch", "branches", "diff", "setting")
    )
    """Actions that need a run."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.view: FocusView | None = None
        self.cursor = 0
        self.naming = False
        """Whether the line that is asked for is the name of a branch."""

    @property
    def entry(self) -> EntryView | None:
        """The entry under the cursor."""
        entries = self.view.entries if self.view is not None else ()
        return entries[self.cursor] if self.cursor < len(entries) else None

    # --- through time -------------------------------------------------------------------------------------

    def action_scrub(self, direction: int) -> None:
        """Walk over what was decoded; a token that was taken back comes again as it was."""
        if self.view is None:
            return
        if direction > 0:
            self._forward(min(SCRUB, self.view.head - self.view.position))
        elif self.view.position:
            self.ask(operations.focus.back(min(SCRUB, self.view.position)))

    def action_live(self) -> None:
        if self.view is not None:
            self._forward(self.view.head - self.view.position)

    def _forward(self, count: int) -> None:
        if count:
            self.ask(operations.focus.step(count))
        else:
            self.notify("You are at the live end. Press . to decode.", timeout=3)

    # --- entries ------------------------------------------------------------------------------------------

    def action_measure(self) -> None:
        if self.entry is not None:  # by name: a step that is still running may number the spans anew
            self.ask(operations.focus_control.measure(str(self.entry.node)))

    def action_say(self, word: Literal["pin", "forbid"]) -> None:
        """Pin or forbid the entry under the cursor, or take that back."""
        if self.entry is not None:
            said = self.entry.pinned if word == "pin" else self.entry.forbidden
            self.ask(operations.focus_control.steer(str(self.entry.node), word, release=said))

    def action_force(self) -> None:
        if self.entry is not None:
            action: Literal["expand", "collapse"] = "expand" if self.entry.level else "collapse"
            self.ask(operations.focus_control.steer(str(self.entry.node), action))

    def action_setting(self) -> None:
        self.host.command("focus set tau_expand ")

    # --- branches -----------------------------------------------------------------------------------------

    def action_branch(self) -> None:
        """Ask for the branch's name first; what is typed next belongs to it."""
        if self.view is not None:
            hint = f"A name, or enter for branch-{len(self.view.branches)}. It begins at step {self.view.position}."
            self.naming = True
            self.host.ask_line(self.NAME, "branch", hint=hint, blank=True)

    def named(self, line: str) -> None:
        """The name of a branch was entered; none leaves it to the engine."""
        self.naming = False
        self.ask(operations.focus_trace.branch(line.strip() or None))

    def action_branches(self) -> None:
        """Choose the branch to go to."""
        self._choose_branch(
            "Switch to which branch?", lambda name: self.ask(operations.focus_trace.switch(name))
        )

    def action_diff(self) -> None:
        """Choose the branch that this one is held against."""
        if self.view is not None:
            here = self.view.branch
            self._choose_branch(
                f"Compare {here} with",
                lambda name: self.ask(operations.focus_trace.difference(here, name)),
            )

    def _choose_branch(self, title: str, then: Callable[[str], None]) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        others = [each for each in self.view.branches if not each.active] if self.view is not None else []
        if not others:
            words = "B begins one here; a change made in the past begins one automatically."
            self.notify(words, title="There is only this branch", timeout=5)
            return
        choices = [
            Choice(
                each.name, each.name, f"from {each.parent or 'the start'} at {each.at}, {each.steps} tokens"
            )
            for each in others
        ]

        def chose(name: str | None) -> None:
            if name is not None:
                then(name)

        self.app.push_screen(Chooser(title, choices), chose)
