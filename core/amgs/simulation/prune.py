"""Pruning policies compared: what each removes in some months, and which queries then find nothing.

All ways see the same accesses, which do not depend on what is pruned: an access to a block that a way has pruned is a
miss of that way. Each prunes at the end of every cycle; what is pruned stays pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from amgs.errors import UsageError
from amgs.lifecycle.prune_criteria import Signals, expendable, limits
from amgs.settings import PruningSettings
from amgs.simulation.access import AccessWorld, Life
from amgs.simulation.draws import ALIVE, Floats, Mask, Spread, check, spread
from amgs.simulation.evolve import check_use
from amgs.types import Progress

Recall = Callable[[Mask], float]
"""Mean recall of labelled questions when the blocks (n,) are pruned."""


@dataclass(frozen=True, slots=True)
class PruningPolicy:
    """A way to prune: relevance under `threshold`, and at least `others` of the three other signs of AMGS §8.5."""

    threshold: float
    others: int


@dataclass(frozen=True, slots=True)
class WayResult:
    """What a way comes to; threshold, others: as in Way.

    pruned: blocks. kept: share of accesses that found their block. edges: that are alive and end at no pruned block.
    recall: of labelled questions at the end, None without any. best: no other way prunes more on the mean and misses
    no more.
    """

    threshold: float
    others: int
    pruned: Spread
    missed: Spread
    kept: Spread
    edges: Spread
    recall: Spread | None
    best: bool


@dataclass(frozen=True, slots=True)
class PruningFutures:
    """The ways after `days` with a pruning every `cycle` days. recall_now: of the questions before any pruning."""

    days: float
    cycle: float
    draws: int
    seed: int
    rate: float
    blocks: int
    accesses: Spread
    ways: tuple[WayResult, ...]
    recall_now: float | None = None
    questions: int = 0


def ways(thresholds: Sequence[float]) -> tuple[PruningPolicy, ...]:
    """Each threshold with each number of other signs, the strictest first; raises UsageError for a senseless one."""
    for one in thresholds:
        if not 0 < one <= 1:
            raise UsageError(f"Invalid relevance threshold: {one:g}.", way_out="Give a value between 0 and 1.")
    return tuple(PruningPolicy(t, k) for k in (3, 2, 1, 0) for t in sorted(set(thresholds)))


def futures(
    world: AccessWorld,
    now: Signals,
    tried: Sequence[PruningPolicy],
    settings: PruningSettings,
    *,
    lowest: float = 0.0,
    days: float,
    cycle: float,
    draws: int,
    seed: int,
    recall: Recall | None = None,
    progress: Progress | None = None,
) -> PruningFutures:
    """Live `draws` times through `days` and prune in every way at once. Centrality and confidence stand still.

    now: the signals of the blocks of the ground. Raises UsageError for numbers out of range.
    """
    check(days, draws)
    check_use(world.rate, days)
    if not 0 < cycle <= 36_500:
        raise UsageError(f"A cycle of {cycle:g} days is out of range.", way_out="Give a positive number of days.")
    bounds = [limits(now, settings.model_copy(update={"relevance": way.threshold}), lowest) for way in tried]
    rows = world.wiring.rows_at()
    pruned, missed, edges = (np.zeros((len(tried), draws)) for _ in range(3))
    found, recalls = np.zeros(draws), np.zeros((len(tried), draws))
    ends = [24.0 * min(days, cycle * k) for k in range(1, int(np.ceil(days / cycle)) + 1)] or [0.0]
    for number in range(draws):
        if progress is not None:
            progress(number, draws, "pruning in every way")
        life = Life(world, rows, np.random.default_rng([seed, number]))
        gone = [np.zeros(world.n, dtype=np.bool_) for _ in tried]
        for end in ends:
            accesses = life.live(end)
            found[number] += accesses.size
            seen = replace(now, relevance=life.relevance(), reinforcement=life.uses)
            for at, way in enumerate(tried):
                missed[at, number] += gone[at][accesses].sum()
                gone[at] |= expendable(seen, bounds[at], way.others)
        alive = life.strength() >= ALIVE
        for at, one in enumerate(gone):
            pruned[at, number] = one.sum()
            edges[at, number] = (alive & ~one[world.wiring.source] & ~one[world.wiring.target]).sum()
            if recall is not None:
                recalls[at, number] = recall(one)
    kept = 1.0 - missed / np.maximum(found, 1.0)
    best = _frontier(pruned.mean(axis=1), missed.mean(axis=1))
    return PruningFutures(
        days=days,
        cycle=cycle,
        draws=draws,
        seed=seed,
        rate=world.rate,
        blocks=world.n,
        accesses=spread(found),
        ways=tuple(
            WayResult(
                way.threshold,
                way.others,
                spread(pruned[at]),
                spread(missed[at]),
                spread(kept[at]),
                spread(edges[at]),
                None if recall is None else spread(recalls[at]),
                bool(best[at]),
            )
            for at, way in enumerate(tried)
        ),
        recall_now=None if recall is None else round(recall(np.zeros(world.n, dtype=np.bool_)), 6),
    )


def _frontier(pruned: Floats, missed: Floats) -> list[bool]:
    """Which ways no other one beats: by pruning more without missing more, or as much and missing less."""
    return [
        not any(
            (p >= pruned[at] and m <= missed[at]) and (p > pruned[at] or m < missed[at])
            for p, m in zip(pruned.tolist(), missed.tolist(), strict=True)
        )
        for at in range(pruned.size)
    ]
