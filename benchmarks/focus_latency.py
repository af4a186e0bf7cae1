"""`focus-latency`: what a block of 32 decoded tokens costs with the focus, part by part, and without it.

Run it where nothing else runs: every figure is time on the rig's clock, the median of rounds. In each round the frozen
model, each cadence, and a full read each time take turns, and `of the frozen` is the median of each round's own ratio,
so that a machine that was slower for a while was slower for all of them.

Where the time of a decoded block goes, part by part, and what the frozen model alone takes for one.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch

from amgs_focus.gist import GistEncoder
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock
from amgs_focus.records import Segment
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, Scores
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_rig import FocusRig, Row

BLOCK = 32
PARTS = ("ingest", "gist", "lens", "allocate", "prefill", "decode")


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds a block of 32 decoded tokens, by part; dirty: positions computed anew at a refocus."""

    parts: dict[str, float]
    dirty: float
    refocuses: int

    @property
    def block(self) -> float:
        return sum(self.parts.values())

    @property
    def control(self) -> float:
        """lens + gist + allocate as a share of decode."""
        return sum(self.parts[name] for name in ("lens", "gist", "allocate")) / self.parts["decode"]


class TimedGist:
    """An encoder that sums up how long it took."""

    def __init__(self, encoder: GistEncoder, clock: PerfClock) -> None:
        self._encoder = encoder
        self._clock = clock
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def version(self) -> int:
        return self._encoder.version

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """As the encoder's own."""
        began = self._clock.perf()
        made = self._encoder.encode_tokens(embeddings, tokens)
        self.seconds += self._clock.perf() - began
        return made

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """As the encoder's own."""
        began = self._clock.perf()
        made = self._encoder.encode_gists(gists)
        self.seconds += self._clock.perf() - began
        return made


class TimedScorer:
    """A scorer that sums up how long it took."""

    def __init__(self, scorer: FocusScorer, clock: PerfClock) -> None:
        self._scorer = scorer
        self._clock = clock
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return self._scorer.name

    @property
    def version(self) -> int:
        return self._scorer.version

    def score(self, view: LensView) -> Scores:
        """As the scorer's own."""
        began = self._clock.perf()
        found = self._scorer.score(view)
        self.seconds += self._clock.perf() - began
        return found


class Endless:
    """A model that never ends its answer: what is timed should not depend on what it says."""

    stops: frozenset[int] = frozenset()

    def __init__(self, model: BaseModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def focus_time(
    model: BaseModel,
    encoder: GistEncoder,
    scorer: FocusScorer,
    settings: FocusSettings,
    lifetime: str,
    blocks: int,
    clock: PerfClock,
) -> Spent:
    """Decode so many blocks over a lifetime, refocusing at its cadence, after a first refocus that is not
    counted.
    """
    gist, lens = TimedGist(encoder, clock), TimedScorer(scorer, clock)
    endless = cast(BaseModel, Endless(model))
    tree = LifetimeTree(endless, gist, block_size=settings.block_size)
    runtime = FocusRuntime(endless, scorer=lens, settings=settings, tree=tree, clock=clock)
    runtime.ingest([Segment(lifetime)])
    # the first layout and its whole prefill happen once; after a cadence the next refocus is due
    runtime.decode(settings.cadence)
    gist.seconds = lens.seconds = 0.0
    singles, anew, refocusing, dirty = [], 0.0, 0.0, []
    whole = clock.perf()
    steps = runtime.decode(blocks * BLOCK)
    whole = 1000 * (clock.perf() - whole)
    for step in steps:
        spent = step.milliseconds - (step.refocus.milliseconds if step.refocus else 0.0)
        if step.refocus is not None:
            refocusing += step.refocus.milliseconds
        if step.dirty > 1:
            anew += spent
            dirty.append(step.dirty)
        else:
            singles.append(spent)
    gists, scoring = 1000 * gist.seconds, 1000 * lens.seconds
    single = statistics.median(singles) if singles else 0.0
    parts = {
        "ingest": 1000 * _append_seconds(endless, encoder, settings, blocks, clock),
        "gist": gists,
        "lens": scoring,
        "allocate": refocusing - scoring,
        # a step that computes many positions decodes one of them
        "prefill": max(0.0, anew - single * len(dirty)),
    }
    parts["decode"] = max(0.0, whole - sum(parts.values()))
    return Spent(
        {name: parts[name] / blocks for name in PARTS},
        float(statistics.fmean(dirty)) if dirty else 0.0,
        sum(step.refocus is not None for step in steps),
    )


def frozen_time(model: BaseModel, tokens: Sequence[int], window: int, clock: PerfClock) -> float:
    """Milliseconds in which the model alone decodes a block at the end of a full window, all before it kept."""
    with torch.no_grad():
        ids = torch.tensor([[*model.sinks(), *tokens[: window - SINKS - BLOCK]]], dtype=torch.int64)
        cache = model.new_cache()
        hidden = model.forward(model.embed(ids), cache)
        token = model.logits(hidden[0, -1:]).argmax()
        began = clock.perf()
        for _ in range(BLOCK):
            hidden = model.forward(model.embed(token.view(1, 1)), cache)
            token = model.logits(hidden[0, -1:]).argmax()
        return 1000 * (clock.perf() - began)


def _append_seconds(
    model: BaseModel, encoder: GistEncoder, settings: FocusSettings, blocks: int, clock: PerfClock
) -> float:
    """What appending so many tokens one by one takes without their gists."""
    timed = TimedGist(encoder, clock)
    tree = LifetimeTree(model, timed, block_size=settings.block_size)
    token = model.sinks()[-1]
    began = clock.perf()
    for _ in range(blocks * BLOCK):
        tree.append([token], kind="generated")
    return max(0.0, clock.perf() - began - timed.seconds)


BENCH = Bench(
    "focus-latency", {"control_share": ("<=", 3.0), "prefill_share": ("<=", 10.0), "block_ratio": ("<=", 1.10)}
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
        metrics |= {f"{metric}_{name.replace(', ', '_').replace(' ', '_')}": value for metric, value in found.items()}
    return metrics | {"block_ms_frozen": alone}


def _table(measured: Mapping[str, Sequence[Row]], alone: float) -> BenchTable:
    lines: list[tuple[str | float, ...]] = []
    for name, rows in measured.items():
        parts = [_median(rows, part) for part in PARTS]
        lines.append((name, *parts, sum(parts), f"{_median(rows, 'dirty'):.0f}", f"{_median(rows, 'ratio'):.2f}"))
    lines.append(("frozen alone", *("" for _ in PARTS[:-1]), alone, alone, "", "1.00"))
    columns = ("cadence", *PARTS, "block", "computed anew", "of the frozen")
    return BenchTable("Milliseconds a block of 32 tokens, medians", columns, tuple(lines))


def _load() -> str:
    """The machine's load while it ran: a figure from a busy machine should say so."""
    return " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else ""
