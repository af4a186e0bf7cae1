"""What every strategy but masking keeps first: the last messages, and what was decided and is owed, within shares."""

from __future__ import annotations

from amgs.conversation.material import Draft
from amgs.conversation.protection import Protection


def keep_protected(draft: Draft, recent_share: float | None = None) -> None:
    """Keep what is HIGH, then what is MEDIUM, the newest first, until one does not fit into its share of the room.

    recent_share: of what is HIGH; that of the settings unless given.
    """
    settings = draft.material.settings
    free = draft.material.budget - draft.used
    recent = settings.recent_share if recent_share is None else recent_share
    _keep(draft, Protection.HIGH, int(free * recent), "goes with one of the last")
    _keep(draft, Protection.MEDIUM, int(free * settings.medium_share), "goes with what matters")


def _keep(draft: Draft, level: Protection, share: int, beside: str) -> None:
    material = draft.material
    room = draft.used + share
    for atom in sorted(material.atoms, key=lambda a: -a[-1]):
        if material.level(atom) != level or not draft.is_dropped(atom):
            continue
        if not draft.fits(atom, within=min(room, material.budget)):
            break
        told = (why for firm, why in (material.protected[place] for place in atom) if firm == level)
        draft.keep(atom, next(told, beside))
