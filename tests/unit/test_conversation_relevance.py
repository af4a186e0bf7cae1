"""What a message is worth: what stands around it in its session, for each token, and layers that add up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amgs.conversation.cohesion import estimate_topics
from amgs.conversation.relevance import (
    LAYER_OF,
    WEIGHTS,
    Floats,
    MessageEvidence,
    combine_layers,
    decay_column,
    hours_since,
    odds_of,
    passage_columns,
    spread,
)
from amgs.retrieval.features import FEATURES
from amgs.types.conversation import RELEVANCE_LAYERS, Message


def _evidence(linear: list[float], named: list[bool] | None = None) -> MessageEvidence:
    parts = np.zeros((len(linear), len(FEATURES)))
    parts[:, list(FEATURES).index("words")] = linear
    return MessageEvidence(parts, np.array(named or [False] * len(linear)))


def _spread_plainly(values: Floats, sessions: list[int], before: float, after: float) -> Floats:
    made = np.zeros_like(values)
    for place, value in enumerate(values):
        size = sessions.count(sessions[place])
        topic = size / estimate_topics(size)
        for other, session in enumerate(sessions):
            way = round((after if other >= place else before) * topic) + 1
            if session == sessions[place]:
                made[other] += value * max(0.0, 1.0 - abs(other - place) / way)
    return made


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.floats(0, 1.5), st.floats(0, 1.5), st.integers(0, 9))
def test_values_are_spread_in_straight_lines_within_their_session(
    sizes: list[int], before: float, after: float, seed: int
) -> None:
    sessions = [number for number, size in enumerate(sizes) for _ in range(size)]
    values = np.random.default_rng(seed).random(len(sessions))
    assert np.allclose(spread(values, sessions, before, after), _spread_plainly(values, sessions, before, after))
    both = spread(np.stack([values, 2 * values], axis=1), sessions, before, after)
    assert np.allclose(both[:, 1], 2 * spread(values, sessions, before, after))


@given(st.integers(2, 40), st.integers(0, 99))
def test_the_parts_of_a_message_sum_to_what_decides(size: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    costs, sessions = (chance.integers(1, 200, size).astype(float), sorted(chance.integers(0, 3, size).tolist()))
    evidence = _evidence(chance.normal(0, 3, size).tolist(), (chance.random(size) < 0.4).tolist())
    meanings, asked = (chance.normal(size=(size, 8)).astype(np.float32), chance.normal(size=8).astype(np.float32))
    columns = passage_columns(evidence, costs, sessions, meanings, asked)
    found = combine_layers(evidence, costs, sessions, columns)
    assert ((found.worths >= 0) & (found.worths <= 1)).all()
    decided = found.parts.sum(axis=1)
    assert np.allclose(np.log(odds_of(found.worths)), decided - decided.max(), atol=1e-6)
    assert {*columns, "around", "itself", "decay"} == set(WEIGHTS)
    assert {*FEATURES, *columns, "decay"} == set(LAYER_OF)
    assert {*LAYER_OF.values(), "around"} == set(RELEVANCE_LAYERS)


def test_half_of_a_message_is_left_after_a_half_life() -> None:
    now = datetime(2026, 3, 9, tzinfo=UTC)
    times = (None, now - timedelta(hours=20), None, now - timedelta(hours=10), now + timedelta(hours=1))
    said = [Message(n, "user", "Nice.", at) for n, at in enumerate(times, 1)]
    old, evidence = hours_since(said, now) / 10.0, np.array([9.0, 1.0, 2.0, 7.0, 8.0])
    assert np.allclose(np.exp(decay_column("exponential", old, evidence)), [0.25, 0.25, 0.25, 0.5, 1.0])
    assert np.allclose(np.exp(decay_column("step", old + 0.9, evidence)), [0.25, 0.25, 0.25, 0.5, 1.0])
    assert np.allclose(np.exp(decay_column("logarithmic", old, evidence))[3:], [0.5, 1.0])
    assert np.allclose(np.exp(decay_column("adaptive", old, evidence))[:3], [0.5, 0.0625, 0.0625])
    assert hours_since([Message(1, "user", "Nice.")], now).tolist() == [0.0]
