"""`conversation`, survival: planted facts come back, and a torn context is noticed."""

from __future__ import annotations

from dataclasses import replace

from amgs.conversation.material import MessageCounter
from amgs.conversation.optimise import optimise
from amgs.conversation.strategies.asked import asked_classes, is_bare
from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation.histories import BARE, agent, history
from benchmarks.conversation.survival import measure_survival, whole


def test_planted_facts_stay_in_reach_and_nothing_is_torn() -> None:
    said, facts = agent(0)
    assert all(fact.value in said[fact.message - 1]["content"] for fact in facts)
    assert len({fact.question for fact in facts}) == len(facts)
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    found = measure_survival(rig, histories=40, turns=12).metrics
    assert found["survival_in_reach"] == 100.0
    assert found["survival_in_window_amgs"] > found["survival_in_window_random"]
    assert found["survival_class_only"] >= 90.0 and found["survival_class_only_after_five_folds"] == 1.0
    assert (found["orphans"], found["stable_prefix"]) == (0.0, 1.0)


def test_a_bare_question_names_a_class_and_no_subject() -> None:
    assert all(kind in asked_classes(question) for kind, question in BARE.items())
    assert all(map(is_bare, BARE.values())) and is_bare("Remind me again: which file did you use?")
    assert not any(is_bare(fact.question) for fact in agent(0)[1])
    assert not any(
        map(is_bare, ("When did Mara leave?", "the path to Rome", "How are you?", "", "What of 12?"))
    )


def test_a_context_that_lost_a_call_is_torn() -> None:
    messages = next(m for m in map(history, range(99)) if any(one.role == "tool" for one in m))
    found = optimise("x", messages, "", 9999, "extractive", MessageCounter(), lambda: [0.0] * 99)
    assert whole(messages, found)
    without = tuple(one for one in found.messages if not one.calls)
    assert not whole(messages, replace(found, messages=without))
