"""`bench focus-latency`: what a block of 32 decoded tokens costs with the focus, part by part, and without it.

Run it where nothing else runs: every figure is wall time, the median of rounds.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from amgs.types import Progress
from amgs_app.benches.focus_texts import Stopwatch, TokenCorpus
from amgs_app.benches.frame import BenchResult, BenchTable, Operator, result
from amgs_app.benches.ledger import Ledger, Row
from amgs_focus.evaluation.gist import draw_windows
from amgs_focus.evaluation.latency import PARTS, focus_time, frozen_time
from amgs_focus.evaluation.places import lifetime_of
from amgs_focus.evaluation.stale import Reuse, reuse
from amgs_focus.evaluation.statistics import resampled
from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.utility.labels import LabelSnapshot
from amgs_focus.window.layout import lay_out

GOALS: Mapping[str, tuple[Operator, float]] = {"control_share": ("<=", 3.0)}
WINDOW = 512
CADENCES = (32, 128, 256)
LIFETIME = 4096
KEPT_PLACES = 12
KEPT_LIFETIME = 2048
SEED = 0


def run(
    model: BaseModel,
    encoder: GistEncoder,
    scorer: FocusScorer,
    corpus: TokenCorpus,
    out: Path,
    *,
    rounds: int = 3,
    window: int = WINDOW,
    cadences: Sequence[int] = CADENCES,
    lifetime: int = LIFETIME,
    settings: FocusSettings | None = None,
    quick: bool = False,
    progress: Progress | None = None,
) -> BenchResult:
    """Time each cadence so many rounds; `control_share` and its fellows are of the first cadence.

    quick: one round of the first cadence.
    """
    if quick:
        rounds, cadences = 1, tuple(cadences)[:1]
    chosen = (settings or FocusSettings()).model_copy(update={"window": window, "seed": SEED})
    told = {
        "model": model.card.name,
        "precision": model.card.precision,
        "gist": encoder.name,
        "gist_version": encoder.version,
        "scorer": scorer.name,
        "scorer_version": getattr(scorer, "version", None),
        "text": f"{corpus.name} {corpus.mark}",
        "lifetime": lifetime,
        **{name: value for name, value in chosen.model_dump().items() if name != "cadence"},
    }
    # times belong to this run: the process id keeps them from being taken for those of another one
    ledger = Ledger(out, "focus-latency", {**told, "process": os.getpid()})
    tokens = [token for document in corpus.documents for token in document][:lifetime]
    text = model.decode(tokens)
    clock = Stopwatch()
    by_cadence: dict[int, list[Row]] = {cadence: [] for cadence in cadences}
    frozen = []
    for number in range(rounds):
        if progress is not None:
            progress(number, rounds, "round")
        frozen.append(frozen_time(model, (tokens * (1 + window // len(tokens)))[:window], window, clock))
        for cadence in cadences:
            at = chosen.model_copy(update={"cadence": cadence})
            # two refocuses at least, so that the longest cadence is not measured on a lucky one
            blocks = max(4, 2 * cadence // 32)
            measure = partial(_round, model, encoder, scorer, at, text, blocks, clock)
            by_cadence[cadence].append(ledger.once(f"{cadence}/{number}", measure))
    alone = statistics.median(frozen)
    metrics = _metrics(by_cadence, alone)
    kept = _kept(model, encoder, scorer, corpus, chosen, 2 if quick else KEPT_PLACES)
    metrics |= _kept_metrics(kept)
    shown = {**told, "rounds": rounds, "cadences": list(cadences), "load": _load(), "rows": str(ledger.path)}
    tables = (_table(by_cadence, alone), _kept_table(kept))
    return result("focus-latency", settings=shown, metrics=metrics, goals=GOALS, tables=tables)


def _round(
    model: BaseModel,
    encoder: GistEncoder,
    scorer: FocusScorer,
    settings: FocusSettings,
    text: str,
    blocks: int,
    clock: Stopwatch,
) -> Row:
    spent = focus_time(model, encoder, scorer, settings, text, blocks, clock)
    return {**spent.parts, "dirty": spent.dirty, "refocuses": spent.refocuses}


def _kept(
    model: BaseModel,
    encoder: GistEncoder,
    scorer: FocusScorer,
    corpus: TokenCorpus,
    settings: FocusSettings,
    places: int,
) -> list[Reuse]:
    """One refocus in each of so many places, when a cadence of tokens has come: read anew, and with what stands
    behind its last edit kept stale.
    """
    horizon = cadence = settings.cadence
    need = KEPT_LIFETIME + horizon
    found = []
    for document, at in draw_windows([len(d) for d in corpus.documents], need, places, SEED):
        tokens = corpus.documents[document][at : at + need]
        past, future = tokens[:-horizon], tokens[-horizon:]
        tree = lifetime_of(model, encoder, past[:-cadence], settings)
        laid_out = lay_out(tree, settings)
        tree.append(past[-cadence:])
        before = laid_out.extended(tree.length)
        state = FocusState(before, settings)
        after, _ = refocus(state, tree, scorer, settings, PrefixReader(model, Stopwatch()), Stopwatch())
        made = reuse(LabelSnapshot(after.context, tree, tuple(future)), before)
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
