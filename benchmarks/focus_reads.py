"""`focus-reads`: what it costs, and saves, to keep keys and values though something before them changed.

Prose: NLL of the true next tokens over many refocuses in a row, the same layouts read with several settings of
`full_read_every`, against a full read each time. Facts: planted, asked for, chosen among eight, with the question's
context read in full and by reusing what stood before it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import closing
from functools import partial

from amgs_focus.evaluation.statistics import Interval, resampled
from amgs_focus.settings import FocusSettings
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import facts, plant
from benchmarks.focus_evaluation.stale import stale_answer, stale_reads
from benchmarks.focus_rig import FocusRig
from benchmarks.frame import Bench
from benchmarks.ledger import Row

EVERY = (1, 2, 4, 8, 16)
"""The settings of full_read_every that are read; the first reads everything in full."""
LIFETIME = 4096
PARTS = 16
"""Refocuses in a row, each with a cadence of tokens after it."""
FACTS = 4
SETTINGS = FocusSettings()
SEED = 0
BENCH = Bench("focus-reads")


def run(
    rig: FocusRig,
    *,
    places: int = 12,
    every: Sequence[int] = EVERY,
    lifetime: int = LIFETIME,
    parts: int = PARTS,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Read so many places of a text. A quick run takes a quarter of them.

    Raises TextError when the text is shorter than one lifetime.
    """
    if rig.quick:
        places = max(2, places // 4)
    told = {
        **rig.parts(),
        "lifetime": lifetime,
        "parts": parts,
        "every": list(every),
        "facts": FACTS,
        **{name: value for name, value in settings.model_dump().items() if name != "full_read_every"},
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    drawn = rig.corpus.excerpts(lifetime + parts * settings.cadence, places, SEED)
    prose: list[Row] = []
    asked: list[Row] = []
    for number, one in enumerate(drawn):
        rig.progress(number, len(drawn), "place")
        key = f"{one.document}/{one.at}"
        measure = partial(_prose, rig, one.tokens, lifetime, every, settings)
        prose.append(ledger.once(f"prose/{key}", measure))
        measure = partial(_facts, rig, one.tokens[:lifetime], settings, number)
        asked.append(ledger.once(f"facts/{key}", measure))
    metrics = {}
    for each in every[1:]:
        metrics[f"stale_nats_{each}"] = _cost(prose, each, every[0]).mean
        metrics[f"computed_share_{each}"] = 100 * _computed(prose, each) / _computed(prose, every[0])
    metrics["fact_acc_full"] = 100 * _mean([row["full"] for row in asked])
    metrics["fact_acc_stale"] = 100 * _mean([row["stale"] for row in asked])
    shown = {**told, "places": len(drawn), "rows": str(ledger.path)}
    tables = (_prose_table(prose, every), _age_table(prose, every), _facts_table(asked))
    return BENCH.result(shown, metrics, tables)


def _prose(
    rig: FocusRig, tokens: Sequence[int], lifetime: int, every: Sequence[int], settings: FocusSettings
) -> Row:
    with closing(rig.lifetime(tokens[:lifetime], settings)) as tree:
        found = stale_reads(tree, rig.scorer, settings, tokens[lifetime:], every, rig.clock)
    row: Row = {}
    for each, reads in zip(every, found, strict=True):
        row |= {
            f"nll_{each}": list(reads.nll),
            f"computed_{each}": list(reads.computed),
            f"since_{each}": list(reads.since),
        }
    return row


def _facts(rig: FocusRig, text: Sequence[int], settings: FocusSettings, number: int) -> Row:
    tokens, planted = plant(
        rig.model, text, facts(FACTS, SEED + number), len(text), settings.block_size, SEED + number
    )
    with closing(rig.lifetime(tokens, settings)) as tree:
        found = [stale_answer(tree, rig.scorer, settings, one, rig.clock) for one in planted]
    return {
        "full": [float(one.full) for one in found],
        "stale": [float(one.stale) for one in found],
        "computed_full": [one.computed[0] for one in found],
        "computed_stale": [one.computed[1] for one in found],
    }


# --- the result -------------------------------------------------------------------------------------------


def _mean(rows: Sequence[Sequence[float]]) -> float:
    return statistics.fmean(value for row in rows for value in row)


def _computed(prose: Sequence[Row], each: int) -> float:
    return _mean([row[f"computed_{each}"] for row in prose])


def _cost(prose: Sequence[Row], each: int, full: int) -> Interval:
    """NLL over that of full reads, place by place."""
    pairs = {str(one): [statistics.fmean(row[f"nll_{one}"]) for row in prose] for one in (each, full)}
    return resampled(pairs, lambda means: means[str(each)] - means[str(full)], seed=SEED)


def _prose_table(prose: Sequence[Row], every: Sequence[int]) -> BenchTable:
    rows = [
        (
            str(each),
            f"{_mean([row[f'nll_{each}'] for row in prose]):.4f}",
            _cost(prose, each, every[0]).said(4) if each != every[0] else "",
            f"{_computed(prose, each):.0f}",
        )
        for each in every
    ]
    columns = ("a full read every", "NLL", "over a full read each time", "positions computed a refocus")
    return BenchTable("Nats a token of prose after refocuses in a row", columns, tuple(rows))


def _age_table(prose: Sequence[Row], every: Sequence[int]) -> BenchTable:
    """The longest setting's cost by how many reads ago the full one was."""
    full, longest = every[0], every[-1]
    by_age: dict[int, list[float]] = {}
    for row in prose:
        for ours, theirs, age in zip(
            row[f"nll_{longest}"], row[f"nll_{full}"], row[f"since_{longest}"], strict=True
        ):
            by_age.setdefault(age, []).append(ours - theirs)
    rows = [
        (str(age), str(len(found)), f"{statistics.fmean(found):+.4f}")
        for age, found in sorted(by_age.items())
    ]
    return BenchTable(
        f"The same by reads since the full one, at {longest}",
        ("reads since", "parts", "over a full read each time"),
        tuple(rows),
    )


def _facts_table(asked: Sequence[Row]) -> BenchTable:
    pairs = {name: [statistics.fmean(row[name]) for row in asked] for name in ("full", "stale")}
    rows = [
        (
            name,
            resampled({"x": pairs[key]}, lambda means: means["x"], seed=SEED).said(0, 100),
            f"{_mean([row[f'computed_{key}'] for row in asked]):.0f}",
        )
        for name, key in (("in full", "full"), ("reusing what stood before", "stale"))
    ]
    paid = resampled(pairs, lambda means: means["stale"] - means["full"], seed=SEED)
    rows.append(("difference", paid.said(0, 100), ""))
    columns = ("the question's context read", "answered %", "positions computed")
    return BenchTable("Planted facts chosen among eight", columns, tuple(rows))
