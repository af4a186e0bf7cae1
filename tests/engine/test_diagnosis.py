"""Each cause for which an answer can miss a fact is planted, named, and mended by the fix that is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from amgs.calibration.questions import append_case, read_cases
from amgs.clock import FixedClock
from amgs.diagnosis import facts
from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter
from amgs.types.diagnosis import DecodedContext, Diagnosis, QuestionCase, ReadSpan
from tests.engine.memory_world import NOW, open_memory
from tests.prepared_store import copy_store

FACT = "The mainsail of the Heron was patched with blue cloth"
ASKED = "What was the mainsail of the Heron patched with?"
OTHERS = (
    "The Gull lost its anchor in the harbour of Visby.",
    "Ilse greases the pump every second Sunday.",
    "The chart table was moved to the port side.",
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_memory(copy_store(_make_memory)) as opened:
        yield opened


def _make_memory(path: Path) -> Memory:
    memory = open_memory(path)
    memory.ingest_texts([(text, None, {}) for text in OTHERS])
    memory.consolidate()
    return memory


def diagnosed(memory: Memory, **more: object) -> Diagnosis:
    given = {"question": ASKED, "frame": "ATTENTION", **more}
    return memory.diagnosis.diagnose("", FACT, **given)  # type: ignore[arg-type]


def take(memory: Memory, blocks: int) -> None:
    """Let ATTENTION take so many blocks at most."""
    definition = next(each for each in memory.frame_definitions() if each.name == "ATTENTION")
    memory.define_frame(replace(definition, rule=replace(definition.rule, top_k=blocks)))


def is_mended(memory: Memory, found: Diagnosis) -> bool:
    """Whether the proposed fix brings the fact in, as its trial said, and is taken back by undo."""
    assert found.trial is not None and found.trial.works
    blocks = {b.id: b for b in memory.blocks(BlockFilter(statuses=("raw", "consolidated", "archived")))}
    done = memory.diagnosis.apply(found.trial.fix)
    mended = diagnosed(memory).cause == "in the context"
    for entry in done.operations:
        memory.undo(entry.id)
    if done.before is not None:
        memory.define_frame(done.before)
    after = {b.id: b for b in memory.blocks(BlockFilter(statuses=("raw", "consolidated", "archived")))}
    assert after == blocks
    return mended


def test_a_fact_that_was_never_stored(memory: Memory) -> None:
    found = diagnosed(memory)
    assert found.cause == "not stored" and found.block is None
    assert is_mended(memory, found)


def test_a_fact_that_was_never_stored_and_shares_no_word_with_the_question_gets_no_edge(memory: Memory) -> None:
    found = memory.diagnosis.diagnose("", "zzz is purple", question="hello", frame="ATTENTION")
    assert found.cause == "not stored" and found.trial is not None
    assert "words of the question" in found.trial.fix.told and "edge" not in found.trial.fix.told


def test_a_fact_that_another_took_the_place_of(memory: Memory) -> None:
    memory.add(f"{FACT}.", meta={"source": "log"})
    memory.consolidate()
    memory.sources.apply(memory.sources.plan_text("log", "All sails are new and white."))
    memory.consolidate()
    found = diagnosed(memory)
    assert found.cause == "superseded"
    assert found.block is not None and found.block.superseded
    assert is_mended(memory, found)


def test_a_superseded_fact_is_found_behind_many_that_say_nearly_the_same(memory: Memory) -> None:
    (block,) = memory.add(f"{FACT}.").added
    (newer,) = memory.add("All sails of the Heron are new and white.").added
    alike = (f"The mainsail of the Heron was mended with cloth on day {n}, the blue tape stayed." for n in range(70))
    memory.ingest_texts([(text, None, {}) for text in alike])
    memory.consolidate()
    memory.add_edge(newer, block, kind="supersedes")
    found = diagnosed(memory)
    assert found.cause == "superseded" and found.block is not None and found.block.id == block
    assert found.trial is not None and found.trial.fix.kind == "restore"
    told = {step.step: step.told for step in found.evidence}
    assert "the pre-filter leaves it out" in told["keyword"]


def test_a_fact_that_was_out_voted_by_what_repeats_the_question(memory: Memory) -> None:
    memory.add(f"{FACT}, said the sailmaker of Visby after a long winter in the loft.")
    for name in ("Ilse", "Tomasz", "Beppo"):
        memory.add(f"{name} asked: what was the mainsail of the Heron patched with?")
    memory.consolidate()
    take(memory, 2)
    found = diagnosed(memory)
    assert found.cause == "out-voted"
    assert is_mended(memory, found)


def test_a_fact_that_a_small_budget_left_out_is_in_with_the_budget_that_is_named(memory: Memory) -> None:
    memory.add(f"{FACT}.")
    memory.consolidate()
    found = diagnosed(memory, budget=24)
    assert found.cause == "over budget" and found.trial is not None
    fix = next(each for each in (found.trial, *found.others) if each.fix.kind == "budget").fix
    assert fix.budget is not None and not fix.applies
    assert diagnosed(memory, budget=fix.budget).cause == "in the context"
    with pytest.raises(UsageError, match="changes nothing"):
        memory.diagnosis.apply(fix)


def test_a_message_that_the_conversation_left_out_is_kept_from_then_on(memory: Memory) -> None:
    said = [{"role": "user", "content": f"Ilse: {FACT}."}]
    for number in range(60):
        role = "assistant" if number % 2 else "user"
        said.append({"role": role, "content": f"Stage {number} of the voyage led past the lighthouse of Faro."})
    said.append({"role": "user", "content": "What is for dinner?"})
    memory.conversation.add("voyage", said)
    found = memory.diagnosis.diagnose("", FACT, conversation="voyage", budget=300)
    assert found.cause == "left out of the conversation"
    assert found.trial is not None and (found.trial.fix.handle, found.trial.works) == ("#1", True)
    done = memory.diagnosis.apply(found.trial.fix)
    now = memory.diagnosis.diagnose("", FACT, conversation="voyage", budget=300)
    assert now.cause == "in the context"
    assert [entry.kind for entry in done.operations] == ["keep"]


def test_a_gist_in_the_working_context_collapsed_the_fact_where_it_stood_for_it(memory: Memory) -> None:
    (block,) = memory.add(f"{FACT}. The rest of the log is about the weather, and long.").added
    memory.consolidate()
    open_there = (ReadSpan(block, 0.0, 0.6, 0), ReadSpan(block, 0.6, 1.0, 2))
    assert diagnosed(memory, read=DecodedContext(3, open_there)).cause == "in the context"
    closed = (ReadSpan(block, 0.0, 0.5, 1), ReadSpan(block, 0.5, 1.0, 0))
    found = diagnosed(memory, read=DecodedContext(3, closed))
    assert (found.cause, found.trial and found.trial.fix.kind) == ("collapsed", "expand")


def test_a_fact_that_a_message_says_in_other_words_is_diagnosed_once_it_is_named(memory: Memory) -> None:
    lines = [f"Stage {number} led past the lighthouse of Faro." for number in range(60)]
    lines.insert(20, "We mended the mainsail of the Heron with blue sailcloth from Visby.")
    said = [{"role": ("user", "assistant")[n % 2], "content": line} for n, line in enumerate(lines)]
    memory.conversation.add("voyage", [*said, {"role": "user", "content": "What is for dinner?"}])
    found = memory.diagnosis.diagnose("", FACT, conversation="voyage", budget=200)
    assert found.cause == "not stored" and found.block is None
    near = [match.block for match in found.matches if match.how == "near"]
    assert 1 <= len(near) == len(found.matches) <= 3 and "Visby" in near[0].content
    found = memory.diagnosis.diagnose("", FACT, conversation="voyage", budget=200, block=near[0].id)
    assert found.cause == "left out of the conversation" and found.block == near[0]
    assert found.trial is not None and (found.trial.fix.handle, found.trial.works) == ("#21", True)
    memory.diagnosis.apply(found.trial.fix)
    again = memory.diagnosis.diagnose("", FACT, conversation="voyage", budget=200, block=near[0].id)
    assert again.cause == "in the context"


# --- which request, and which other answers ---------------------------------------------------------------


def test_the_other_answers_that_a_fix_moves_are_named(memory: Memory) -> None:
    memory.add("The mainsail of the Gull is patched with red cloth.")
    memory.consolidate()
    take(memory, 2)
    memory.assemble("ATTENTION", query="What is the mainsail patched with?")
    memory.assemble("ATTENTION", query="Who greases the pump?")
    found = diagnosed(memory)
    assert found.trial is not None and found.trial.works and found.trial.questions == 2
    moved = {one.question for one in found.trial.moved}
    assert "What is the mainsail patched with?" in moved
    asked = ("What is the mainsail patched with?", "Who greases the pump?")
    before = {q: _given(memory, q) for q in asked}
    memory.diagnosis.apply(found.trial.fix)
    after = {q: _given(memory, q) for q in asked}
    assert moved == {q for q in asked if set(before[q]) - set(after[q]) or before[q][0] != after[q][0]}


def _given(memory: Memory, question: str) -> list[str]:
    return [c.block.id for c in memory.assemble("ATTENTION", query=question, reinforce=False).selected]


def test_the_same_of_somebody_else_is_another_fact_and_is_said_to_be_near(memory: Memory) -> None:
    memory.add("The mainsail of the Gull is patched with blue cloth.")
    memory.consolidate()
    found = diagnosed(memory, questions=0)
    assert found.cause == "not stored" and found.block is None
    stored = next(step.told for step in found.evidence if step.step == "stored")
    assert "Gull" in stored and stored.endswith("name the right block with `--block`")


def test_what_another_speaker_said_of_themselves_is_another_fact() -> None:
    with Memory.open(":memory:", clock=FixedClock(NOW)) as memory:
        for speaker, said in (("Ilse", "I sold the old boat in Visby last summer."), ("Jon", "Nice weather.")):
            memory.ingest_many([RawBlock(f"{speaker}: {said}", NOW, {"speaker": speaker})])
        memory.consolidate()
        told = {
            who: memory.diagnosis.diagnose(
                "", f"{who} sold the old boat in Visby last summer", question="Who sold a boat?", questions=0
            )
            for who in ("Ilse", "Jon")
        }
        assert told["Ilse"].block is not None and told["Jon"].cause == "not stored"


def test_a_message_that_begins_with_a_name_was_said_by_that_person() -> None:
    said = ("Ilse: I sold the old boat in Visby last summer.", "Jon: Nice weather.", "Jon: So it is.", "Ilse: Yes.")
    with Memory.open(":memory:", clock=FixedClock(NOW)) as memory:
        roles = ("user", "assistant", "assistant", "user")
        memory.conversation.add(
            "talk", [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
        )
        best = {
            who: memory.diagnosis.judge_hits(fact, memory.diagnosis.hits(fact))[0]
            for who in ("Ilse", "Jon")
            for fact in [f"{who} sold his old boat in Visby, and that was last summer"]
        }
        assert facts.is_match(best["Ilse"]) and not facts.is_match(best["Jon"])


# --- wrong inputs -----------------------------------------------------------------------------------------


def test_what_cannot_be_diagnosed_says_what_to_give(memory: Memory) -> None:
    diagnose = memory.diagnosis.diagnose
    with pytest.raises(TypeError, match="no argument 'quesion'"):
        diagnose("x", FACT, quesion=ASKED)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="No fact"):
        diagnose("x", "  ")
    with pytest.raises(UsageError, match="No question is logged"):
        diagnose("x", FACT)
    with pytest.raises(UsageError, match="no conversation"):
        diagnose("x", FACT, conversation="nowhere")
    memory.add("The mainsail of the Heron was patched with blue cloth on Monday.")
    memory.add("The mainsail of the Heron was patched with blue cloth on Friday.")
    with pytest.raises(UsageError, match="2 blocks hold") as several:
        diagnosed(memory)
    named = str(several.value).split(": ")[-1].split()[0]
    assert diagnosed(memory, block=named).cause == "not consolidated"


# --- questions as a file ----------------------------------------------------------------------------------


def test_cases_are_read_as_they_were_written_and_what_stands_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "questions.yml"
    path.write_text("# ours\n- question: Who greases the pump?\n  must_contain: Ilse\n", encoding="utf-8")
    case = QuestionCase(ASKED, (FACT, "#1: yes"), ("red",), 3, True, NOW, "ATTENTION")
    assert (append_case(path, case), append_case(path, case)) == (2, 2)
    assert read_cases(path) == (QuestionCase("Who greases the pump?", ("Ilse",)), case)
    assert path.read_text(encoding="utf-8").startswith("# ours\n")
