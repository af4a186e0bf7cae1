"""How a memory will look after some months of use: which blocks stay, which edges, which centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amgs.errors import UsageError
from amgs.simulation.access import AccessWorld, Life
from amgs.simulation.draws import ALIVE, Floats, Spread, check, spread, stays, top
from amgs.types import Progress

_OPEN = 10


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The memory after so many days: blocks over the threshold, their mean relevance, edges that are alive, the
    components of all blocks over them, and accesses so far.
    """

    day: float
    blocks: Spread
    relevance: Spread
    edges: Spread
    components: Spread
    accesses: Spread


@dataclass(frozen=True, slots=True)
class Fate:
    """A block whose survival is open: the share of draws in which it stays, and its uses by then."""

    block_id: str
    title: str
    survives: float
    uses: Spread


@dataclass(frozen=True, slots=True)
class Evolution:
    """`days` of use. rate: accesses a day. threshold: relevance from which a block stays.

    sure, lost: blocks that stay in at least 95 % and at most 5 % of the draws. open: the blocks whose fate is least
    decided. top_stays: share of today's most central blocks that still are at the end.
    """

    days: float
    draws: int
    seed: int
    rate: float
    threshold: float
    checkpoints: tuple[Checkpoint, ...]
    sure: int
    lost: int
    open: tuple[Fate, ...]
    top_stays: Spread


@dataclass(frozen=True, eq=False)
class Lived:
    """What the draws gave: survives (n,) share of draws, uses (draws, n), and the rest of an Evolution."""

    checkpoints: tuple[Checkpoint, ...]
    survives: Floats
    uses: Floats
    top_stays: Spread


def evolve(
    world: AccessWorld,
    *,
    days: float,
    draws: int,
    seed: int,
    steps: int,
    threshold: float,
    progress: Progress | None = None,
) -> Lived:
    """Live `draws` times through `days`, with a look at each of `steps` checkpoints and at the start.

    Raises UsageError for days, draws, steps or a rate out of range.
    """
    check(days, draws)
    check_use(world.rate, days)
    if not 1 <= steps <= 100:
        raise UsageError(f"{steps} steps are out of range.", way_out="Give 1 to 100.")
    rows = world.wiring.rows_at()
    today = top(world.wiring.importance(world.strength()))
    ends = np.linspace(0.0, 24.0 * days, steps + 1)
    seen = np.zeros((draws, steps + 1, 5))
    alive = np.zeros(world.n)
    uses = np.zeros((draws, world.n), dtype=np.float32)
    stay = []
    for number in range(draws):
        if progress is not None:
            progress(number, draws, "living on")
        life = Life(world, rows, np.random.default_rng([seed, number]))
        accesses = 0
        for at, end in enumerate(ends.tolist()):
            accesses += life.live(end).size
            seen[number, at] = *_look(life, threshold), accesses
        alive += life.relevance() >= threshold
        uses[number] = life.uses - world.uses
        stay.append(stays(top(world.wiring.importance(life.strength())), today))
    checkpoints = tuple(
        Checkpoint(end / 24.0, *(spread(seen[:, at, kind]) for kind in range(5)))
        for at, end in enumerate(ends.tolist())
    )
    return Lived(checkpoints, alive / draws, uses.astype(np.float64), spread(stay))


def undecided(lived: Lived) -> Sequence[int]:
    """Places of the blocks whose survival is nearest to a coin's, the most open first."""
    off = np.abs(lived.survives - 0.5)
    order = np.lexsort((np.arange(off.size), off))[:_OPEN]
    return [int(i) for i in order if off[i] < 0.45]


def check_use(rate: float, days: float) -> None:
    """Raise UsageError for a rate of accesses that cannot be lived through."""
    if not rate >= 0 or rate * days > 1_000_000:
        raise UsageError(
            f"Cannot draw {rate:g} accesses per day for {days:g} days.",
            way_out="Give a rate of 0 or more, and at most a million accesses in all.",
        )


def _look(life: Life, threshold: float) -> tuple[float, float, float, float]:
    relevance, alive = life.relevance(), life.strength() >= ALIVE
    mean = float(relevance.mean()) if relevance.size else 0.0
    components = np.unique(life.world.wiring.labels(alive)).size
    return float((relevance >= threshold).sum()), mean, float(alive.sum()), float(components)
