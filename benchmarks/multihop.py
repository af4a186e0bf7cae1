"""`multihop`: paragraphs that a question needs together, on HotpotQA and MuSiQue.

The paragraphs of all questions of a data set are pooled in one store, a block each, and the question is asked as it
stands. Right are its supporting paragraphs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from amgs.errors import InputError
from amgs.ingest.raw_blocks import RawBlock
from benchmarks import measures
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.references import DEPTH, HYBRID, METHODS, RankedQuestion, SearchControls
from benchmarks.stores import STILL, SourcedQuestion, block_ids, drafts_store

BENCH = Bench("multihop", {"recall10_hotpotqa": (">=", 95.0), "recall10_musique": (">=", 82.0)})


@dataclass(frozen=True, slots=True)
class PooledParagraphs:
    """A data set: the paragraphs of all its questions, each once, and the questions with their supporting sources."""

    name: str
    drafts: tuple[RawBlock, ...]
    questions: tuple[SourcedQuestion, ...]


def run(rig: MemoryRig, data: Path) -> BenchResult:
    """Measure a folder with hotpotqa.json or musique.json or both; raises InputError when it holds neither."""
    sets = read_sets(data)
    asked: list[RankedQuestion] = []
    for place, pool in enumerate(sets):
        rig.progress(place, len(sets), pool.name)
        with drafts_store(pool.drafts, STILL, rig.embedder) as memory:
            controls = SearchControls(memory, rig.seed)
            asked += [controls.ask(q.text, pool.name, block_ids(memory, q.sources)) for q in pool.questions]
    metrics = {f"recall10_{pool.name}": _recall(asked, pool.name, HYBRID) for pool in sets}
    settings = {
        "sets": [pool.name for pool in sets],
        "paragraphs": [len(pool.drafts) for pool in sets],
        "questions": [len(pool.questions) for pool in sets],
        "embedder": rig.embedder.name,
    }
    columns = ("recall@10", "paragraphs", "questions", *METHODS)
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (pool.name, str(len(pool.drafts)), str(len(pool.questions)), *(_recall(asked, pool.name, m) for m in METHODS))
        for pool in sets
    )
    return BENCH.result(settings, metrics, (BenchTable("By data set", columns, rows),))


def read_sets(folder: Path) -> tuple[PooledParagraphs, ...]:
    """The data sets of a folder in the layout of HotpotQA and MuSiQue; raises InputError for a file of another."""
    readers = {"hotpotqa": _hotpotqa, "musique": _musique}
    files = {name: folder / f"{name}.json" for name in readers}
    found = []
    for name, path in files.items():
        if path.exists():
            try:
                given = [readers[name](one) for one in json.loads(path.read_text(encoding="utf-8"))]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path} cannot be read as questions with paragraphs: {error!r}.") from error
            found.append(_pooled(name, given))
    if not found:
        raise InputError(
            f"{folder} holds neither hotpotqa.json nor musique.json.",
            way_out="Give --data the folder that holds one of them or both.",
        )
    return tuple(found)


_Paragraph = tuple[str, str]
_Given = tuple[str, Sequence[tuple[_Paragraph, bool]]]


def _hotpotqa(given: Mapping[str, Any]) -> _Given:
    """A question, and its paragraphs (title, text) with whether each supports the answer."""
    wanted = {str(title) for title, _ in given["supporting_facts"]}
    return str(given["question"]), [
        ((str(title), "".join(sentences)), str(title) in wanted) for title, sentences in given["context"]
    ]


def _musique(given: Mapping[str, Any]) -> _Given:
    return str(given["question"]), [
        ((str(p["title"]), str(p["paragraph_text"])), bool(p["is_supporting"])) for p in given["paragraphs"]
    ]


def _pooled(name: str, given: Sequence[_Given]) -> PooledParagraphs:
    sources: dict[_Paragraph, str] = {}
    for _, paragraphs in given:
        for paragraph, _ in paragraphs:
            sources.setdefault(paragraph, f"paragraph-{len(sources) + 1}")
    drafts = tuple(
        RawBlock(f"{title}\n\n{text}", meta={"source": source, "title": title})
        for (title, text), source in sources.items()
    )
    questions = tuple(
        SourcedQuestion(text, name, tuple(dict.fromkeys(sources[p] for p, supports in many if supports)), True)
        for text, many in given
    )
    return PooledParagraphs(name, drafts, questions)


def _recall(asked: Sequence[RankedQuestion], name: str, method: str) -> float:
    """Mean recall@10 of the supporting paragraphs, in percent."""
    each = [measures.recall(q.ranked[method], q.relevant, DEPTH) for q in asked if q.group == name]
    return 100 * float(np.mean(each))
