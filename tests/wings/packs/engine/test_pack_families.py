"""Families of relations that link packs, and what a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from amgs.graph.view import GraphView, materialise
from amgs.storage.edges import EdgeColumns
from amgs.wings.packs.engine.families import FAMILY_OF, family_of, links
from amgs.wings.packs.engine.intents import packaged, rule
from amgs.wings.packs.values import FAMILIES, INTENTS
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


def test_a_relation_links_two_packs_once_whatever_they_share() -> None:
    members = {"a": {1, 2}, "b": {2, 3}, "c": {6}}
    found = {name: links(name, members, view(EDGES)) for name in members}
    told = {name: [(one.name, one.family, one.count) for one in own] for name, own in found.items()}
    assert told == {"a": [("b", "semantic", 2)], "b": [("a", "semantic", 2)], "c": []}


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
