"""Walks along families of relations, and what a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.graph.view import GraphView, materialise
from amgs.packs.families import FAMILY_OF, family_of, links, rows_of
from amgs.packs.intents import packaged, rule
from amgs.packs.walks import DAMPING, FamilyWalks
from amgs.storage.edges import EdgeColumns
from amgs.types.pack_families import FAMILIES, INTENTS
from benchmarks.listwise import fit_classes
from benchmarks.packs.intents import calibration_error, macro_f1

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EDGES = [(1, 2, "related"), (2, 3, "related"), (3, 4, "next"), (4, 5, "next"), (5, 1, "mentions_same")]


def view(edges: list[tuple[int, int, str]]) -> GraphView:
    source, target = (np.array([one[n] for one in edges], dtype=np.int64) for n in (0, 1))
    relation = np.array([one[2] for one in edges], dtype=object)
    real, whole = np.ones(len(edges)), np.zeros(len(edges), np.int64)
    columns = EdgeColumns(source, target, relation, real, real, whole, whole, 0 * real)
    return materialise(columns, np.arange(1, 7, dtype=np.int64), NOW)


def test_each_relation_is_of_one_family_and_what_follows_is_no_cause() -> None:
    assert {family_of(one) for one in FAMILY_OF} == set(FAMILIES)
    assert family_of("next") == "temporal" and family_of("reminds_me_of") == "semantic"
    rows = rows_of(view(EDGES))
    assert sorted(np.concatenate(list(rows.values())).tolist()) == list(range(len(EDGES)))


def test_a_walk_goes_along_its_own_family_and_what_it_brings_is_no_start() -> None:
    found = FamilyWalks(view(EDGES)).reached({1: 0.5, 6: 0.5})
    semantic = found["semantic"]
    assert semantic[1] > semantic[2] > 0 and not semantic[3:].any()
    assert semantic.sum() == pytest.approx(0.5 * DAMPING, abs=1e-6)  # the other seed leads nowhere
    assert not found["temporal"].any() and not found["causal"].any() and found["entity"][4] > 0
    assert not any(one.any() for one in FamilyWalks(view(EDGES)).reached({}).values())
    assert not any(one.any() for one in FamilyWalks(view([])).reached({1: 1.0}).values())


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=12), st.integers(1, 6))
def test_a_walk_is_personalised_pagerank(pairs: list[tuple[int, int]], seed: int) -> None:
    own = {(min(a, b), max(a, b)) for a, b in pairs if a != b}
    found = FamilyWalks(view([(a, b, "next") for a, b in sorted(own)])).reached({seed: 2.0})["temporal"]
    graph = networkx.Graph(sorted(own))
    if seed not in graph:
        assert not found.any()
        return
    ranks = networkx.pagerank(graph, DAMPING, {seed: 1.0}, max_iter=1000, tol=1e-12)
    told = [ranks.get(n, 0.0) - (1 - DAMPING) * (n == seed) for n in range(1, 7)]
    assert found == pytest.approx(told, abs=1e-6)


def test_a_relation_links_two_packs_once_whatever_they_share() -> None:
    found = links({"a": {1, 2}, "b": {2, 3}, "c": {6}}, view(EDGES))
    assert [(one.a, one.b, one.family, one.count) for one in found] == [("a", "b", "semantic", 2)]


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("When did the dome stall?", "temporal"),
        ("Which week did the  motor come in?", "temporal"),
        ("Would the keeper like a new motor?", "open-domain"),
        ("Which motors has the keeper tried?", "multi-hop"),
        ("Who keeps the valve?", "single-hop"),
        ("", "single-hop"),
    ],
)
def test_a_question_tells_what_it_asks_for(question: str, intent: str) -> None:
    likely = packaged().of(question)
    assert rule(question) == intent and sum(likely.values()) == pytest.approx(1)
    if question:
        assert max(INTENTS, key=lambda one: likely[one]) == intent
    else:
        assert max(likely.values()) < 0.9  # it shows nothing


def test_classes_are_fitted_to_their_shares_and_apart() -> None:
    values = np.array([[1.0, 0.0]] * 30 + [[1.0, 1.0]] * 10)
    labels = np.array([0] * 20 + [1] * 10 + [2] * 10)
    weights = fit_classes(values, labels, 3, ridge=1e-9)
    chance = np.exp(values @ weights)
    chance /= chance.sum(axis=1, keepdims=True)
    assert chance[0] == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-3) and chance[-1, 2] > 0.99
    assert calibration_error(chance, labels) < 0.01
    assert macro_f1(chance.argmax(axis=1), labels) == pytest.approx((40 / 50 + 0 + 1) / 3)
