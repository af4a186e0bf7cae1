"""What answers the query, in the form that gives most for its tokens: whole, with outputs of tools as a line, or cited.

Of a long message the sentences that have the words of the query are cited first; a message of which much is cited
becomes whole when the rest of it is worth its tokens.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from amgs.conversation.cohesion import stems
from amgs.conversation.material import KEPT, MASKED, Cited, Draft, Fate, Material
from amgs.conversation.strategies.extractive import Offer, keep_best, keep_latest, keep_protected

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
        weigh = sentence_weights(draft.material)
        keep_best(draft, lambda atom, given: _offer(draft, atom, given, weigh))
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


def _offer(draft: Draft, atom: Sequence[int], given: float, weigh: Weigh) -> Offer | None:
    """Of the ways to show more of an atom that fit, the one that gains most for its tokens."""
    material = draft.material
    ways: list[Offer] = []

    def add(changes: Mapping[int, Fate], value: float, because: str) -> bool:
        cost = draft.cost(changes)
        if value <= given or draft.used + cost > material.budget:
            return False
        ways.append(((value - given) / max(cost, 1), changes, value, because))
        return True

    if not draft.is_kept(atom):
        whole: dict[int, Fate] = dict.fromkeys(atom, KEPT)
        if not add(whole, material.value(atom), "answers the query"):
            tools = [p for p in atom if material.masked[p] < material.costs[p]]
            if tools and draft.is_dropped(atom):
                rest = sum(material.rates[p] * material.costs[p] for p in atom if p not in tools)
                add(whole | dict.fromkeys(tools, MASKED), rest, "answers the query")
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
                add(material.cite(atom, {**cites, place: wanted}), value, "cited for the query")
    return max(ways, key=lambda one: one[0], default=None)


def _value(material: Material, place: int, pieces: Cited, weigh: Weigh) -> float:
    shares = weigh(place)
    return material.rates[place] * material.costs[place] * sum(shares[n] for n in pieces if n < len(shares))
