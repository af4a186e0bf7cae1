"""The panes by name, how they are arranged, and what each of them shows."""

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
"""The panes in the order of their keys; those of wings come last."""

PANE_KEYS: Final = "123456789`M"
"""The key of each pane, by its place. 0 puts back what was changed in a pane."""

if TYPE_CHECKING:
    from amgs_app.panes.row_filter import ListFilter

    Pane = str
else:  # which there are is known when the program runs; what a user gives is checked against them
    Pane = Literal[PANES]


@dataclass(frozen=True, slots=True)
class Layout:
    """`layout …`: the large pane, those under it (none: its own companions), whether it has the whole screen.

    sifts: the filter and the order of each pane that has one. theme: the colours that were chosen, "" for none.
    """

    pane: Pane = "inbox"
    beside: tuple[str, ...] = ()
    large: bool = False
    sifts: Mapping[Pane, ListFilter] = field(default_factory=dict, hash=False)
    theme: str = ""


@dataclass(frozen=True, slots=True)
class PaneState:
    """Result shown in a pane, and the line that produced it."""

    line: str
    result: Any
