"""The pane of recorded memories, with its keys and its place."""

from __future__ import annotations

from typing import Final

from amgs_tui.wing_panes import WingPane

PANE: Final = WingPane(
    pane="amgs_tui.panes.recorder.pane:RecorderPane",
    titles=("Recorder", "Rec"),
    companions=("overview", "conversation", "inbox"),
    share=0.32,
    acts={
        "b": ("recorder.days",),
        "f": ("recorder.store",),
        "v": ("recorder.view",),
        "w": ("recorder.why",),
        "enter": ("recorder.open",),
        "backspace": ("recorder.back",),
        "E": ("recorder.export",),
        "L": ("recorder.live",),
    },
    exceptions={},
)
"""What the screen gains."""
