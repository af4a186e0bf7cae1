"""The six metrics against numbers that can be worked out by hand, and drift that notices a change."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.calibration.questions import Question, load_questions
from amgs.errors import InputError
from amgs.frames.compare import jaccard
from amgs.frames.shipping import SHORT_TERM
from tests.engine.memory_world import consolidated

QUESTIONS = (
    Question("a", "Who keeps the QX-7741-B valve?", "single", ("people/ilse.md",)),
    Question("b", "Where does the dome stall?", "single", ("talks/first.md#3", "talks/first.md#1")),
    Question("c", "What was the seeing in May?", "unanswerable", ()),
)


def test_precision_and_recall_of_all_questions_and_of_those_held_out(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        counter = memory.change_counter
        found = {m.name: m for m in memory.calibration.metrics(QUESTIONS).metrics}
        assert memory.change_counter == counter
        assert found["recall"].value == 1.0 and found["recall"].met
        assert found["precision"].value is not None and 0.5 <= found["precision"].value <= 1
        assert found["recall"].note.startswith("2 questions")


def test_without_data_a_metric_has_no_value_and_says_what_it_lacks(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        found = {m.name: m for m in memory.calibration.metrics().metrics}
        for name in ("precision", "recall", "coherence", "Brier", "attention stability"):
            assert found[name].value is None and found[name].met is None and found[name].note


def test_the_other_metrics_are_those_of_what_was_done(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        whole = replace(SHORT_TERM, rule=replace(SHORT_TERM.rule, window_hours=None))
        memory.define_frame(whole)
        first = memory.assemble("SHORT_TERM", query="dome")
        memory.clock.advance(timedelta(days=60))  # type: ignore[attr-defined]
        second = memory.assemble("SHORT_TERM", query="dome")
        one = memory.assemble("TASK", query="dome valve").selected[0]
        memory.feedback(one.block.id, useful=True)
        found = {m.name: m for m in memory.calibration.metrics().metrics}
        sets = [frozenset(c.block.id for c in f.selected) for f in (first, second)]
        assert found["attention stability"].value == jaccard(*sets)
        assert found["Brier"].value == pytest.approx((1 - one.score) ** 2)
        assert (found["Brier"].met, found["Brier"].note) == (None, "1 outcome (20 needed)")
        assert found["graph stability"].value == 1.0
        assert found["coherence"].value is not None and -1 <= found["coherence"].value <= 1


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    good = {"id": "q1", "question": "Who?", "kind": "single", "answers": ["a.md"], "answer": "x"}
    path.write_text(f"{json.dumps(good)}\n\n")
    assert load_questions(path) == (Question("q1", "Who?", "single", ("a.md",)),)
    path.write_text(f'{json.dumps(good)}\n{{"id": 1}}\n')
    with pytest.raises(InputError, match="Line 2"):
        load_questions(path)
    path.write_text('{"id": "q1", "question": "Who?", "answers": "a.md"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 1 of .* is not a question\."):
        load_questions(path)
