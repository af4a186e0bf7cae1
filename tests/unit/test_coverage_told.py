"""A promise of coverage in words."""

from __future__ import annotations

from amgs.types.calibration import CoverageLevel, CoverageReview, FrameCoverage
from amgs_app.render.sentences import coverage_reviewed, coverage_told


def test_a_frame_tells_its_chance_and_what_more_would_cost() -> None:
    costs = ((0.8, 410), (0.9, 640), (0.95, 1_900))
    assert coverage_told(FrameCoverage(64, 0.876, costs)) == (
        "holds what the question needs with ≥ 87 % (64 labelled questions); 90 % would cost 640 tokens, 95 % 1,900"
    )
    assert coverage_told(FrameCoverage(64, 0.96, costs)).endswith("≥ 96 % (64 labelled questions)")
    assert coverage_told(FrameCoverage(64, 0.81, ((0.8, 410), (0.9, None), (0.95, None)))).endswith("questions)")


def test_a_review_tells_what_came_of_each_promise_or_how_many_questions_are_wanting() -> None:
    assert coverage_reviewed(CoverageReview("TASK", 1, 30, ())) == (
        "TASK, 1 labelled question: a promise of coverage needs 30"
    )
    levels = (CoverageLevel(0.8, 410, 27, 34), CoverageLevel(0.95, None, 0, 0))
    assert coverage_reviewed(CoverageReview("SESSION", 64, 30, levels)) == (
        "SESSION, 64 labelled questions: what a question needs is held with 80 % in 410 tokens "
        "(so promised before, held 27 of 34), 95 % cannot be promised"
    )
