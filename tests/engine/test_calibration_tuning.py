"""Tuning finds weights that answer more questions, on questions it has not seen, and changes nothing by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from amgs.calibration.questions import Labelled, Question, is_held_out
from amgs.calibration.tuning import ScoredQuestion, score, tune
from amgs.errors import UsageError
from amgs.frames.shipping import ATTENTION
from amgs.types import COMPONENTS, Weights
from tests.engine.memory_world import consolidated

POOR = ATTENTION.weighed(Weights(1.0, 0.0, 0.0, 0.0, 0.0))


def world(seed: int = 3, questions: int = 60) -> list[ScoredQuestion]:
    """Forty candidates a question: the one that answers it is similar to it, and often confident."""
    rng = np.random.default_rng(seed)
    made = []
    for n in range(questions):
        parts = rng.uniform(size=(40, 5))
        parts[7, 3] = rng.uniform(0.6, 1.0)
        parts[7, 2] = rng.uniform(0.4, 1.0)
        ids = tuple(f"{i:02d}" for i in range(40))
        question = Question(f"q{n}", "?", "odd" if n % 2 else "even", ("x",))
        made.append(ScoredQuestion(Labelled(question, (frozenset({"07"}),)), ids, parts))
    return made


@pytest.mark.parametrize("method", ["grid", "bayes"])
def test_both_searches_beat_poor_weights_on_the_held_out_third(method: str) -> None:
    found = tune(POOR, world(), method=method, trials=70, seed=5)  # type: ignore[arg-type]
    assert found.better and found.proposed_held_out.recall > found.present_held_out.recall + 0.2
    assert found.proposed.similarity + found.proposed.confidence > 0.5
    assert found.definition == replace(POOR, weights=found.proposed)
    assert found.proposed_held_out.questions + found.proposed_tuning.questions == 60
    difference, low, high = found.difference
    assert difference == pytest.approx(found.proposed_held_out.recall - found.present_held_out.recall)
    assert 0 < low < difference < high
    again = tune(POOR, world(), method=method, trials=70, seed=5)  # type: ignore[arg-type]
    assert again == found


def test_what_any_measure_calls_worse_is_never_better() -> None:
    """Recall among ten rises by one more source, and every other question finds its own later."""
    rng = np.random.default_rng(1)
    made = []
    for n in range(60):
        parts = np.zeros((40, 5))
        parts[:, 3], parts[:, 2] = rng.uniform(0.0, 0.5, 40), rng.uniform(0.0, 0.25, 40)
        parts[7, 3], parts[7, 2] = (0.0, 1.0) if n % 6 == 0 else (0.6, 0.0)
        ids = tuple(f"{i:02d}" for i in range(40))
        question = Question(f"q{n}", "?", "one", ("x",))
        made.append(ScoredQuestion(Labelled(question, (frozenset({"07"}),)), ids, parts))
    own = ATTENTION.weighed(Weights(0.0, 0.0, 0.0, 1.0, 0.0))
    found = tune(own, made, method="grid", trials=70, seed=5)
    before, after = found.present_held_out, found.proposed_held_out
    assert after.recall > before.recall and after.mrr < before.mrr, "what the table prints"
    assert not found.better
    given = tune(own, made, against=found.proposed, seed=5)
    assert (given.method, given.trials, given.proposed_held_out, given.better) == ("given", 1, after, False)
    assert not found.turns and tune(ATTENTION, made, method="grid", trials=5, seed=5).turns


def test_no_trial_sees_a_held_out_question() -> None:
    questions = world()
    found = tune(POOR, questions, method="grid", trials=15, seed=5)
    spoiled = [
        replace(one, parts=np.zeros_like(one.parts)) if is_held_out(one.labelled.question, 5) else one
        for one in questions
    ]
    assert tune(POOR, spoiled, method="grid", trials=15, seed=5).proposed == found.proposed
    with pytest.raises(UsageError, match="A seed cannot be -1"):
        tune(POOR, questions, method="grid", trials=15, seed=-1)


def test_a_frame_is_tuned_through_the_door_and_stays_as_it_is(tmp_path: Path) -> None:
    questions = [
        Question(f"q{n}", f"{text}?", "single", (source,))
        for n in range(4)
        for text, source in (("dome stalls", "talks/first.md#1"), ("QX-7741-B keeper", "people/ilse.md"))
    ]
    questions = [replace(q, id=f"{q.id}-{q.text}") for q in questions]
    with consolidated(tmp_path) as memory:
        before, counter = memory.frame_definitions(), memory.change_counter
        found = memory.calibration.tune("TASK", questions, trials=15)
        assert (memory.frame_definitions(), memory.change_counter) == (before, counter)
        memory.define_frame(found.definition)
        assert {d.name: d.weights for d in memory.frame_definitions()}["TASK"] == found.proposed
        with pytest.raises(UsageError, match="made of SELF"):
            memory.calibration.tune("SESSION", questions)
        with pytest.raises(UsageError, match="too few"):
            memory.calibration.tune("TASK", questions[:1])
        test = memory.calibration.tune("TASK", questions, against=POOR.weights)
        assert (test.present, test.proposed) == (found.proposed, POOR.weights)


def test_the_rank_of_the_pool_is_the_rank_of_the_frame(tmp_path: Path) -> None:
    """The fast way agrees with the slow one: assembling the frame with these weights."""
    with consolidated(tmp_path) as memory:
        question = Question("q", "dome valve stalls", "single", ("people/ilse.md",))
        for weights in (ATTENTION.weights, POOR.weights):
            _, (one,) = memory.calibration._read_questions("TASK", [question], None)
            frame = memory.assemble("TASK", query=question.text, weights=weights, reinforce=False)
            slow = sorted(
                (c for c in frame.candidates if c.fate != "below_threshold"), key=lambda c: (-c.score, c.block.id)
            )
            vector = np.array([getattr(weights, name) for name in COMPONENTS])
            assert one.rank_ids(vector, 50) == [c.block.id for c in slow]
            (ilse,) = memory.resolve_source("people/ilse.md")
            found = ilse in {c.block.id for c in slow[:10]}
            assert score([one], weights).recall == float(found)
