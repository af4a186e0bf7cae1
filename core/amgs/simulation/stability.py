"""How firm the graph stands: noise on its edges, lost edges, and slower or faster decay (AMGS §7.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amgs.errors import UsageError
from amgs.simulation.access import AccessWorld
from amgs.simulation.draws import ALIVE, Floats, Spread, check, spread, stays, top
from amgs.types import Progress


@dataclass(frozen=True, slots=True)
class Scenario:
    """The graph after `days` at `pace` times its decay, under noise; each against the graph of today without any.

    rank: Spearman's correlation of centrality. top_stays: share of today's most central blocks that still are.
    edges: share of today's living edges. components: over all blocks. largest: share of the blocks in the largest one.
    """

    pace: float
    days: float
    rank: Spread
    top_stays: Spread
    edges: Spread
    components: Spread
    largest: Spread


@dataclass(frozen=True, slots=True)
class Firmness:
    """A block that is among the most central ones today, and the share of draws in which it stays, by scenario."""

    block_id: str
    title: str
    stays: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Stability:
    """noise: standard deviation of the logarithm of an edge's strength. loss: share of edges that are lost.

    The first scenario is today. least: the least firm of the central blocks. components_now: without noise.
    """

    noise: float
    loss: float
    draws: int
    seed: int
    scenarios: tuple[Scenario, ...]
    least: tuple[Firmness, ...]
    components_now: int


@dataclass(frozen=True, eq=False)
class Shaken:
    """What the draws gave: scenarios; top places of today, and (scenarios, top) how often each stays."""

    scenarios: tuple[Scenario, ...]
    top: tuple[int, ...]
    firm: Floats
    components_now: int


def shake(
    world: AccessWorld,
    *,
    noise: float,
    loss: float,
    days: float,
    paces: Sequence[float],
    draws: int,
    seed: int,
    progress: Progress | None = None,
) -> Shaken:
    """Today, and after `days` at each pace: `draws` times with noise. Nothing is accessed in between.

    In all scenarios an edge has the same luck. Raises UsageError for numbers out of range.
    """
    check(days, draws)
    if not 0 <= noise <= 5 or not 0 <= loss <= 1 or any(not 0 <= p <= 1000 for p in paces):
        raise UsageError(
            f"Noise {noise:g}, loss {loss:g} or decay multiple {list(paces)} is out of range.",
            way_out="Noise must be between 0 and 5, loss between 0 and 1, a decay multiple between 0 and 1000.",
        )
    wiring, now = world.wiring, world.strength()
    cases = [(1.0, 0.0), *((pace, days) for pace in paces)]
    faded = [world.full * np.exp(-world.edge_decay * (world.edge_idle + 24.0 * d * p)) for p, d in cases]
    scores = wiring.importance(now)
    today = top(scores)
    living = max(1, int((now >= ALIVE).sum()))
    seen = np.zeros((len(cases), draws, 5))
    firm = np.zeros((len(cases), len(today)))
    order = sorted(today, key=lambda i: (-scores[i], i))
    for number in range(draws):
        if progress is not None:
            progress(number, draws, "shaking the graph")
        rng = np.random.default_rng([seed, number])
        factor = np.exp(noise * rng.standard_normal(now.size)) * (rng.random(now.size) >= loss)
        for case, strength in enumerate(faded):
            shaken = np.clip(strength * factor, 0.0, 1.0)
            after, alive = wiring.importance(shaken), shaken >= ALIVE
            stay = top(after)
            sizes = np.bincount(wiring.labels(alive), minlength=1)
            seen[case, number] = (
                spearman(scores, after),
                stays(stay, today),
                alive.sum() / living,
                (sizes > 0).sum(),
                sizes.max() / max(1, world.n),
            )
            firm[case] += [i in stay for i in order]
    scenarios = tuple(
        Scenario(pace, d, *(spread(seen[case, :, kind]) for kind in range(5))) for case, (pace, d) in enumerate(cases)
    )
    components = int(np.unique(wiring.labels(now >= ALIVE)).size)
    return Shaken(scenarios, tuple(order), firm / draws, components)


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation, ties at their mean rank; 1 where neither side tells anything apart."""
    a, b = _ranks(first), _ranks(second)
    a, b = a - a.mean() if a.size else a, b - b.mean() if b.size else b
    scale = math.sqrt(float((a @ a) * (b @ b)))
    if scale > 0:
        return float(a @ b) / scale
    return 1.0 if not a.any() and not b.any() else 0.0


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray(middle[place], dtype=np.float64)
