"""`memory.graph`: surroundings of a block, paths, communities, centrality. `memory.simulate`: the effect of
proposed edges, a pruning, a new block or other decay; nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.api.context import MemoryContext, MemoryPart
from amgs.clock import as_utc, earlier, microseconds_of
from amgs.decay import hours_between
from amgs.errors import UsageError
from amgs.graph import traversal
from amgs.graph.view import GraphView
from amgs.identity import block_id, canonical
from amgs.lifecycle import annotate, consolidate
from amgs.lifecycle.change import Change
from amgs.simulation import Scenario, Simulation, UncertainGraph, draw
from amgs.storage.blocks import NumberedBlock
from amgs.types import Block, BlockFilter, Edge, LiveEdge, Neighbourhood, Progress


@dataclass(frozen=True, slots=True)
class GraphPath:
    """The strongest path between two blocks.

    blocks: in order; empty without a path. edges: the strongest between neighbours. strength: product of theirs.
    """

    start: Block
    goal: Block
    blocks: tuple[Block, ...]
    edges: tuple[LiveEdge, ...]
    strength: float


@dataclass(frozen=True, slots=True)
class Community:
    """Blocks that are closely linked. centre: highest PageRank first. inside: share of its edges' strength that stays
    within.
    """

    number: int
    size: int
    inside: float
    categories: tuple[tuple[str, int], ...]
    centre: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Communities:
    """The largest communities first. modularity: deviation of the partition from chance, in [-0.5, 1]."""

    found: tuple[Community, ...]
    total: int
    modularity: float


class Graph(MemoryPart):
    """The present graph of the live blocks."""

    def neighbourhood(
        self,
        block_id: str,
        hops: int = 1,
        limit: int = 60,
        *,
        relations: Collection[str] = (),
        since: datetime | None = None,
    ) -> Neighbourhood:
        """Return the `limit` nearest and strongest blocks within `hops` of a block.

        relations: only edges of these types; () for all. since: only edges created or reinforced since then.
        """
        hops, limit = bounds.count("A distance", hops), bounds.count("A limit", limit, least=1)
        with self._context.derived.reading() as state:
            block = self._context.block(block_id)
            number, graph = self._number(block), state.graph
            view, measures = _only(graph.view(), relations, since), graph.measures()
            reached = traversal.within(view, number, hops, limit)
            around = self._blocks([node.number for node in reached])
            edges = view.live_edges(view.edges_among(set(around)), {n: b.id for n, b in around.items()})
            at = {n: view.index_of(n) for n in around}
        return Neighbourhood(
            center=block,
            hops=hops,
            distances={around[r.number].id: r.distance for r in reached},
            blocks=tuple(around[r.number] for r in reached),
            edges=edges,
            centrality={around[n].id: measures.of(i) for n, i in at.items() if i is not None},
        )

    def path(self, start: str, goal: str) -> GraphPath:
        """Return the path between two blocks with the greatest product of edge strengths."""
        with self._context.derived.reading() as state:
            first, last = self._context.block(start), self._context.block(goal)
            view = state.graph.view()
            numbers = traversal.strongest_path(view, self._number(first), self._number(last))
            blocks = self._blocks(list(numbers))
            names = {number: block.id for number, block in blocks.items()}
            edges = []
            for node, other in pairwise(numbers):
                between = view.live_edges(view.edges_among({node, other}), names)
                edges.append(max(between, key=lambda live: live.strength))
        strength = float(np.prod([live.strength for live in edges])) if numbers else 0.0
        return GraphPath(first, last, tuple(blocks[number] for number in numbers), tuple(edges), strength)

    def communities(self, limit: int = 12, central: int = 3) -> Communities:
        """Return the communities by Louvain's method on edge strengths, largest first."""
        limit = bounds.count("A limit", limit)
        central = bounds.count("The number of central blocks", central)
        with self._context.derived.reading() as state:
            view, measures = state.graph.view(), state.graph.measures()
            parted = traversal.find_communities(view)
            rank = measures.pagerank
            rows = []
            for number, members in enumerate(parted.parts[:limit], start=1):
                best = members[np.argsort(-rank[members], kind="stable")[:central]]
                blocks = self._blocks([int(view.nodes[i]) for i in members])
                kinds = Counter(block.category or "none" for block in blocks.values())
                centre = tuple(blocks[int(view.nodes[i])] for i in best)
                inside = traversal.internal_share(view, members)
                rows.append(Community(number, members.size, inside, tuple(kinds.most_common(4)), centre))
        return Communities(tuple(rows), len(parted.parts), parted.modularity)

    def confirm_edge(self, source: str, target: str, *, kind: str = "related") -> Edge:
        """Confirm an edge: set its confidence to 1 and restart its decay; journalled. Raises UsageError if it does not
        exist.
        """
        key = (self._context.whole_id(source), self._context.whole_id(target), kind)
        return annotate.confirm_edge(self._storage, key, self._now)

    def _number(self, block: Block) -> int:
        return self._storage.blocks.numbers_of([block.id])[block.id]

    def _blocks(self, numbers: list[int]) -> dict[int, Block]:
        return {stored_block.number: stored_block.block for stored_block in self._storage.blocks.by_number(numbers)}


def _only(view: GraphView, relations: Collection[str], since: datetime | None) -> GraphView:
    """Return the view restricted to edges of these types and times."""
    if not relations and since is None:
        return view
    mask: NDArray[np.bool_] = np.ones(view.source.size, dtype=np.bool_)
    if relations:
        mask &= np.isin(view.columns.relation.astype(str), list(relations))
    if since is not None:
        mask &= np.maximum(view.columns.created, view.columns.reinforced) >= microseconds_of(as_utc(since))
    return view.only(np.flatnonzero(mask))


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
    scene.blocks |= back | {b.id: b for b in change.created}
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
    last = context.storage.highest("memory_blocks", "number")
    raw = [NumberedBlock(last + 1, Block(key, content, now, now), 0)]
    counter = context.storage.change_counter
    plan = consolidate.plan(raw, consolidate.link_context(context.storage), means(), now=now, change_counter=counter)
    return plan.items[0].block, plan.items[0].edges


def _within(values: Sequence[float], most: float, what: str) -> None:
    if wrong := [v for v in values if not 0 < v <= most]:
        raise UsageError(f"Invalid {what}: {wrong[0]:g}.", way_out=f"Give a value above 0, at most {most:g}.")
