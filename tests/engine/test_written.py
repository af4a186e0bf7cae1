"""What a language model writes for the memory is checked by rules, and without one nothing is other than before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from amgs.clock import FixedClock
from amgs.conversation.written import ModelSummariser, founded
from amgs.errors import ModelError
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.conversation_world import agent
from tests.engine.memory_world import NOW

BREAD = "The sourdough rests overnight in the cold pantry and is baked early in the stone oven of the mill. "
ANTENNA = "The radio antenna in the cold attic of the mill needs new wires and its connector is soldered overnight. "
TWO = f"{BREAD * 4}\n\n{ANTENNA * 4}".strip()
"""Two subjects, not far enough apart for the rules alone."""
SAID = ("Ada: The mast of the Heron splintered off Cape Roca on 4 May.", "Ben: The yard wants 900 euros for a new one.")


class Scripted:
    """A model that answers what it is told to."""

    name = "scripted"

    def __init__(self, answer: str | Callable[[str], str]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def write(self, prompt: str, most_tokens: int) -> str:
        assert most_tokens > 0
        self.asked.append(prompt)
        return self.answer if isinstance(self.answer, str) else self.answer(prompt)


def fails(prompt: str) -> str:
    raise ModelError(f"no answer to {len(prompt)} characters")


def test_only_sentences_whose_words_names_and_numbers_the_sources_have_stay() -> None:
    told = (
        "The mast of the Heron splintered off Cape Roca. The yard wants 950 euros. A new one costs 900 euros. "
        "Carla splintered the mast of the Heron off Cape Roca. "
        "Bananas ripen quickly in warm kitchens. The yard wants a new one on 5 May."
    )
    assert founded(told, SAID) == "The mast of the Heron splintered off Cape Roca. A new one costs 900 euros."
    assert founded("The yard wants 900 euros.", SAID) == "The yard wants 900 euros."
    assert founded("The yard wants no 900 euros. Ben wants none.", SAID) == "", "it denies what nobody denied"
    assert founded("", SAID) == founded("lorem ipsum", SAID) == founded("…!?", SAID) == ""


def test_a_model_that_fails_or_talks_nonsense_writes_no_digest() -> None:
    for answer in (fails, "As a large model I cannot.", "", "\ud83d nonsense"):
        assert ModelSummariser(Scripted(answer)).summarise(SAID, 50) == ""
    model = Scripted("The yard wants 900 euros.")
    assert ModelSummariser(model).summarise(SAID, 50) == "The yard wants 900 euros."
    assert all(each in model.asked[0] for each in SAID)


@pytest.mark.parametrize("answer", [fails, "Zebras."], ids=["fails", "nonsense"])
def test_where_nothing_written_is_founded_the_very_citations_stand(answer: str | Callable[[str], str]) -> None:
    def window(model: Scripted | None) -> object:
        brought = None if model is None else ModelSummariser(model)
        with Memory.open(":memory:", clock=FixedClock(NOW), summariser=brought) as memory:
            memory.conversation.add("trip", [*agent(), {"role": "user", "content": "How old is the rope?"}])
            budget = memory.conversation.stats("trip").tokens // 4
            return memory.conversation.optimise("trip", budget=budget, strategy="abstractive").messages

    model = Scripted(answer)
    assert window(model) == window(None)
    assert model.asked


def notes(*texts: str) -> Memory:
    memory = Memory.open(":memory:", clock=FixedClock(NOW))
    memory.ingest_texts([(text, NOW, {}) for text in texts])
    memory.apply_consolidation(memory.plan_consolidation())
    return memory


def test_a_model_proposes_a_split_that_the_rules_allow_and_undo_takes_it_back() -> None:
    with notes(TWO) as memory:
        assert not memory.lifecycle.plan_enhancement(kinds=["split"]).proposals
        model = Scripted("The other subject begins with paragraph 2.")
        plan = memory.lifecycle.plan_enhancement(kinds=["split"], model=model)
        (proposal,) = plan.proposals
        assert proposal.by == "scripted" and proposal.reason.startswith("scripted says")
        done = memory.lifecycle.apply_enhancement(plan)
        assert done.summary == "1 split, 1 of them proposed by scripted"
        parts = {one.content for one in memory.blocks(BlockFilter(statuses=("consolidated",)))}
        assert parts == {(BREAD * 4).strip(), (ANTENNA * 4).strip()}, "word for word"
        memory.undo(done.id)
        assert {one.content for one in memory.blocks(BlockFilter(statuses=("consolidated",)))} == {TWO}
        assert memory.verify().ok
