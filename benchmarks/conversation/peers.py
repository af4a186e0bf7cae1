"""What others print of a shortened conversation, each beside a random seventh.

The ratio, the "semantic preservation" `(cosine + 1) / 2` and the recall of entities say little: a random choice of
messages reaches them as well, while a question about what was said finds its evidence in one of seven. So they are
printed, held against no goal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.keeping import sessions
from amgs.conversation.tokens import MessageCounter
from amgs.memory import Memory
from amgs.text.entities import RuleRecogniser
from benchmarks.bench_results import BenchTable
from benchmarks.conversation import evidence_data
from benchmarks.conversation.evidence import SHARE, greedy
from benchmarks.conversation.evidence_data import QuestionedConversation
from benchmarks.references import Bm25, with_neighbours
from benchmarks.rig import MemoryRig
from benchmarks.stores import BenchClock
from benchmarks.subject import SubjectResult

_CONVERSATIONS, _QUESTIONS = 2, 20
"""Of each corpus: whose shortened forms are compared with the whole."""
_WORD = re.compile(r"\w+")

Held = NDArray[np.bool_]
"""(n,): which messages stand in a context as they were said."""


def measure_peers(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Measure `locomo/` and `realtalk/`; None where there are none."""
    corpora = {name: evidence_data.read(data, name) for name in ("locomo", "realtalk")}
    if not any(corpora.values()):
        return None
    metrics: dict[str, float] = {}
    figures: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for name, conversations in corpora.items():
        for place, one in enumerate(conversations[:_CONVERSATIONS]):
            rig.progress(place, _CONVERSATIONS, f"peers, {name} {one.name}")
            for method, found in _compared(one, rig):
                figures[method].append(found)
    columns = (
        "method",
        "ratio",
        "preservation, terms",
        "preservation, encoder",
        "entity recall",
        "evidence kept",
    )
    rows = tuple((method, *np.mean(found, axis=0).tolist()) for method, found in figures.items())
    for method, _, terms, encoder, entities, kept in rows:
        word = str(method).replace(" + ", "_").replace(" ", "_").lower()
        metrics |= {f"seed_preservation_{word}": terms, f"seed_preservation_encoder_{word}": encoder}
        metrics |= {f"seed_entity_recall_{word}": entities, f"seed_evidence_{word}": kept}
    title = (
        f"What others print, of 1/{SHARE} of {sum(len(c[:_CONVERSATIONS]) for c in corpora.values())} conversations, "
        f"{_QUESTIONS} questions each"
    )
    return SubjectResult(metrics, tables=(BenchTable(title, columns, rows),))


def _compared(one: QuestionedConversation, rig: MemoryRig) -> Iterator[tuple[str, tuple[float, ...]]]:
    """(method, ratio, preservation by terms and by the encoder, entity recall, evidence kept) for each question."""
    with Memory.open(
        ":memory:", clock=BenchClock(one.now), embedder=rig.embedder, count_tokens=rig.count_tokens
    ) as memory:
        memory.conversation.add(one.name, one.messages)
        memory.apply_consolidation(memory.plan_consolidation())
        messages = memory.conversation.show(one.name)
        counter = MessageCounter.of(rig.count_tokens)
        costs = np.array([counter.cost(message) for message in messages])
        budget = int(costs.sum()) // SHARE
        texts = [f"{m.speaker}: {m.text}" for m in messages]
        bm25, of_session = Bm25(texts), [str(number) for number in sessions(messages)]
        figures = _Figures(texts, rig)
        chance = np.random.default_rng(rig.seed)
        step = max(1, len(one.questions) // _QUESTIONS)
        for question in one.questions[::step][:_QUESTIONS]:
            found = memory.conversation.optimise(one.name, question.text, budget=budget)
            ours = np.zeros(costs.size, dtype=np.bool_)
            ours[[m.numbers[0] - 1 for m in found.messages if m.fate == "kept"]] = True
            scores = with_neighbours(bm25.scores(question.text), of_session)
            wanted = np.array(sorted(question.evidence)) - 1
            for method, held in {
                "amgs": ours,
                "BM25 + neighbours": greedy(scores, costs, budget),
                "random": greedy(chance.random(costs.size), costs, budget),
                "recent": greedy(np.arange(float(costs.size)), costs, budget),
            }.items():
                ratio = float(costs.sum() / max(1, costs[held].sum()))
                yield method, (ratio, *figures.of(held), 100.0 * float(held[wanted].mean()))


class _Figures:
    """The figures of parts of one conversation. texts: of its messages."""

    def __init__(self, texts: Sequence[str], rig: MemoryRig) -> None:
        self._texts, self._embedder = texts, rig.embedder
        words = [_WORD.findall(text.lower()) for text in texts]
        numbers = {
            word: number for number, word in enumerate(dict.fromkeys(w for said in words for w in said))
        }
        self._terms = np.zeros((len(texts), len(numbers)))
        for place, said in enumerate(words):
            np.add.at(self._terms[place], [numbers[word] for word in said], 1.0)
        self._named = [frozenset(e.text for e in found) for found in RuleRecogniser().recognise(texts)]
        self._whole = self._embedder.embed(["\n".join(texts)])[0]

    def of(self, held: Held) -> tuple[float, float, float]:
        """(preservation by term vectors, by the encoder of what it reads of both, recall of entities in percent)."""
        part, whole = self._terms[held].sum(axis=0), self._terms.sum(axis=0)
        terms = float(part @ whole / max(1e-9, float(np.linalg.norm(part) * np.linalg.norm(whole))))
        kept = np.flatnonzero(held)
        read = self._embedder.embed(["\n".join(self._texts[int(place)] for place in kept)])[0]
        every = frozenset().union(*self._named)
        there = frozenset().union(*(self._named[int(place)] for place in kept))
        recall = 100.0 * len(there) / max(1, len(every))
        return (terms + 1.0) / 2.0, (float(read @ self._whole) + 1.0) / 2.0, recall
