"""What answers the query stays, word for word; an output of a tool for which there is no room becomes one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush

from amgs.conversation.material import Draft, Fate
from amgs.conversation.protection import Protection


def extractive(draft: Draft) -> None:
    """Keep what is protected within its shares, then the atoms that give most for their tokens, while they fit."""
    material = draft.material
    settings = material.settings
    keep_protected(draft, settings.recent_share * min(1.0, material.budget / settings.full_recent))
    if material.rates:
        keep_best(draft, lambda atom, _: _offer_whole(draft, atom))
    else:
        keep_latest(draft)


def keep_latest(draft: Draft) -> None:
    """Keep the newest atoms that fit, where there is no question to choose by."""
    for atom in sorted(draft.material.atoms, key=lambda a: -a[-1]):
        draft.change(_find_room(draft, atom), "recent, and there is room")


Offer = tuple[float, Mapping[int, Fate], float, str]
"""More of an atom: what it gains for each token, its fates, what it gives then, and why."""


def keep_best(draft: Draft, offer: Callable[[Sequence[int], float], Offer | None]) -> None:
    """Greedily by what is gained for each token that it takes now: beside something kept an atom needs no mark of a gap
    of its own, and between two it saves one. offer: the best that fits of an atom that gives so much already.
    """
    atoms = draft.material.atoms
    of = {place: number for number, atom in enumerate(atoms) for place in atom}
    waiting: list[tuple[float, int, int]] = []
    latest = [0.0] * len(atoms)
    given = [0.0] * len(atoms)

    def wait(number: int) -> None:
        best = offer(atoms[number], given[number])
        if best is not None:
            latest[number] = -best[0]
            heappush(waiting, (latest[number], -atoms[number][-1], number))

    for number, atom in enumerate(atoms):
        if draft.is_dropped(atom):
            wait(number)
    while waiting:
        gain, _, number = heappop(waiting)
        best = offer(atoms[number], given[number]) if gain == latest[number] else None
        if best is None:
            continue
        _, changes, given[number], because = best
        latest[number] = 0.0
        draft.change(changes, because)
        for other in {of[p] for place in atoms[number] for p in (place - 1, place + 1) if p in of}:
            if not draft.is_kept(atoms[other]):
                wait(other)


def _offer_whole(draft: Draft, atom: Sequence[int]) -> Offer | None:
    """An atom as it fits; what it gains is that of the whole."""
    changes, value = _find_room(draft, atom), draft.material.value(atom)
    return (value / max(draft.cost_of(atom), 1), changes, value, "answers the query") if changes else None


def _find_room(draft: Draft, atom: Sequence[int]) -> Mapping[int, Fate]:
    """The fates of an atom that is not shown yet: whole, else with its outputs of tools as one line each; none where
    neither fits.
    """
    for masked in (False, True):
        if draft.is_dropped(atom) and draft.fits(atom, masked=masked):
            return draft.whole(atom, masked=masked)
    return {}


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
