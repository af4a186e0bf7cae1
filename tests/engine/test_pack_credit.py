"""Credit of packs: what a model that reads says of each, what is noted of it, and what learning makes of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import Cancelled, ModelError, NotFoundError, UsageError
from amgs.identity import block_id
from amgs.packs.credit import left_out
from amgs.packs.outcome_weights import outcome_of, read_from
from amgs.text.answer_reader import AnswerLosses, AnswerReader
from amgs.types import Progress
from amgs.types.packs import PackUse
from amgs_app.models.answer_reader import LoadedReader
from amgs_focus.evaluation.answers import ContextReader
from amgs_focus.model.tiny import TinyModel
from tests.engine.memory_world import NOW

NOTES = {
    "dome": "The dome motor draws 4 amperes.",
    "goat": "Goats eat the hay.",
    "cold": "The grease is stiff in the cold.",
}
QUESTION = "What does the motor draw?"


class WordReader:
    """An answer costs 1 nat a token less for each share of its words that a text has."""

    name = "words"

    def losses(
        self,
        texts: Sequence[str],
        question: str,
        answers: Sequence[str],
        progress: Progress | None = None,
    ) -> AnswerLosses:
        for place in range(len(texts)):
            if progress is not None:
                progress(place, len(texts), "reading")
        return np.array([[1.0 - self._share(text, answer) for answer in answers] for text in texts])

    def first_words(self, text: str, question: str, most: int) -> str:
        return " ".join(text.split()[:most])

    @staticmethod
    def _share(text: str, answer: str) -> float:
        return float(np.mean([word in text.split() for word in answer.split()]))


def opened(reader: AnswerReader | None) -> amgs.Memory:
    memory = amgs.Memory.open(":memory:", clock=FixedClock(NOW), reader=reader)
    for name, note in NOTES.items():
        memory.ingest_text(note)
        memory.packs.keep(name, blocks=[block_id(note)])
    return memory


@pytest.fixture
def memory() -> Iterator[amgs.Memory]:
    with opened(WordReader()) as made:
        yield made


def read(memory: amgs.Memory, session: str, query: str = QUESTION) -> dict[str, int]:
    return {name: memory.packs.use(name, query, session=session).use or 0 for name in NOTES}


def test_a_pack_is_credited_with_what_the_answer_loses_without_it_and_undo_takes_that_back(
    memory: amgs.Memory,
) -> None:
    numbers = read(memory, "night")
    read(memory, "day")
    told = memory.packs.credit(numbers["goat"], "draws 4 amperes.")
    assert [(one.name, one.use) for one in told.credits] == list(numbers.items())
    assert [one.credit for one in told.credits] == pytest.approx([1.0, 0.0, 0.0])
    assert [one.helped for one in told.credits] == [True, False, False]
    assert (told.query, told.reader) == (QUESTION, "words")
    kept = {one.number: (one.credit, one.reader) for one in memory.packs.uses()}
    assert [kept[n] for n in numbers.values()] == [(1.0, "words"), (0.0, "words"), (0.0, "words")]
    assert [credit for n, (credit, _) in kept.items() if n not in numbers.values()] == [None] * 3
    again = memory.packs.credit(numbers["dome"], "Goats")
    assert [one.helped for one in again.credits] == [False, True, False]
    memory.undo(again.operation)
    assert {one.number: (one.credit, one.reader) for one in memory.packs.uses()} == kept
    memory.undo(told.operation)
    assert all((one.credit, one.reader) == (None, "") for one in memory.packs.uses())
    memory.redo(told.operation)
    assert {one.number: (one.credit, one.reader) for one in memory.packs.uses()} == kept


def test_an_assembly_is_credited_as_one_and_a_reading_alone_against_no_text(memory: amgs.Memory) -> None:
    made = memory.packs.assemble("What do goats eat, and what does the dome motor draw?", budget=400)
    assert len(made.uses) > 1
    told = memory.packs.credit(made.uses[0], "hay.")
    assert [one.use for one in told.credits] == list(made.uses)
    assert [one.name for one in told.credits if one.helped] == ["goat"]
    alone = memory.packs.use("cold", "Why is it stiff?")
    told = memory.packs.credit(alone.use or 0, "cold.")
    assert [(one.name, one.credit) for one in told.credits] == [("cold", 1.0)]


def test_what_cannot_be_credited_says_so_and_notes_nothing(memory: amgs.Memory) -> None:
    numbers = read(memory, "night")
    bare = memory.packs.use("dome")
    for number, answer, error in (
        (99, "4 amperes", NotFoundError),
        (-1, "4 amperes", NotFoundError),
        (bare.use or 0, "4 amperes", UsageError),
        (numbers["dome"], " … ", UsageError),
        (numbers["dome"], "", UsageError),
    ):
        with pytest.raises(error):
            memory.packs.credit(number, answer)
    stopped = Progress()
    stopped.cancel()
    with pytest.raises(Cancelled):
        memory.packs.credit(numbers["dome"], "4 amperes", progress=stopped)
    with opened(None) as without:
        use = without.packs.use("dome", QUESTION)
        with pytest.raises(ModelError, match="without a language model"):
            without.packs.credit(use.use or 0, "4 amperes")
    assert all(one.credit is None for one in memory.packs.uses())


def test_a_credit_counts_in_place_of_the_verdict_of_a_session() -> None:
    def use(number: int, name: str, session: str, outcome: float | None, credit: float | None) -> PackUse:
        at = NOW + timedelta(hours=number)
        return PackUse(number, name, 1, "", at, "why", session, 100, (), outcome, credit)

    uses = [
        use(1, "dome", "good", 1.0, 0.8),
        use(2, "goat", "good", 1.0, -0.02),
        use(3, "dome", "bad", 0.0, 0.8),
        use(4, "goat", "bad", 0.0, 0.05),
        use(5, "dome", "none", None, 0.8),
        use(6, "goat", "", 1.0, -0.5),
        use(7, "goat", "", None, None),
    ]
    found, left = read_from(uses, {})
    assert [(one.name, one.outcome) for one in found] == [
        ("dome", 1.0),  # the answer was good, and owes to it
        ("goat", 0.0),  # read along
        ("dome", 0.0),  # the answer was useless, and owes to it
        ("dome", 1.0),  # nobody judged
        ("goat", 1.0),  # a verdict of its own comes first
    ]
    assert left == 1
    assert outcome_of(uses[3], shared=True) is None
    assert read_from([replace(one, credit=None) for one in uses], {})[1] == 4


def test_a_companion_that_is_only_read_along_learns_no_use_from_good_sessions(memory: amgs.Memory) -> None:
    for night in range(8):
        numbers = read(memory, f"night {night}")
        for number in numbers.values():
            memory.packs.judge(number, useful=True)
        if night == 0:
            assert memory.packs.weights().outcomes == 0
        memory.packs.credit(numbers["dome"], "draws 4 amperes.")
    told = memory.packs.weights()
    assert (told.outcomes, told.left_out) == (24, 0)
    of = {one.name: one.offset for one in told.packs}
    assert of["dome"] > 0 > of["goat"] and of["cold"] < 0


def test_the_model_reads_what_texts_share_once_and_says_the_same() -> None:
    model = TinyModel()
    parts = ["The mast is red.", "The keel is old.", "Kim said so, and left."]
    reader = LoadedReader(lambda: model)
    found = left_out(parts, "Which colour?", ["red", "blue"], reader)

    def alone(text: str) -> list[float]:
        return ContextReader(model, text).nll("Which colour?", ["red", "blue"])

    whole = alone("\n\n".join(parts))
    without = [alone("\n\n".join(one for n, one in enumerate(parts) if n != out)) for out in range(3)]
    assert found == pytest.approx(np.array(without) - np.array([whole]), abs=1e-4)
    assert reader.name == model.card.name
    said = reader.first_words(parts[0], "Which colour?", 3)
    first = ContextReader(model, parts[0]).first_tokens("Which colour?", 3)
    assert len(first) <= 3 and said == model.decode(first)


def test_a_text_that_the_window_does_not_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TinyModel()
    monkeypatch.setattr(TinyModel, "card", replace(model.card, positions=20))
    with pytest.raises(ModelError, match="window"):
        LoadedReader(lambda: model).losses(["The mast is red. " * 4], "Which?", ["red"])
