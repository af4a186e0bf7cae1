"""The line of pane names, shown if only one pane fits."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_tui.wing_panes import wing_panes

TITLES: dict[str, tuple[str, str]] = {
    "inbox": ("Inbox", "Inbox"),
    "frame": ("Frame", "Frame"),
    "graph": ("Graph", "Graph"),
    "decay": ("Decay", "Decay"),
    "calibration": ("Calibration", "Calib"),
    "focus": ("Working context", "Ctx"),
    "overview": ("Overview", "Over"),
    "conversation": ("Conversation", "Conv"),
    **{name: wing.titles for name, wing in wing_panes().items()},
}
"""Full and short title of each pane."""


def tab_labels(active: str, width: int) -> list[str]:
    """Return the names in the longest form that fits `width` cells: full, short, close together, or only the active
    one.
    """
    forms = (
        [f" {n} {TITLES[name][0]} " for n, name in zip(PANE_KEYS, PANES, strict=False)],
        [f" {n} {TITLES[name][1]} " for n, name in zip(PANE_KEYS, PANES, strict=False)],
        [f" {n} {TITLES[name][1]}" for n, name in zip(PANE_KEYS, PANES, strict=False)],
        [f" {n} {TITLES[name][1]} " if name == active else f" {n} " for n, name in zip(PANE_KEYS, PANES, strict=False)],
    )
    return next((form for form in forms if sum(map(len, form)) <= width), forms[-1])


class TabLine(Widget):
    """Shows the tabs, and reports clicks on them."""

    DEFAULT_CSS = """
    TabLine { height: 1; background: $surface; color: $muted; }
    """

    @dataclass
    class Chosen(Message):
        """A tab was clicked."""

        pane: str

    active: reactive[str] = reactive(PANES[0])

    def render(self) -> Content:
        labels = tab_labels(self.active, self.size.width)
        styles = ("bold $background on $accent" if name == self.active else "$muted" for name in PANES)
        return Content.assemble(*zip(labels, styles, strict=True))

    def on_click(self, event: events.Click) -> None:
        edge = 0
        for name, label in zip(PANES, tab_labels(self.active, self.size.width), strict=True):
            edge += len(label)
            if event.x < edge:
                self.post_message(self.Chosen(name))
                return
