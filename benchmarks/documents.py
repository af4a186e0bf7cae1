"""`documents`: sections of documents found by their headings, protocol documents-H.

One store a project; every heading of level 2–3 over at least 40 words is asked as "HEADING in PROJECT", with its line
taken out of what is stored. Right are the blocks of the section.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import measures
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.document_data import Project, read_projects
from benchmarks.frame import Bench
from benchmarks.ranked import (
    DEPTH,
    FUSED,
    HYBRID,
    KEYWORD,
    METHODS,
    VECTOR,
    RankedQuestion,
    SearchControls,
)
from benchmarks.rig import MemoryRig
from benchmarks.stores import STILL, block_ids, drafts_store

BENCH = Bench("documents", {"hybrid_over_best": (">=", 1.03)})


def run(rig: MemoryRig, data: Path) -> BenchResult:
    """Measure a folder of projects; raises InputError when it holds none."""
    projects = read_projects(data)
    asked: list[RankedQuestion] = []
    for place, project in enumerate(projects):
        rig.progress(place, len(projects), f"project {project.name}")
        with drafts_store(project.drafts, STILL, rig.embedder) as memory:
            controls = SearchControls(memory, rig.seed)
            asked += [
                controls.ask(q.text, project.name, [frozenset().union(*block_ids(memory, q.sources))])
                for q in project.questions
            ]
    metrics = {
        "mrr_hybrid": _mrr(asked, HYBRID),
        "mrr_keyword": _mrr(asked, KEYWORD),
        "mrr_vector": _mrr(asked, VECTOR),
        "mrr_fusion": _mrr(asked, FUSED),
        "hit1": _hit1(asked, HYBRID),
        "recall10": _recall(asked, HYBRID),
        "hybrid_over_best": min(_over_best([q for q in asked if q.group == p.name]) for p in projects),
    }
    settings = {
        "projects": [project.name for project in projects],
        "blocks": sum(len(project.drafts) for project in projects),
        "questions": len(asked),
        "embedder": rig.embedder.name,
    }
    return BENCH.result(settings, metrics, (_by_project(projects, asked), _by_method(asked)))


def _by_project(projects: Sequence[Project], asked: Sequence[RankedQuestion]) -> BenchTable:
    columns = ("MRR@10", "blocks", "questions", *METHODS, "hybrid / better layer")
    rows: list[tuple[str | float, ...]] = []
    for project in projects:
        own = [q for q in asked if q.group == project.name]
        figures = (100 * _mrr(own, method) for method in METHODS)
        rows.append((project.name, str(len(project.drafts)), str(len(own)), *figures, _over_best(own)))
    return BenchTable("By project", columns, tuple(rows))


def _by_method(asked: Sequence[RankedQuestion]) -> BenchTable:
    low_high = {method: _interval(asked, method) for method in METHODS}
    rows = tuple(
        (m, 100 * _mrr(asked, m), low_high[m], 100 * _hit1(asked, m), 100 * _recall(asked, m))
        for m in METHODS
    )
    return BenchTable("By method", ("method", "MRR@10", "hybrid − it, 95 %", "hit@1", "recall@10"), rows)


def _interval(asked: Sequence[RankedQuestion], method: str) -> str:
    """The interval of what hybrid gains over a method in MRR, in points, by drawing questions."""
    if method == HYBRID:
        return "–"
    ours = [measures.reciprocal_rank(q.ranked[HYBRID], q.relevant) for q in asked]
    theirs = [measures.reciprocal_rank(q.ranked[method], q.relevant) for q in asked]
    low, high = measures.interval(
        {str(i): [a - b] for i, (a, b) in enumerate(zip(ours, theirs, strict=True))}
    )
    return f"{100 * low:+.1f} to {100 * high:+.1f}"


def _over_best(asked: Sequence[RankedQuestion]) -> float:
    """MRR of hybrid by that of the better of its two layers."""
    best = max(_mrr(asked, KEYWORD), _mrr(asked, VECTOR))
    return _mrr(asked, HYBRID) / best if best else float("nan")


def _mrr(asked: Sequence[RankedQuestion], method: str) -> float:
    return float(np.mean([measures.reciprocal_rank(q.ranked[method], q.relevant) for q in asked]))


def _hit1(asked: Sequence[RankedQuestion], method: str) -> float:
    return float(np.mean([measures.hit(q.ranked[method], q.relevant, 1) for q in asked]))


def _recall(asked: Sequence[RankedQuestion], method: str) -> float:
    """Share of the blocks of a section that are among the first ten."""
    each = [
        measures.recall(q.ranked[method], [frozenset({i}) for item in q.relevant for i in item], DEPTH)
        for q in asked
    ]
    return float(np.mean(each))
