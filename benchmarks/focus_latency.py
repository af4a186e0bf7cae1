"""`focus-latency`: what a block of 32 decoded tokens costs with the focus, part by part, and without it.

Run it where nothing else runs: every figure is time on the rig's clock, the median of rounds. In each round the frozen
model, each cadence, and a full read each time take turns, and `of the frozen` is the median of each round's own ratio,
so that a machine that was slower for a while was slower for all of them.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from amgs_focus.settings import FocusSettings
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.latency import PARTS, focus_time, frozen_time
from benchmarks.focus_rig import FocusRig
from benchmarks.frame import Bench
from benchmarks.ledger import Row

BENCH = Bench(
    "focus-latency",
    {"control_share": ("<=", 3.0), "prefill_share": ("<=", 10.0), "block_ratio": ("<=", 1.10)},
)
WINDOW = 512
CADENCES = (32, 128, 256)
LIFETIME = 4096
FULL = "in full"
SEED = 0


def run(
    rig: FocusRig,
    *,
    rounds: int = 3,
    window: int = WINDOW,
    cadences: Sequence[int] = CADENCES,
    lifetime: int = LIFETIME,
    settings: FocusSettings | None = None,
) -> BenchResult:
    """Time each cadence so many rounds; `control_share` and its fellows are of the first cadence.

    A quick run is one round of the first cadence.
    """
    if rig.quick:
        rounds, cadences = 1, tuple(cadences)[:1]
    chosen = (settings or FocusSettings()).model_copy(update={"window": window, "seed": SEED})
    told = {
        **rig.parts(),
        "lifetime": lifetime,
        **{name: value for name, value in chosen.model_dump().items() if name != "cadence"},
    }
    # times belong to this run: the process id keeps them from being taken for those of another one
    ledger = rig.ledger(BENCH, {**told, "process": os.getpid()})
    tokens = rig.text[:lifetime]
    text = rig.model.decode(tokens)
    settings_of = {str(cadence): chosen.model_copy(update={"cadence": cadence}) for cadence in cadences}
    first = settings_of[str(cadences[0])]
    if chosen.full_read_every > 1:
        settings_of[f"{first.cadence}, {FULL}"] = first.model_copy(update={"full_read_every": 1})
    measured: dict[str, list[Row]] = {name: [] for name in settings_of}
    frozen = []
    filled = (tokens * (1 + window // len(tokens)))[:window]
    for number in range(rounds):
        rig.progress(number, rounds, "round")
        alone = frozen_time(rig.model, filled, window, rig.clock)
        frozen.append(alone)
        for name, at in settings_of.items():
            # so many refocuses that the ones in full come as often as they will
            blocks = max(4 * at.full_read_every, 2 * at.cadence // 32)
            measure = partial(_round, rig, at, text, blocks, alone)
            measured[name].append(ledger.once(f"{name}/{number}", measure))
    shown = {**told, "rounds": rounds, "cadences": list(cadences), "load": _load(), "rows": str(ledger.path)}
    metrics = _metrics(measured, statistics.median(frozen))
    return BENCH.result(shown, metrics, (_table(measured, statistics.median(frozen)),))


def _round(rig: FocusRig, settings: FocusSettings, text: str, blocks: int, alone: float) -> Row:
    spent = focus_time(rig.model, rig.encoder, rig.scorer, settings, text, blocks, rig.clock)
    return {**spent.parts, "dirty": spent.dirty, "refocuses": spent.refocuses, "ratio": spent.block / alone}


def _median(rows: Sequence[Row], name: str) -> float:
    return float(statistics.median(row[name] for row in rows))


def _metrics(measured: Mapping[str, Sequence[Row]], alone: float) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for place, (name, rows) in enumerate(measured.items()):
        block = sum(_median(rows, part) for part in PARTS)
        control = sum(_median(rows, part) for part in ("lens", "gist", "allocate"))
        found = {
            "control_share": 100 * control / _median(rows, "decode"),
            "prefill_share": 100 * _median(rows, "prefill") / block,
            "block_ms_focus": block,
            "block_ratio": _median(rows, "ratio"),
        }
        metrics |= found if place == 0 else {}
        metrics |= {
            f"{metric}_{name.replace(', ', '_').replace(' ', '_')}": value for metric, value in found.items()
        }
    return metrics | {"block_ms_frozen": alone}


def _table(measured: Mapping[str, Sequence[Row]], alone: float) -> BenchTable:
    lines: list[tuple[str | float, ...]] = []
    for name, rows in measured.items():
        parts = [_median(rows, part) for part in PARTS]
        lines.append(
            (name, *parts, sum(parts), f"{_median(rows, 'dirty'):.0f}", f"{_median(rows, 'ratio'):.2f}")
        )
    lines.append(("frozen alone", *("" for _ in PARTS[:-1]), alone, alone, "", "1.00"))
    columns = ("cadence", *PARTS, "block", "computed anew", "of the frozen")
    return BenchTable("Milliseconds a block of 32 tokens, medians", columns, tuple(lines))


def _load() -> str:
    """The machine's load while it ran: a figure from a busy machine should say so."""
    return " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else ""
