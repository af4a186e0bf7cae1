"""What answers the query stays, word for word; an output of a tool for which there is no room becomes one line."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from amgs.conversation.material import Draft
from amgs.conversation.protection import Protection


def extractive(draft: Draft) -> None:
    """Keep what is protected within its shares, then the atoms that give most for their tokens, while they fit."""
    material = draft.material
    settings = material.settings
    keep_protected(draft, settings.recent_share * min(1.0, material.budget / settings.full_recent))
    if material.rates:
        keep_best(draft)
    else:
        keep_latest(draft)


def keep_latest(draft: Draft) -> None:
    """Keep the newest atoms that fit, where there is no question to choose by."""
    for atom in sorted(draft.material.atoms, key=lambda a: -a[-1]):
        if draft.is_dropped(atom):
            _keep(draft, atom, "recent, and there is room")


def keep_best(draft: Draft) -> None:
    """Greedily by what an atom gives for each token that it takes now: beside something kept it needs no mark of a gap
    of its own, and between two it saves one.
    """
    atoms = draft.material.atoms
    of = {place: number for number, atom in enumerate(atoms) for place in atom}
    waiting: list[tuple[float, int, int]] = []
    latest = [0.0] * len(atoms)

    def wait(number: int) -> None:
        atom = atoms[number]
        latest[number] = -draft.material.value(atom) / max(draft.cost_of(atom), 1)
        heappush(waiting, (latest[number], -atom[-1], number))

    for number, atom in enumerate(atoms):
        if draft.is_dropped(atom):
            wait(number)
    while waiting:
        gain, _, number = heappop(waiting)
        atom = atoms[number]
        if gain != latest[number] or not draft.is_dropped(atom):
            continue
        if _keep(draft, atom, "answers the query"):
            beside = {of[p] for place in atom for p in (place - 1, place + 1) if p in of} - {number}
            for other in beside:
                if draft.is_dropped(atoms[other]):
                    wait(other)


def _keep(draft: Draft, atom: Sequence[int], because: str) -> bool:
    """Keep an atom whole, else with its outputs of tools as one line each, if there is room."""
    if draft.fits(atom):
        draft.keep(atom, because)
    elif draft.fits(atom, masked=True):
        draft.keep(atom, because, masked=True)
    return not draft.is_dropped(atom)


def keep_protected(draft: Draft, recent_share: float | None = None) -> None:
    """Keep what is HIGH, then what is MEDIUM, the newest first, until one does not fit into its share of the room.

    recent_share: of what is HIGH; that of the settings unless given.
    """
    settings = draft.material.settings
    free = draft.material.budget - draft.used
    recent = settings.recent_share if recent_share is None else recent_share
    _within_share(draft, Protection.HIGH, int(free * recent), "goes with one of the last")
    _within_share(draft, Protection.MEDIUM, int(free * settings.medium_share), "goes with what matters")


def _within_share(draft: Draft, level: Protection, share: int, beside: str) -> None:
    material = draft.material
    room = draft.used + share
    for atom in sorted(material.atoms, key=lambda a: -a[-1]):
        if material.level(atom) != level or not draft.is_dropped(atom):
            continue
        if not draft.fits(atom, within=min(room, material.budget)):
            break
        told = (why for firm, why in (material.protected[place] for place in atom) if firm == level)
        draft.keep(atom, next(told, beside))


def mask(draft: Draft) -> None:
    """Keep the newest atoms whole while all before them fit as lines, then the newest that fit at all; blind to the
    query. The simplest that works: halves what an agent pays at an equal rate of solved tasks (arXiv 2508.21433).
    """
    material = draft.material
    newest = sorted((a for a in material.atoms if draft.is_dropped(a)), key=lambda a: -a[-1])
    rest = sum(sum(material.masked[place] for place in atom) for atom in newest)
    for atom in newest:
        rest -= sum(material.masked[place] for place in atom)
        whole = draft.fits(atom, within=material.budget - rest)
        if whole or draft.fits(atom, masked=True):
            draft.keep(atom, "recent" if whole else "its output is old", masked=not whole)
        else:
            break
