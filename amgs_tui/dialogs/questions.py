"""Questions above the panes: one of several choices, or yes or no. Their dialogs are loaded on first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import App


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice in a list. marked: it is the present choice."""

    id: str
    label: str
    note: str = ""
    marked: bool = False


def choose(app: App[Any], title: str, choices: Sequence[Choice], then: Callable[[str], object]) -> None:
    """Ask for a choice; `then` is called with its id, unless nothing is chosen."""
    from amgs_tui.dialogs.chooser import Chooser

    def end(name: str | None) -> None:
        if name is not None:
            then(name)

    app.push_screen(Chooser(title, choices), end)


def confirm(app: App[Any], title: str, words: str, then: Callable[[], object]) -> None:
    """Ask a yes-or-no question; `then` is called after a yes."""
    from amgs_tui.dialogs.reader import Confirm

    def end(yes: bool | None) -> None:
        if yes:
            then()

    app.push_screen(Confirm(title, words), end)
