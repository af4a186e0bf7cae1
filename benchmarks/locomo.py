"""`locomo`: turn-level retrieval on conversations in LoCoMo's format, protocol turn-R.

One store a conversation, a block a turn, the question verbatim as the query, the evidence as what is
relevant; no language model. The reference methods run beside ours on the same blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from amgs.memory import Memory
from amgs.text.embedding import Embedder
from amgs.text.language_model import approximate_tokens
from amgs.types import LAYERS, SearchResult
from benchmarks import measures
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.fit import ObservedQuestion, ranking_weights
from benchmarks.locomo_data import ADVERSARIAL, CATEGORIES, MULTI_HOP, Conversation, read_folder
from benchmarks.references import Bm25, fused_ranks, with_neighbours
from benchmarks.stores import SourcedQuestion, block_ids, conversation_store

BENCH = Bench(
    "locomo",
    {
        "recall10_c14": (">=", 79.0),
        "recall10_all": (">=", 84.0),
        "recall10_multihop": (">=", 54.0),
        "abstain_auroc": (">=", 0.75),
        "query_p50_ms": ("<=", 30.0),
    },
)
OURS = "amgs"
DEPTHS = (1, 5, 10, 20)
_DEEPEST = max(DEPTHS)
_FINDERS = tuple(layer for layer in LAYERS if layer not in ("prefilter", "score"))
_ANSWERED = tuple(category for category in CATEGORIES if category != ADVERSARIAL)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one method made of one question: block ids, the best first; at least as deep as is measured."""

    conversation: str
    category: int
    relevant: tuple[frozenset[str], ...]
    ranked: tuple[str, ...]


@dataclass
class LocomoMeasurements:
    """Everything noted on the way: rankings by method, latency, tokens, and signs of abstention."""

    rankings: dict[str, list[Ranking]] = field(default_factory=lambda: defaultdict(list))
    milliseconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    answerable: list[float] = field(default_factory=list)
    top: list[float] = field(default_factory=list)
    adversarial: list[bool] = field(default_factory=list)
    seen: dict[str, list[ObservedQuestion]] = field(default_factory=dict)
    ids: dict[str, list[NDArray[np.object_]]] = field(default_factory=dict)


def run(rig: MemoryRig, data: Path, *, ablate: bool = True) -> BenchResult:
    """Measure a folder of conversations; raises InputError when it holds none."""
    conversations = read_folder(data)
    measured = LocomoMeasurements()
    for place, conversation in enumerate(conversations):
        rig.progress(place, len(conversations), f"conversation {conversation.name}")
        with conversation_store(conversation, rig.embedder) as memory:
            _measure(conversation, memory, rig.embedder, measured, ablate=ablate)
    _leave_out(measured)
    return _result(conversations, measured, rig.embedder)


# --- one conversation -------------------------------------------------------------------------------------


def _measure(
    conversation: Conversation, memory: Memory, embedder: Embedder, measured: LocomoMeasurements, *, ablate: bool
) -> None:
    others = _references(conversation, memory, embedder)
    measured.seen[conversation.name], measured.ids[conversation.name] = [], []
    memory.search("a first question pays for opening the indexes")
    for question in conversation.questions:
        relevant = tuple(block_ids(memory, question.evidence))
        start, worked = perf_counter(), process_time()
        found = memory.search(question.text, top_k=_DEEPEST)
        measured.milliseconds.append(1000.0 * (perf_counter() - start))
        measured.processor.append(1000.0 * (process_time() - worked))
        ranked = {OURS: [hit.block.id for hit in found.hits]}
        ranked |= {name: method(question.text) for name, method in others.items()}
        if ablate:
            ranked |= {name: _ids(memory, question.text, layers) for name, layers in _variants().items()}
        for name, best in ranked.items():
            made = Ranking(conversation.name, question.category, relevant, tuple(best[:_DEEPEST]))
            measured.rankings[name].append(made)
        gathered = memory.gather(question.text)
        _note_search(found, gathered.answerable, question.category, measured)
        if gathered.evidence is not None:
            wanted = frozenset().union(*relevant)
            ids = gathered.scored.facts.ids
            label = SourcedQuestion(
                question.text, str(question.category), question.evidence, question.category != ADVERSARIAL
            )
            held = np.array([str(i) in wanted for i in ids], dtype=np.bool_)
            measured.seen[conversation.name].append(ObservedQuestion(label, gathered.evidence, held, len(wanted)))
            measured.ids[conversation.name].append(ids)


def _note_search(found: SearchResult, answerable: float | None, category: int, measured: LocomoMeasurements) -> None:
    measured.tokens.append(sum(approximate_tokens(hit.block.content) for hit in found.hits[:10]))
    measured.answerable.append(answerable or 0.0)
    measured.top.append(found.hits[0].score if found.hits else 0.0)
    measured.adversarial.append(category == ADVERSARIAL)


def _references(
    conversation: Conversation, memory: Memory, embedder: Embedder
) -> dict[str, Callable[[str], list[str]]]:
    """The reference methods over the same turns; each gives block ids, the best first."""
    sources = [str(draft.meta["source"]) for draft in conversation.drafts]
    ids = [memory.resolve_source(source)[0] for source in sources]
    sessions = [source.split("#")[0] for source in sources]
    bm25 = Bm25([draft.content for draft in conversation.drafts])
    vectors = {i: memory.block(i).embedding for i in dict.fromkeys(ids)}
    nothing = np.zeros(embedder.dimension, dtype=np.float32)
    matrix = np.stack([nothing if (v := vectors[i]) is None else v for i in ids])

    def cosines(query: str) -> NDArray[np.float64]:
        return np.asarray(matrix @ embedder.embed([query])[0], dtype=np.float64)

    def ranked(scores: NDArray[np.float64]) -> list[str]:
        return list(dict.fromkeys(ids[row] for row in np.argsort(-scores, kind="stable")))

    return {
        "BM25": lambda q: ranked(bm25.scores(q)),
        "BM25 + neighbours": lambda q: ranked(with_neighbours(bm25.scores(q), sessions)),
        "MiniLM": lambda q: ranked(cosines(q)),
        "fusion of both": lambda q: ranked(fused_ranks(bm25.scores(q), cosines(q))),
    }


def _variants() -> dict[str, tuple[str, ...]]:
    """The waterfall with a layer switched off, and with one alone."""
    without = {f"without {off}": tuple(each for each in _FINDERS if each != off) for off in _FINDERS}
    return without | {f"{only} alone": (only,) for only in _FINDERS if only != "fuzzy"}


def _ids(memory: Memory, query: str, layers: Sequence[str]) -> list[str]:
    scored = memory.gather(query, layers=layers).scored
    return [str(scored.facts.ids[row]) for row in scored.order[:_DEEPEST]]


# --- weights that never saw the conversation --------------------------------------------------------------


def _leave_out(measured: LocomoMeasurements) -> None:
    """Rank every conversation with weights fitted on the others alone."""
    if len(measured.seen) < 2:
        return
    for name, seen in measured.seen.items():
        rest = [one for other, many in measured.seen.items() if other != name for one in many]
        weights = ranking_weights(rest)
        answered = iter(r for r in measured.rankings[OURS] if r.conversation == name)
        for one, ids, ours in zip(seen, measured.ids[name], answered, strict=False):
            order = np.argsort(-(one.evidence.values @ weights), kind="stable")[:_DEEPEST]
            left_out = Ranking(name, ours.category, ours.relevant, tuple(str(ids[row]) for row in order))
            measured.rankings[f"{OURS}, left out"].append(left_out)


# --- the result -------------------------------------------------------------------------------------------


def _result(conversations: Sequence[Conversation], measured: LocomoMeasurements, embedder: Embedder) -> BenchResult:
    ours, times = measured.rankings[OURS], np.array(measured.milliseconds)
    truth = ~np.array(measured.adversarial)
    neighbours = measured.rankings["BM25 + neighbours"]
    metrics = {
        "recall10_c14": _mean(ours, _ANSWERED),
        "recall10_all": _mean(ours, tuple(CATEGORIES)),
        "recall10_multihop": _mean(ours, (MULTI_HOP,)),
        "abstain_auroc": measures.auroc(measured.answerable, truth),
        "query_p50_ms": float(np.median(times)),
        "ref_bm25_neighbours_c14": _mean(neighbours, _ANSWERED),
        "ref_bm25_neighbours_all": _mean(neighbours, tuple(CATEGORIES)),
        "query_p95_ms": float(np.quantile(times, 0.95)),
        "query_cpu_p50_ms": float(np.median(measured.processor)),
        "tokens10": float(np.mean(measured.tokens)),
        "abstain_auroc_top_score": measures.auroc(measured.top, truth),
    }
    left_out = measured.rankings.get(f"{OURS}, left out")
    if left_out:
        metrics |= {
            "recall10_c14_left_out": _mean(left_out, _ANSWERED),
            "recall10_all_left_out": _mean(left_out, tuple(CATEGORIES)),
            "recall10_multihop_left_out": _mean(left_out, (MULTI_HOP,)),
        }
    settings = {
        "conversations": [conversation.name for conversation in conversations],
        "turns": sum(len(conversation.drafts) for conversation in conversations),
        "questions": len(ours),
        "embedder": embedder.name,
        "left_out": "weights fitted on the other conversations of this folder alone",
    }
    tables = (_by_category(ours), _by_method(measured.rankings))
    return BENCH.result(settings, metrics, tables)


def _by_category(rankings: Sequence[Ranking]) -> BenchTable:
    groups: dict[str, tuple[int, ...]] = {name: (category,) for category, name in CATEGORIES.items()}
    groups |= {"1–4": _ANSWERED, "all": tuple(CATEGORIES)}
    columns = ("category", "questions", *(f"recall@{d}" for d in DEPTHS), "95 %", "hit@10", "nDCG@10", "MRR")
    rows = []
    for name, categories in groups.items():
        chosen = [r for r in rankings if r.category in categories]
        if chosen:
            rows.append((name, str(len(chosen)), *_figures(chosen)))
    return BenchTable("By category", columns, tuple(rows))


def _figures(chosen: Sequence[Ranking]) -> tuple[str | float, ...]:
    by_conversation: dict[str, list[float]] = defaultdict(list)
    for r in chosen:
        by_conversation[r.conversation].append(100 * measures.recall(r.ranked, r.relevant, 10))
    low, high = measures.interval(by_conversation)
    recalls = [np.mean([100 * measures.recall(r.ranked, r.relevant, d) for r in chosen]) for d in DEPTHS]
    others = (
        [100 * measures.hit(r.ranked, r.relevant, 10) for r in chosen],
        [100 * measures.ndcg(r.ranked, r.relevant, 10) for r in chosen],
        [100 * measures.reciprocal_rank(r.ranked, r.relevant) for r in chosen],
    )
    interval = f"{low:.1f}–{high:.1f}"
    return (*map(float, recalls), interval, *(float(np.mean(values)) for values in others))


def _by_method(rankings: Mapping[str, Sequence[Ranking]]) -> BenchTable:
    columns = ("recall@10", "1–4", "all", *(name for name in CATEGORIES.values()))
    groups = (_ANSWERED, tuple(CATEGORIES), *((category,) for category in CATEGORIES))
    rows: list[tuple[str | float, ...]] = [
        (name, *(_mean(made, group) for group in groups)) for name, made in rankings.items()
    ]
    return BenchTable("By method, and with a layer switched off or alone", columns, tuple(rows))


def _mean(rankings: Sequence[Ranking], categories: Sequence[int]) -> float:
    """Mean recall@10 of the categories, in percent; NaN when no question is of them."""
    values = [measures.recall(r.ranked, r.relevant, 10) for r in rankings if r.category in categories]
    return 100 * float(np.mean(values)) if values else float("nan")
