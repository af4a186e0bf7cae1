"""Eight writers in eight namespaces beside one: how much more a second they get done together on this machine."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import REFUSED, WriterProcess

WRITERS = 8
ONE = "one"
EIGHT = "eight, in eight namespaces"
CROWDED = "eight, in one namespace"
IN_FILE = "one, in a file"


def measure_writers(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """Notes a second, each a transaction of its own: one writer and eight in as many namespaces by turns, since a
    machine's load changes; as controls eight in one namespace, and one in a file.
    """
    seconds, rounds = setup.effort.seconds, setup.effort.rounds
    rates: dict[str, list[float]] = {}
    refused: dict[str, int] = {}
    busy: dict[str, list[float]] = {}

    def timed(what: str, places: Sequence[str]) -> None:
        rig.progress(sum(map(len, rates.values())), 4 * rounds, what)
        rate, turned_away = _together(places, seconds)
        rates.setdefault(what, []).append(rate)
        refused[what] = max(refused.get(what, 0), turned_away)
        busy.setdefault(what, []).append(os.getloadavg()[0])

    file = setup.work / "writers.duckdb"
    for each in setup.work.glob("writers.duckdb*"):
        each.unlink()
    with ExitStack() as stack:
        places = [stack.enter_context(setup.namespace(f"writers_{n}")) for n in range(WRITERS)]
        one_place = stack.enter_context(setup.namespace("writers_one"))
        for _ in range(rounds):
            timed(ONE, places[:1])
            timed(EIGHT, places)
            timed(CROWDED, [one_place] * WRITERS)
            timed(IN_FILE, [str(file)])
    middle = {what: statistics.median(found) for what, found in rates.items()}
    metrics = {
        "writes_per_s_1": middle[ONE],
        "writes_per_s_8": middle[EIGHT],
        "writers_scale_8_over_1": middle[EIGHT] / middle[ONE],
        "writes_per_s_8_in_one_namespace": middle[CROWDED],
        "writers_refused_in_one_namespace": float(refused[CROWDED]),
        "writes_per_s_file": middle[IN_FILE],
    }
    rows = tuple(
        (what, middle[what], min(found), max(found), refused[what], statistics.median(busy[what]))
        for what, found in rates.items()
    )
    columns = ("writers", "notes a second", "least", "most", "refused", "load average")
    title = f"Writers, {rounds} rounds of {seconds:g} seconds, {os.cpu_count()} cores"
    return SubjectResult(
        metrics, {"writers_scale_8_over_1": (">=", 1.7)}, (BenchTable(title, columns, rows),)
    )


def _together(places: Sequence[str], seconds: float) -> tuple[float, int]:
    """Acknowledged notes a second of writers that begin at once, and how many of them were refused."""
    stamp = time.monotonic_ns()
    writers = [WriterProcess.start(place, f"{stamp}-{n}", seconds=seconds) for n, place in enumerate(places)]
    try:
        at_work = [writer for writer in writers if not writer.refused]
        for writer in at_work:
            writer.begin()
        said = [line for writer in at_work for line in writer.rest()]
    finally:
        for writer in writers:
            writer.kill()
    stopped = sum(line.startswith(REFUSED) for line in said)
    return (len(said) - stopped) / seconds, len(writers) - len(at_work) + stopped
