"""What outlives a context of a seventh: planted facts by class, folds, the stable prefix, and what belongs together.

No data are needed: an agent's history with a fact a turn, all in outputs of tools, and ten thousand random histories.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from amgs.conversation.citing import source
from amgs.conversation.material import MessageCounter
from amgs.conversation.optimise import optimise
from amgs.conversation.strategies import asked_classes, find_holding
from amgs.errors import ImpossibleBudgetError
from amgs.memory import Memory
from amgs.types.conversation import CONTEXT_STRATEGIES, Message, OptimisedContext
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation.evidence import SHARE, greedy
from benchmarks.conversation.histories import BARE, HiddenFact, agent, history
from benchmarks.references import Bm25
from benchmarks.stores import STILL, open_memory

GOALS: Mapping[str, tuple[Comparator, float]] = {
    "survival_in_reach": (">=", 100.0),
    "survival_in_window_worst": (">=", 90.0),
    "survival_class_only_worst": (">=", 90.0),
    "survival_class_only_after_five_folds": (">=", 1.0),
    "survival_after_five_folds": (">=", 1.0),
    "growth_after_five_folds": ("<=", 1.05),
    "stable_prefix": (">=", 0.95),
    "orphans": ("<=", 0.0),
    "restore_p95_ms": ("<=", 50.0),
}
HISTORIES = 10_000
_NAME = "agent"


def measure_survival(rig: MemoryRig, histories: int = HISTORIES, turns: int = 60) -> SubjectResult:
    """Measure an agent's history in a memory of its own, and random histories without one."""
    said, facts = agent(rig.seed, turns)
    with open_memory(rig) as memory:
        memory.conversation.add(_NAME, said)
        memory.apply_consolidation(memory.plan_consolidation())
        metrics, table = _survival(memory, facts, rig.seed)
        metrics["restore_p95_ms"] = _restore(memory, facts)
        bare, other = _class_only(memory, facts, rig.seed)
    metrics["stable_prefix"], metrics["stable_prefix_share_replanned"] = _stable(said, rig)
    torn, impossible = _torn(histories)
    metrics |= {"orphans": float(torn), "orphans_histories": float(histories), "orphans_refused": float(impossible)}
    return SubjectResult(metrics | bare, GOALS, (table, other))


def _survival(memory: Memory, facts: list[HiddenFact], seed: int) -> tuple[dict[str, float], BenchTable]:
    messages = memory.conversation.show(_NAME)
    budget = memory.conversation.stats(_NAME).tokens // SHARE
    counter = MessageCounter.of(memory._opened.count_tokens)
    costs = np.array([counter.cost(m) for m in messages])
    chance = np.random.default_rng(seed)
    bm25 = Bm25([m.text for m in messages])
    kept: dict[str, dict[str, list[float]]] = {}
    reach: list[bool] = []
    folded: list[tuple[bool, bool, float]] = []
    for fact in facts:
        found = memory.conversation.optimise(_NAME, fact.question, budget=budget)
        masked = memory.conversation.optimise(_NAME, fact.question, budget=budget, strategy="mask")
        drawn = greedy(chance.random(costs.size), costs, budget)
        there = {
            "amgs": _holds(found, fact),
            "BM25": bool(greedy(bm25.scores(fact.question), costs, budget)[fact.message - 1]),
            "masking": _holds(masked, fact),
            "recent": bool(greedy(np.arange(float(costs.size)), costs, budget)[fact.message - 1]),
            "random": bool(drawn[fact.message - 1]),
        }
        for method, yes in there.items():
            kept.setdefault(method, {}).setdefault(fact.kind, []).append(100.0 * yes)
        (span,) = [one for one in found.spans if one.first <= fact.message <= one.last]
        restored = memory.conversation.restore(_NAME, span.handle).messages
        reach.append(there["amgs"] or any(fact.value in m.text for m in restored))
        again = found
        for _ in range(5):
            again = memory.conversation.optimise(_NAME, fact.question, budget=budget, previous=again.plan)
        folded.append((there["amgs"], _holds(again, fact), again.tokens / found.tokens))
    kinds = sorted(kept["amgs"])
    rows: list[tuple[str | float, ...]] = []
    for method, by in kept.items():
        shares: list[str | float] = [float(np.mean(by[kind])) for kind in kinds]
        rows.append((method, *shares, float(np.mean([x for kind in kinds for x in by[kind]]))))
    before, after = (sum(one[n] for one in folded) for n in (0, 1))
    metrics = {
        "survival_in_reach": 100.0 * float(np.mean(reach)),
        "survival_in_window_worst": min(float(np.mean(kept["amgs"][kind])) for kind in kinds),
        "survival_after_five_folds": after / max(before, 1),
        "growth_after_five_folds": max(one[2] for one in folded),
    }
    for method, by in kept.items():
        metrics[f"survival_in_window_{method.lower()}"] = float(np.mean([x for kind in kinds for x in by[kind]]))
    title = f"Planted facts in the window, percent, in 1/{SHARE} of the tokens; {len(facts)} facts"
    return metrics, BenchTable(title, ("method", *kinds, "all"), tuple(rows))


def _class_only(memory: Memory, facts: list[HiddenFact], seed: int) -> tuple[dict[str, float], BenchTable]:
    """What is in the window for a question that names a class and no subject: "What was the path?".

    The plainest rival keeps whole what holds one of the class, by the same expressions, the newest first.
    """
    messages = memory.conversation.show(_NAME)
    budget = memory.conversation.stats(_NAME).tokens // SHARE
    counter = MessageCounter.of(memory._opened.count_tokens)
    costs = np.array([counter.cost(m) for m in messages])
    chance = np.random.default_rng(seed)
    bm25 = Bm25([m.text for m in messages])
    latest = np.arange(float(costs.size))
    kept: dict[str, dict[str, float]] = {}
    folded: list[tuple[int, ...]] = []
    for kind, question in BARE.items():
        own = [fact for fact in facts if fact.kind == kind]
        if not own:
            continue
        scores = bm25.scores(question)
        around = np.convolve(scores, (0.3, 1.0, 0.3), mode="same")
        holds = np.array([bool(find_holding(source(m), asked_classes(question))) for m in messages])
        there = {
            "BM25 + neighbours": greedy(around, costs, budget),
            "messages that hold the class": greedy(latest + costs.size * holds, costs, budget),
            "recent": greedy(latest, costs, budget),
            "random": greedy(chance.random(costs.size), costs, budget),
        }
        shares = {name: [bool(held[fact.message - 1]) for fact in own] for name, held in there.items()}
        for strategy in CONTEXT_STRATEGIES:
            found = memory.conversation.optimise(_NAME, question, budget=budget, strategy=strategy)
            shares[f"amgs, {strategy}"] = [_holds(found, fact) for fact in own]
            if strategy == "extractive":
                first = again = found
        for _ in range(5):
            again = memory.conversation.optimise(_NAME, question, budget=budget, previous=again.plan)
        folded.append(tuple(sum(_holds(one, fact) for fact in own) for one in (first, again)))
        for name, yes in shares.items():
            kept.setdefault(name, {})[kind] = 100.0 * float(np.mean(yes))
    kinds = [kind for kind in BARE if any(fact.kind == kind for fact in facts)]
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (name, *(by[kind] for kind in kinds), float(np.mean(list(by.values())))) for name, by in kept.items()
    )
    ours = kept["amgs, extractive"]
    rivals = [by for name, by in kept.items() if not name.startswith("amgs")]
    metrics = {
        "survival_class_only_worst": min(ours.values()),
        "survival_class_only": float(np.mean(list(ours.values()))),
        "survival_class_only_best_control": max(float(np.mean(list(by.values()))) for by in rivals),
        "survival_class_only_after_five_folds": (sum(one[1] for one in folded) / max(sum(one[0] for one in folded), 1)),
    }
    title = f"The same facts, asked for by their class alone, percent, in 1/{SHARE} of the tokens"
    return metrics, BenchTable(title, ("method", *kinds, "all"), rows)


def _holds(context: OptimisedContext, fact: HiddenFact) -> bool:
    """Whether the value stands in what a model is given."""
    return any(fact.value in one.text for one in context.messages)


def _restore(memory: Memory, facts: list[HiddenFact]) -> float:
    """Milliseconds in which 95 % of single messages come back."""
    times = []
    for fact in facts:
        start = perf_counter()
        memory.conversation.restore(_NAME, f"#{fact.message}")
        times.append(1000.0 * (perf_counter() - start))
    return float(np.quantile(times, 0.95))


def _stable(said: list[dict[str, Any]], rig: MemoryRig) -> tuple[float, float]:
    """Mean share of what was sent before that stands unchanged, over the turns without a new plan; and the share of
    turns with one. The budget is a third of the whole.
    """
    from amgs.conversation.messages import read_messages

    messages = read_messages(said, STILL).messages
    counter = MessageCounter.of(rig.count_tokens)
    budget = sum(counter.cost(m) for m in messages) // 3
    plan, shares, anew, turns = "", [], 0, 0
    for stop in range(5, len(messages) + 1, 4):
        so_far = messages[:stop]
        found = optimise(
            "x", so_far, "", budget, "extractive", counter, partial(_nothing, stop), plan or f"{stop}:k1-{stop}"
        )
        plan, turns = found.plan, turns + 1
        anew += bool(found.replanned)
        if not found.replanned:
            shares.append(found.stable_prefix)
    return float(np.mean(shares)), anew / turns


def _nothing(size: int) -> list[float]:
    return [0.0] * size


def _torn(histories: int) -> tuple[int, int]:
    """Random histories whose context tears a call from its result, exceeds its budget or whose ledger does not sum; and
    those that no budget as drawn can hold.
    """
    torn = impossible = 0
    counter = MessageCounter()
    for seed in range(histories):
        messages, chance = history(seed), random.Random(seed)
        scores = [chance.random() for _ in messages]
        strategy = CONTEXT_STRATEGIES[seed % len(CONTEXT_STRATEGIES)]
        budget = chance.randint(10, 400)
        try:
            found = optimise("x", messages, "q", budget, strategy, counter, partial(list, scores))
        except ImpossibleBudgetError:
            impossible += 1
            continue
        torn += not whole(messages, found)
    return torn, impossible


def whole(messages: list[Message], found: OptimisedContext) -> bool:
    """Whether a context keeps what belongs together, its budget, and the sums of its ledger."""
    present = [one for one in found.messages if one.fate != "dropped"]
    made: set[str] = set()
    for one in present:
        made |= {call.id for call in one.calls}
        if one.role == "tool" and one.answers not in made:
            return False
    answered = {m.answers for m in messages if m.answers}
    sums = all(row.before - row.taken + row.added == row.after for row in found.ledger)
    chained = all(one.after == other.before for one, other in pairwise(found.ledger))
    whole_calls = (made & answered) == {one.answers for one in present if one.answers}
    return whole_calls and sums and chained and found.tokens <= found.budget and found.ledger[-1].after == found.tokens
