"""What a number of questions needed promises of a further one that is drawn alike."""

from __future__ import annotations

import random
from math import ceil

import pytest

from amgs.calibration.forecasting import LEAST, LEVELS, coverage_at, promise_budget, review
from amgs.calibration.results import FrameNeeds


@pytest.mark.parametrize("level", LEVELS)
def test_a_further_question_is_held_as_often_as_promised_and_not_much_oftener(level: float) -> None:
    drawn = random.Random(3)
    tries, n = 4_000, 40
    held = 0
    for _ in range(tries):
        *needs, new = (int(drawn.lognormvariate(5, 1.5)) for _ in range(n + 1))
        held += new <= (promise_budget(needs, level) or 0)
    # Exactly ceil((n + 1) · level) / (n + 1), ties aside; three standard errors are 1.9 points at most.
    assert abs(held / tries - ceil((n + 1) * level) / (n + 1)) < 0.02


def test_a_budget_promises_the_highest_level_whose_tokens_it_has() -> None:
    needs = [10 * n for n in range(1, 40)]
    assert coverage_at(needs[: LEAST - 1], 1_000) is None
    for budget in (5, 10, 155, 390, 1_000):
        found = coverage_at(needs, budget)
        assert found is not None and found.questions == 39
        assert found.share == min(budget // 10, 39) / 40
        if found.share:
            promised = promise_budget(needs, found.share)
            above = promise_budget(needs, found.share + 1 / 40)
            assert promised is not None and promised <= budget
            assert above is None or above > budget
    cheap = coverage_at(needs, 1)
    assert cheap is not None and cheap.costs == ((0.8, 320), (0.9, 360), (0.95, 380))


def test_a_promise_is_tried_on_the_questions_that_came_after_it() -> None:
    few = review(FrameNeeds("SESSION", "", tuple(range(LEAST - 1))))
    assert few.questions == LEAST - 1 and not few.levels
    drawn = random.Random(1)
    alike = tuple(drawn.randrange(1_000) for _ in range(400))
    drifted = tuple(one + 10 * place for place, one in enumerate(alike))
    for level, one, other in zip(
        LEVELS, review(FrameNeeds("S", "", alike)).levels, review(FrameNeeds("S", "", drifted)).levels, strict=True
    ):
        assert one.tried == other.tried == 400 - LEAST
        assert abs(one.held / one.tried - level) < 0.05
        assert other.held / other.tried < level - 0.1
