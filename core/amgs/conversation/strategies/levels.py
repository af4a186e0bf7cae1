"""Each topic at the level that its worth for the query pays for: whole, an extract, its findings, or a gap.

Every level is a view over the messages themselves. The topics rise a level at a time, the one first that gains most for
its tokens (the multiple-choice knapsack, greedily).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

from amgs.conversation.material import KEPT, Cited, Draft, Fate, Material
from amgs.conversation.protection import Protection
from amgs.conversation.strategies.extractive import keep_latest, keep_protected
from amgs.conversation.strategies.hybrid import Weigh, sentence_weights

_EXTRACT = 1 / 3
"""The share of a topic's tokens that its extract takes."""
_LARGEST = 0.1
"""The share of the budget that a topic takes at most as one."""
_FINDINGS = 12
"""Findings of a topic that its line has, the latest of each text."""

Level = tuple[Mapping[int, Fate], float]
"""What becomes of the messages of a topic, and what that gives."""


def levels(draft: Draft) -> None:
    """Keep what is protected within its shares, then raise topics while there is room."""
    keep_protected(draft)
    material = draft.material
    if not material.rates:
        keep_latest(draft)
        return
    weigh = sentence_weights(material)
    topics = [_levels(draft, atoms, weigh) for atoms in _by_topic(draft)]
    at = [-1] * len(topics)
    waiting: list[tuple[float, int, int]] = []

    def wait(topic: int) -> None:
        """The next level that gains most for its tokens, which may leave one out."""
        given = topics[topic][at[topic]][1] if at[topic] >= 0 else 0.0
        best: tuple[float, int] | None = None
        for level in range(at[topic] + 1, len(topics[topic])):
            changes, value = topics[topic][level]
            cost = draft.cost(changes)
            if draft.used + cost <= material.budget and value > given:
                best = max(best or (0.0, -1), ((value - given) / max(cost, 1), level))
        if best is not None:
            heappush(waiting, (-best[0], -topic, best[1]))

    for topic in range(len(topics)):
        wait(topic)
    while waiting:
        _, negative, level = heappop(waiting)
        topic = -negative
        changes, _ = topics[topic][level]
        if draft.used + draft.cost(changes) <= material.budget:
            whole = all(fate == "kept" for fate, _ in changes.values())
            draft.change(changes, "its topic answers the query" if whole else "its topic, in part")
            at[topic] = level
        elif level - at[topic] == 1:
            continue
        wait(topic)


def _by_topic(draft: Draft) -> list[list[tuple[int, ...]]]:
    """The atoms of each topic that are not kept; an atom belongs to the topic of its first message. A topic that would
    take much of the budget is in parts.
    """
    material = draft.material
    topics = material.topics()
    held: list[list[tuple[int, ...]]] = [[] for _ in topics]
    of = {place: n for n, (start, end) in enumerate(topics) for place in range(start, end)}
    for atom in material.atoms:
        if draft.is_dropped(atom) and material.level(atom) < Protection.CRITICAL:
            held[of[atom[0]]].append(atom)
    most = max(int(material.budget * _LARGEST), 1)
    return [part for atoms in held for part in _parts(material, atoms, most)]


def _parts(material: Material, atoms: list[tuple[int, ...]], most: int) -> Iterator[list[tuple[int, ...]]]:
    """Neighbouring atoms in halves, until each has so many tokens at most, or is one atom."""
    size = sum(material.costs[place] for atom in atoms for place in atom)
    if len(atoms) > 1 and size > most:
        half = len(atoms) // 2
        yield from _parts(material, atoms[:half], most)
        yield from _parts(material, atoms[half:], most)
    elif atoms:
        yield atoms


def _levels(draft: Draft, atoms: Sequence[tuple[int, ...]], weigh: Weigh) -> list[Level]:
    """Findings, extract, whole; a level that cites nothing is left out."""
    material = draft.material
    whole: dict[int, Fate] = {place: KEPT for atom in atoms for place in atom}
    made = [
        (_citing(material, atoms, cites), _value(material, cites, weigh))
        for cites in (_findings(material, atoms), _extract(material, atoms, weigh))
        if cites
    ]
    return [*made, (whole, sum(material.value(atom) for atom in atoms))]


def _citing(material: Material, atoms: Sequence[tuple[int, ...]], cites: Mapping[int, Cited]) -> dict[int, Fate]:
    found: dict[int, Fate] = {}
    for atom in atoms:
        own = {place: cites[place] for place in atom if place in cites}
        found |= material.cite(atom, own) if own else {}
    return found


def _value(material: Material, cites: Mapping[int, Cited], weigh: Weigh) -> float:
    """What citations give: their share of their messages; a finding by its length."""
    total = 0.0
    for place, pieces in cites.items():
        shares = weigh(place)
        share = sum(
            shares[n] if n < len(shares) else material.piece_cost(place, n) / max(material.costs[place], 1)
            for n in pieces
        )
        total += material.rates[place] * material.costs[place] * min(share, 1.0)
    return total


def _extract(material: Material, atoms: Sequence[tuple[int, ...]], weigh: Weigh) -> dict[int, Cited]:
    """The sentences that give most for their tokens, within the share of an extract."""
    places = [place for atom in atoms for place in atom]
    room = int(sum(material.costs[place] for place in places) * _EXTRACT)
    ranked = sorted(
        (
            (material.rates[p] * material.costs[p] * share / material.piece_cost(p, n), -p, -n)
            for p in places
            for n, share in enumerate(weigh(p))
        ),
        reverse=True,
    )
    found: dict[int, list[int]] = {}
    for _, p, n in ranked:
        place, number = -p, -n
        cost = material.piece_cost(place, number)
        cost += 0 if place in found else material.cite_cost(place)
        if cost <= room:
            room -= cost
            found.setdefault(place, []).append(number)
    return {place: tuple(sorted(numbers)) for place, numbers in found.items()}


def _findings(material: Material, atoms: Sequence[tuple[int, ...]]) -> dict[int, Cited]:
    """The latest numbers, dates, paths, commands and names, each text once."""
    latest: dict[tuple[str, str], tuple[int, int]] = {}
    for place in sorted(place for atom in atoms for place in atom):
        text = material.messages[place].text
        for number, (slot, start, end) in enumerate(material.pieces(place)):
            if slot != "sentence":
                latest.pop((slot, text[start:end]), None)
                latest[slot, text[start:end]] = (place, number)
    found: dict[int, list[int]] = {}
    for place, number in list(latest.values())[-_FINDINGS:]:
        found.setdefault(place, []).append(number)
    return {place: tuple(sorted(numbers)) for place, numbers in found.items()}
