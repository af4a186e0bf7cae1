"""Routing: how much of what answers a question stands in the packs that it is given, whole, in 512 and 1,024 tokens.

A pack is six messages of a session in a row of LoCoMo or REALTALK, cut without a look at any question.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from amgs.conversation.keeping import sessions
from amgs.memory import Memory
from amgs.wings.packs.engine.routing import Facets, RouteItem, route
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation import evidence_data
from benchmarks.conversation.evidence_data import QuestionedConversation, opened_conversation
from benchmarks.measures import grouped, interval

BUDGETS = (512, 1024)
OURS = "amgs"
_ROW = 6
RESAMPLES = 1_000
GOALS: Mapping[str, tuple[Comparator, float]] = {"routing_ahead_of_best": (">=", 0.0)}

Choice = Callable[[Facets, int], list[str]]


def measure_routing(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Recall of the evidence by method and budget; None where there are no dialogues."""
    by: dict[tuple[str, int, str], list[tuple[str, float]]] = {}
    for corpus in ("locomo", "realtalk"):
        conversations = evidence_data.read(data, corpus)
        for place, one in enumerate(conversations):
            rig.progress(place, len(conversations), f"{corpus} {one.name}")
            for budget, method, recall in _measured(one, rig):
                by.setdefault((corpus, budget, method), []).append((one.name, recall))
    if not by:
        return None
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    least = []
    for (corpus, budget, method), found in by.items():
        ours = [recall for _, recall in by[corpus, budget, OURS]]
        gain = [a - b for a, (_, b) in zip(ours, found, strict=True)]
        low, high = interval(grouped([name for name, _ in found], gain), draws=RESAMPLES)
        mean = 100.0 * float(np.mean([recall for _, recall in found]))
        rows.append((corpus, budget, method, len(found), mean, f"[{100 * low:+.1f}, {100 * high:+.1f}]"))
        if method == OURS:
            metrics[f"routing_recall_{corpus}_{budget}"] = mean
        else:
            metrics[f"routing_{corpus}_{budget}_{method.split(',')[0].replace(' ', '_')}"] = mean
            least += [low] if method in _BESIDE else []
    metrics["routing_ahead_of_best"] = 100.0 * min(least)
    columns = ("corpus", "tokens", "method", "questions", "evidence, percent", "amgs less it, 95 %")
    return SubjectResult(metrics, GOALS, (BenchTable("Evidence in the packs of a question", columns, tuple(rows)),))


def _filled(items: Sequence[RouteItem], budget: int) -> list[str]:
    chosen, used = [], 0
    for one in items:
        if used + one.tokens <= budget:
            chosen.append(one.id)
            used += one.tokens
    return chosen


def _best_member(given: Facets, budget: int) -> list[str]:
    """The packs with the likeliest messages, whatever else is chosen and whatever they cost."""
    shares = np.array(given.shares)
    best = {one.id: float((shares * np.array(one.covers)).max(initial=0.0)) for one in given.items}
    return _filled(sorted(given.items, key=lambda one: (-best[one.id], one.id)), budget)


METHODS: Mapping[str, Choice] = {
    OURS: lambda given, budget: [one.id for one in route(given.items, given.shares, budget).chosen],
    "likeliest message, redundancy ignored": _best_member,
}
_BESIDE = tuple(name for name in METHODS if name != OURS)


def _measured(one: QuestionedConversation, rig: MemoryRig) -> list[tuple[int, str, float]]:
    with opened_conversation(one, rig) as memory:
        pack_of = packed(one, memory)
        found: list[tuple[int, str, float]] = []
        chance = random.Random(rig.seed)
        for question in one.questions:
            wanted = [pack_of.get(number, "") for number in question.evidence]
            given, *_ = memory.packs._facets(question.text)
            mixed = sorted(given.items, key=lambda one: one.id)
            chance.shuffle(mixed)
            for budget in BUDGETS:
                chosen = {name: choose(given, budget) for name, choose in METHODS.items()}
                chosen["at random"] = _filled(mixed, budget)
                for name, ids in chosen.items():
                    found.append((budget, name, sum(pack in ids for pack in wanted) / len(wanted)))
    return found


def packed(one: QuestionedConversation, memory: Memory) -> dict[int, str]:
    """Keep rows of messages as packs; the pack of each message by its number."""
    stored = memory._opened.storage.messages.held(one.name)
    pack_of: dict[int, str] = {}
    numbers = sessions([each.message for each in stored])
    row: list[int] = []
    for place, each in enumerate(stored):
        row.append(place)
        last = place + 1 == len(stored) or numbers[place + 1] != numbers[place]
        if len(row) == _ROW or last:
            name = f"row {each.message.number:05d}"
            blocks = [block for n in row for block in stored[n].blocks]
            if blocks:
                memory.packs.keep(name, blocks=blocks)
                pack_of |= {stored[n].message.number: name for n in row}
            row = []
    return pack_of
