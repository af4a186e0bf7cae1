"""The subject `skew`: the simulation of tenants on shards, for laws from uniform to steep."""

from __future__ import annotations

import numpy as np

from benchmarks.bench_results import BenchTable
from benchmarks.rig import MemoryRig
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.skew import Tenants, compared, floor, moved_by_growth
from benchmarks.subject import SubjectResult

SHARDS = 64
TENANTS = 20_000
LAWS = ((0.0, 0.0), (0.8, 0.8), (1.0, 1.0), (1.0, 1.2))
"""Exponents of Zipf's law for sizes and for queries; uniform is the control."""
SEED = 7


def measure_skew(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """How uneven the shards get by each placement, as multiples of the mean; it measures nothing of the machine."""
    del setup
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    floors: list[tuple[str | float, ...]] = []
    for number, (sizes, queries) in enumerate(LAWS):
        rig.progress(number, len(LAWS), f"placing tenants by Zipf {sizes:g}/{queries:g}")
        given = Tenants.drawn(TENANTS, sizes, queries, np.random.default_rng(SEED))
        floors.append((f"{sizes:g} / {queries:g}", floor(given.bytes, SHARDS), floor(given.queries, SHARDS)))
        for name, found in compared(SHARDS, TENANTS, sizes, queries, SEED).items():
            rows.append(
                (
                    f"{sizes:g} / {queries:g}",
                    name,
                    found.bytes,
                    found.queries,
                    found.p99,
                    f"{found.moved:.1%}",
                )
            )
            if (sizes, queries) == LAWS[-1]:
                key = "".join(c if c.isalnum() else "_" for c in name).strip("_")
                metrics[f"skew_p99_{key}"] = found.p99
    growth = moved_by_growth(SHARDS, SHARDS // 4, TENANTS, LAWS[-1][0], SEED)
    columns = ("Zipf sizes / queries", "placement", "bytes", "queries", "p99 of a second", "bytes moved")
    return SubjectResult(
        metrics,
        {},
        (
            BenchTable(
                f"{TENANTS:,} tenants on {SHARDS} shards: the fullest over the mean", columns, tuple(rows)
            ),
            BenchTable(
                "What no placement of whole tenants can undercut",
                ("Zipf sizes / queries", "bytes", "queries"),
                tuple(floors),
            ),
            BenchTable(
                f"Share of the bytes that move when {SHARDS // 4} shards join {SHARDS}",
                ("placement", "moved"),
                tuple((name, f"{share:.1%}") for name, share in growth.items()),
            ),
        ),
    )
