"""`memory.simulate`: the effect of proposed edges, a pruning, a new block or other decay; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from amgs.api.context import MemoryContext
from amgs.clock import as_utc, earlier
from amgs.decay import hours_between
from amgs.errors import UsageError
from amgs.identity import block_id, canonical
from amgs.lifecycle import consolidate
from amgs.lifecycle.change import Change
from amgs.simulation import Scenario, Simulation, UncertainGraph, draw
from amgs.storage.blocks import NumberedBlock
from amgs.types import Block, BlockFilter, Edge, Progress

_LIVE = BlockFilter(statuses=("raw", "consolidated"))
_MEASURED_DAYS = 30.0
_UNUSED = 5.0
"""Uses per day if the log of the last thirty days has none."""
_POINTS = 8
"""Number of insertion points compared."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """Prune every thirty days the blocks that show all four signs, for each threshold of relevance."""

    thresholds: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Insertion:
    """Add this text, with each single link that consolidation would create, and with all of them."""

    text: str


@dataclass(frozen=True, slots=True)
class Decay:
    """Let everything decay at these multiples of its rate."""

    paces: Sequence[float] = (1.0, 0.5, 2.0, 4.0)


SimulatedChange = Change | Pruning | Insertion | Decay


@dataclass
class _Scene:
    """Blocks and edges of all scenarios."""

    blocks: dict[str, Block]
    edges: dict[Edge, None] = field(default_factory=dict)

    def join(self, edges: Iterable[Edge]) -> None:
        self.edges |= dict.fromkeys(e for e in edges if e.source_id in self.blocks and e.target_id in self.blocks)

    def scenario(self, name: str, blocks: Iterable[str], edges: Iterable[Edge]) -> Scenario:
        ids, joined = set(blocks), set(edges)
        return Scenario(
            name,
            np.array([i in ids for i in self.blocks], np.bool_),
            np.array([e in joined and e.source_id in ids and e.target_id in ids for e in self.edges], np.bool_),
        )

    def graph(self, uses: Mapping[str, int], now: datetime) -> UncertainGraph:
        blocks, edges = tuple(self.blocks.values()), tuple(self.edges)
        place = {i: at for at, i in enumerate(self.blocks)}
        keys: dict[object, int] = {}

        def floats(values: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            return np.fromiter(values, np.float64)

        used = floats(uses.get(b.id, 0) for b in blocks)
        return UncertainGraph(
            idle=floats(max(0.0, hours_between(b.last_reinforced_at, now)) for b in blocks),
            decay=floats(b.decay_lambda for b in blocks),
            uses=used,
            confidence=floats(b.confidence for b in blocks),
            exempt=np.array([b.is_self_component or b.decay_lambda <= 0 for b in blocks], np.bool_),
            chance=(1 + used) / (1 + used).sum(),
            source=np.array([place[e.source_id] for e in edges], np.int64),
            target=np.array([place[e.target_id] for e in edges], np.int64),
            relation=np.array([e.relation_type for e in edges], object),
            weight=floats(e.weight for e in edges),
            belief=floats(e.confidence for e in edges),
            edge_idle=floats(max(0.0, hours_between(e.last_reinforced_at, now)) for e in edges),
            edge_decay=floats(e.decay_lambda for e in edges),
            luck=np.array([keys.setdefault(e.key, len(keys)) for e in edges], np.int64),
        )


def simulate(
    context: MemoryContext,
    means: Callable[[], consolidate.ConsolidationInputs],
    change: SimulatedChange,
    *,
    draws: int,
    seed: int,
    days: float,
    rate: float | None,
    progress: Progress | None,
) -> Simulation:
    """Simulate a change and days of use; see `Memory.simulate`."""
    now, storage, pruning = context.clock.now(), context.storage, context.settings.pruning
    live = {b.id: b for b in storage.blocks.select(_LIVE, order="arrival")}
    scene = _Scene(dict(live))
    scene.join(storage.edges.everything())
    here = tuple(scene.edges)
    points: list[str] = []
    match change:
        case Change():
            scenarios = _build_scenarios(scene, live, here, change)
        case Pruning(thresholds):
            tried = sorted(set(thresholds)) or [
                pruning.relevance / 5,
                pruning.relevance,
                min(1.0, pruning.relevance * 4),
            ]
            _within(tried, 1.0, "relevance threshold")
            never = scene.scenario("no pruning", live, here)
            scenarios = [never]
            scenarios += [replace(never, name=f"relevance under {t:g}", threshold=t) for t in tried]
        case Decay(paces):
            _within(paces, 1000.0, "decay multiple")
            usual = scene.scenario("", live, here)
            scenarios = [replace(usual, name=f"decay × {pace:g}", pace=pace) for pace in paces]
        case Insertion(text):
            block, planned = _plan_insertion(context, means, text, live, now)
            scene.blocks[block.id] = block
            scene.join(planned)
            links = [e for e in scene.edges if block.id in e.key[:2]]
            ways = [("all links", links)]
            for edge in sorted(links, key=lambda e: -e.weight * e.confidence)[:_POINTS]:
                end = live[edge.target_id if edge.source_id == block.id else edge.source_id]
                ways.append((f"{end.title} ({edge.relation_type}, {end.id[:8]})", [edge]))
                points.append(end.id)
            new, others = list(scene.blocks).index(block.id), set(scene.edges) - set(links)
            scenarios = [replace(scene.scenario(n, scene.blocks, {*others, *some}), watched=new) for n, some in ways]
    facts = storage.block_columns.facts(_LIVE)
    uses = dict(zip(facts.ids.tolist(), facts.reinforcements.tolist(), strict=True))
    if rate is None:
        since = earlier(as_utc(now), timedelta(days=_MEASURED_DAYS))
        rate = storage.reinforcements.count(since=since) / _MEASURED_DAYS or _UNUSED
    rows = draw(
        scene.graph(uses, now),
        scenarios,
        draws=draws,
        seed=seed,
        days=days,
        rate=rate,
        relevance=context.settings.decay.threshold,
        limits=pruning,
        progress=progress,
    )
    if points:
        reach = {row.scenario: row.median for row in rows if row.measure == "within two steps"}
        rows = tuple(sorted(rows, key=lambda row: -reach[row.scenario]))  # the scenario with all links reaches most
        best = sorted(range(len(points)), key=lambda at: -reach[scenarios[at + 1].name])
        points = [points[at] for at in best]
    return Simulation(days, draws, seed, rate, rows, tuple(points))


def _build_scenarios(scene: _Scene, live: Mapping[str, Block], here: Sequence[Edge], change: Change) -> list[Scenario]:
    """Return the scenarios without and with the change."""
    gone = {b.id for _, b in change.blocks if b.status in ("archived", "pruned")} | {b.id for b in change.taken}
    back = {b.id: b for _, b in change.blocks if b.status in ("raw", "consolidated")}
    scene.blocks |= back | {b.id: b for b in change.made}
    edges = {e.key: e for e in here}
    for old, new in change.edges:
        if new is not None:
            # A merge may hand on edges that its block has already.
            edges[new.key] = new if old is not None else edges.get(new.key, new)
        elif old is not None:
            edges.pop(old.key, None)
    scene.join(edges.values())
    after = [i for i in scene.blocks if i not in gone]
    return [scene.scenario("as it is", live, here), scene.scenario("changed", after, edges.values())]


def _plan_insertion(
    context: MemoryContext,
    means: Callable[[], consolidate.ConsolidationInputs],
    text: str,
    live: Mapping[str, Block],
    now: datetime,
) -> tuple[Block, Sequence[Edge]]:
    """Return the block for a text and the links that consolidation would give it; no new links if it exists."""
    if not (content := canonical(text)):
        raise UsageError("An empty text cannot be inserted.", way_out="Give some words.")
    key = block_id(content)
    if key in live and live[key].status == "consolidated":
        return live[key], ()
    last, _ = context.storage.assemblies.counters_for_next()
    raw = [NumberedBlock(last + 1, Block(key, content, now, now), 0)]
    counter = context.storage.change_counter
    plan = consolidate.plan(raw, consolidate.link_context(context.storage), means(), now=now, change_counter=counter)
    return plan.items[0].block, plan.items[0].edges


def _within(values: Sequence[float], most: float, what: str) -> None:
    if wrong := [v for v in values if not 0 < v <= most]:
        raise UsageError(f"Invalid {what}: {wrong[0]:g}.", way_out=f"Give a value above 0, at most {most:g}.")
