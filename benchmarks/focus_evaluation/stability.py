"""Whether the loop keeps still: a text streamed through refocuses, under real scores and under scores made to
shake it.

No token is decoded and no model is run but for the gists: what moves depends on the scores and the allocator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.protocols import PerfClock
from amgs_focus.records import NodeRef, Refocus
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.trace.telemetry import oscillations, ping_pongs, stays
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import lay_out
from amgs_focus.window.scores import Scores
from amgs_focus.window.working_context import WorkingContext

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
            state = replace(state, context=state.context.extended(tree.length), fresh=False)
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
        ping_pongs=len(ping_pongs(records, settings.cooldown)),
        oscillations=len(oscillations(records)),
        actions=float(np.mean([len(record.applied) for record in records])),
    )


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
