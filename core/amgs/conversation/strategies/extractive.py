"""What answers the query stays, word for word; an output of a tool for which there is no room becomes one line."""

from __future__ import annotations

from amgs.conversation.material import Draft
from amgs.conversation.protection import Protection

_FOR_RECENT = 0.25
"""The share of the room that the last messages take at most."""


def extractive(draft: Draft) -> None:
    """Keep the last messages within their share, then atoms in falling worth, then the newest, while they fit."""
    material = draft.material
    waiting = [atom for atom in material.atoms if draft.is_dropped(atom)]
    room = draft.used + int((material.budget - draft.used) * _FOR_RECENT)
    for atom in sorted(waiting, key=lambda a: -a[-1]):
        if material.level(atom) != Protection.HIGH:
            continue
        if not draft.fits(atom, within=room):
            break
        draft.keep(atom, material.protected[atom[-1]][1] or "goes with one of the last")
    for atom in sorted(waiting, key=lambda a: (-material.worth(a), -a[-1])):
        if not draft.is_dropped(atom):
            continue
        worth = material.worth(atom)
        because = f"answers the query ({worth:.2f})" if worth else "recent, and there is room"
        if draft.fits(atom):
            draft.keep(atom, because)
        elif draft.fits(atom, masked=True):
            draft.keep(atom, because, masked=True)
