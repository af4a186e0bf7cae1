"""`focus-reads`: what it costs, and saves, to keep keys and values though something before them changed.

Prose: NLL of the true next tokens over many refocuses in a row, the same layouts read with several settings of
`full_read_every`, against a full read each time. Facts: planted, asked for, chosen among eight, with the question's
context read in full and by reusing what stood before it.

What it costs to keep keys and values though something before them changed: the NLL of what follows, and facts.

The same refocuses, the same tokens: only how their contexts are read differs.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from amgs_focus.evaluation.statistics import Interval, resampled
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.read_history import NOTHING_READ, ReadHistory
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import lay_out
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import Planted, facts, plant
from benchmarks.focus_rig import FocusRig
from benchmarks.ledger import Row


@dataclass(frozen=True, slots=True)
class StaleReads:
    """Of each part of the future: nll in nats a token, positions computed before it, and reads since the last one in
    full, 0 for one in full.
    """

    nll: tuple[float, ...]
    computed: tuple[int, ...]
    since: tuple[int, ...]


def stale_reads(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    future: Sequence[int],
    full_read_every: Sequence[int],
    clock: PerfClock,
) -> tuple[StaleReads, ...]:
    """Refocus before every cadence of the future and read it with each of the settings; the lifetime is then cut back.

    The first part is left out: every setting reads it in full.
    """
    length, model = tree.length, tree.model
    state = FocusState(lay_out(tree, settings), settings)
    idle = PrefixReader(model, clock)
    readers = [PrefixReader(model, clock) for _ in full_read_every]
    histories = [NOTHING_READ for _ in full_read_every]
    found: list[list[tuple[float, int, int]]] = [[] for _ in full_read_every]
    try:
        for start in range(0, len(future), settings.cadence):
            part = list(future[start : start + settings.cadence])
            state, _ = refocus(state, tree, scorer, settings, idle, clock)
            for number, (reader, every) in enumerate(zip(readers, full_read_every, strict=True)):
                now = histories[number].after(state.context, tree.generation, reader.every(every))
                computed = reader.read(now, tree).dirty
                nll = float(reader.losses(now, tree, part).mean())
                found[number].append((nll, computed, len(now.contexts) - 1))
                histories[number] = now
            tree.append(part)
            # the last token is read with what the next refocus changes, as in decoding
            read = state.context.extended(tree.length - 1)
            for number, every in enumerate(full_read_every):
                if len(part) > 1:
                    now = histories[number].after(read, tree.generation, every)
                    readers[number].read(now, tree)
                    histories[number] = now
            state = replace(state, context=state.context.extended(tree.length))
    finally:
        tree.truncate(length)
    return tuple(StaleReads(*zip(*parts[1:], strict=True)) for parts in found)


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """Whether the right option was chosen where the question's context was read in full, and by reusing what stood
    before it; computed: positions of the one and of the other.
    """

    full: bool
    stale: bool
    computed: tuple[int, int]


def stale_answer(
    tree: LifetimeTree, scorer: FocusScorer, settings: FocusSettings, planted: Planted, clock: PerfClock
) -> StaleAnswer:
    """Read a lifetime's layout, ask, refocus, and choose with both reads. The lifetime is then as it was."""
    length = tree.length
    runtime = FocusRuntime(tree.model, scorer=scorer, settings=settings, tree=tree, clock=clock)
    try:
        before = ReadHistory((runtime.context,), tree.generation)
        runtime.question(planted.needle.question)
        runtime.refocus()
        chosen, computed = [], []
        for every in (1, 2):
            reader = PrefixReader(tree.model, clock)
            reader.read(before, tree)
            now = before.after(runtime.context, tree.generation, reader.every(every))
            computed.append(reader.read(now, tree).dirty)
            chosen.append(_chosen(tree.model, reader, now, tree, planted) == planted.needle.right)
        return StaleAnswer(chosen[0], chosen[1], (computed[0], computed[1]))
    finally:
        tree.truncate(length)


def _chosen(
    model: BaseModel, reader: PrefixReader, history: ReadHistory, tree: LifetimeTree, planted: Planted
) -> int:
    """The option that the model finds likeliest after the stem of the answer."""
    stem = model.encode(planted.needle.stem.rstrip(" "))
    losses = []
    for option in planted.needle.options:
        answer = model.encode(f" {option}")
        losses.append(float(reader.losses(history, tree, [*stem, *answer])[len(stem) :].sum()))
    return min(range(len(losses)), key=losses.__getitem__)


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
