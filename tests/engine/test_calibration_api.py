"""Forecasts learn from verdicts: as a plan, in one journalled change, and back again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from amgs.calibration import forecasting
from amgs.clock import FixedClock
from amgs.diagnosis.cases import check, compare
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.settings import CalibrationSettings, Settings
from amgs.types import BlockFilter
from amgs.types.diagnosis import QuestionCase
from tests.engine.memory_world import NOW, write_notes

FEW = Settings(calibration=CalibrationSettings(fewest_outcomes=8))


def judged(tmp_path: Path, rounds: int = 4, *, never: bool = False) -> Memory:
    """Ilse's note was always useful (unless nothing ever was), nothing else ever was."""
    memory = Memory.open(":memory:", clock=FixedClock(NOW), settings=FEW)
    memory.ingest_folder(write_notes(tmp_path))
    memory.consolidate()
    (ilse,) = memory.resolve_source("people/ilse.md")
    for _ in range(rounds):
        frame = memory.assemble("TASK", query="dome valve QX-7741-B stalls")
        for one in frame.selected:
            memory.feedback(one.block.id, useful=one.block.id == ilse and not never)
    return memory


def confidences(memory: Memory) -> dict[tuple[str, str, str], float]:
    return {e.key: e.confidence for e in memory.edges()}


def test_a_single_miss_lowers_the_edges_that_led_there_and_a_hit_raises_them(tmp_path: Path) -> None:
    with judged(tmp_path, rounds=0) as memory:
        for useful in (False, True):
            before = confidences(memory)
            frame = memory.assemble("TASK", query="dome valve QX-7741-B stalls")
            one = next(c.block.id for c in frame.selected if "graph" in c.layers)
            assert confidences(memory) == before
            memory.feedback(one, useful=useful)
            after = confidences(memory)
            moved = {key for key, confidence in after.items() if confidence != before[key]}
            assert moved and all(one in key[:2] for key in moved)
            for key in moved:
                assert after[key] == pytest.approx((before[key] * 4 + useful) / 5, abs=1e-4)
        entry = memory.operations(1)[0]
        assert entry.edges == len(moved) and "corrected" in entry.summary
        memory.undo(entry.id)
        assert confidences(memory) == before
        memory.feedback(one, useful=False)
        memory.undo(memory.operations(1)[0].id)
        memory.feedback(one, useful=useful)
        assert confidences(memory) == after
        # However often a verdict was undone and given again, the edges have learned from it once.
        assert memory._storage.edge_forecasts.open_verdicts() == ()
        assert memory.verify().ok


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """With verdicts from which an earlier version did not learn."""
    with monkeypatch.context() as patch:
        patch.setattr(forecasting, "edge_changes", lambda *_: ())
        return judged(tmp_path, never=True)


def test_verdicts_that_an_earlier_version_left_are_learned_by_a_calibration_once(earlier: Memory) -> None:
    with earlier as memory:
        plan = memory.calibration.plan()
        assert plan.edges and all(c.hits == 0 and c.after < c.edge.confidence for c in plan.edges)
        done = memory.calibration.apply(plan)
        assert memory.calibration.plan().edges == ()
        memory.undo(done.operation.id)
        assert memory.calibration.plan().edges == plan.edges


def test_a_stale_plan_changes_nothing(earlier: Memory) -> None:
    with earlier as memory:
        plan = memory.calibration.plan()
        edge = plan.edges[0].edge
        memory.graph.confirm_edge(edge.source_id, edge.target_id, kind=edge.relation_type)
        counter = memory.change_counter
        with pytest.raises(UsageError, match="changed since"):
            memory.calibration.apply(plan)
        assert memory.change_counter == counter


def test_a_calibration_maps_later_forecasts_and_undoing_it_ends_that(tmp_path: Path) -> None:
    with judged(tmp_path, never=True) as memory:
        plan = memory.calibration.plan()
        assert plan.forecast.used and plan.forecast.after < plan.forecast.before
        done = memory.calibration.apply(plan)
        for expected in (True, False):
            frame = memory.assemble("TASK", query="dome valve QX-7741-B stalls")
            logged = {o.block_id: o.predicted for o in memory.outcomes(len(frame.selected))}
            scores = {c.block.id: c.score for c in frame.selected}
            mapped = plan.forecast.curve.at(np.array([scores[i] for i in logged])).tolist()
            wanted = dict(zip(logged, mapped, strict=True)) if expected else scores
            assert logged == pytest.approx(wanted)
            if expected:
                memory.undo(done.operation.id)


def test_questions_tell_what_a_calibration_would_move_before_it_is_carried_out(tmp_path: Path) -> None:
    with judged(tmp_path) as memory:
        plan = memory.calibration.plan()
        first = memory.search("dome valve QX-7741-B stalls").hits[0].block.content.split("\n")[0]
        cases = (
            QuestionCase("dome valve QX-7741-B stalls", must_contain=(first,)),
            QuestionCase("dome valve QX-7741-B stalls", must_contain=("no note says this",)),
        )
        before, counter = memory.blocks(BlockFilter()), memory.change_counter
        found = memory.diagnosis.compare_calibration(plan, cases)
        assert (memory.blocks(BlockFilter()), memory.change_counter) == (before, counter)
        outcomes = [check(case, memory) for case in cases]
        memory.calibration.apply(plan)
        # The copy told beforehand what the memory itself shows afterwards.
        assert found == compare(outcomes, [check(case, memory) for case in cases])
        assert found.same + len(found.moved) == 2
