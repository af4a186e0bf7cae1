"""Memories compared on the same questions, and the controls beside them."""

from __future__ import annotations

from amgs.types.question_case import QuestionCase
from benchmarks.recorder.versus import Contender, compare, controls

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


def test_what_a_question_needs_is_counted_up_to_the_last_fact() -> None:
    (one,) = compare(CASES, [Contender("one", lambda _: ["Valve 3.", BEDS, GATE])], budget=1)
    assert one.needed[0] is not None and one.needed[1] is not None and one.needed[0] < one.needed[1]


def test_what_must_not_be_there_is_a_fault() -> None:
    case = QuestionCase("beds?", must_not_contain=("8 hours",))
    (one,) = compare([case], [Contender("old", lambda _: ["every 8 hours"])], budget=100)
    assert one.held == 0


def test_controls_are_words_chance_and_everything_and_the_budget_binds_the_first_two() -> None:
    scores = {one.name: one for one in compare(CASES, controls([*FILLER, BEDS, GATE], 7), budget=10)}
    assert scores["BM25"].held == scores["everything"].held == 2
    assert scores["everything"].tokens > 10 >= max(scores["BM25"].tokens, scores["random"].tokens)
    assert all(one.control for one in scores.values())
