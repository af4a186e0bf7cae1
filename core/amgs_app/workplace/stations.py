"""The stations of the loop, and the panes that show more of them; drawn by the overview."""

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
"""The pane that shows more of a station."""
STATIONS: Final = tuple(PANE_OF)
"""In the order of the loop."""
