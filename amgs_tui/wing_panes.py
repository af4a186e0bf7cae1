"""Panes of wings, found by the names of the wings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amgs.errors import AmgsError
from amgs.wing_registry import load_named
from amgs_app.wing_views import views


@dataclass(frozen=True, slots=True)
class WingPane:
    """The pane of a wing; `PANE` of its package.

    pane: its class, as `MODULE:NAME`, imported when the screen is built. titles: full and short. companions: panes
    shown below it if there is room. share: of the bottom's width when all panes are shown. acts: by key, ids of actions
    with the key's general meaning; exceptions: by id of an action with another meaning, the reason. offered: as
    `MODULE:NAME`, tells whether the screen shows it alone while the user has no memory; "" for never.
    """

    pane: str
    titles: tuple[str, str]
    companions: tuple[str, str, str]
    share: float
    acts: Mapping[str, tuple[str, ...]]
    exceptions: Mapping[str, str]
    offered: str = ""


@cache
def wing_panes() -> Mapping[str, WingPane]:
    """Return the panes of all wings that have any, by the wing's name."""
    return {name: load_named(f"amgs_tui.panes.{name}:PANE") for name, view in views().items() if view.look}


def front_pane(settings: Path | None = None) -> str:
    """Return the pane shown alone for a user without a memory, depending on what is on this machine; "" for none.
    settings: path of the settings file.
    """
    from amgs_app.places.folders import has_own_memory
    from amgs_app.settings import load_settings

    try:
        if has_own_memory(load_settings(settings).paths):
            return ""
    except AmgsError:
        return ""  # reported when the session is opened
    return next((name for name, wing in wing_panes().items() if wing.offered and load_named(wing.offered)()), "")
