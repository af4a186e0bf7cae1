"""`bench focus-budget`: the whole system against sinks and a sliding window, on the same budget.

Prose: NLL of the true next tokens, refocusing every cadence. Facts: planted, asked for, chosen among eight.
Beside it plain retrieval (BM25) with the same entries, and on prose a window that costs as many operations a
block as the focus does, as far as the model reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial

import numpy as np
import torch

from amgs_app.bench_results import BenchResult, BenchTable, Comparator
from amgs_app.benches.focus_rig import FocusRig
from amgs_app.benches.frame import Bench
from amgs_app.benches.ledger import Row
from amgs_app.benches.references import Bm25
from amgs_focus.evaluation.asking import answers_from, ask, room_for_text
from amgs_focus.evaluation.budget import best_chunks, focused, retrieved, windowed
from amgs_focus.evaluation.flops import counted, model_cost
from amgs_focus.evaluation.needles import CHANCE, Planted, facts, plant
from amgs_focus.evaluation.statistics import Interval, resampled
from amgs_focus.lens.scoring import LensView
from amgs_focus.model.base_model import BaseModel
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import assemble

BENCH = Bench("focus-budget")
WINDOWS = (256, 512, 1024)
LIFETIME = 4096
FUTURE = 64
FACTS = 4
LONGEST = 2048
"""The longest window that is read for equal operations; the exact one would not fit any text or model here."""
SETTINGS = FocusSettings()
SEED = 0


def run(
    rig: FocusRig,
    *,
    places: int = 12,
    windows: Sequence[int] = WINDOWS,
    lifetime: int = LIFETIME,
    longest: int = LONGEST,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Measure so many places of a text at each window. A quick run takes a quarter of the places and two windows.

    Raises TextError when the text is shorter than one lifetime.
    """
    if rig.quick:
        places, windows = max(2, places // 4), tuple(windows)[:2]
    told = {
        **rig.parts(),
        "lifetime": lifetime,
        "future": FUTURE,
        "facts": FACTS,
        "longest": longest,
        **{name: value for name, value in settings.model_dump().items() if name != "window"},
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    drawn = rig.corpus.excerpts(lifetime + FUTURE, places, SEED)
    prose: list[Row] = []
    asked: list[Row] = []
    for number, one in enumerate(drawn):
        rig.progress(number, len(drawn), "place")
        key = f"{one.document}/{one.at}/{'-'.join(map(str, windows))}"
        measure = partial(_prose, rig, one.tokens, windows, longest, settings)
        prose.append(ledger.once(f"prose/{key}", measure))
        measure = partial(_facts, rig, one.tokens[:lifetime], windows, settings, number)
        asked.append(ledger.once(f"facts/{key}", measure))
    groups = [one.document for one in drawn]
    cost = _cost(rig, rig.corpus.documents[drawn[0].document], prose, windows, settings)
    metrics, goals = _metrics(prose, asked, windows, groups)
    shown = {**told, "places": len(drawn), "windows": list(windows), "rows": str(ledger.path)}
    shown["chance"] = 100 * CHANCE
    tables = (_prose_table(prose, windows, groups), _facts_table(asked, windows, groups), cost)
    return BENCH.result(shown, metrics, tables, goals=goals)


def bm25(chunks: Sequence[str], query: str) -> Sequence[float]:
    """Textbook BM25 of each chunk."""
    return [float(score) for score in Bm25(chunks).scores(query)]


# --- one place --------------------------------------------------------------------------------------------


def _prose(
    rig: FocusRig, tokens: Sequence[int], windows: Sequence[int], longest: int, settings: FocusSettings
) -> Row:
    model = rig.model
    past, future = list(tokens[:-FUTURE]), list(tokens[-FUTURE:])
    row: Row = {"longest": float(np.mean(windowed(model, past, future, longest, settings.cadence)))}
    with closing(rig.lifetime(past, settings)) as tree:
        for window in windows:
            chosen = settings.model_copy(update={"window": window})
            streamed = focused(tree, rig.scorer, chosen, future, rig.clock)
            row |= {
                f"focus_{window}": float(np.mean(streamed.nll)),
                f"dirty_{window}": float(np.mean(streamed.dirty[1:] or streamed.dirty)),
                f"used_{window}": float(np.mean(streamed.used[1:] or streamed.used)),
                f"window_{window}": float(np.mean(windowed(model, past, future, window, settings.cadence))),
                f"rag_{window}": float(
                    np.mean(retrieved(model, past, future, chosen, partial(_ranking, model)))
                ),
            }
    return row


def _facts(
    rig: FocusRig, text: Sequence[int], windows: Sequence[int], settings: FocusSettings, number: int
) -> Row:
    tokens, planted = plant(
        rig.model, text, facts(FACTS, SEED + number), len(text), settings.block_size, SEED + number
    )
    row: Row = {}
    with closing(rig.lifetime(tokens, settings)) as tree:
        for window in windows:
            chosen = settings.model_copy(update={"window": window})
            systems = [_answers(rig, tree, chosen, one, tokens) for one in planted]
            for system in systems[0]:
                row[f"{system}_{window}"] = [found[system] for found in systems]
    return row


def _answers(
    rig: FocusRig, tree: LifetimeTree, settings: FocusSettings, planted: Planted, tokens: Sequence[int]
) -> dict[str, float]:
    """Whether each system chooses the right answer, and whether the focus had the key in sight."""
    model, needle = rig.model, planted.needle
    focus = ask(tree, rig.scorer, settings, planted, rig.clock)
    room = room_for_text(model, settings.window, needle)
    shown = best_chunks(tokens, model.encode(needle.question), room, settings, partial(_ranking, model))
    sight = tokens[max(0, planted.end - room // 2) :][:room]
    return {
        "focus": float(focus.answered),
        "expanded": float(focus.expanded),
        "window": float(answers_from(model, tokens[-room:], needle)),
        "rag": float(answers_from(model, shown, needle)),
        "sight": float(answers_from(model, sight, needle)),
    }


def _ranking(model: BaseModel, chunks: Sequence[Sequence[int]], query: Sequence[int]) -> Sequence[float]:
    return bm25([model.decode(chunk) for chunk in chunks], model.decode(query))


# --- what they cost ---------------------------------------------------------------------------------------


def _cost(
    rig: FocusRig,
    document: Sequence[int],
    prose: Sequence[Row],
    windows: Sequence[int],
    settings: FocusSettings,
) -> BenchTable:
    """Operations of a block of `cadence` tokens, by part, and the window that costs as much."""
    each = model_cost(rig.model)
    size = settings.block_size
    block = torch.tensor([document[:size]], dtype=torch.int64)
    gist = counted(lambda: rig.encoder.encode_tokens(rig.model.embed(block), block)) * settings.cadence / size
    rows = []
    for window in windows:
        chosen = settings.model_copy(update={"window": window})
        with closing(rig.lifetime(document[: 4 * window], chosen)) as tree:
            context = assemble(tree, window, chosen.tail_blocks, headroom=chosen.cadence)
            lens = counted(lambda: rig.scorer.score(LensView(context, tree)))  # noqa: B023
        used, dirty = (
            float(np.mean([row[f"{name}_{window}"] for row in prose])) for name in ("used", "dirty")
        )
        decode = each.tokens(int(used), chosen.cadence)
        prefill = each.tokens(int(used - dirty), int(dirty))
        plain = each.tokens(window - chosen.cadence, chosen.cadence)
        total = gist + lens + prefill + decode
        rows.append(
            (
                str(window),
                *(f"{part / 1e9:.1f}" for part in (gist, lens, prefill, decode, total, plain)),
                f"{dirty:.0f} of {used:.0f}",
                f"{each.window(total, chosen.cadence):,}",
            )
        )
    columns = (
        "window", "gist", "lens", "prefill", "decode", "focus", "window alone", "entries anew", "window of equal cost",
    )  # fmt: skip
    return BenchTable("10⁹ operations a block", columns, tuple(rows))


# --- the result -------------------------------------------------------------------------------------------


def _metrics(
    prose: Sequence[Row], asked: Sequence[Row], windows: Sequence[int], groups: Sequence[int]
) -> tuple[dict[str, float], dict[str, tuple[Comparator, float]]]:
    """What is asked for at each window. Goals: on prose not above the window beyond the interval, on facts
    above it beyond the interval.
    """
    metrics: dict[str, float] = {}
    goals: dict[str, tuple[Comparator, float]] = {}
    for window in windows:
        for system in ("focus", "window", "rag"):
            metrics[f"nll_{system}_{window}"] = _mean(prose, f"{system}_{window}", groups).mean
            metrics[f"fact_acc_{system}_{window}"] = 100 * _mean(asked, f"{system}_{window}", groups).mean
        metrics[f"nll_harm_low_{window}"] = _difference(
            prose, f"focus_{window}", f"window_{window}", groups
        ).low
        gain = _difference(asked, f"focus_{window}", f"window_{window}", groups)
        metrics[f"fact_gain_low_{window}"] = 100 * gain.low
        goals[f"nll_harm_low_{window}"] = ("<=", 0.0)
        goals[f"fact_gain_low_{window}"] = (">=", 0.0)
    metrics["nll_window_longest"] = _mean(prose, "longest", groups).mean
    return metrics, goals


def _prose_table(prose: Sequence[Row], windows: Sequence[int], groups: Sequence[int]) -> BenchTable:
    rows = [
        (
            str(window),
            *(_mean(prose, f"{system}_{window}", groups).said(3) for system in ("focus", "window", "rag")),
            _difference(prose, f"focus_{window}", f"window_{window}", groups).said(3),
            _difference(prose, f"focus_{window}", f"rag_{window}", groups).said(3),
            _difference(prose, f"focus_{window}", "longest", groups).said(3),
        )
        for window in windows
    ]
    columns = (
        "window", "focus", "sliding window", "retrieval", "focus − window",
        "focus − retrieval", "focus − longest window",
    )  # fmt: skip
    return BenchTable("NLL of prose, nats a token, same entries", columns, tuple(rows))


def _facts_table(asked: Sequence[Row], windows: Sequence[int], groups: Sequence[int]) -> BenchTable:
    systems = ("focus", "expanded", "window", "rag", "sight")
    rows = [
        (
            str(window),
            *(_mean(asked, f"{system}_{window}", groups).said(0, 100) for system in systems),
            _difference(asked, f"focus_{window}", f"window_{window}", groups).said(0, 100),
        )
        for window in windows
    ]
    columns = (
        "window",
        "focus",
        "of it expanded",
        "sliding window",
        "retrieval",
        "in sight",
        "focus − window",
    )
    return BenchTable("Planted facts chosen among eight, percent", columns, tuple(rows))


def _mean(rows: Sequence[Row], name: str, groups: Sequence[int]) -> Interval:
    return resampled(
        {"x": [float(np.mean(row[name])) for row in rows]}, lambda means: means["x"], seed=SEED, groups=groups
    )


def _difference(rows: Sequence[Row], left: str, right: str, groups: Sequence[int]) -> Interval:
    pairs = {name: [float(np.mean(row[name])) for row in rows] for name in (left, right)}
    return resampled(pairs, lambda means: means[left] - means[right], seed=SEED, groups=groups)
