"""What outlives a small context: facts planted in an agent's history, one a turn, all in outputs of tools.

No data are needed. That nothing is torn and that every message comes back, the engine's own tests hold.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from amgs.conversation.material import MessageCounter
from amgs.types.conversation import CONTEXT_STRATEGIES
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation.evidence import greedy
from benchmarks.conversation.histories import BARE, agent
from benchmarks.references import Bm25
from benchmarks.stores import open_memory

GOALS: Mapping[str, tuple[Comparator, float]] = {
    "survival_extractive_7": (">=", 100.0),
    "survival_levels_40": (">=", 90.0),
    "survival_class_only": (">=", 90.0),
}
SHARES = (7, 20, 40)
_NAME = "agent"


def measure_survival(rig: MemoryRig, turns: int = 60) -> SubjectResult:
    """Percent of the facts that stand in the window, by strategy and share of the tokens; and of a seventh, where the
    question names the class of a fact and no subject.
    """
    said, facts = agent(rig.seed, turns)
    with open_memory(rig) as memory:
        memory.conversation.add(_NAME, said)
        memory.apply_consolidation(memory.plan_consolidation())
        messages = memory.conversation.show(_NAME)
        counter = MessageCounter.of(memory._opened.count_tokens)
        costs = np.array([counter.cost(message) for message in messages])
        bm25, chance = Bm25([message.text for message in messages]), np.random.default_rng(rig.seed)
        rows: dict[str, list[float]] = {}

        def note(method: str, found: list[bool]) -> None:
            rows.setdefault(method, []).append(100.0 * float(np.mean(found)))

        for share in SHARES:
            budget = int(costs.sum()) // share
            for strategy in CONTEXT_STRATEGIES:
                contexts = (
                    memory.conversation.optimise(_NAME, f.question, budget=budget, strategy=strategy) for f in facts
                )
                pairs = zip(contexts, facts, strict=True)
                note(strategy, [any(fact.value in one.text for one in context.messages) for context, fact in pairs])
            whole = [greedy(bm25.scores(f.question), costs, budget)[f.message - 1] for f in facts]
            note("BM25, whole messages", [bool(held) for held in whole])
            note("random", [bool(greedy(chance.random(costs.size), costs, budget)[f.message - 1]) for f in facts])
        budget = int(costs.sum()) // SHARES[0]
        bare = {kind: memory.conversation.optimise(_NAME, question, budget=budget) for kind, question in BARE.items()}
        there = [any(fact.value in one.text for one in bare[fact.kind].messages) for fact in facts]
    metrics = {
        f"survival_{method}_{share}": found
        for method, shares in rows.items()
        if method in CONTEXT_STRATEGIES
        for share, found in zip(SHARES, shares, strict=True)
    }
    metrics["survival_class_only"] = 100.0 * float(np.mean(there))
    columns = ("strategy", *(f"1/{share}" for share in SHARES))
    title = f"{len(facts)} planted facts in the window, percent, by share of the tokens"
    return SubjectResult(metrics, GOALS, (BenchTable(title, columns, tuple((n, *s) for n, s in rows.items())),))
