"""Where a new block would take hold: which of its links last, and what each would bring it within reach of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from amgs.decay import hours_between
from amgs.simulation.draws import ALIVE, Floats, Spread, Wiring, check, luck, spread
from amgs.simulation.enhance import Scene
from amgs.types import Edge, Progress


@dataclass(frozen=True, slots=True)
class Link:
    """A link that consolidation would make. holds: share of the draws in which it is alive at the end. strength: then.

    reach: blocks within two steps of the new one over this link alone, at the expected strengths of the end. worth:
    holds x reach, by which insertion points are ordered.
    """

    other_id: str
    title: str
    relation: str
    outgoing: bool
    holds: float
    strength: Spread
    reach: int
    worth: float


@dataclass(frozen=True, slots=True)
class Insertion:
    """A new block after `days` without use. holding: how many of its links are alive. alone: share of the draws in
    which none is. centrality: of the new block with all of them.
    """

    title: str
    category: str
    known: bool
    days: float
    draws: int
    seed: int
    links: tuple[Link, ...]
    holding: Spread
    alone: float
    centrality: Spread


def insert(
    block_id: str,
    title: str,
    category: str,
    edges: Sequence[Edge],
    scene: Scene,
    *,
    now: datetime,
    days: float,
    draws: int,
    seed: int,
    known: bool = False,
    progress: Progress | None = None,
) -> Insertion:
    """Draw the fate of the links of a block that is not in the scene; the best insertion points come first.

    known: the block is there already, and the links are those it has. Raises UsageError for days or draws out of range.
    """
    check(days, draws)
    ids = (*(i for i in scene.titles if i != block_id), block_id)
    others = tuple(e for e in scene.edges if block_id not in (e.source_id, e.target_id))
    every = (*edges, *others)
    at = {i: n for n, i in enumerate(ids)}
    wiring = Wiring(
        len(ids),
        np.array([at[e.source_id] for e in every], dtype=np.int64),
        np.array([at[e.target_id] for e in every], dtype=np.int64),
        np.array([e.relation_type for e in every], dtype=object),
    )
    weight, belief, decay = (
        np.array([getattr(e, name) for e in every], dtype=np.float64)
        for name in ("weight", "confidence", "decay_lambda")
    )
    hours = np.array([max(0.0, hours_between(e.last_reinforced_at, now)) for e in every]) + 24.0 * days
    own = len(edges)
    strengths, importance = np.zeros((draws, own)), np.zeros(draws)
    for number in range(draws):
        if progress is not None:
            progress(number, draws, "drawing links")
        factor, pace = luck(belief, np.random.default_rng([seed, number]))
        strength = np.clip(weight * np.clip(belief * factor, 0.0, 1.0) * np.exp(-decay * pace * hours), 0.0, 1.0)
        strengths[number] = strength[:own]
        importance[number] = wiring.importance(strength)[-1]
    expected = weight * belief * np.exp(-decay * hours)
    holds = (strengths >= ALIVE).mean(axis=0)
    reach = _reach(wiring, expected, own)
    links = [
        Link(
            other_id=e.target_id if e.source_id == block_id else e.source_id,
            title=scene.titles[e.target_id if e.source_id == block_id else e.source_id],
            relation=e.relation_type,
            outgoing=e.source_id == block_id,
            holds=round(float(holds[n]), 6),
            strength=spread(strengths[:, n]),
            reach=reach[n],
            worth=round(float(holds[n]) * reach[n], 6),
        )
        for n, e in enumerate(edges)
    ]
    alive = (strengths >= ALIVE).sum(axis=1)
    return Insertion(
        title=title,
        category=category,
        known=known,
        days=days,
        draws=draws,
        seed=seed,
        links=tuple(sorted(links, key=lambda one: (-one.worth, -one.holds, one.other_id, one.relation))),
        holding=spread(alive.astype(np.float64)),
        alone=round(float((alive == 0).mean()), 6),
        centrality=spread(importance),
    )


def _reach(wiring: Wiring, strength: Floats, own: int) -> list[int]:
    """Blocks within two steps over each of the first `own` edges alone: its other end and that one's neighbours."""
    alive = strength >= ALIVE
    alive[:own] = False
    source, target = wiring.source[alive], wiring.target[alive]
    new = wiring.n - 1
    found = []
    for row in range(own):
        end = int(wiring.target[row] if wiring.source[row] == new else wiring.source[row])
        around = {*target[source == end].tolist(), *source[target == end].tolist(), end}
        found.append(len(around - {new}))
    return found
