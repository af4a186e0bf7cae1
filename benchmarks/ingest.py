"""How fast a memory of 100,000 blocks is taken in and consolidated, and how much memory that takes.

The work is done by a process of its own (`ingest_run`), so that its peak of memory is that of the work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any, Final

from amgs.errors import AmgsError, InputError
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Rig

if TYPE_CHECKING:
    from amgs.types import Progress

BENCH: Final = Bench(
    "ingest",
    {
        "bulk_blocks_per_s": (">=", 5000),
        "consolidate_ratio": (">=", 0.60),
        "rss_mib": ("<=", 1536),
        "enhance_plan_cpu_s": ("<=", 60),
    },
)


def run(
    rig: Rig,
    data: Path,
    *,
    blocks: int,
    sample: int,
    model: str,
    models: Mapping[str, str],
    documents: Path | None = None,
) -> BenchResult:
    """Measure it. data: a folder of books. documents: a folder whose enhancement is planned, too. sample: how many of
    the blocks are embedded by the real model. model: what the real models come from ("tiny" for none). models: their
    paths, by setting.

    Raises InputError for a folder without books, Cancelled when the operator stops it.
    """
    if not data.is_dir() or not list(data.glob("*.txt")):
        raise InputError(f"{data} contains no books.", way_out="Give a folder of .txt files with --data.")
    if not 0 < sample < blocks:
        raise InputError(f"A sample of {sample} does not fit {blocks} blocks.", way_out="Give fewer with --sample.")
    with TemporaryDirectory(prefix="amgs-bench-") as folder:
        found = _child(
            {
                "data": str(data),
                "store": str(Path(folder) / "memory.duckdb"),
                "blocks": blocks,
                "sample": sample,
                "model": model,
                "models": dict(models),
                "documents": str(documents or ""),
                "seed": rig.seed,
            },
            rig.progress,
        )
    return _told(found, blocks=blocks, sample=sample, seed=rig.seed)


def _child(asked: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the work and pass its progress on; its last line is what it found."""
    command = [sys.executable, "-m", "benchmarks.ingest_run", json.dumps(asked)]
    last: dict[str, Any] = {}
    with (
        TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as work,
    ):
        try:
            for line in work.stdout or ():
                last = json.loads(line)
                if "done" in last:
                    progress(last["done"], last["total"], last["doing"])
        except BaseException:
            work.kill()
            raise
        code = work.wait()
        errors.seek(0)
        said = errors.read().strip()
    if code or "metrics" not in last:
        raise AmgsError(f"The measured process failed: {said.splitlines()[-1] if said else f'exit {code}'}.")
    return last


def _told(found: Mapping[str, Any], *, blocks: int, sample: int, seed: int) -> BenchResult:
    parts = BenchTable(
        "Where the time goes, blocks a second",
        ("step", "blocks", "seconds", "blocks/s"),
        tuple((name, float(n), s, n / s if s else 0.0) for name, n, s in found["steps"]),
    )
    growth = BenchTable(
        "Consolidation with the stand-in models, by how many blocks are there",
        ("blocks there", "blocks/s", "MiB in use"),
        tuple((float(n), rate, mib) for n, rate, mib in found["growth"]),
    )
    settings = {
        "blocks": blocks,
        "sample": sample,
        "seed": seed,
        "embedder": found["embedder"],
        "recogniser": found["recogniser"],
        "stand_in": "hashed words and names by capitals, for all but the sample",
        "rss_mib": "peak of the whole process, the real models loaded in it from the start",
    }
    return BENCH.result(settings, found["metrics"], (parts, growth))
