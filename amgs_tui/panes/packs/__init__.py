"""The pane of packs, with its keys and its place."""

from __future__ import annotations

from typing import Final

from amgs_tui.wing_panes import WingPane

PANE: Final = WingPane(
    pane="amgs_tui.panes.packs.pane:PacksPane",
    titles=("Packs", "Pack"),
    companions=("frame", "graph", "decay"),
    share=0.32,
    acts={"e": ("packs.ask",), "u": ("packs.useful",), "x": ("packs.useless",), "K": ("packs.keep",)},
    exceptions={
        "packs.use": "the pane looks again by itself; r reads, and logs it",
        "packs.back": "← leaves a pack, as → opens it",
        "packs.open": "→ opens a pack, as ← leaves it",
    },
)
"""What the screen gains."""
