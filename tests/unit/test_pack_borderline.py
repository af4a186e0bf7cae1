"""Sentences near the border of a budget: which are settled, what a model decides, and what the benches say of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amgs
from amgs.clock import FixedClock
from amgs.errors import ModelError, UsageError
from amgs.identity import block_id
from amgs.packs.borderline import BAND, band, dealt
from amgs.text.answer_reader import AnswerLosses
from amgs.text.embedding import HashingEmbedder
from amgs.types import Progress
from amgs_focus.model.tiny import TinyModel
from benchmarks.packs import credit
from benchmarks.packs.borderline import METHODS, measure_borderline
from benchmarks.rig import MemoryRig
from tests.benchmarks.test_pruning import question
from tests.engine.memory_world import NOW

NOTE = "The motor stalled. The motor is old. The motor is loud. The grease was stiff. Goats ate. Rain fell."


class OneWord:
    """Begins every answer with a word, and finds it likelier the more often a text says it."""

    name = "one word"

    def __init__(self, word: str) -> None:
        self.word = word

    def losses(
        self,
        texts: Sequence[str],
        question: str,
        answers: Sequence[str],
        progress: Progress | None = None,
    ) -> AnswerLosses:
        return np.array([[-float(text.count(answer)) for answer in answers] for text in texts])

    def first_words(self, text: str, question: str, most: int) -> str:
        return self.word


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30), st.integers(0, 99))
def test_a_band_lies_on_both_sides_of_the_border_and_its_worths_are_only_dealt_out_anew(
    rows: list[tuple[float, bool]], seed: int
) -> None:
    worths = np.array([worth for worth, _ in rows])
    kept = np.array([there for _, there in rows], dtype=np.bool_)
    places = band(worths, kept)
    assert len(places) <= BAND and len(set(places)) == len(places)
    assert 2 * int(kept[places].sum()) == len(places)
    if places:
        judged = np.random.default_rng(seed).random(len(places))
        made = dealt(worths, places, judged)
        assert sorted(made) == sorted(worths)
        others = [n for n in range(len(rows)) if n not in places]
        assert (made[others] == worths[others]).all()
        assert made[places[int(np.argmax(judged))]] == worths[places].max()


def read(memory: amgs.Memory, *, settle: bool) -> str:
    return memory.packs.use("dome", "Why did the motor stall?", budget=48, prune=True, settle=settle).text


def test_the_model_settles_what_is_kept_near_the_border_and_only_where_it_is_asked_to() -> None:
    texts = {}
    for word in ("grease", "Goats", "…"):
        with amgs.Memory.open(":memory:", clock=FixedClock(NOW), reader=OneWord(word)) as memory:
            memory.ingest_text(NOTE)
            memory.packs.keep("dome", blocks=[block_id(NOTE)])
            plain, texts[word] = read(memory, settle=False), read(memory, settle=True)
            assert "grease" not in plain and "Goats" not in plain and "stalled" in plain
            with pytest.raises(UsageError, match="border"):
                memory.packs.use("dome", "Why?", settle=True)
    assert "grease" in texts["grease"] and "Goats" not in texts["grease"]
    assert "Goats" in texts["Goats"] and "grease" not in texts["Goats"]
    assert texts["…"] == plain  # it begins no answer
    with amgs.Memory.open(":memory:", clock=FixedClock(NOW)) as without:
        without.ingest_text(NOTE)
        without.packs.keep("dome", blocks=[block_id(NOTE)])
        with pytest.raises(ModelError, match="without a language model"):
            read(without, settle=True)
        assert without.packs.uses() == ()


RIG = MemoryRig(embedder=HashingEmbedder(), count_tokens=lambda text: len(text.split()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "multihop").mkdir()
    rows = [
        {**question(name, town), "answer": town}
        for name, town in (("Ada Lovell", "Hartwick"), ("Bea Morland", "Quillham"))
    ]
    (tmp_path / "multihop" / "hotpotqa.json").write_text(json.dumps(rows), encoding="utf-8")
    return tmp_path


def test_what_is_settled_is_measured_beside_its_controls_in_as_many_tokens(data: Path) -> None:
    assert measure_borderline(RIG, data) is None
    assert measure_borderline(RIG, data / "nowhere", TinyModel, 2) is None
    made = measure_borderline(RIG, data, TinyModel, 2)
    assert made is not None
    assert [row[1] for row in made.tables[0].rows] == list(METHODS)
    found = made.metrics
    kept = [value for name, value in found.items() if name.endswith(("first", "off", "random", "bm25"))]
    assert all(0 <= value <= found["borderline_hotpotqa_ceiling"] for value in kept)
    assert found["borderline_hotpotqa_gain_low"] <= found["borderline_hotpotqa_gain_high"]


def test_credit_ranks_the_packs_of_readings_beside_its_controls(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(credit.BUDGETS, "hotpotqa", 80)
    assert credit.measure_credit(RIG, data) is None
    found = list(credit.readings(RIG, data, OneWord(""), 2))
    assert found and all(one.bears.any() and not one.bears.all() for one in found)
    assert not any(one.bears[one.planted] for one in found)
    made = credit.measure_credit(RIG, data, TinyModel, 2)
    assert made is not None
    assert [row[1] for row in made.tables[0].rows] == list(credit.METHODS)
    perfect = [
        credit.CreditedReading(
            one.corpus,
            one.group,
            one.bears,
            one.planted,
            dict.fromkeys(credit.METHODS, one.bears.astype(np.float64)),
        )
        for one in found
    ]
    judged = credit.judged(perfect)
    assert judged is not None and judged.metrics["credit_hotpotqa_own_auc"] == 1.0
    assert judged.metrics["credit_companions"] == 100.0
    assert credit.judged([]) is None
