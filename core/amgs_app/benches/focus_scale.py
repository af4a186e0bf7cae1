"""`bench focus-scale`: whether a refocus costs the same over ten thousand tokens as over a hundred million.

The lifetimes are synthetic: a real one of the given text, its tokens and its gists repeated to the length. A
refocus is timed as assemble + score + allocate, after a new block came in; what it reads is counted. Sizes that
were measured before are not measured again: name another folder where the machine is another, or quieter.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import torch

from amgs_app.bench_results import BenchResult, BenchTable
from amgs_app.benches.focus_lifetimes import kept_lifetime
from amgs_app.benches.focus_rig import FocusRig
from amgs_app.benches.frame import Bench
from amgs_app.benches.ledger import Row
from amgs_focus.evaluation.tiled import TiledStore
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.allocator import allocate
from amgs_focus.window.candidates import AllocatorState
from amgs_focus.window.layout import lay_out

SIZES: Mapping[str, int] = {"10k": 10_240, "1M": 1_048_576, "100M": 104_857_600}
REAL = 262_144
"""Tokens of the lifetime that is repeated."""
BENCH = Bench("focus-scale", {"scale_ratio": ("<=", 1.10)})
SETTINGS = FocusSettings()
PARTS = ("assemble", "score", "allocate")
SEED = 0


def run(
    rig: FocusRig,
    *,
    sizes: Mapping[str, int] = SIZES,
    real: int = REAL,
    rounds: int = 40,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Time `rounds` refocuses at each size with each scorer; the first scorer gives the metrics.

    A quick run goes without the greatest size and takes a quarter of the rounds.
    """
    if rig.quick:
        sizes, rounds = dict(list(sizes.items())[:2]), max(3, rounds // 4)
    real = min(real, len(rig.text) - len(rig.text) % settings.block_size)
    told = {
        "model": rig.model.card.name,
        "gist": rig.encoder.name,
        "gist_version": rig.encoder.version,
        "scorers": [scorer.name for scorer in rig.scorers],
        "text": rig.parts()["text"],
        "real_tokens": real,
        "rounds": rounds,
        **settings.model_dump(),
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    tokens = rig.text[:real]
    speed = _gist_speed(rig, tokens, settings)
    rows: dict[str, dict[str, Row]] = {scorer.name: {} for scorer in rig.scorers}
    with closing(kept_lifetime(rig, f"scale-{real}", tokens, settings.block_size)) as tree:
        for place, (name, size) in enumerate(sizes.items()):
            for scorer in rig.scorers:
                rig.progress(place, len(sizes), f"{name}, {scorer.name}")
                measure = partial(_refocuses, rig, tree, scorer, size, rounds, settings)
                rows[scorer.name][name] = ledger.once(f"{scorer.name}/{name}", measure)
    names = list(sizes)
    first = rows[rig.scorer.name]
    metrics = {f"refocus_p50_ms_{name}": first[name]["p50"] for name in names}
    metrics["scale_ratio"] = first[names[-1]]["p50"] / first[names[0]]["p50"]
    metrics["scale_ratio_cpu"] = first[names[-1]]["processor"] / first[names[0]]["processor"]
    metrics["gist_tokens_per_s"] = speed
    metrics["reads_ratio"] = first[names[-1]]["rows"] / first[names[0]]["rows"]
    metrics["memory_growth_mib"] = first[names[-1]]["memory"] - first[names[0]]["memory"]
    shown = {**told, "sizes": dict(sizes), "scorer": rig.scorer.name, "lifetimes": "synthetic: repeated"}
    shown |= {"rows": str(ledger.path)}
    return BENCH.result(shown, metrics, (_table(rows, sizes),))


def _gist_speed(rig: FocusRig, tokens: tuple[int, ...], settings: FocusSettings, least: float = 2.0) -> float:
    """Tokens a second of summing blocks up, by itself, over at least so many seconds."""
    size, clock, done, at = settings.block_size, rig.clock, 0, 0
    ids = torch.tensor(tokens, dtype=torch.int64).view(-1, size)
    began = clock.perf()
    while (spent := clock.perf() - began) < least:
        some = ids[at : at + 64]
        with torch.no_grad():
            rig.encoder.encode_tokens(rig.model.embed(some), some)
        done += some.numel()
        at = (at + 64) % max(1, len(ids) - 64)
    return done / spent


def _refocuses(
    rig: FocusRig, real: LifetimeTree, scorer: FocusScorer, size: int, rounds: int, settings: FocusSettings
) -> Row:
    """Milliseconds of the parts of refocuses at one size, and what one reads."""
    clock = rig.clock
    store = TiledStore(real, size - size % settings.block_size)
    began = clock.perf()
    tree = LifetimeTree(real.model, real.gist, block_size=settings.block_size, store=store)
    state = AllocatorState(headroom=settings.cadence)
    spent: dict[str, list[float]] = {part: [] for part in PARTS}
    processor: list[float] = []
    reads: list[int] = []
    visits: list[int] = []
    opened = 0.0
    for number in range(rounds + 1):
        block = real.tokens(number * settings.block_size, (number + 1) * settings.block_size)
        tree.append([int(token) for token in block])
        rows_before, visited = store.reads.rows, _visited(scorer)
        worked = time.process_time()
        marks = [clock.perf()]
        context = lay_out(tree, settings)
        marks.append(clock.perf())
        scores = scorer.score(LensView(context, tree))
        marks.append(clock.perf())
        allocate(context, scores, tree, settings, state)
        marks.append(clock.perf())
        worked = time.process_time() - worked
        if number == 0:
            opened = clock.perf() - began  # what is derived from the whole lifetime is made once
            continue
        for part, low, high in zip(PARTS, marks, marks[1:], strict=False):
            spent[part].append(1000 * (high - low))
        processor.append(1000 * worked)
        reads.append(store.reads.rows - rows_before)
        visits.append(_visited(scorer) - visited)
    tree.close()
    totals = [sum(parts) for parts in zip(*spent.values(), strict=True)]
    return {
        "p50": statistics.median(totals),
        "processor": statistics.median(processor),
        **{part: statistics.median(values) for part, values in spent.items()},
        "rows": statistics.median(reads),
        "visited": statistics.median(visits),
        "entries": len(context.entries()),
        "memory": _resident(),
        "opened": opened,
        "each": totals,
    }


def _visited(scorer: FocusScorer) -> int:
    """Places of words that the scorer's index has looked at, where it has one."""
    return int(getattr(scorer, "visited", 0))


def _resident() -> float:
    """MiB of memory that the process holds now; NaN where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _table(rows: Mapping[str, Mapping[str, Row]], sizes: Mapping[str, int]) -> BenchTable:
    lines = []
    for scorer, found in rows.items():
        for name, row in found.items():
            lines.append(
                (
                    f"{name} ({sizes[name]:,}), {scorer}",
                    *(f"{row[part]:.2f}" for part in PARTS),
                    f"{row['p50']:.2f}",
                    f"{row['processor']:.2f}",
                    f"{row['rows']:,.0f}",
                    f"{row['visited']:,.0f}",
                    str(row["entries"]),
                    f"{row['memory']:,.0f}",
                    f"{row['opened']:.1f}",
                )
            )
    columns = (
        "tokens, scorer",
        *PARTS,
        "refocus p50",
        "of it processor",
        "rows read",
        "places visited",
        "entries",
        "memory MiB",
        "opened in s",
    )
    return BenchTable("Milliseconds of a refocus over a repeated lifetime, medians", columns, tuple(lines))
