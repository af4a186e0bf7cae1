"""Decay: no weight above 1, never more for what is older, and importance only changes how fast."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.conversation.decay import ages, weights
from amgs.settings import ConversationSettings
from amgs.types.conversation import Message

Model = Literal["none", "exponential", "logarithmic", "step", "adaptive"]
MODELS: tuple[Model, ...] = ("none", "exponential", "logarithmic", "step", "adaptive")
settings = st.builds(
    ConversationSettings,
    decay=st.sampled_from(MODELS),
    half_life_hours=st.floats(0.1, 10_000),
    importance_threshold=st.floats(0.01, 0.99),
    recent_hours=st.floats(0, 100),
    recency_boost=st.floats(0, 1),
)
hours = st.lists(st.floats(-10, 1e6), min_size=2, max_size=8)


@given(settings, hours, st.floats(0, 1), st.floats(0, 1))
def test_no_weight_is_above_one_and_none_is_turned_round(
    chosen: ConversationSettings, given_ages: list[float], one: float, other: float
) -> None:
    less, more = sorted((one, other))
    old = np.sort(np.array(given_ages))
    low, high = (weights(old, np.full(old.size, value), chosen) for value in (less, more))
    assert (low > 0).all() and (high <= 1).all()
    assert (np.diff(low) <= 1e-12).all() and (np.diff(high) <= 1e-12).all()
    assert (high >= low - 1e-12).all()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("none", [1, 1, 1]),
        ("exponential", [1, 0.5, 0.125]),
        ("logarithmic", [1, 0.5, 1 / 3]),
        ("step", [1, 0.5, 0.125]),
    ],
)
def test_an_ordinary_message_fades_by_the_half_life(model: Model, expected: list[float]) -> None:
    chosen = ConversationSettings(decay=model, half_life_hours=10)
    assert weights(np.array([0.0, 10.0, 30.0]), np.full(3, 0.5), chosen).tolist() == pytest.approx(expected)


def test_adaptive_turns_at_its_threshold_and_a_boost_stops_at_one() -> None:
    chosen = ConversationSettings(decay="adaptive", half_life_hours=10, importance_threshold=0.6)
    found = weights(np.full(3, 10.0), np.array([0.0, 0.6, 1.0]), chosen)
    assert found.tolist() == pytest.approx([0.5**4, 0.5, 0.5**0.25])
    lifted = ConversationSettings(decay="step", half_life_hours=1, recent_hours=2, recency_boost=0.5)
    assert weights(np.array([0.0, 1.5, 2.5]), np.full(3, 0.5), lifted).tolist() == pytest.approx(
        [1, 0.75, 0.25]
    )


def test_a_message_without_a_time_is_as_old_as_the_one_before() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    said = [None, now - timedelta(hours=5), None, now + timedelta(hours=1)]
    told = [Message(n, "user", "x", at) for n, at in enumerate(said, 1)]
    assert ages(told, now).tolist() == [5.0, 5.0, 5.0, 0.0]
    assert ages(told[:1], now).tolist() == [0.0]
