"""The stations of the overview's loop, and the pane that shows more about each."""

from __future__ import annotations

from typing import Final

PANE_OF = {
    "inbox": "inbox",
    "consolidate": "inbox",
    "memory": "graph",
    "frame": "frame",
    "lifetime": "focus",
    "window": "focus",
    "decode": "focus",
    "feedback": "calibration",
}
"""The pane of each station."""
STATIONS: Final = tuple(PANE_OF)
"""Names in the order of the loop."""
