"""The panes by name, how they are arranged, and what each of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from amgs_app.panes.row_filter import ListFilter

Pane = Literal[
    "inbox", "frame", "graph", "decay", "calibration", "focus", "overview", "conversation", "packs"
]
PANES: tuple[Pane, ...] = get_args(Pane)


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
    """What a pane shows now and the line that brought it there."""

    line: str
    result: Any
