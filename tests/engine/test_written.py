"""What a language model writes for the memory is checked by rules, and without one nothing is other than before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from amgs.clock import FixedClock
from amgs.conversation.written import ModelSummariser, keep_founded_sentences
from amgs.errors import ModelError
from amgs.frames import registry
from amgs.identity import block_id
from amgs.memory import Memory
from amgs.types import BlockFilter, Frame
from tests.engine.conversation_world import agent
from tests.engine.lifecycle_world import OWL, OWL_AGAIN, OWL_COPY
from tests.engine.memory_world import NOW

BREAD = "The sourdough rests overnight in the cold pantry and is baked early in the stone oven of the mill. "
ANTENNA = "The radio antenna in the cold attic of the mill needs new wires and its connector is soldered overnight. "
TWO = f"{BREAD * 4}\n\n{ANTENNA * 4}".strip()
"""Two subjects, not far enough apart for the rules alone."""
ALIKE = (OWL, OWL_AGAIN, OWL_COPY)
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
    assert (
        keep_founded_sentences(told, SAID)
        == "The mast of the Heron splintered off Cape Roca. A new one costs 900 euros."
    )
    assert keep_founded_sentences("The yard wants 900 euros.", SAID) == "The yard wants 900 euros."
    assert keep_founded_sentences("The yard wants no 900 euros. Ben wants none.", SAID) == "", (
        "it denies what nobody denied"
    )
    assert (
        keep_founded_sentences("", SAID)
        == keep_founded_sentences("lorem ipsum", SAID)
        == keep_founded_sentences("…!?", SAID)
        == ""
    )


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


def notes(*texts: str, model: Scripted | None = None) -> Memory:
    memory = Memory.open(":memory:", clock=FixedClock(NOW), model=model)
    memory.ingest_texts([(text, NOW, {}) for text in texts])
    memory.consolidate()
    return memory


def test_a_model_proposes_a_split_that_the_rules_allow_and_undo_takes_it_back() -> None:
    with notes(TWO) as memory:
        assert not memory.lifecycle.plan_enhancement(kinds=["split"]).proposals
    with notes(TWO, model=Scripted("The other subject begins with paragraph 2.")) as memory:
        plan = memory.lifecycle.plan_enhancement(kinds=["split"])
        (proposal,) = plan.proposals
        assert proposal.by == "scripted" and proposal.reason.startswith("scripted says")
        done = memory.lifecycle.apply_enhancement(plan)
        assert done.summary == "1 split, 1 of them proposed by scripted"
        parts = {one.content for one in memory.blocks(BlockFilter(statuses=("consolidated",)))}
        assert parts == {(BREAD * 4).strip(), (ANTENNA * 4).strip()}, "word for word"
        memory.undo(done.id)
        assert {one.content for one in memory.blocks(BlockFilter(statuses=("consolidated",)))} == {TWO}
        assert memory.verify().ok


MAST = "On Monday the mast of the Heron was taken ashore. Mara Holm keeps the shed in Vik where it lies now."
YARD = "The yard in Vik wants 900 euros for a new mast. It asks for the sum in advance."


def test_a_model_says_kinds_and_names_of_a_note_that_the_rules_are_not_sure_of() -> None:
    model = Scripted("Decision, banana, task\nMara Holm; Vik; Carla; the shed of the whole wide world and more")
    with notes(MAST) as plain, notes(MAST, model=model) as memory:
        (before,), (after,) = plain.blocks(BlockFilter()), memory.blocks(BlockFilter())
        assert before.categories == ("note",)
        assert after.categories[:2] == ("decision", "task") and "banana" not in after.categories
        assert {"Mara Holm", "Vik"} <= set(after.meta["entities"]) and "Carla" not in after.meta["entities"]
        assert MAST in model.asked[0]
    sure = Scripted("task\nnone")
    with notes("We decided to sell the Heron. We agreed on 900 euros.", model=sure) as memory:
        assert memory.blocks(BlockFilter())[0].category == "decision" and not sure.asked


def test_a_model_decides_which_notes_are_one_where_the_rules_are_not_sure() -> None:
    def proposed(model: Scripted | None) -> list[tuple[str, float, str]]:
        with notes(*ALIKE, model=model) as memory:
            found = memory.lifecycle.plan_enhancement(kinds=["merge", "duplicate"]).proposals
            return [(each.id, each.confidence, each.by) for each in found]

    plain = proposed(None)
    assert len(plain) == 1 and plain[0][1] < 0.98
    assert proposed(Scripted("No, they differ.")) == []
    assert proposed(Scripted("Yes.")) == [(*plain[0][:2], "scripted")]


def summary(memory: Memory) -> Frame:
    attention = registry.find("ATTENTION", registry.by_name(memory.frame_definitions()))
    memory.define_frame(replace(attention, name="SHORT", assembly="summary"))
    return memory.assemble("SHORT", query="what does the mast cost?", reinforce=False)


def test_a_frame_that_is_a_summary_is_written_by_a_model_and_cites_what_each_sentence_says() -> None:
    model = Scripted("A new mast costs 900 euros. The yard asks for the sum in advance. Carla paid 7 euros.")
    with notes(MAST, YARD) as without, notes(MAST, YARD, model=model) as memory:
        plain, made = summary(without), summary(memory)
    told = {made.text[span.start : span.end] for span in made.spans if span.block_id == block_id(YARD)}
    assert "The yard asks for the sum in advance." in " ".join(told) and "Carla" not in made.text
    assert made.tokens <= made.budget and "scripted wrote of" in made.remarks[-1]
    assert {span.block_id for span in made.spans} == {span.block_id for span in plain.spans}
    assert "".join(made.text[span.start : span.end] for span in made.spans) == made.text


@pytest.mark.parametrize("answer", [fails, "Zebras.", ""], ids=["fails", "nonsense", "nothing"])
def test_a_model_that_fails_or_talks_nonsense_changes_nothing_of_the_memory(answer: str | Callable[[str], str]) -> None:
    def all_of_it(model: Scripted | None) -> object:
        with notes(MAST, YARD, TWO, *ALIKE, model=model) as memory:
            plan = memory.lifecycle.plan_enhancement()
            found = [each.id for each in plan.proposals]
            return memory.blocks(BlockFilter(), order="id"), summary(memory).text, found

    model = Scripted(answer)
    assert all_of_it(model) == all_of_it(None)
    assert model.asked
