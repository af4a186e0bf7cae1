"""Panes of the wings, for those that have one, found by the names of the wings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amgs.errors import AmgsError
from amgs.wing_registry import loaded
from amgs_app.wing_views import views


@dataclass(frozen=True, slots=True)
class WingPane:
    """The pane of a wing; `PANE` of its package.

    pane: its class, as `MODULE:NAME`, imported when the screen is made. titles: full and short. companions: the panes
    that stand under it where there is room. share: of the foot's width, where all panes are shown. acts: by key the ids
    of the actions that mean there what the key means everywhere; exceptions: by the id of one that does not, why.
    offered: tells whether the screen opens with it alone where there is no memory of one's own, as `MODULE:NAME`; ""
    for never.
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
    """Return the pane of every wing that has one, by the wing's name, which is the pane's."""
    return {name: loaded(f"amgs_tui.panes.{name}:PANE") for name, view in views().items() if view.look}


def front_pane(settings: Path | None = None) -> str:
    """Return the pane that stands alone on the screen of a user without a memory, for what lies on the machine; "" for
    none. settings: the file of settings that was named.
    """
    from amgs_app.places.folders import has_own_memory
    from amgs_app.settings import load_settings

    try:
        if has_own_memory(load_settings(settings).paths):
            return ""
    except AmgsError:
        return ""  # said when the session is opened
    return next((name for name, wing in wing_panes().items() if wing.offered and loaded(wing.offered)()), "")
