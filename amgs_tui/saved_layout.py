"""The layout that the store remembers: which panes stand where, how their lists are filtered, the theme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amgs_app import operations

if TYPE_CHECKING:
    from amgs_app.panes.layout import Layout
    from amgs_tui.appearance import Appearance
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.main_screen import MainScreen


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
        """Have the store remember how the screen is arranged now."""
        body = self.screen.body
        layout = operations.workspace.layout_set(
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
