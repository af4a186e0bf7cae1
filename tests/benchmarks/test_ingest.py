"""`ingest`: a process that takes in and consolidates, what it says, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amgs.types import Progress
from benchmarks import ingest
from benchmarks.bench_results import BenchResult, Rig

BOOK = "\n\n".join(
    f"On the {n}th morning Captain Marlow walked along the harbour and counted {n} boats. "
    f"The keeper of the tower asked Ilse whether lamp {n} was lit. Nobody answered, and the rain went on."
    for n in range(40)
)


def books(folder: Path) -> Path:
    (folder / "harbour.txt").write_text(BOOK, encoding="utf-8")
    return folder


def run(
    folder: Path, blocks: int = 120, sample: int = 20, progress: Progress | None = None, documents: Path | None = None
) -> BenchResult:
    rig = Rig(progress=progress or Progress(), seed=1)
    return ingest.run(rig, folder, blocks=blocks, sample=sample, model="tiny", models={}, documents=documents)


def test_it_measures_what_its_metrics_say(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "lamps.md").write_text(BOOK[:4000], encoding="utf-8")
    found = run(books(tmp_path), documents=documents)
    assert set(ingest.BENCH.goals) <= set(found.metrics)
    assert all(value > 0 for name, value in found.metrics.items() if name != "enhance_proposals")
    assert found.metrics["bulk_blocks_per_s"] < found.metrics["bulk_blocks_per_s_unindexed"]
    steps = {str(row[0]): row for row in found.tables[0].rows}
    assert steps["consolidate with stand-in models"][1] == 100.0
    assert steps["embedder alone"][1] == steps["consolidate with real models"][1] == 20.0
    seconds = {name: float(row[2]) for name, row in steps.items()}
    ratio = seconds["embedder alone"] / seconds["consolidate with real models"]
    assert found.metrics["consolidate_ratio"] == pytest.approx(ratio)
    json.dumps(found.settings)
