"""The panes by name, their arrangement, and the result that each shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs_app.wing_views import views

PANES: Final = (
    "inbox",
    "frame",
    "graph",
    "decay",
    "calibration",
    "focus",
    "overview",
    "conversation",
    *(name for name, view in views().items() if view.look),
)
"""Names of the panes in the order of their keys; those of wings come last."""

PANE_KEYS: Final = "123456789`M"
"""Key of each pane, by its index. 0 restores what was changed in a pane."""

if TYPE_CHECKING:
    from amgs_app.panes.row_filter import ListFilter

    Pane = str
else:  # which there are is known when the program runs; what a user gives is checked against them
    Pane = Literal[PANES]


@dataclass(frozen=True, slots=True)
class Layout:
    """The arrangement of the screen: the large pane, the panes under it (empty: its usual companions), and whether it
    fills the screen.

    sifts: filter and order of each pane, where set. theme: name of the chosen theme, "" for none.
    """

    pane: Pane = "inbox"
    beside: tuple[str, ...] = ()
    large: bool = False
    sifts: Mapping[Pane, ListFilter] = field(default_factory=dict, hash=False)
    theme: str = ""


@dataclass(frozen=True, slots=True)
class PaneState:
    """The result shown in a pane, and the command line that produced it."""

    line: str
    result: Any
