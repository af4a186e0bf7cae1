"""What a change of edges will come to before it is made.

Each draw takes every edge's confidence and decay within their uncertainty and looks at the graph that is left after
some days. Both futures, with the change and without, see the same draws, so that only the change tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from amgs.clock import earlier
from amgs.decay import hours_between
from amgs.lifecycle.change import Change
from amgs.simulation.draws import ALIVE, Floats, Places, Spread, Wiring, check, luck, spread, stays, top
from amgs.storage.store import Storage
from amgs.types import BlockFilter, Edge, Progress

_MOST_MOVED = 10


@dataclass(frozen=True, slots=True)
class Future:
    """The graph after the days. strength: mean of all edges. components: of the graph of living edges.

    top_stays: share of the twenty most central blocks of today that still are.
    """

    edges: int
    strength: Spread
    total_strength: Spread
    components: Spread
    top_stays: Spread


@dataclass(frozen=True, slots=True)
class CentralityChange:
    """A block whose centrality the change moves, and by how much on the mean."""

    block_id: str
    title: str
    before: float
    after: float
    likely: float


@dataclass(frozen=True, slots=True)
class EnhancementForecast:
    """The two futures and what lies between them.

    shift: mean absolute change of centrality over all blocks. likely of a moved block: share of draws in which
    it moves in the direction of its mean.
    """

    days: float
    draws: int
    seed: int
    without: Future
    with_change: Future
    shift: Spread
    moved: tuple[CentralityChange, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """The live graph: titles by block id in order of arrival, and the edges among those blocks."""

    titles: Mapping[str, str]
    edges: tuple[Edge, ...]


def scene(storage: Storage) -> Scene:
    """The live graph as the store holds it now."""
    live = storage.blocks.select(BlockFilter(statuses=("raw", "consolidated")), order="arrival")
    titles = {b.id: b.title for b in live}
    edges = tuple(e for e in storage.edges.everything() if e.source_id in titles and e.target_id in titles)
    return Scene(titles, edges)


def changed(before: Scene, change: Change) -> Scene:
    """The live graph as it would be after a change."""
    gone = {a.id for _, a in change.blocks if a.status in ("archived", "pruned")} | {b.id for b in change.taken}
    back = {a.id: a.title for _, a in change.blocks if a.status in ("raw", "consolidated")}
    titles = {i: t for i, t in before.titles.items() if i not in gone} | back
    titles |= {b.id: b.title for b in change.made}
    edges = {e.key: e for e in before.edges}
    for old, new in change.edges:
        if new is not None:
            edges.setdefault(new.key, new)
            if old is not None:
                edges[new.key] = new
        elif old is not None:
            edges.pop(old.key, None)
    kept = tuple(e for e in edges.values() if e.source_id in titles and e.target_id in titles)
    return Scene(titles, kept)


def simulate(
    before: Scene,
    change: Change,
    *,
    now: datetime,
    days: float,
    draws: int,
    seed: int,
    progress: Progress | None = None,
) -> EnhancementForecast:
    """Both futures after `days`, from `draws` draws; the same seed gives the same answer.

    Raises UsageError for days or draws out of range.
    """
    check(days, draws)
    after = changed(before, change)
    ids = tuple(dict.fromkeys([*before.titles, *after.titles]))
    then = earlier(now, -timedelta(days=days))
    chance = _Chance(before, after, seed)
    one, two = _Cast(before, ids, chance, now, then), _Cast(after, ids, chance, now, then)
    even = np.ones(one.size)
    today = top(one.wiring.importance(one.strength(one.today, even, even)), one.present)
    runs = []
    for number in range(draws):
        if progress is not None:
            progress(number, draws, "drawing futures")
        factors = chance.draw(number)
        runs.append((one.run(*factors, today), two.run(*factors, today)))
    shifts = np.stack([np.abs(b.importance - a.importance) for a, b in runs])
    touched = one.present | two.present
    return EnhancementForecast(
        days=days,
        draws=draws,
        seed=seed,
        without=_future(one, [a for a, _ in runs]),
        with_change=_future(two, [b for _, b in runs]),
        shift=spread(shifts[:, touched].mean(axis=1) if touched.any() else np.zeros(draws)),
        moved=_moved(ids, {**before.titles, **after.titles}, runs),
    )


class _Chance:
    """The draws of every edge of either scene: in both futures the same edge has the same luck."""

    def __init__(self, before: Scene, after: Scene, seed: int) -> None:
        beliefs = {e.key: e.confidence for e in (*after.edges, *before.edges)}
        self._keys = {key: n for n, key in enumerate(sorted(beliefs))}
        self._beliefs = np.array([beliefs[key] for key in self._keys], dtype=np.float64)
        self._seed = seed

    def places(self, edges: Sequence[Edge]) -> Places:
        """(m,) where the edges stand among the draws."""
        return np.array([self._keys[e.key] for e in edges], dtype=np.int64)

    def draw(self, number: int) -> tuple[Floats, Floats]:
        """(factor on the confidence (u,), factor on λ (u,)) of draw `number`."""
        return luck(self._beliefs, np.random.default_rng([self._seed, number]))


@dataclass(frozen=True, slots=True)
class _Run:
    strength: float
    total: float
    components: int
    stays: float
    importance: Floats


class _Cast:
    """One scene as arrays over all blocks of both scenes."""

    def __init__(self, scene: Scene, ids: Sequence[str], chance: _Chance, now: datetime, then: datetime) -> None:
        at = {i: n for n, i in enumerate(ids)}
        edges = scene.edges
        self.size = len(edges)
        self.present: NDArray[np.bool_] = np.array([i in scene.titles for i in ids], dtype=bool)
        self.wiring = Wiring(
            len(ids),
            np.array([at[e.source_id] for e in edges], dtype=np.int64),
            np.array([at[e.target_id] for e in edges], dtype=np.int64),
            np.array([e.relation_type for e in edges], dtype=object),
        )
        self.weight = np.array([e.weight for e in edges], dtype=np.float64)
        self.belief = np.array([e.confidence for e in edges], dtype=np.float64)
        self.decay = np.array([e.decay_lambda for e in edges], dtype=np.float64)
        self.today = np.array([max(0.0, hours_between(e.last_reinforced_at, now)) for e in edges])
        self.then = np.array([max(0.0, hours_between(e.last_reinforced_at, then)) for e in edges])
        self.places = chance.places(edges)

    def strength(self, hours: Floats, luck: Floats, pace: Floats) -> Floats:
        """(m,) weight x confidence x relevance."""
        belief = np.clip(self.belief * luck, 0.0, 1.0)
        return np.clip(self.weight * belief * np.exp(-self.decay * pace * hours), 0.0, 1.0)

    def run(self, luck: Floats, pace: Floats, today: frozenset[int]) -> _Run:
        """One draw: luck and pace as `_Chance.draw` gives them."""
        strength = self.strength(self.then, luck[self.places], pace[self.places])
        scores = self.wiring.importance(strength)
        labels = self.wiring.labels(strength >= ALIVE)
        return _Run(
            strength=float(strength.mean()) if self.size else 0.0,
            total=float(strength.sum()),
            components=int(np.unique(labels[self.present]).size),
            stays=stays(top(scores, self.present), today),
            importance=scores,
        )


def _future(cast: _Cast, runs: Sequence[_Run]) -> Future:
    return Future(
        edges=cast.size,
        strength=spread([r.strength for r in runs]),
        total_strength=spread([r.total for r in runs]),
        components=spread([float(r.components) for r in runs]),
        top_stays=spread([r.stays for r in runs]),
    )


def _moved(
    ids: Sequence[str], titles: Mapping[str, str], runs: Sequence[tuple[_Run, _Run]]
) -> tuple[CentralityChange, ...]:
    before = np.stack([a.importance for a, _ in runs])
    after = np.stack([b.importance for _, b in runs])
    mean = (after - before).mean(axis=0)
    order = sorted(range(len(ids)), key=lambda i: (-abs(mean[i]), ids[i]))[:_MOST_MOVED]
    return tuple(
        CentralityChange(
            ids[i],
            titles[ids[i]],
            round(float(before[:, i].mean()), 6),
            round(float(after[:, i].mean()), 6),
            round(float((np.sign(after[:, i] - before[:, i]) == np.sign(mean[i])).mean()), 6),
        )
        for i in order
        if abs(mean[i]) > 1e-9
    )
