"""Memories compared on the same questions, and the controls beside them."""

from __future__ import annotations

from amgs.types.question_case import QuestionCase
from benchmarks.recorder.versus import Contender, compare

BEDS = "The beds are watered every 9 hours."
GATE = "Valve 3 is beside the garden gate."
FILLER = [f"Something about topic {word}." for word in ("oak", "elm", "ash", "fir", "yew", "box")]
CASES = (
    QuestionCase("when are the beds watered?", ("every 9 hours",)),
    QuestionCase("where is valve 3?", ("garden gate", "valve 3")),
)


def test_what_is_held_within_the_budget_counts_and_nothing_else() -> None:
    best = Contender("best", lambda question: [BEDS if "beds" in question else GATE])
    late = Contender("late", lambda _: [*FILLER, BEDS])
    part = Contender("part", lambda _: ["Valve 3 leaks."])
    scores = compare(CASES, [best, late, part], budget=20)
    assert [(one.held, one.evidence, one.better, one.worse) for one in scores] == [
        (2, 1.0, 0, 0),
        (0, 0.0, 0, 2),
        (0, 0.25, 0, 2),
    ]
    assert [one.held for one in compare(CASES, [late, best], budget=1, top=7)] == [1, 2]
    assert scores[0].low < 1.0 == scores[0].high
