"""What of the evidence stays when a seventh of a conversation does; no language model is involved.

For every question the context is optimised to a seventh of the conversation's tokens, marks of gaps and what is kept
whatever the query is counted in. Beside it, at the same tokens without marks: a random choice, the latest messages, and
BM25 with neighbours or spread over a topic, greedily; and our own masking of tool outputs, which these conversations
have none of. The other strategies are asked every fourth question. What they cite counts by the sentences that stand
there, word for word; of LoCoMo and REALTALK, whose evidence is a turn, only a turn with all of its sentences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.material import MessageCounter
from amgs.conversation.messages import number_sessions
from amgs.conversation.relevance import spread
from amgs.memory import Memory
from amgs.text.prose import units
from amgs.types.conversation import ContextStrategy, Message, OptimisedContext
from benchmarks import measures
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation import evidence_data
from benchmarks.conversation.evidence_data import EvidenceQuestion, QuestionedConversation
from benchmarks.references import Bm25, with_neighbours

SHARE = 7
GOALS: Mapping[str, tuple[Comparator, float]] = {
    "evidence_kept_7_locomo": (">=", 92.0),
    "evidence_kept_7_realtalk": (">=", 82.0),
    "evidence_kept_7_qmsum": (">=", 62.0),
}
OURS, MASK, RANDOM, RECENT = "amgs", "masking", "random", "recent"
NEIGHBOURS, TOPIC = "BM25 + neighbours", "BM25 over a topic"
_SAMPLED: tuple[ContextStrategy, ...] = ("hybrid", "levels")
_EVERY = 4
_WIDER = 6
"""Turns on either side over which BM25 is smoothed on meetings, whose turns are fragments."""
_HALF = 0.5
"""Topics on either side over which BM25 is spread as our own evidence is: what the reach alone gives."""


@dataclass
class _Kept:
    """Percent of the evidence kept by method and conversation; times of `optimise` in milliseconds."""

    by_method: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    milliseconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)
    messages: int = 0

    def mean(self, method: str) -> float:
        return float(np.mean([one for many in self.by_method[method].values() for one in many]))


def measure_evidence(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Measure the corpora that a folder has; None where it has none."""
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for name in ("locomo", "realtalk", "qmsum"):
        conversations = evidence_data.read(data, name)
        if not conversations:
            continue
        kept = _Kept()
        for place, one in enumerate(conversations):
            rig.progress(place, len(conversations), f"{name} {one.name}")
            with evidence_data.opened_conversation(one, rig) as memory:
                _measure(one, memory, kept, rig.seed, by_tokens=name == "qmsum")
        metrics[f"evidence_kept_7_{name}"] = kept.mean(OURS)
        metrics |= {
            f"evidence_{name}_{_word(method)}": kept.mean(method) for method in kept.by_method if method != OURS
        }
        metrics[f"evidence_{name}_p50_ms"] = float(np.median(kept.milliseconds))
        metrics[f"evidence_{name}_p95_ms"] = float(np.quantile(kept.milliseconds, 0.95))
        metrics[f"evidence_{name}_cpu_p50_ms"] = float(np.median(kept.processor))
        rows += _rows(name, kept)
    if not rows:
        return None
    columns = ("corpus", "method", "conversations", "questions", "evidence kept", "95 %")
    table = BenchTable(f"Evidence kept in 1/{SHARE} of the tokens, percent", columns, tuple(rows))
    return SubjectResult(metrics, GOALS, (table,))


def _measure(one: QuestionedConversation, memory: Memory, kept: _Kept, seed: int, *, by_tokens: bool) -> None:
    messages = memory.conversation.show(one.name)
    counter = MessageCounter.of(memory._opened.count_tokens)
    costs = np.array([counter.cost(message) for message in messages])
    budget = int(costs.sum()) // SHARE
    weights = costs.astype(np.float64) if by_tokens else np.ones(costs.size)
    others = _controls(messages, costs, budget, seed, wide=by_tokens)
    kept.messages += len(messages)
    memory.conversation.optimise(one.name, "a first question opens the indexes", budget=budget)
    for place, question in enumerate(one.questions):
        wanted = np.zeros(costs.size, dtype=np.bool_)
        wanted[[number - 1 for number in question.evidence]] = True
        start, worked = perf_counter(), process_time()
        found = memory.conversation.optimise(one.name, question.text, budget=budget)
        kept.milliseconds.append(1000.0 * (perf_counter() - start))
        kept.processor.append(1000.0 * (process_time() - worked))
        kept.used.append(found.tokens / budget)
        masked = memory.conversation.optimise(one.name, question.text, budget=budget, strategy="mask")
        there: dict[str, NDArray[Any]] = {
            OURS: _whole(found, costs.size),
            MASK: _whole(masked, costs.size),
            **{name: method(question) for name, method in others.items()},
        }
        for strategy in _SAMPLED if place % _EVERY == 0 else ():
            cut = memory.conversation.optimise(one.name, question.text, budget=budget, strategy=strategy)
            stands = _standing(cut, messages)
            there[strategy] = stands if by_tokens else np.floor(stands)
        for name, held in there.items():
            share = 100.0 * float((weights * held)[wanted].sum() / weights[wanted].sum())
            kept.by_method[name][one.name].append(share)


def _whole(context: OptimisedContext, size: int) -> NDArray[np.bool_]:
    """(n,) which messages stand in a context as they were said."""
    held = np.zeros(size, dtype=np.bool_)
    held[[one.numbers[0] - 1 for one in context.messages if one.fate == "kept"]] = True
    return held


def _standing(context: OptimisedContext, messages: Sequence[Message]) -> NDArray[np.float64]:
    """(n,) in [0, 1], how much of each message stands in a context word for word, by the signs of its sentences."""
    held = _whole(context, len(messages)).astype(np.float64)
    for one in context.messages:
        for number in one.cited:
            text = messages[number - 1].text
            told = [" ".join(text[start:end].split()) for start, end in units(text)]
            size = sum(map(len, told))
            held[number - 1] = sum(len(each) for each in told if each in one.text) / max(size, 1)
    return held


def _controls(
    messages: Sequence[Message], costs: NDArray[np.int64], budget: int, seed: int, *, wide: bool
) -> dict[str, Callable[[EvidenceQuestion], NDArray[np.bool_]]]:
    chance = np.random.default_rng(seed)
    bm25 = Bm25([f"{m.speaker}: {m.text}" for m in messages])
    of_session = [str(number) for number in number_sessions(messages)]
    latest = np.arange(costs.size, dtype=np.float64)

    def neighbours(question: EvidenceQuestion) -> NDArray[np.bool_]:
        scores = bm25.scores(question.text)
        around = _smoothed(scores, _WIDER) if wide else with_neighbours(scores, of_session)
        return greedy(around, costs, budget)

    return {
        RANDOM: lambda _: greedy(chance.random(costs.size), costs, budget),
        RECENT: lambda _: greedy(latest, costs, budget),
        NEIGHBOURS: neighbours,
        TOPIC: lambda question: greedy(
            spread(bm25.scores(question.text), number_sessions(messages), _HALF, _HALF), costs, budget
        ),
    }


def greedy(scores: NDArray[np.float64], costs: NDArray[np.int64], budget: int) -> NDArray[np.bool_]:
    """(n,) what is kept of messages in falling score, until one does not fit."""
    order = np.argsort(-scores, kind="stable")
    held = np.zeros(costs.size, dtype=np.bool_)
    held[order[: int(np.searchsorted(np.cumsum(costs[order]), budget, side="right"))]] = True
    return held


def _smoothed(scores: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """(n,) the mean of so many scores on either side."""
    return np.convolve(scores, np.ones(2 * reach + 1) / (2 * reach + 1), mode="same")


def _word(method: str) -> str:
    return {NEIGHBOURS: "bm25_neighbours", TOPIC: "bm25_topic"}.get(method, method)


def _rows(corpus: str, kept: _Kept) -> Iterator[tuple[str | float, ...]]:
    for method, by_conversation in kept.by_method.items():
        low, high = measures.interval(by_conversation)
        size = sum(map(len, by_conversation.values()))
        yield corpus, method, str(len(by_conversation)), str(size), kept.mean(method), f"{low:.1f}–{high:.1f}"
