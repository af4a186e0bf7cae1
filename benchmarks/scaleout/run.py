"""`scaleout`: its subjects, one after the other, on one database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from amgs.errors import UsageError
from benchmarks.bench_results import Bench, BenchResult, MemoryRig, SubjectResult, joined, measured
from benchmarks.scaleout.kills import measure_database_kills, measure_kills
from benchmarks.scaleout.latency import measure_latency
from benchmarks.scaleout.parity import measure_parity
from benchmarks.scaleout.server import running_server
from benchmarks.scaleout.servers import measure_servers, measure_tenants
from benchmarks.scaleout.setup import ScaleoutEffort, ScaleoutSetup
from benchmarks.scaleout.skew import measure_skew
from benchmarks.scaleout.writer import measure_writers

BENCH = Bench("scaleout")
DEFAULT = ScaleoutEffort()
SUBJECTS: Mapping[str, Callable[[MemoryRig, ScaleoutSetup], SubjectResult | None]] = {
    "parity": measure_parity,
    "writers": measure_writers,
    "kills": measure_kills,
    "servers": measure_servers,
    "tenants": measure_tenants,
    "database": measure_database_kills,
    "latency": measure_latency,
    "skew": measure_skew,
}
"""By name; None where the data or the packages of a subject are not there."""


def run(
    rig: MemoryRig,
    work: Path,
    *,
    store: str | None = None,
    data: Path | None = None,
    only: Sequence[str] = (),
    effort: ScaleoutEffort = DEFAULT,
) -> BenchResult:
    """Measure the subjects named, else all. store: the address of a server; without one the bench begins its own."""
    unknown = [name for name in only if name not in SUBJECTS]
    if unknown:
        raise UsageError(f"There is no subject {unknown[0]!r}.", way_out=f"Choose of: {', '.join(SUBJECTS)}.")
    chosen = {name: measure for name, measure in SUBJECTS.items() if not only or name in only}
    work.mkdir(parents=True, exist_ok=True)
    with running_server(store) as server:
        found = measured(rig, ScaleoutSetup(server, work, data, effort), chosen)
    if only and not found:
        raise UsageError(f"There is no data for {', '.join(chosen)}.", way_out="Give its folder: `--data DIR`.")
    made = joined(found.values())
    settings = {
        "subjects": list(found),
        "server": "given" if store else "begun by the bench, with the settings of PostgreSQL",
        "blocks": list(effort.blocks),
        "seconds": effort.seconds,
        "kills": effort.kills,
        "probes": effort.probes,
    }
    return BENCH.result(settings, dict(made.metrics), made.tables, goals=dict(made.goals))
