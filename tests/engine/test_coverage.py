"""A frame says with what chance it holds what its question needs, as far as labelled questions tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from amgs.calibration.forecasting import LEAST
from amgs.calibration.results import CalibrationPlan
from amgs.clock import FixedClock
from amgs.errors import InputError
from amgs.memory import Memory
from amgs.text.embedding import HashingEmbedder
from amgs.types import Frame
from amgs.types.diagnosis import QuestionCase
from tests.engine.memory_world import NOW

VALVES = 60


def asked(number: int) -> str:
    return f"Who replaced the valve V-{number}?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=FixedClock(NOW), embedder=HashingEmbedder()) as memory:
        notes = [f"The valve V-{n} was replaced by W-{7 * n}, and its seal in room {n % 9}." for n in range(VALVES)]
        memory.ingest_texts([(note, None, {"source": f"valve-{n}.md"}) for n, note in enumerate(notes)])
        memory.consolidate()
        yield memory


def judge(memory: Memory, numbers: range) -> None:
    """A verdict on the first two blocks of each frame: what tells of the valve is useful."""
    for number in numbers:
        for chosen in memory.assemble("ATTENTION", query=asked(number)).selected[:2]:
            memory.feedback(chosen.block.id, useful=f"V-{number} " in chosen.block.content)


def planned(memory: Memory, *cases: QuestionCase) -> CalibrationPlan:
    return replace(memory.calibration.plan(), needs=memory.diagnosis.needs(cases))


def look(memory: Memory, budget: int = 300, frame: str = "ATTENTION") -> Frame:
    return memory.assemble(frame, query=asked(VALVES - 1), budget=budget, reinforce=False)


def test_a_frame_promises_after_a_calibration_until_it_is_undone(memory: Memory) -> None:
    judge(memory, range(40))
    before = memory.change_counter
    plan = planned(memory)
    (needs,) = plan.needs
    assert needs.frame == "ATTENTION" and len(needs.needed) == 40
    assert memory.change_counter == before and look(memory).coverage is None
    done = memory.calibration.apply(plan)
    found = look(memory).coverage
    assert found is not None and found.questions == 40
    assert found.share == sum(one is not None and one <= 300 for one in needs.needed) / 41 > 0.9
    nothing = look(memory, budget=20).coverage
    assert nothing is not None and nothing.share == 0.0
    assert look(memory, frame="SESSION").coverage is None, "no question was asked of it"
    (reviewed,) = memory.reliability().coverage
    assert reviewed.questions == 40 and [one.tried for one in reviewed.levels] == [10, 10, 10]
    assert not memory.reliability(by="frame", value="TASK").coverage
    memory.undo(done.operation.id)
    assert look(memory).coverage is None and not memory.reliability().coverage


def test_a_promise_is_of_the_frame_as_it_was_asked(memory: Memory) -> None:
    judge(memory, range(LEAST))
    memory.calibration.apply(planned(memory))
    definition = next(one for one in memory.frame_definitions() if one.name == "ATTENTION")
    found = look(memory).coverage
    memory.define_frame(replace(definition, budget=definition.budget * 2))
    assert look(memory).coverage == found is not None
    assert memory.assemble("ATTENTION", reinforce=False).coverage is None, "nothing is asked"
    assert memory.assemble("ATTENTION", query=asked(1), weights=definition.weights).coverage is None
    assert memory.assemble("ATTENTION", query=asked(1), as_of=NOW).coverage is None
    memory.frames.remember(look(memory))
    last = memory.frames.last()
    assert last is not None and last.coverage == found
    memory.define_frame(replace(definition, rule=replace(definition.rule, pool=3)))
    assert look(memory).coverage is None


def test_a_promise_survives_export_and_import_and_a_damaged_one_is_refused(memory: Memory, tmp_path: Path) -> None:
    judge(memory, range(LEAST))
    memory.calibration.apply(planned(memory))
    path = tmp_path / "memory.json"
    memory.exchange.export(path)
    with Memory.open(":memory:", clock=FixedClock(NOW), embedder=HashingEmbedder()) as other:
        other.exchange.load(path)
        assert look(other).coverage == look(memory).coverage is not None
    text = path.read_text(encoding="utf-8")
    kept = memory._storage.forecasts.needs()
    assert kept is not None
    for wrong in ("[1, 2]", '{"ATTENTION": ["x", ["many"]]}', '{"ATTENTION": 3}', "{", "null"):
        path.write_text(text.replace(json.dumps(kept)[1:-1], json.dumps(wrong)[1:-1]), encoding="utf-8")
        with (
            Memory.open(":memory:", clock=FixedClock(NOW), embedder=HashingEmbedder()) as other,
            pytest.raises(InputError, match="needs:"),
        ):
            other.exchange.load(path)


def test_labels_are_cases_verdicts_and_answers_and_each_question_counts_once(memory: Memory) -> None:
    judge(memory, range(12))
    judge(memory, range(2))
    frame = memory.assemble("ATTENTION", query=asked(20))
    memory.calibration.note_answer(f"As ({frame.selected[0].block.id[:12]}) says.", query=asked(20))
    for chosen in memory.assemble("ATTENTION", query="What is left?").selected:
        memory.feedback(chosen.block.id, useful=False)
    cases = (
        QuestionCase(asked(3), ("W-21",), frame="ATTENTION"),
        QuestionCase(asked(30), ("W-210", "no note says this"), frame="ATTENTION"),
        QuestionCase(asked(31), must_not_contain=("W-1",), frame="ATTENTION"),
        QuestionCase(asked(32), ("W-224",)),
    )
    needs = {one.frame: one.needed for one in memory.diagnosis.needs(cases)}
    assert len(needs["SESSION"]) == 1 and needs["SESSION"][0] is not None
    case, never, *judged = needs["ATTENTION"]
    assert case is not None and never is None, "the cases come first, in their order"
    assert len(judged) == 11 + 2 and judged[-1] is None, "of what was no use, none was ever in"
    assert judged[-2] is not None
