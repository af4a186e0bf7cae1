"""What every strategy but masking keeps first: the last messages, within their share of the room."""

from __future__ import annotations

from amgs.conversation.material import Draft
from amgs.conversation.protection import Protection

_FOR_RECENT = 0.25
"""The share of the room that the last messages take at most."""


def keep_recent(draft: Draft) -> None:
    """Keep what is HIGH, the newest first, until one does not fit into its share."""
    material = draft.material
    room = draft.used + int((material.budget - draft.used) * _FOR_RECENT)
    for atom in sorted(material.atoms, key=lambda a: -a[-1]):
        if material.level(atom) != Protection.HIGH or not draft.is_dropped(atom):
            continue
        if not draft.fits(atom, within=room):
            break
        draft.keep(atom, material.protected[atom[-1]][1] or "goes with one of the last")
