"""`focus-budget`: the whole system against sinks and a sliding window, on the same budget.

Prose: NLL of the true next tokens, refocusing every cadence. Facts: planted, asked for, chosen among eight. Beside it
plain retrieval with the same entries, by words (BM25) and by meaning: chunks that overlap by half fill what the tail
leaves of the window. On facts also BM25 over the blocks' own grid, which cuts in two every second planted key; and on
prose a window that costs as many operations a block as the focus does, as far as the model reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial

import numpy as np
import torch

from amgs.text.embedding import Embedder
from amgs_focus.lens.scoring import LensView
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import assemble
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Comparator
from benchmarks.focus_evaluation.budget import (
    ChunkRetrieval,
    counted,
    focused,
    model_cost,
    retrievals,
    retrieved,
    tail_of,
    windowed,
)
from benchmarks.focus_evaluation.needles import CHANCE, Planted, answers_from, ask, facts, plant, room_for_text
from benchmarks.focus_evaluation.statistics import Interval, resampled
from benchmarks.focus_rig import FocusRig, Row

BENCH = Bench("focus-budget")
WINDOWS = (256, 512, 1024)
LIFETIME = 4096
FUTURE = 512
FACTS = 4
LONGEST = 2048
"""The longest window that is read for equal operations; the exact one would not fit any text or model here."""
SETTINGS = FocusSettings()
SEED = 0
PROSE = {"focus": "focus", "window": "sliding window", "rag": "BM25", "dense": "dense"}
ASKED = {**PROSE, "grid": "BM25, grid of 32", "sight": "in sight"}


def run(
    rig: FocusRig,
    embedder: Embedder,
    *,
    places: int = 12,
    windows: Sequence[int] = WINDOWS,
    lifetime: int = LIFETIME,
    future: int = FUTURE,
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
        **rig.searching(),
        "lifetime": lifetime,
        "future": future,
        "embedder": embedder.name,
        "facts": FACTS,
        "longest": longest,
        **{name: value for name, value in settings.model_dump().items() if name != "window"},
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    drawn = rig.corpus.excerpts(lifetime + future, places, SEED)
    plain = retrievals(rig.model, embedder)
    prose: list[Row] = []
    asked: list[Row] = []
    for number, one in enumerate(drawn):
        rig.progress(number, len(drawn), "place")
        key = f"{one.document}/{one.at}/{'-'.join(map(str, windows))}"
        measure = partial(_prose, rig, one.tokens, future, plain, windows, longest, settings)
        prose.append(ledger.once(f"prose/{key}", measure))
        measure = partial(_facts, rig, one.tokens[:lifetime], plain, windows, settings, number)
        asked.append(ledger.once(f"facts/{key}", measure))
    groups = [one.document for one in drawn]
    cost = _cost(rig, rig.corpus.documents[drawn[0].document], prose, windows, settings)
    metrics, goals = _metrics(prose, asked, windows, groups)
    shown = {**told, "places": len(drawn), "windows": list(windows), "rows": str(ledger.path)}
    shown["chance"] = 100 * CHANCE
    tables = (
        _prose_table(prose, windows, groups),
        _facts_table(asked, windows, groups),
        _shown_table(asked, windows, groups),
        cost,
    )
    return BENCH.result(shown, metrics, tables, goals=goals)


# --- one place --------------------------------------------------------------------------------------------


def _prose(
    rig: FocusRig,
    tokens: Sequence[int],
    length: int,
    plain: Mapping[str, ChunkRetrieval],
    windows: Sequence[int],
    longest: int,
    settings: FocusSettings,
) -> Row:
    model = rig.model
    past, future = list(tokens[:-length]), list(tokens[-length:])
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
            }
            for name in PROSE.keys() & plain.keys():
                found = retrieved(model, past, future, chosen, plain[name])
                row[f"{name}_{window}"] = float(np.mean(found))
    return row


def _facts(
    rig: FocusRig,
    text: Sequence[int],
    plain: Mapping[str, ChunkRetrieval],
    windows: Sequence[int],
    settings: FocusSettings,
    number: int,
) -> Row:
    tokens, planted = plant(rig.model, text, facts(FACTS, SEED + number), len(text), settings.block_size, SEED + number)
    row: Row = {}
    with closing(rig.lifetime(tokens, settings)) as tree:
        for window in windows:
            chosen = settings.model_copy(update={"window": window})
            systems = [_answers(rig, tree, plain, chosen, one, tokens) for one in planted]
            for system in systems[0]:
                row[f"{system}_{window}"] = [found[system] for found in systems]
    return row


def _answers(
    rig: FocusRig,
    tree: LifetimeTree,
    plain: Mapping[str, ChunkRetrieval],
    settings: FocusSettings,
    planted: Planted,
    tokens: Sequence[int],
) -> dict[str, float]:
    """Whether each system chooses the right answer, and whether it shows every token of the key."""
    model, needle = rig.model, planted.needle
    focus = ask(tree, rig.scorer, settings, planted, rig.clock, rig.search)
    room = room_for_text(model, settings.window, needle)
    sight = tokens[max(0, planted.end - room // 2) :][:room]
    found = {
        "focus": float(focus.answered),
        "focus_shown": float(focus.expanded),
        "window": float(answers_from(model, tokens[-room:], needle)),
        "sight": float(answers_from(model, sight, needle)),
    }
    key = set(range(planted.key_start, planted.key_end))
    for name, retrieval in plain.items():
        places = retrieval.places(tokens, model.encode(needle.question), room, tail_of(len(tokens), settings))
        found[name] = float(answers_from(model, [tokens[place] for place in places], needle))
        found[f"{name}_shown"] = float(key <= set(places))
    return found


# --- what they cost ---------------------------------------------------------------------------------------


def _cost(
    rig: FocusRig, document: Sequence[int], prose: Sequence[Row], windows: Sequence[int], settings: FocusSettings
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
        used, dirty = (float(np.mean([row[f"{name}_{window}"] for row in prose])) for name in ("used", "dirty"))
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
    above it and above either retrieval beyond the interval.
    """
    metrics: dict[str, float] = {}
    goals: dict[str, tuple[Comparator, float]] = {}
    for window in windows:
        for system in PROSE:
            metrics[f"nll_{system}_{window}"] = _mean(prose, f"{system}_{window}", groups).mean
        for system in ASKED:
            metrics[f"fact_acc_{system}_{window}"] = 100 * _mean(asked, f"{system}_{window}", groups).mean
        harm = _difference(prose, f"focus_{window}", f"window_{window}", groups)
        metrics[f"nll_harm_low_{window}"] = harm.low
        goals[f"nll_harm_low_{window}"] = ("<=", 0.0)
        for name, system in (("fact_gain", "window"), ("fact_gain_rag", "rag"), ("fact_gain_dense", "dense")):
            gain = _difference(asked, f"focus_{window}", f"{system}_{window}", groups)
            metrics[f"{name}_low_{window}"] = 100 * gain.low
            goals[f"{name}_low_{window}"] = (">=", 0.0)
    metrics["nll_window_longest"] = _mean(prose, "longest", groups).mean
    return metrics, goals


def _prose_table(prose: Sequence[Row], windows: Sequence[int], groups: Sequence[int]) -> BenchTable:
    rivals = tuple(system for system in PROSE if system != "focus")
    rows = [
        (
            str(window),
            *(_mean(prose, f"{system}_{window}", groups).said(3) for system in PROSE),
            *(_difference(prose, f"focus_{window}", f"{system}_{window}", groups).said(3) for system in rivals),
            _difference(prose, f"focus_{window}", "longest", groups).said(3),
        )
        for window in windows
    ]
    columns = ("window", *PROSE.values(), *(f"focus − {PROSE[system]}" for system in rivals), "focus − longest window")
    return BenchTable("NLL of prose, nats a token, same entries", columns, tuple(rows))


def _facts_table(asked: Sequence[Row], windows: Sequence[int], groups: Sequence[int]) -> BenchTable:
    rows = [
        (
            str(window),
            *(_mean(asked, f"{system}_{window}", groups).said(0, 100) for system in ASKED),
            *(
                _difference(asked, f"focus_{window}", f"{system}_{window}", groups).said(0, 100)
                for system in ("window", "rag", "dense")
            ),
        )
        for window in windows
    ]
    columns = ("window", *ASKED.values(), "focus − sliding window", "focus − BM25", "focus − dense")
    return BenchTable("Planted facts chosen among eight, percent", columns, tuple(rows))


def _shown_table(asked: Sequence[Row], windows: Sequence[int], groups: Sequence[int]) -> BenchTable:
    named = {name: said for name, said in ASKED.items() if name not in ("window", "sight")}
    rows = [
        (str(window), *(_mean(asked, f"{name}_shown_{window}", groups).said(0, 100) for name in named))
        for window in windows
    ]
    return BenchTable(
        "Planted facts whose key stands whole in the window as tokens, percent",
        ("window", *named.values()),
        tuple(rows),
    )


def _mean(rows: Sequence[Row], name: str, groups: Sequence[int]) -> Interval:
    return resampled(
        {"x": [float(np.mean(row[name])) for row in rows]}, lambda means: means["x"], seed=SEED, groups=groups
    )


def _difference(rows: Sequence[Row], left: str, right: str, groups: Sequence[int]) -> Interval:
    pairs = {name: [float(np.mean(row[name])) for row in rows] for name in (left, right)}
    return resampled(pairs, lambda means: means[left] - means[right], seed=SEED, groups=groups)
