"""The panes by name: what an operation says it is shown in, and what a layout places."""

from __future__ import annotations

from typing import Literal, get_args

Pane = Literal[
    "inbox", "frame", "graph", "decay", "calibration", "focus", "overview", "conversation", "packs"
]
PANES: tuple[Pane, ...] = get_args(Pane)
