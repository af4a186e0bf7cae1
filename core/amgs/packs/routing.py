"""Which packs a question should be given, within a budget of tokens.

One objective, of which each agent holds a term. Relevance is the coverage of what may answer, each facet as likely as
it is to, to which more of the same adds nothing (probabilistic coverage: 1 − Π(1 − cᵢ)); efficiency, quality, recency
and domain are added for each pack, in the measure in which it covers anything. All terms together are monotone and
submodular, so the greedy choice by gain for each token, or the best single pack where that is more, comes to at least
(1 − 1/e)/2 of the best there is (Khuller, Moss and Naor 1999).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

AGENTS = ("relevance", "efficiency", "quality", "recency", "domain")
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"relevance": 1.0, "efficiency": 0.05, "quality": 0.05, "recency": 0.05, "domain": 0.05}
)
"""What each agent's term counts, chosen by hand."""
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class RouteItem:
    """What may be chosen. covers: how likely it answers each facet, in [0, 1]; the others in [0, 1] too."""

    id: str
    tokens: int
    covers: tuple[float, ...]
    quality: float = 0.5
    recency: float = 0.0
    domain: float = 0.0


@dataclass(frozen=True, slots=True)
class RoutedItem:
    """An item that was chosen, and what it added to the term of each agent, in the order of AGENTS."""

    id: str
    tokens: int
    gains: tuple[float, ...]

    @property
    def gain(self) -> float:
        return sum(self.gains)


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """What was chosen, in the order of choice, and what the others would still add. covered: how likely the choice
    answers each facet.
    """

    chosen: tuple[RoutedItem, ...]
    left_out: tuple[RoutedItem, ...]
    covered: tuple[float, ...]
    tokens: int
    value: float


def route(
    items: Sequence[RouteItem],
    facets: Sequence[float],
    budget: int,
    weights: Mapping[str, float] = WEIGHTS,
) -> RouteChoice:
    """Choose items within `budget` tokens. facets: what each counts, together 1. weights: of the agents' terms.

    The item that adds most to all terms for its tokens is taken until none fits. What comes out does not depend on the
    order of items or agents: equal ones are decided by id.
    """
    known = sorted((one for one in items if one.tokens <= budget), key=lambda one: one.id)
    if not known:
        return RouteChoice((), (), (0.0,) * len(facets), 0, 0.0)
    terms = _Terms(known, facets, budget, weights)
    greedy = _greedy(terms, budget)
    single = max(range(len(known)), key=lambda n: (terms.value([n]), -n))
    chosen = greedy if terms.value(greedy) >= terms.value([single]) else [single]
    made = [
        RoutedItem(known[n].id, known[n].tokens, terms.added(n, chosen[:at])) for at, n in enumerate(chosen)
    ]
    others = [n for n in range(len(known)) if n not in chosen]
    left = [RoutedItem(known[n].id, known[n].tokens, terms.added(n, chosen)) for n in others]
    return RouteChoice(
        tuple(made),
        tuple(sorted(left, key=lambda one: (-one.gain, one.id))),
        tuple((1.0 - terms.missing(chosen)).tolist()),
        sum(one.tokens for one in made),
        terms.value(chosen),
    )


class _Terms:
    """The agents' terms over some items."""

    def __init__(
        self, items: Sequence[RouteItem], facets: Sequence[float], budget: int, weights: Mapping[str, float]
    ) -> None:
        shape = (len(items), len(facets))
        covers = np.array([one.covers for one in items], dtype=np.float64).reshape(shape)
        self._covers = np.clip(covers, 0.0, 1.0)
        self._facets = np.asarray(facets, dtype=np.float64)
        self._relevance = weights["relevance"]
        self.tokens = np.array([one.tokens for one in items], dtype=np.int64)
        share = self._covers @ self._facets  # no bonus for what answers nothing
        single = {
            "efficiency": 1.0 - self.tokens / max(budget, 1),
            "quality": np.array([one.quality for one in items]),
            "recency": np.array([one.recency for one in items]),
            "domain": np.array([one.domain for one in items]),
        }
        self._added = np.stack(
            [weights[name] * np.clip(single[name], 0.0, 1.0) * share for name in AGENTS[1:]], axis=1
        )
        self._bonus = self._added.sum(axis=1)

    def missing(self, chosen: Sequence[int]) -> NDArray[np.float64]:
        """(facets,) how likely nothing that is chosen answers each."""
        return np.asarray(np.prod(1.0 - self._covers[list(chosen)], axis=0))

    def gain(self, number: int, missing: NDArray[np.float64]) -> float:
        """What an item would add to all terms."""
        new = self._relevance * float((self._facets * missing * self._covers[number]).sum())
        return new + float(self._bonus[number])

    def value(self, chosen: Sequence[int]) -> float:
        """All terms together."""
        covered = self._relevance * float((self._facets * (1.0 - self.missing(chosen))).sum())
        return covered + float(self._bonus[list(chosen)].sum())

    def added(self, number: int, before: Sequence[int]) -> tuple[float, ...]:
        """What an item adds to the term of each agent after others."""
        new = float((self._facets * self.missing(before) * self._covers[number]).sum())
        return (self._relevance * new, *map(float, self._added[number]))


def _greedy(terms: _Terms, budget: int) -> list[int]:
    """Items by gain for each token while they fit. Lazy: a gain never grows (Minoux 1978)."""
    missing = np.ones_like(terms.missing([]))
    cost = np.maximum(terms.tokens, 1)
    waiting = [(-terms.gain(n, missing) / cost[n], n) for n in range(terms.tokens.size)]
    heapify(waiting)
    chosen: list[int] = []
    used = 0
    while waiting:
        latest, number = heappop(waiting)
        if used + terms.tokens[number] > budget:
            continue
        now = -terms.gain(number, missing) / cost[number]
        if now > latest + _LEAST:
            heappush(waiting, (now, number))
            continue
        if now >= -_LEAST:
            break
        chosen.append(number)
        used += int(terms.tokens[number])
        missing = terms.missing(chosen)
    return chosen
