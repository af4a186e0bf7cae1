"""`conversation`, survival: planted facts stand in a small window, also where a question names their class alone."""

from __future__ import annotations

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation.histories import agent
from benchmarks.conversation.survival import measure_survival


def test_planted_facts_stand_where_chance_does_not_keep_them() -> None:
    said, facts = agent(0)
    assert all(fact.value in said[fact.message - 1]["content"] for fact in facts)
    assert len({fact.question for fact in facts}) == len(facts)
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    found = measure_survival(rig, turns=12)
    rows = {row[0]: row[1:] for row in found.tables[0].rows}
    assert rows["extractive"][0] == 100.0 != rows["random"][0]
    assert found.metrics["survival_levels_7"] >= 90.0 and found.metrics["survival_class_only"] >= 90.0
