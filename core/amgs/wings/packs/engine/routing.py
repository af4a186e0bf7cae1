"""Which packs a question should be given, within a budget of tokens.

The objective is how likely what answers is among the chosen: each facet as likely as it is to answer, to which more of
the same adds nothing (probabilistic coverage: 1 − Π(1 − cᵢ)). It is monotone and submodular, so the greedy choice by
gain for each token, or the best single pack where that is more, comes to at least (1 − 1/e)/2 of the best there is
(Khuller, Moss and Naor 1999). Terms for few tokens, judged quality, recency and keywords beside it found no more
(docs/results/packs.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.types import BlockFilter

_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class RouteItem:
    """What may be chosen. covers: how likely it answers each facet, in [0, 1]."""

    id: str
    tokens: int
    covers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RoutedItem:
    """An item, and what it adds to the objective after those chosen before it."""

    id: str
    tokens: int
    gain: float


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """What was chosen, in the order of choice, and what the others would still add. covered: how likely the choice
    answers each facet.
    """

    chosen: tuple[RoutedItem, ...]
    left_out: tuple[RoutedItem, ...]
    covered: tuple[float, ...]
    tokens: int


def route(items: Sequence[RouteItem], facets: Sequence[float], budget: int) -> RouteChoice:
    """Choose items within `budget` tokens. facets: what each counts, together 1.

    The item that adds most for its tokens is taken until none fits. What comes out does not depend on the order of
    items: equal ones are decided by id.
    """
    known = sorted((one for one in items if one.tokens <= budget), key=lambda one: one.id)
    if not known:
        return RouteChoice((), (), (0.0,) * len(facets), 0)
    shape = (len(known), len(facets))
    covers = np.clip(np.array([one.covers for one in known], dtype=np.float64).reshape(shape), 0.0, 1.0)
    shares = np.asarray(facets, dtype=np.float64)

    def missing(chosen: Sequence[int]) -> NDArray[np.float64]:
        """(facets,) how likely nothing that is chosen answers each."""
        return np.asarray(np.prod(1.0 - covers[list(chosen)], axis=0))

    def gain(number: int, chosen: Sequence[int]) -> float:
        return float((shares * missing(chosen) * covers[number]).sum())

    tokens = [one.tokens for one in known]
    chosen = _greedy(tokens, gain, budget)
    single = max(range(len(known)), key=lambda n: (gain(n, ()), -n))
    if gain(single, ()) > float((shares * (1.0 - missing(chosen))).sum()) + _LEAST:
        chosen = [single]
    made = [RoutedItem(known[n].id, tokens[n], gain(n, chosen[:at])) for at, n in enumerate(chosen)]
    others = [n for n in range(len(known)) if n not in chosen]
    left = [RoutedItem(known[n].id, tokens[n], gain(n, chosen)) for n in others]
    return RouteChoice(
        tuple(made),
        tuple(sorted(left, key=lambda one: (-one.gain, one.id))),
        tuple((1.0 - missing(chosen)).tolist()),
        sum(one.tokens for one in made),
    )


def _greedy(tokens: Sequence[int], gain: Callable[[int, Sequence[int]], float], budget: int) -> list[int]:
    """Items by gain for each token while they fit. Lazy: a gain never grows (Minoux 1978)."""
    waiting = [(-gain(n, ()) / max(cost, 1), n) for n, cost in enumerate(tokens)]
    heapify(waiting)
    chosen: list[int] = []
    used = 0
    while waiting:
        latest, number = heappop(waiting)
        if used + tokens[number] > budget:
            continue
        now = -gain(number, chosen) / max(tokens[number], 1)
        if now > latest + _LEAST:
            heappush(waiting, (now, number))
            continue
        if now >= -_LEAST:
            break
        chosen.append(number)
        used += tokens[number]
    return chosen


_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_MOST = 512
"""Blocks that may answer; the rest together is next to nothing."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What may answer a question: blocks, each as a facet with its likelihood, together 1, and the packs as items that
    cover those which they hold. words: those of the question that say what is asked about; said: which of them each
    pack holds, by its name.
    """

    shares: tuple[float, ...]
    items: tuple[RouteItem, ...]
    words: tuple[str, ...]
    said: Mapping[str, frozenset[str]]


def facets(query: str, numbers: Mapping[str, Sequence[int]], tokens: Mapping[str, int], sources: Sources) -> Facets:
    """numbers, tokens: of the blocks of each pack that are read, by the pack's name."""
    found = likely(query, sorted({n for own in numbers.values() for n in own}), sources)
    place = {number: n for n, number in enumerate(found)}
    terms = sources.keyword.content(sources.keyword.query(query))
    asked = {stem: word for word in reversed(_WORD.findall(query)) for stem in sources.keyword.stems(word)}
    holding = {
        asked.get(term.text, term.text): set(
            sources.keyword.postings(term.text, sources.keyword.documents).numbers.tolist()
        )
        for term in terms
    }
    said: dict[str, frozenset[str]] = {}
    items = []
    for name, own in numbers.items():
        covers = np.zeros(len(place))
        covers[[place[n] for n in own if n in place]] = 1.0
        said[name] = frozenset(word for word, having in holding.items() if not having.isdisjoint(own))
        items.append(RouteItem(name, tokens[name], tuple(covers.tolist())))
    return Facets(tuple(found.values()), tuple(items), tuple(holding), said)


def likely(query: str, numbers: Sequence[int], sources: Sources) -> dict[int, float]:
    """How likely each block is the one that answers, by number, for the likeliest of them; together 1.

    The evidence of the search, found by any layer or none, as the listwise model gives it by which it was fitted.
    """
    if not numbers:
        return {}
    wanted = tuple(numbers)
    asked = BlockFilter(statuses=("raw", "consolidated"))
    request = RetrievalRequest(query, asked, within=wanted, present=wanted, most=0)
    evidence = gather(request, sources).evidence
    if evidence is None:
        return {}
    linear = contributions(evidence).sum(axis=1)
    best = np.argsort(-linear, kind="stable")[:_MOST]
    likely = np.exp(linear[best] - linear.max())
    likely /= likely.sum()
    return dict(zip(evidence.numbers[best].tolist(), likely.tolist(), strict=True))
