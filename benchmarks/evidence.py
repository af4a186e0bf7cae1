"""`evidence`: how much of what answers a question stands in a frame of so many tokens.

Evidence is the share of the characters of what answers, the mean over the parts of an answer and over questions. Beside
the frames: SESSION as the weights of AMGS §7.2 order it, and texts of as many tokens filled with what the search ranks
highest, BM25, the latest, random ones, and what answers (the ceiling). On conversations also what SESSION promises of
its questions, beside what it holds.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from amgs.frames import shipping
from amgs.frames.assemble import Assembled, FrameSection, Template, assemble
from amgs.frames.compare import jaccard
from amgs.memory import Memory
from amgs.types import Block, Candidate, ScoreParts, Span
from benchmarks import measures
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.coverage import ConversationNeeds, hold_promises, measure_needs
from benchmarks.questioned import AskedQuestion, QuestionedMemory, questioned_memories
from benchmarks.references import Bm25

BENCH = Bench(
    "evidence",
    {
        "evidence_session_614_locomo": (">=", 77.0),
        "evidence_session_614_realtalk": (">=", 57.0),
        "coverage_80_session_locomo_off": ("<=", 3.0),
        "coverage_80_wide_locomo_off": ("<=", 3.0),
        "coverage_90_wide_locomo_off": ("<=", 3.0),
        "coverage_95_wide_locomo_off": ("<=", 3.0),
    },
)
FRAMES = ("SESSION", "ATTENTION", "WORLD", "TASK", "REASONING")
DIFFERING = ("ATTENTION", "WORLD", "TASK")
BY_WEIGHTS, SEARCHED, BM25 = "SESSION by the weights", "the search's order, filled", "BM25, filled"
LATEST, RANDOM, CEILING = "the latest, filled", "at random, filled", "what answers, filled"
_CONSIDERED = 80
"""Texts of the whole memory that a control may write; many more than fit."""
_REFUSED = 5
"""So many that do not fit end a control: what is left fits hardly anything."""


def run(rig: MemoryRig, data: Path, budgets: Sequence[int], every: int = 1) -> BenchResult:
    """Measure the four corpora as far as a folder has them. every: one question in so many is asked."""
    found: dict[tuple[str, str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    tokens: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    shared: dict[tuple[str, int, str, str], list[float]] = defaultdict(list)
    needs: dict[str, list[dict[str, ConversationNeeds]]] = defaultdict(list)
    for one in questioned_memories(rig, data):
        asked = one.asked[::every]
        if one.conversation is not None:
            needs[one.corpus].append(measure_needs(one, asked, rig.seed))
        world = _World(one, rig.seed)
        for place, question in enumerate(asked):
            rig.progress(place, len(asked), f"{one.corpus} {question.group}")
            for budget in budgets:
                took: dict[str, frozenset[str]] = {}
                for name, text, spans, used in world.texts(question.text, question, budget):
                    took[name] = frozenset(span.block_id for span in spans if span.block_id)
                    share = evidence(text, spans, question, world.blocks)
                    found[one.corpus, name, budget][question.group].append(share)
                    tokens[one.corpus, name, budget].append(used)
                for pair in combinations(DIFFERING, 2):
                    shared[one.corpus, budget, *pair].append(jaccard(took[pair[0]], took[pair[1]]))
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for (corpus, name, budget), by in found.items():
        mean = 100.0 * float(np.mean([v for own in by.values() for v in own]))
        low, high = measures.interval({g: [100.0 * v for v in own] for g, own in by.items()}, seed=rig.seed)
        rows.append(
            (corpus, budget, name, mean, f"[{low:.1f}, {high:.1f}]", float(np.mean(tokens[corpus, name, budget])))
        )
        if name in FRAMES:
            metrics[f"evidence_{name.lower()}_{budget}_{corpus}"] = mean
    columns = ("corpus", "budget", "text", "evidence, percent", "95 %", "tokens")
    alike = tuple((*key, float(np.mean(values))) for key, values in shared.items())
    tables = [
        BenchTable("Evidence in a frame", columns, tuple(rows)),
        BenchTable("Blocks that two frames share", ("corpus", "budget", "frame", "other", "Jaccard"), alike),
    ]
    for corpus, own in needs.items():
        promised, table = hold_promises(corpus, own)
        metrics |= promised
        tables.append(table)
    return BENCH.result({"every": every}, metrics, tuple(tables))


class _World:
    """A memory, and the texts of it that a question is answered from."""

    def __init__(self, given: QuestionedMemory, seed: int) -> None:
        self._memory: Memory = given.memory
        self.blocks: Mapping[str, Block] = {one.id: one for one in given.blocks}
        self._ids = list(self.blocks)
        self._count = given.memory._context.count_tokens
        self._bm25 = Bm25([one.content for one in given.blocks])
        self._chance = random.Random(seed)
        ordered = [one for one in shipping.DEFAULTS if one.rule.order == "search"]
        for one in ordered:
            self._memory.define_frame(replace(one.weighed(one.weights), name=f"{one.name}_BY_WEIGHTS"))
        children = tuple(
            replace(c, name=f"{c.name}_BY_WEIGHTS" if any(c.name == one.name for one in ordered) else c.name)
            for c in shipping.SESSION.children
        )
        self._memory.define_frame(replace(shipping.SESSION, name="SESSION_BY_WEIGHTS", children=children))

    def texts(self, query: str, question: AskedQuestion, budget: int) -> Iterable[tuple[str, str, Sequence[Span], int]]:
        """Each text by its name, with its spans and tokens."""
        for name in (*FRAMES, "SESSION_BY_WEIGHTS"):
            made = self._memory.assemble(name, query=query, budget=budget, reinforce=False)
            yield BY_WEIGHTS if name not in FRAMES else name, made.text, made.spans, made.tokens
        scores = self._bm25.scores(query)
        hits = self._memory.search(query, top_k=_CONSIDERED).hits
        orders = {
            SEARCHED: [hit.block.id for hit in hits if hit.block.id in self.blocks],
            BM25: [self._ids[n] for n in np.argsort(-scores, kind="stable")[:_CONSIDERED].tolist()],
            LATEST: self._ids[::-1][:_CONSIDERED],
            RANDOM: self._chance.sample(self._ids, k=min(_CONSIDERED, len(self._ids))),
            CEILING: list(dict.fromkeys(wanted for wanted, _, _ in question.wanted)),
        }
        for name, order in orders.items():
            text = self._filled(query, order, budget)
            yield name, text.text, text.spans, self._count(text.text) if text.text else 0

    def _filled(self, query: str, order: Sequence[str], budget: int) -> Assembled:
        """The first of an order that fit whole, as a frame writes them."""
        now = self._memory.clock.now()
        template = Template("template", "TEXT", query, now)
        chosen: list[Candidate] = []
        made, refused = Assembled("", ()), 0
        for one in order:
            trial = [*chosen, Candidate(self.blocks[one], ScoreParts(), 0.0)]
            tried = assemble(template, [FrameSection("", tuple(trial))], self._count)
            if self._count(tried.text) <= budget:
                chosen, made = trial, tried
            elif (refused := refused + 1) == _REFUSED:
                break
        return made


def evidence(text: str, spans: Sequence[Span], question: AskedQuestion, blocks: Mapping[str, Block]) -> float:
    """The share of what answers that stands in a text, each part alike. blocks: by id."""
    return float(np.mean([_standing(text, spans, blocks[wanted[0]], wanted) for wanted in question.wanted]))


def _standing(text: str, spans: Sequence[Span], block: Block, wanted: tuple[str, int, int]) -> float:
    there = np.zeros(len(block.content), dtype=np.bool_)
    after = 0
    for span in spans:
        place = block.content.find(text[span.start : span.end], after) if span.block_id == block.id else -1
        if place >= 0:
            after = place + span.end - span.start
            there[place:after] = True
    return float(there[wanted[1] : wanted[2]].mean())
