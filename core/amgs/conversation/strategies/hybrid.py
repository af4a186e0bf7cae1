"""What answers the query, in the form that gives most for its tokens: whole, with outputs of tools as a line, or cited.

Of a long message the sentences that have the words of the query are cited first; a message of which much is cited
becomes whole when the rest of it is worth its tokens.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush

from amgs.conversation.cohesion import stems
from amgs.conversation.material import KEPT, MASKED, Cited, Draft, Fate, Material
from amgs.conversation.strategies.extractive import keep_latest, keep_protected

_SHORT = 200
"""Tokens of a message that is whole or not there: cutting it would save little and tear it."""
_MATCH = 8.0
"""So many times what its length is worth is a sentence that has all words of the query that the message has."""

Weigh = Callable[[int], tuple[float, ...]]
"""What each sentence of a message gives of what the whole message gives; they sum to 1."""


def hybrid(draft: Draft) -> None:
    """Keep what is protected within its shares, then whatever gives most for its tokens, while there is room."""
    keep_protected(draft)
    if draft.material.rates:
        _keep_best(draft, sentence_weights(draft.material))
    else:
        keep_latest(draft)


def sentence_weights(material: Material) -> Weigh:
    """For a message the share of each of its sentences in what it gives, by length and the words of the query."""
    asked = stems(material.query)
    counted = [stems(m.text) for m in material.messages] if asked else []
    among = Counter(stem for words in counted for stem in words if stem in asked)
    weight = {stem: math.log(1 + len(counted) / among[stem]) for stem in asked if among[stem]}
    total = sum(weight.values())

    @cache
    def weigh(place: int) -> tuple[float, ...]:
        text = material.messages[place].text
        spans = [(a, b) for slot, a, b in material.pieces(place) if slot == "sentence"]
        found = []
        for number, (start, end) in enumerate(spans):
            has = stems(text[start:end]) if total else {}
            match = sum(weight[stem] for stem in has if stem in weight) / total if total else 0.0
            found.append(material.piece_cost(place, number) * (1.0 + _MATCH * match))
        every = sum(found)
        return tuple(one / every for one in found)

    return weigh


def _keep_best(draft: Draft, weigh: Weigh) -> None:
    atoms = draft.material.atoms
    of = {place: number for number, atom in enumerate(atoms) for place in atom}
    waiting: list[tuple[float, int, int]] = []
    latest = [0.0] * len(atoms)
    given = [0.0] * len(atoms)

    def wait(number: int) -> None:
        best = _best(draft, atoms[number], given[number], weigh)
        if best is not None:
            latest[number] = -best[0]
            heappush(waiting, (latest[number], -atoms[number][-1], number))

    for number, atom in enumerate(atoms):
        if draft.is_dropped(atom):
            wait(number)
    while waiting:
        gain, _, number = heappop(waiting)
        if gain != latest[number]:
            continue
        best = _best(draft, atoms[number], given[number], weigh)
        if best is None:
            continue
        _, changes, value = best
        latest[number] = 0.0
        given[number] = value
        cited = any(fate == "digested" for fate, _ in changes.values())
        draft.change(changes, "cited for the query" if cited else "answers the query")
        near = {of[p] for place in atoms[number] for p in (place - 1, place + 1) if p in of}
        for other in near:
            if not draft.is_kept(atoms[other]):
                wait(other)


def _best(
    draft: Draft, atom: Sequence[int], given: float, weigh: Weigh
) -> tuple[float, Mapping[int, Fate], float] | None:
    """Of the ways to show more of an atom that fit: (gain per token, changes, what it gives then)."""
    material = draft.material
    ways: list[tuple[float, Mapping[int, Fate], float]] = []

    def offer(changes: Mapping[int, Fate], value: float) -> bool:
        cost = draft.cost(changes)
        if value <= given or draft.used + cost > material.budget:
            return False
        ways.append(((value - given) / max(cost, 1), changes, value))
        return True

    if not draft.is_kept(atom):
        whole: dict[int, Fate] = dict.fromkeys(atom, KEPT)
        if not offer(whole, material.value(atom)):
            tools = [p for p in atom if material.masked[p] < material.costs[p]]
            if tools and draft.is_dropped(atom):
                rest = sum(material.rates[p] * material.costs[p] for p in atom if p not in tools)
                offer(whole | dict.fromkeys(tools, MASKED), rest)
        cites: dict[int, Cited] = {
            place: pieces for place in atom for fate, pieces in [draft.fates[place]] if fate == "digested"
        }
        before = sum(_value(material, place, cites[place], weigh) for place in cites)
        for place in atom:
            if material.costs[place] <= _SHORT or draft.fates[place][0] == "kept":
                continue
            shares, has = weigh(place), cites.get(place, ())
            left = [n for n in range(len(shares)) if n not in has]
            if left:
                best = max(left, key=lambda n: (shares[n] / material.piece_cost(place, n), -n))
                wanted = tuple(sorted((*has, best)))
                value = before + material.rates[place] * material.costs[place] * shares[best]
                offer(material.cite(atom, {**cites, place: wanted}), value)
    return max(ways, key=lambda one: one[0], default=None)


def _value(material: Material, place: int, pieces: Cited, weigh: Weigh) -> float:
    shares = weigh(place)
    return material.rates[place] * material.costs[place] * sum(shares[n] for n in pieces if n < len(shares))
