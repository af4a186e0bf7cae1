"""`facts`: short facts among long documents, asked for in their own words and in others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.errors import InputError
from amgs.ingest.raw_blocks import RawBlock
from amgs.types import BlockFilter
from benchmarks import measures
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.references import HYBRID, METHODS, RankedQuestion, SearchControls
from benchmarks.stores import block_ids, open_memory

OWN, OTHER = "own words", "other words"
BENCH = Bench("facts", {"hit1_own_words": (">=", 0.95), "hit1_other_words": (">=", 0.85)})


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of a line, and two questions it answers."""

    statement: str
    own_words: str
    other_words: str


def run(rig: MemoryRig, facts: Path, among: Path) -> BenchResult:
    """Put the facts of a file among the documents of a folder and ask for each; raises InputError for bad files."""
    given = read_facts(facts)
    with open_memory(rig) as memory:
        memory.ingest_folder(among)
        memory.ingest_many([RawBlock(f.statement, meta={"source": _source(i)}) for i, f in enumerate(given)])
        memory.apply_consolidation(memory.plan_consolidation(progress=rig.progress))
        blocks = memory.count(BlockFilter())
        controls = SearchControls(memory, rig.seed)
        asked = [
            controls.ask(text, kind, block_ids(memory, [_source(i)]))
            for i, fact in enumerate(given)
            for kind, text in ((OWN, fact.own_words), (OTHER, fact.other_words))
        ]
    metrics = {"hit1_own_words": _hit(asked, OWN, HYBRID), "hit1_other_words": _hit(asked, OTHER, HYBRID)}
    settings = {"facts": len(given), "blocks": blocks, "embedder": rig.embedder.name}
    columns = ("hit@1 and MRR@10", *(f"{name} {of}" for name in METHODS for of in ("hit", "MRR")))
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (kind, *(100 * f(asked, kind, m) for m in METHODS for f in (_hit, _mrr))) for kind in (OWN, OTHER)
    )
    return BENCH.result(settings, metrics, (BenchTable("By method", columns, rows),))


def read_facts(file: Path) -> tuple[Fact, ...]:
    """Lines of statement, question in its words, question in other words, parted by tabs.

    Raises InputError, which names the line, for any other.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 3 or not all(cells):
            raise InputError(
                f"Line {number} of {file} is not a fact with two questions.",
                way_out="Each line is: statement, tab, question in its words, tab, question in other words.",
            )
        found.append(Fact(*cells))
    if not found:
        raise InputError(f"{file} holds no facts.")
    return tuple(found)


def _source(place: int) -> str:
    return f"fact-{place + 1}"


def _hit(asked: Sequence[RankedQuestion], kind: str, method: str) -> float:
    return float(np.mean([measures.hit(q.ranked[method], q.relevant, 1) for q in asked if q.group == kind]))


def _mrr(asked: Sequence[RankedQuestion], kind: str, method: str) -> float:
    each = [measures.reciprocal_rank(q.ranked[method], q.relevant) for q in asked if q.group == kind]
    return float(np.mean(each))
