"""How the panes are arranged, and what each of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs_app.pane_names import Pane
    from amgs_app.row_filter import ListFilter


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
