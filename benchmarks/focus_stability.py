"""`focus-stability`: whether the working context keeps still, under real scores and under scores made to
shake it.

A text streams through refocuses, one every cadence of tokens. Counted a run: actions (what the allocator applied,
room made for tokens to come included) an entry outside the tail, the mean over the refocuses; how many refocuses
entries outside the tail kept their level, stays that still run as long as they are by then; actions that undo one
of the last `cooldown` refocuses on the same node; nodes that went back and forth three times within eight
refocuses. A metric is the worst of its runs.

Whether the loop keeps still: a text streamed through refocuses, under real scores and under scores made to
shake it.

No token is decoded and no model is run but for the gists: what moves depends on the scores and the allocator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from amgs_focus.errors import TextError
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.options import PerfClock
from amgs_focus.records import Action, NodeRef, Refocus
from amgs_focus.runtime.prefix import FocusState, PrefixReader
from amgs_focus.runtime.timeline import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.trace.telemetry import stays
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import lay_out
from amgs_focus.window.working_context import Scores, WorkingContext
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_rig import FocusRig

Shake = Literal["chance", "in turn", "contrary", "undoing"]
SHAKES: tuple[Shake, ...] = get_args(Shake)
"""Chance; all for more detail and all for less in turn; every gist for more and everything fine for less; the
same, and most of all what was put in place last.
"""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """One run in numbers. swap_rate: actions an entry outside the tail, the mean over its refocuses;
    mean_residency: refocuses that entries outside the tail kept their level, running stays as long as they
    are by then, and of those that ended alone; ping_pongs: actions that undo one within the cooldown;
    oscillations: nodes that went back and forth three times within eight refocuses.
    """

    refocuses: int
    swap_rate: float
    swap_rate_most: float
    mean_residency: float
    ended_residency: float
    ended: int
    ping_pongs: int
    oscillations: int
    actions: float


def stream(
    tree: LifetimeTree, scorer: FocusScorer, settings: FocusSettings, future: Sequence[int], clock: PerfClock
) -> tuple[Refocus, ...]:
    """Refocus, let a cadence of the future join the lifetime, and so on; the lifetime is then cut back."""
    length = tree.length
    reader = PrefixReader(tree.model, clock)  # never read with
    context = lay_out(tree, settings)
    state = FocusState(context, settings)
    records = []
    try:
        for start in range(0, len(future), settings.cadence):
            state, record = refocus(state, tree, scorer, settings, reader, clock)
            records.append(record)
            tree.append(list(future[start : start + settings.cadence]))
            state = replace(state, context=state.context.extend_lifetime(tree.length), fresh=False)
    finally:
        tree.truncate(length)
    return tuple(records)


def steadiness(records: Sequence[Refocus], settings: FocusSettings) -> Steadiness:
    """What a streamed run amounts to."""
    found = stays(records, settings.model_dump())
    swaps = [record.swap_rate for record in records]
    return Steadiness(
        refocuses=len(records),
        swap_rate=float(np.mean(swaps)),
        swap_rate_most=max(swaps),
        mean_residency=found.mean,
        ended_residency=found.mean_ended,
        ended=len(found.ended),
        ping_pongs=count_ping_pongs(records, settings.cooldown),
        oscillations=count_oscillations(records),
        actions=float(np.mean([len(record.applied) for record in records])),
    )


def count_ping_pongs(refocuses: Sequence[Refocus], cooldown: int) -> int:
    """Count actions that undo one of at most `cooldown` refocuses before: what the cooldown exists to prevent."""
    last: dict[NodeRef, tuple[Action, int]] = {}
    count = 0
    for record in refocuses:
        for decision in record.applied:
            kind, when = last.get(decision.node, (decision.kind, 0))
            count += kind != decision.kind and record.number - when <= cooldown
            last[decision.node] = (decision.kind, record.number)
    return count


FLIPS, WITHIN = 3, 8
"""A node oscillates that had so many opposite actions within so many refocuses."""


def count_oscillations(refocuses: Sequence[Refocus]) -> int:
    """Count nodes that went back and forth, each once."""
    flips: defaultdict[NodeRef, list[int]] = defaultdict(list)
    last: dict[NodeRef, Action] = {}
    found = set()
    for record in refocuses:
        for decision in record.applied:
            if last.get(decision.node, decision.kind) != decision.kind:
                flips[decision.node].append(record.number)
            last[decision.node] = decision.kind
            if sum(number > record.number - WITHIN for number in flips[decision.node]) >= FLIPS:
                found.add(decision.node)
    return len(found)


class Adversary:
    """Scores that have nothing to do with the text, after one of the SHAKES."""

    version = 0

    def __init__(self, shake: Shake, seed: int = 0) -> None:
        self.name: str = shake
        self._shake = shake
        self._draws = np.random.default_rng(seed)
        self._calls = 0
        self._first: dict[NodeRef, int] = {}

    def score(self, view: LensView) -> Scores:
        self._calls += 1
        entries = view.context.entries()
        self._first = {entry.node: self._first.get(entry.node, self._calls) for entry in entries}
        values = self._values(view.context)
        spread = np.repeat(values, [entry.cost for entry in entries])
        return Scores(spread, {self.name: spread})

    def _values(self, context: WorkingContext) -> NDArray[np.float64]:
        """(entries,) of this call."""
        entries = context.entries()
        against = np.array([1.0 if entry.level else -1.0 for entry in entries])
        strength = self._draws.uniform(0.3, 1.0, len(entries))
        if self._shake == "chance":
            return self._draws.uniform(-1.0, 1.0, len(entries))
        if self._shake == "in turn":
            return strength if self._calls % 2 else -strength
        if self._shake == "contrary":
            return against * strength
        age = np.array([self._first[entry.node] for entry in entries]) / self._calls
        return against * (0.3 + 0.7 * age)


class Noisy:
    """A real scorer with noise of a standard deviation on every entry, drawn anew each time."""

    def __init__(self, scorer: FocusScorer, deviation: float, seed: int = 0) -> None:
        self.name = f"{scorer.name} + noise {deviation:g}"
        self.version = scorer.version
        self._scorer = scorer
        self._deviation = deviation
        self._draws = np.random.default_rng(seed)

    def score(self, view: LensView) -> Scores:
        costs = [entry.cost for entry in view.context.entries()]
        noise = np.repeat(self._draws.normal(0.0, self._deviation, len(costs)), costs)
        values = np.clip(self._scorer.score(view).values + noise, -1.0, 1.0)
        return Scores(values, {self.name: values})


BENCH = Bench(
    "focus-stability",
    {
        "swap_rate": ("<=", 0.25),
        "mean_residency": (">=", 3.0),
        "ping_pongs": ("<=", 0),
        "oscillations": ("<=", 0),
        "swap_rate_noisy": ("<=", 0.25),
        "mean_residency_noisy": (">=", 3.0),
        "ping_pongs_noisy": ("<=", 0),
        "oscillations_noisy": ("<=", 0),
    },
)
REFOCUSES = 64
LIFETIMES = (1024, 8192, 65536)
WINDOWS = (256, 512)
NOISE = 0.5
SEED = 0


@dataclass(frozen=True, slots=True)
class StabilityRun:
    """One run: what it was made with and what came of it. shaken: its scores were made to disturb."""

    scorer: str
    shaken: bool
    window: int
    lifetime: int
    found: Steadiness


def run(
    rig: FocusRig,
    *,
    refocuses: int = REFOCUSES,
    lifetimes: Sequence[int] = LIFETIMES,
    windows: Sequence[int] = WINDOWS,
    settings: FocusSettings | None = None,
) -> BenchResult:
    """Stream the corpus behind lifetimes of several lengths. A quick run takes a quarter of the refocuses and the two
    shortest lifetimes.

    Lifetimes that the text is too short for are left out. Raises TextError when it is too short for each.
    """
    settings = settings or FocusSettings()
    refocuses, lifetimes = (refocuses // 4, lifetimes[:2]) if rig.quick else (refocuses, lifetimes)
    tokens = rig.text
    fitting = [size for size in lifetimes if size + refocuses * settings.cadence <= len(tokens)]
    if not fitting:
        needed = lifetimes[0] + refocuses * settings.cadence
        raise TextError(
            f"{rig.corpus.name} has {len(tokens)} tokens; {needed} are needed.", way_out="Give a longer text."
        )
    runs: list[StabilityRun] = []
    for size in fitting:
        tree = LifetimeTree(rig.model, rig.encoder, block_size=settings.block_size)
        rig.progress(len(runs), len(runs) + 1, f"a lifetime of {size:,} tokens")
        tree.append(tokens[:size], progress=rig.progress)
        future = tokens[size : size + refocuses * settings.cadence]
        for window in windows:
            used = settings.model_copy(update={"window": window})
            for scorer, shaken in _scorers(rig.scorers):
                doing = f"{scorer.name}, window {window}, {size:,} tokens"
                rig.progress(len(runs), len(runs) + 1, doing)
                found = steadiness(stream(tree, scorer, used, future, rig.clock), used)
                runs.append(StabilityRun(scorer.name, shaken, window, size, found))
        tree.close()
    told = {
        "model": rig.model.card.name,
        "gist": rig.encoder.name,
        "text": rig.corpus.name,
        "lifetimes": fitting,
        "windows": list(windows),
        "refocuses": refocuses,
        "noise": NOISE,
        "seed": SEED,
        **settings.model_dump(exclude={"window", "seed"}),
    }
    real, shaken_ones = ([one for one in runs if one.shaken is which] for which in (False, True))
    metrics = {**_worst(real, ""), **_worst(shaken_ones, "_noisy")}
    return BENCH.result(told, metrics, (_table(runs), _all(runs)))


def _scorers(real: Sequence[FocusScorer]) -> Iterator[tuple[FocusScorer, bool]]:
    """Every scorer of a setting, each with its own draws: the real ones, the same with noise, adversaries."""
    for scorer in real:
        yield scorer, False
        yield Noisy(scorer, NOISE, SEED), True
    for shake in SHAKES:
        yield Adversary(shake, SEED), True


def _worst(runs: Sequence[StabilityRun], ending: str) -> dict[str, float]:
    """The worst that any of the runs did, by metric."""
    chosen = [one.found for one in runs]
    return {
        f"swap_rate{ending}": max(one.swap_rate for one in chosen),
        f"mean_residency{ending}": min(one.mean_residency for one in chosen),
        f"ended_residency{ending}": min((one.ended_residency for one in chosen if one.ended), default=float("nan")),
        f"ping_pongs{ending}": sum(one.ping_pongs for one in chosen),
        f"oscillations{ending}": sum(one.oscillations for one in chosen),
        f"actions_per_refocus{ending}": max(one.actions for one in chosen),
    }


def _table(runs: Sequence[StabilityRun]) -> BenchTable:
    """The worst over lifetimes and windows for each scorer."""
    rows = []
    for name in dict.fromkeys(one.scorer for one in runs):
        worst = _worst([one for one in runs if one.scorer == name], "")
        rows.append(
            (
                name,
                f"{worst['swap_rate']:.3f}",
                f"{worst['mean_residency']:.1f}",
                f"{worst['ended_residency']:.1f}",
                f"{worst['ping_pongs']:.0f}",
                f"{worst['oscillations']:.0f}",
                f"{worst['actions_per_refocus']:.2f}",
            )
        )
    columns = (
        "scores",
        "actions an entry",
        "residency",
        "of ended stays",
        "ping-pongs",
        "oscillations",
        "actions a refocus",
    )
    return BenchTable("The worst run of each scorer", columns, tuple(rows))


def _all(runs: Sequence[StabilityRun]) -> BenchTable:
    rows = [
        (
            one.scorer,
            str(one.window),
            f"{one.lifetime:,}",
            f"{one.found.swap_rate:.3f}",
            f"{one.found.swap_rate_most:.3f}",
            f"{one.found.mean_residency:.1f}",
            f"{one.found.ended_residency:.1f} ({one.found.ended})",
            f"{one.found.actions:.2f}",
        )
        for one in runs
    ]
    columns = (
        "scores",
        "window",
        "lifetime",
        "actions an entry",
        "at most",
        "residency",
        "of ended stays",
        "actions a refocus",
    )
    return BenchTable("Every run", columns, tuple(rows))
