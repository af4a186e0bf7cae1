"""What stands beside the packs: the members of one, when it was read, what links it to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from amgs_app import operations
from amgs_app.calls.call import Call

READINGS: Final = 50
"""Readings of a pack that are shown at most."""
VIEWS: Final[Mapping[str, str]] = {
    "members": "pack show",
    "readings": "pack uses",
    "families": "pack graph",
}
"""The views in their order, and the commands whose results they show."""


def calls_of(view: str, name: str) -> list[Call[Any]]:
    """What is asked for a view of a pack; its members and its last readings are always known."""
    calls: list[Call[Any]] = [operations.pack.show(name), operations.pack.uses(name, limit=READINGS)]
    if view == "families":
        calls.append(operations.pack_families.graph())
    return calls


def next_of(view: str) -> str:
    """The view after this one."""
    views = list(VIEWS)
    return views[(views.index(view) + 1) % len(views)]
