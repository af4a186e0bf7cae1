"""Which packs a question should be given, within a budget of tokens.

The objective is how likely what answers is among the chosen: each facet as likely as it is to answer, to which more of
the same adds nothing (probabilistic coverage: 1 − Π(1 − cᵢ)). It is monotone and submodular, so the greedy choice by
gain for each token, or the best single pack where that is more, comes to at least (1 − 1/e)/2 of the best there is
(Khuller, Moss and Naor 1999). Terms for few tokens, judged quality, recency and keywords beside it found no more
(docs/results/packs.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

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
