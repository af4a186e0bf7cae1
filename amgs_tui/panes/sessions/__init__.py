"""The pane of sessions, with its keys and its place."""

from __future__ import annotations

from typing import Final

from amgs_tui.wing_panes import WingPane

PANE: Final = WingPane(
    pane="amgs_tui.panes.sessions.pane:SessionsPane",
    titles=("Sessions", "Sess"),
    companions=("conversation", "overview", "inbox"),
    share=0.32,
    acts={
        "v": ("sessions.view",),
        "w": ("sessions.why",),
        "enter": ("sessions.open",),
        "left": ("sessions.before",),
        "right": ("sessions.after",),
        "backspace": ("sessions.back",),
        "L": ("sessions.live",),
        "slash": ("sessions.find",),
    },
    offered="amgs.wings.sessions.files:has_sessions",
    exceptions={"sessions.restore": "the pane looks again by itself; r brings back what was lost"},
)
"""What the screen gains."""
