"""`bench focus-latency`: what a block of 32 decoded tokens costs with the focus, part by part, and without it.

Run it where nothing else runs: every figure is wall time, the median of rounds.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from amgs_app.bench_results import BenchResult, BenchTable
from amgs_app.benches.focus_rig import FocusRig
from amgs_app.benches.frame import Bench
from amgs_app.benches.ledger import Row
from amgs_focus.evaluation.latency import PARTS, focus_time, frozen_time
from amgs_focus.evaluation.stale import Reuse, reuse
from amgs_focus.evaluation.statistics import resampled
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.utility.labels import LabelSnapshot
from amgs_focus.window.layout import lay_out

BENCH = Bench("focus-latency", {"control_share": ("<=", 3.0)})
WINDOW = 512
CADENCES = (32, 128, 256)
LIFETIME = 4096
KEPT_PLACES = 12
KEPT_LIFETIME = 2048
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
    by_cadence: dict[int, list[Row]] = {cadence: [] for cadence in cadences}
    frozen = []
    for number in range(rounds):
        rig.progress(number, rounds, "round")
        filled = (tokens * (1 + window // len(tokens)))[:window]
        frozen.append(frozen_time(rig.model, filled, window, rig.clock))
        for cadence in cadences:
            at = chosen.model_copy(update={"cadence": cadence})
            # two refocuses at least, so that the longest cadence is not measured on a lucky one
            blocks = max(4, 2 * cadence // 32)
            measure = partial(_round, rig, at, text, blocks)
            by_cadence[cadence].append(ledger.once(f"{cadence}/{number}", measure))
    alone = statistics.median(frozen)
    kept = _kept(rig, chosen, 2 if rig.quick else KEPT_PLACES)
    metrics = _metrics(by_cadence, alone) | _kept_metrics(kept)
    shown = {**told, "rounds": rounds, "cadences": list(cadences), "load": _load(), "rows": str(ledger.path)}
    return BENCH.result(shown, metrics, (_table(by_cadence, alone), _kept_table(kept)))


def _round(rig: FocusRig, settings: FocusSettings, text: str, blocks: int) -> Row:
    spent = focus_time(rig.model, rig.encoder, rig.scorer, settings, text, blocks, rig.clock)
    return {**spent.parts, "dirty": spent.dirty, "refocuses": spent.refocuses}


def _kept(rig: FocusRig, settings: FocusSettings, places: int) -> list[Reuse]:
    """One refocus in each of so many places, when a cadence of tokens has come: read anew, and with what stands
    behind its last edit kept stale.
    """
    horizon = cadence = settings.cadence
    found = []
    for one in rig.corpus.excerpts(KEPT_LIFETIME + horizon, places, SEED):
        past, future = one.tokens[:-horizon], one.tokens[-horizon:]
        tree = rig.lifetime(past[:-cadence], settings)
        laid_out = lay_out(tree, settings)
        tree.append(past[-cadence:])
        before = laid_out.extended(tree.length)
        state = FocusState(before, settings)
        reader = PrefixReader(rig.model, rig.clock)
        after, _ = refocus(state, tree, rig.scorer, settings, reader, rig.clock)
        made = reuse(LabelSnapshot(after.context, tree, future), before)
        if made is not None:
            found.append(made)
    return found


def _kept_metrics(kept: Sequence[Reuse]) -> dict[str, float]:
    if not kept:
        return {}
    return {
        "stale_kv_nats": statistics.fmean(one.stale - one.exact for one in kept),
        "stale_kv_saved_share": 100 * sum(one.reused for one in kept) / sum(one.dirty for one in kept),
    }


def _kept_table(kept: Sequence[Reuse]) -> BenchTable:
    columns = ("places", "computed anew", "NLL", "kept stale", "NLL with them", "difference")
    if not kept:
        return BenchTable("Keeping what a refocus made stale: no refocus left anything to keep", columns, ())
    paid = resampled(
        {"stale": [one.stale for one in kept], "exact": [one.exact for one in kept]},
        lambda means: means["stale"] - means["exact"],
        seed=SEED,
    )
    row = (
        str(len(kept)),
        f"{statistics.fmean(one.dirty for one in kept):.0f}",
        f"{statistics.fmean(one.exact for one in kept):.3f}",
        f"{statistics.fmean(one.reused for one in kept):.0f}",
        f"{statistics.fmean(one.stale for one in kept):.3f}",
        paid.said(3),
    )
    return BenchTable("Keeping what one refocus made stale, nats a token of what follows", columns, (row,))


def _median(rows: Sequence[Row], name: str) -> float:
    return float(statistics.median(row[name] for row in rows))


def _metrics(by_cadence: Mapping[int, Sequence[Row]], alone: float) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for place, (cadence, rows) in enumerate(by_cadence.items()):
        block = sum(_median(rows, name) for name in PARTS)
        control = sum(_median(rows, name) for name in ("lens", "gist", "allocate"))
        found = {
            "control_share": 100 * control / _median(rows, "decode"),
            "prefill_share": 100 * _median(rows, "prefill") / block,
            "block_ms_focus": block,
        }
        metrics |= found if place == 0 else {}
        metrics |= {f"{name}_{cadence}": value for name, value in found.items()}
    return metrics | {"block_ms_frozen": alone}


def _table(by_cadence: Mapping[int, Sequence[Row]], alone: float) -> BenchTable:
    lines: list[tuple[str | float, ...]] = []
    for cadence, rows in by_cadence.items():
        parts = [_median(rows, name) for name in PARTS]
        lines.append(
            (str(cadence), *parts, sum(parts), f"{_median(rows, 'dirty'):.0f}", f"{sum(parts) / alone:.2f}")
        )
    lines.append(("frozen alone", *("" for _ in PARTS[:-1]), alone, alone, "", "1.00"))
    columns = ("cadence", *PARTS, "block", "computed anew", "of the frozen")
    return BenchTable("Milliseconds a block of 32 tokens, medians", columns, tuple(lines))


def _load() -> str:
    """The machine's load while it ran: a figure from a busy machine should say so."""
    return " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else ""
