"""`conversation`, survival: planted facts come back, and a torn context is noticed."""

from __future__ import annotations

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation.histories import agent
from benchmarks.conversation.survival import measure_survival


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
