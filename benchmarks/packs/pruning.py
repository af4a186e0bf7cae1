"""How much of what supports an answer stays when 1/6.3 of a pack's tokens do.

The paragraphs of a question are a pack among those of all questions. HotpotQA names the sentences that support an
answer, MuSiQue the paragraphs, which are kept or left out as one. A unit costs its own tokens. The others are random,
BM25 over a title and a sentence, the same with the words of the best one (two hops), and the evidence of the search for
the paragraph; the ceiling takes what supports first. Beside them what `pack use --prune` writes in as many tokens, of
which citations and marks are part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from amgs.identity import block_id
from amgs.memory import Memory
from amgs.wings.packs.engine.pruning import PackSentence, choose
from amgs.wings.packs.engine.sentence_relevance import WEIGHTS, SearchRelevance, SentenceWords, sentence_title
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.questioned import PruningQuestion, read_questions
from benchmarks.stores import STILL, drafts_store

Floats = NDArray[np.float64]
SHARE = 6.3
GOALS: Mapping[str, tuple[Comparator, float]] = {
    "pruning_hotpotqa_kept": (">=", 90.0),
    "pruning_musique_kept": (">=", 60.0),
}
OURS, FITTED_BEYOND, FITTED_HALVES = "amgs", "fitted on the other set", "fitted on the other half"
RANDOM, EVIDENCE, CEILING, WRITTEN = "random", "search evidence", "ceiling", "as `pack use --prune` writes it"
LEXICAL = {"BM25": "alone", "BM25, two hops": "words"}
_DRAWS = 10
_RIDGE = 1.0
Columns = Mapping[str, Floats]


class AskedUnits:
    """A question with its columns and what it costs to keep a unit."""

    def __init__(
        self, question: PruningQuestion, columns: Columns, costs: NDArray[np.int64], units: Sequence[PackSentence]
    ) -> None:
        self.question, self.units = question, units
        self.wanted = np.array([unit.supports for unit in question.units])
        self.columns, self.costs = columns, costs
        self.matrix = np.stack([columns[name] for name in WEIGHTS], axis=1)

    def kept(self, worths: Floats) -> float:
        """Percent of what supports the answer that stays."""
        return 100.0 * float(self.held(worths)[self.wanted].mean())

    def held(self, worths: Floats) -> NDArray[np.bool_]:
        """(n,) the units that stay."""
        nothing = np.zeros(worths.size, dtype=np.int64)
        return choose(worths, self.costs, nothing, nothing[:1], int(self.costs.sum() / SHARE))


def measure_pruning(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Measure the sets that a folder has; None where it has none."""
    asked: dict[str, list[AskedUnits]] = {}
    written: dict[str, list[float]] = defaultdict(list)
    seconds: dict[str, float] = {}
    for name in ("hotpotqa", "musique"):
        questions = [one for one in read_questions(data, name) if any(u.supports for u in one.units)]
        if not questions:
            continue
        drafts = {block_id(draft.content): draft for one in questions for draft in one.paragraphs}
        with drafts_store(drafts.values(), STILL, rig.embedder) as memory:
            started = process_time()
            asked[name] = [ask(memory, one, rig.count_tokens) for one in questions]
            tokens = sum(int(one.costs.sum()) for one in asked[name])
            seconds[name] = (process_time() - started) / tokens * 512
            for place, one in enumerate(questions):
                rig.progress(place, len(questions), f"pruning {name}")
                written[name].append(_as_written(memory, one, int(asked[name][place].costs.sum() / SHARE)))
    if not asked:
        return None
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for name, many in asked.items():
        others = [one for other, each in asked.items() if other != name for one in each]
        for method, shares in _by_method(many, others, rig.seed):
            metrics[f"pruning_{name}_{_word(method)}"] = float(np.mean(shares))
            rows.append(row_of(name, method, shares, rig.seed))
        metrics[f"pruning_{name}_written"] = float(np.mean(written[name]))
        metrics[f"pruning_{name}_seconds_512"] = seconds[name]
        rows.append(row_of(name, WRITTEN, written[name], rig.seed))
    columns = ("set", "method", "questions", "kept", "95 %", "all of it")
    table = BenchTable("What supports the answer in 1/6.3 of the tokens, percent", columns, tuple(rows))
    return SubjectResult(metrics, {k: v for k, v in GOALS.items() if k in metrics}, (table,))


def ask(memory: Memory, question: PruningQuestion, count_tokens: Callable[[str], int]) -> AskedUnits:
    """What a memory that holds the paragraphs knows of a question."""
    context = memory.packs._context
    ids = [block_id(draft.content) for draft in question.paragraphs]
    held = context.storage.blocks.get(ids)
    units = [PackSentence(held[ids[u.paragraph]], u.start, u.end) for u in question.units]
    costs = np.array([count_tokens(one.text) for one in units], dtype=np.int64)
    with context.derived.searching() as sources:
        relevance = SearchRelevance(sources, context.storage.blocks.numbers_of(ids))
        columns = dict(relevance.features(question.text, units))
        texts = [f"{sentence_title(one)} {one.text}" for one in units]
        columns["alone"] = SentenceWords(texts, sources.keyword).scores(question.text)
    return AskedUnits(question, columns, costs, units)


def _as_written(memory: Memory, question: PruningQuestion, budget: int) -> float:
    """Percent of what supports the answer that stands in the text of a reading, word for word."""
    ids = list(dict.fromkeys(block_id(draft.content) for draft in question.paragraphs))
    memory.packs.keep("paragraphs", blocks=ids, keywords=["paragraph"])
    text = " ".join(memory.packs.use("paragraphs", question.text, budget=budget, prune=True, log=False).text.split())
    wanted = [
        " ".join(question.paragraphs[u.paragraph].content[u.start : u.end].split())
        for u in question.units
        if u.supports
    ]
    return 100.0 * float(np.mean([one in text for one in wanted]))


def _by_method(
    asked: Sequence[AskedUnits], others: Sequence[AskedUnits], seed: int
) -> Iterator[tuple[str, list[float]]]:
    """Each method and what it keeps, question by question."""
    chance = np.random.default_rng(seed)
    yield (RANDOM, [float(np.mean([one.kept(chance.random(one.costs.size)) for _ in range(_DRAWS)])) for one in asked])
    for name, column in LEXICAL.items():
        yield name, [one.kept(one.columns[column]) for one in asked]
    tie = 1e-3
    yield EVIDENCE, [one.kept(one.columns["evidence"] + tie * one.columns["alone"]) for one in asked]
    shipped = np.array(list(WEIGHTS.values()))
    yield OURS, [one.kept(one.matrix @ shipped) for one in asked]
    if others:
        weights = _fitted(others)
        yield FITTED_BEYOND, [one.kept(one.matrix @ weights) for one in asked]
    if len(asked) > 1:
        halves = [_fitted(asked[1::2]), _fitted(asked[0::2])]
        yield FITTED_HALVES, [one.kept(one.matrix @ halves[place % 2]) for place, one in enumerate(asked)]
    yield CEILING, [one.kept(one.wanted.astype(np.float64)) for one in asked]


def _fitted(asked: Sequence[AskedUnits]) -> Floats:
    """(k,) a ridge on whether a unit supports the answer, every question counting the same."""
    rows = np.concatenate([(one.matrix - one.matrix.mean(axis=0)) / np.sqrt(len(one.matrix)) for one in asked])
    aims = np.concatenate([(one.wanted - one.wanted.mean()) / np.sqrt(one.wanted.size) for one in asked])
    return np.asarray(np.linalg.solve(rows.T @ rows + _RIDGE * np.eye(rows.shape[1]), rows.T @ aims))


def row_of(name: str, method: str, shares: Sequence[float], seed: int) -> tuple[str | float, ...]:
    """What is kept, in percent, of each question, with the interval of its mean, and how often that is all."""
    chance = np.random.default_rng(seed)
    drawn = chance.choice(np.array(shares), (1000, len(shares))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    whole = 100.0 * float(np.mean([one >= 100.0 - 1e-9 for one in shares]))
    return name, method, str(len(shares)), float(np.mean(shares)), f"{low:.1f}–{high:.1f}", whole


def _word(method: str) -> str:
    known = {OURS: "kept", FITTED_BEYOND: "fitted_beyond", FITTED_HALVES: "fitted_halves", EVIDENCE: "evidence"}
    return known.get(method, method.lower().replace(", ", "_").replace(" ", "_"))
