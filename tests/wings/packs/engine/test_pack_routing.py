"""Choosing packs under a budget: within it, near the best there is, and the same in whatever order they come."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.wings.packs.engine.routing import RouteChoice, RouteItem, route

_SHARE = st.floats(0, 1, allow_nan=False)


@st.composite
def items(draw: st.DrawFn) -> list[RouteItem]:
    return [
        RouteItem(f"p{n}", draw(st.integers(0, 40)), tuple(draw(_SHARE) for _ in range(3)))
        for n in range(draw(st.integers(0, 7)))
    ]


FACETS = (0.5, 0.3, 0.2)


def value(given: list[RouteItem]) -> float:
    """The objective, written down once more."""
    return sum(w * (1.0 - math.prod(1.0 - one.covers[f] for one in given)) for f, w in enumerate(FACETS))


@given(items(), st.integers(1, 90))
def test_it_keeps_to_the_budget_and_comes_near_the_best_there_is(given: list[RouteItem], budget: int) -> None:
    found = route(given, FACETS, budget)
    ids = [one.id for one in found.chosen]
    chosen = [one for one in given if one.id in ids]
    assert len(set(ids)) == len(ids) and found.tokens == sum(one.tokens for one in chosen) <= budget
    reached = sum(one.gain for one in found.chosen)
    assert reached == pytest.approx(value(chosen)) == pytest.approx(np.dot(FACETS, found.covered))
    best = max(
        value(list(some))
        for size in range(len(given) + 1)
        for some in combinations(given, size)
        if sum(one.tokens for one in some) <= budget
    )
    assert reached >= (1 - 1 / math.e) / 2 * best - 1e-9


@given(items(), st.integers(1, 90), st.integers(0, 99))
def test_the_order_of_items_changes_nothing(given: list[RouteItem], budget: int, seed: int) -> None:
    mixed = list(given)
    random.Random(seed).shuffle(mixed)
    assert route(mixed, FACETS, budget) == route(given, FACETS, budget)


def test_the_same_said_twice_is_not_taken_twice_while_something_else_is_open() -> None:
    twins = [RouteItem(name, 10, (0.9, 0.0)) for name in "ab"]
    other = RouteItem("c", 10, (0.0, 0.5))
    found = route([*twins, other], (0.5, 0.5), 20)
    assert [one.id for one in found.chosen] == ["a", "c"]
    assert found.chosen[0].gain > found.chosen[1].gain > 0
    assert route([], (0.5, 0.5), 10) == route(twins, (0.5, 0.5), 5) == RouteChoice((), (), (0.0, 0.0), 0)
