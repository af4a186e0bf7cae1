"""Which blocks an answer used is logged, off by a setting, gone with a block, and learned from where no verdict is."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs.calibration.forecasting import CHANCE, match_words
from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.settings import CalibrationSettings, Settings
from amgs.types import BlockFilter
from tests.engine.memory_world import NOW

QUERY = "What is wrong with the Heron?"
ANSWER = "It leaks beside the keel; oakum will do."
LEAK = "The Heron leaks near the keel and needs oakum."
OTHERS = tuple(f"Boat {n} moors at berth {n + 100} since {1700 + n}, captain Name{n}x." for n in range(80))


def harbour(path: Path | str = ":memory:", **answers: int) -> Memory:
    settings = Settings(calibration=CalibrationSettings(fewest_outcomes=5, **answers))
    memory = Memory.open(path, clock=FixedClock(NOW), settings=settings)
    memory.ingest_texts([(text, NOW, {}) for text in (*OTHERS, LEAK, "The Heron is blue.")])
    memory.consolidate()
    return memory


def test_a_text_is_used_whose_words_the_answer_shares_beyond_chance() -> None:
    shown = {"leak": LEAK, "copy": "Oakum.", "boat": OTHERS[3]}
    found = match_words(ANSWER, QUERY, shown, OTHERS)
    assert found["leak"][0] and found["leak"][1] <= CHANCE
    assert not found["boat"][0] and not found["copy"][0], "what one text explains counts for no second one"
    assert not any(used for used, _ in match_words("The Heron is wrong.", QUERY, shown, OTHERS).values())
    assert not any(used for used, _ in match_words(ANSWER, QUERY, shown, OTHERS[:20]).values()), "too few controls"
    assert found == match_words(ANSWER, QUERY, dict(reversed(shown.items())), OTHERS)


def test_what_an_answer_used_is_logged_with_the_forecasts_and_is_no_change(tmp_path: Path) -> None:
    with harbour(tmp_path / "a.duckdb") as memory:
        frame = memory.assemble("TASK", query=QUERY)
        counter = memory.change_counter
        uses = memory.calibration.note_answer(ANSWER, query=QUERY)
        assert {one.block_id for one in uses} == {one.block.id for one in frame.selected}
        assert [(one.title, one.by) for one in uses if one.by] == [(LEAK, "words")]
        assert all(one.prediction_id for one in uses)
        assert memory.change_counter == counter
        assert set(memory.calibration.answers()) == set(uses)
        again = memory.calibration.note_answer(ANSWER, query=QUERY)
        assert [one.prediction_id for one in again if one.by] == [""], "a forecast has one outcome"
        assert len(memory.calibration.answers()) == len(uses) + 1
    with Memory.open(tmp_path / "a.duckdb", clock=FixedClock(NOW), read_only=True) as memory:
        assert memory.calibration.note_answer(ANSWER, query=QUERY) == ()


def test_what_was_used_counts_as_useful_until_a_verdict_says_otherwise() -> None:
    with harbour() as memory:
        (leak,) = {one.id for one in memory.blocks(BlockFilter()) if one.content == LEAK}
        frame = memory.assemble("TASK", query=QUERY)
        memory.calibration.note_answer(ANSWER, query=QUERY)
        assert memory.calibration.usefulness([leak])[leak].mean == pytest.approx(2 / 3)
        unused = [one.block.id for one in frame.selected if one.block.id != leak]
        assert not memory.calibration.usefulness(unused), "what shows no use may have been used in other words"
        plan = memory.calibration.plan()
        assert plan.outcomes == len(frame.selected)
        explained = {sign.name: sign for sign in memory.lifecycle.explain_pruning(leak).signs}
        assert not explained["confidence"].low, "what was used stays"
        memory.feedback(leak, useful=False)
        assert memory.calibration.usefulness([leak])[leak].mean == pytest.approx(1 / 3)
        assert memory.calibration.plan().outcomes == len(frame.selected)


def test_an_erased_block_leaves_the_log(tmp_path: Path) -> None:
    with harbour(tmp_path / "a.duckdb") as memory:
        memory.assemble("TASK", query=QUERY)
        uses = memory.calibration.note_answer(ANSWER, query=QUERY)
        (leak,) = {one.block_id for one in uses if one.by}
        receipt = memory.erasure.erase([leak])
        assert receipt.rows["block_uses"] == 1
        assert {one.block_id for one in memory.calibration.answers()} == {one.block_id for one in uses} - {leak}
