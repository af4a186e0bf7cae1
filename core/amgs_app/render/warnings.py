"""What is said wherever the focus cannot do what it was meant to: no trained gists, no room for what is pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs_focus.views import FocusView

UNTRAINED = "no trained gists exist for this model"
WARNING = (
    "No trained gists exist for this model: spans are held by pointer gists, which lose nearly everything but their "
    "last token. Train some (focus train gistnet), or put a checkpoint into the folder of [paths] checkpoints."
)


def unheld(view: FocusView) -> str:
    """Which pinned spans the window is too full for, and what to do."""
    nodes = ", ".join(str(node) for node in view.unheld)
    return f"No room for what is pinned: {nodes}. Widen the window (focus set window N), or release a pin."
