"""Pruning: blocks that are faded, peripheral, unused and doubted, all four at once (AMGS §8.5).

Soft: the block stays as pruned and loses its edges. Hard: it leaves the store, after it was written to a ledger: a
file, or a table of a store that lies in no file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.decay import falls_below, relevance_at
from amgs.errors import StoreError
from amgs.index.neighbours import nearest
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.prune_criteria import EVEN, SIGNS, Signals, expendable, least, limits, low, signals
from amgs.settings import PruningSettings
from amgs.storage.blocks import NumberedBlock
from amgs.storage.erasure import LEDGER
from amgs.storage.store import Storage
from amgs.text.differences import say_otherwise
from amgs.text.plural import plural
from amgs.types import STATUSES, Block, BlockFilter, Edge, JournalEntry

KIND, HARD = "prune", "prune hard"
_MOST_HELD = 20_000
"""So many faded blocks are held beside all others in one plan, the most expendable first."""

REDUNDANT_COSINE = 0.9
"""A faded and unused block may go, however central, if another that stays comes as near as this."""

ALONE_WORDS = 8
"""A shorter block has no subject of its own to stand alone on."""

ALONE = "alone on its subject"
_LIVE = BlockFilter(statuses=("consolidated",))
_EVERY = BlockFilter(statuses=STATUSES)
_GONE = BlockFilter(statuses=("pruned",))


@dataclass(frozen=True, slots=True)
class PruneCandidate:
    """A block that may go, with the four reasons: each value lies under its limit."""

    block: Block
    relevance: float
    centrality: float
    reinforcements: int
    edges: int
    because: str


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What pruning would do; nothing has happened yet.

    hard: whether the blocks leave the store. spared: what keeps faded blocks ("confidence", "centrality and
    confidence", "self or pin"), and how many of them. limits: the greatest value of each sign that is low.
    """

    candidates: tuple[PruneCandidate, ...]
    hard: bool
    made_at: datetime
    change_counter: int
    spared: Mapping[str, int] = field(default_factory=dict, hash=False)
    limits: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Sign:
    """One of the four signs of a block: its value, the limit, and whether it is low enough to go."""

    name: str
    value: float
    limit: float
    low: bool
    told: str


@dataclass(frozen=True, slots=True)
class PruneAssessment:
    """Why pruning takes a block or lets it be. kept_by: what keeps it, empty when it may go. fades_at: when its
    relevance falls under the limit if nothing reinforces it; None for a pin.
    """

    block: Block
    signs: tuple[Sign, ...]
    kept_by: tuple[str, ...]
    fades_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was pruned, its journal entry, and the ledger that holds what left the store: a file, or the store's table
    `deleted_blocks`.
    """

    plan: PrunePlan
    operation: JournalEntry
    ledger: str = ""


def plan(
    storage: Storage,
    centrality: Mapping[int, float],
    settings: PruningSettings,
    *,
    now: datetime,
    change_counter: int,
    lowest: float = 0.0,
    limit: int | None = None,
) -> PrunePlan:
    """Consolidated blocks under all four limits, the most expendable first. Self components and pins stay.

    centrality: by running number, in [0, 1]. lowest: see `limits`.
    """
    facts = storage.block_columns.facts(_LIVE)
    seen = signals(facts, centrality, storage.forecasts.judged(), now)
    bounds = limits(seen, settings, lowest)
    first = expendable(seen, bounds)
    # Peers of a note hold each other up by their edges: what a nearer twin tells as well may go all the same.
    faded = expendable(seen, {**bounds, "centrality": 1.0, "confidence": 1.0})
    order = least(seen, np.flatnonzero(first | faded))[:_MOST_HELD]
    near, other = _nearest_other(storage, facts.numbers, order)
    blocks = storage.blocks.get([str(facts.ids[i]) for i in order])
    going: dict[int, float] = {}
    alone = 0
    for at, cosine, twin in zip(order.tolist(), near.tolist(), other.tolist(), strict=True):
        if cosine >= REDUNDANT_COSINE and twin not in going:
            going[at] = cosine
        elif first[at] and _alone(blocks[str(facts.ids[at])], cosine, settings):
            alone += 1
        elif first[at]:
            going[at] = cosine
    # What others tell as well goes first; of equals the one that was the most expendable anyway.
    chosen = sorted(going, key=lambda at: -round(going[at], 1))[:limit]
    degree = _degree(storage, [str(facts.ids[at]) for at in chosen])
    candidates = tuple(
        _candidate(blocks[i], seen, at, degree.get(i, 0), bounds, going[at])
        for at, i in ((at, str(facts.ids[at])) for at in chosen)
    )
    spared = _spared(seen, bounds, going) | ({ALONE: alone} if alone else {})
    return PrunePlan(candidates, False, now, change_counter, spared, bounds)


def _nearest_other(
    storage: Storage, numbers: NDArray[np.int64], asked: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For the blocks at the places `asked` (m,) of the running numbers (n,), rising: the cosine of the nearest other
    one (m,), and its place (m,); −1 and −1 without a vector, or in a memory of one. One that is redundant by its cosine
    and says something else counts as just not redundant.
    """
    cosines, places = np.full(asked.size, -1.0), np.full(asked.size, -1, dtype=np.int64)
    held = storage.block_columns.embeddings(wanted=_LIVE)
    if not held.numbers.size or not asked.size:
        return cosines, places
    rows = np.minimum(np.searchsorted(held.numbers, numbers[asked]), held.numbers.size - 1)
    known = np.flatnonzero(held.numbers[rows] == numbers[asked])
    near = nearest(held.matrix[rows[known]], held.matrix, 2)  # one of the two is the block itself
    theirs = (near.rows >= 0) & (near.rows != rows[known][:, None])
    found = np.where(theirs, near.cosines, -np.inf)
    best = found.argmax(axis=1)
    line = np.arange(known.size)
    there = np.isfinite(found[line, best])
    cosines[known[there]] = found[line, best][there]
    places[known[there]] = np.searchsorted(numbers, held.numbers[near.rows[line, best][there]])
    twins = np.flatnonzero(cosines >= REDUNDANT_COSINE)
    pairs = [(int(numbers[asked[at]]), int(numbers[places[at]])) for at in twins]
    blocks = {n.number: n.block for n in storage.blocks.by_number(sorted({i for pair in pairs for i in pair}))}
    for at, (one, other) in zip(twins, pairs, strict=True):
        if say_otherwise(blocks[one], blocks[other]):
            cosines[at] = np.nextafter(REDUNDANT_COSINE, 0.0)
    return cosines, places


def _alone(block: Block, near: float, settings: PruningSettings) -> bool:
    """Whether nothing else in the memory is about what a block tells of."""
    return near < settings.alone_cosine and len(block.content.split()) >= ALONE_WORDS


def _spared(seen: Signals, bounds: Mapping[str, float], going: Container[int]) -> dict[str, int]:
    """What keeps the faded blocks that are not going, and how many; the commonest first."""
    signs = low(seen, bounds)
    kept: Counter[str] = Counter()
    for at in np.flatnonzero(signs["relevance"]).tolist():
        if at in going:
            continue
        keeping = [name for name in SIGNS[1:] if not signs[name][at]]
        if seen.exempt[at]:
            kept["self or pin"] += 1
        elif keeping:
            kept[" and ".join(keeping)] += 1
    return dict(kept.most_common())


def explain(
    storage: Storage,
    block_id: str,
    centrality: Mapping[int, float],
    settings: PruningSettings,
    *,
    now: datetime,
    lowest: float = 0.0,
) -> PruneAssessment:
    """How a block stands to each of the four limits, and what keeps it; of any status."""
    block = storage.blocks.get([block_id])[block_id]
    facts = storage.block_columns.facts(_LIVE)
    judged = storage.forecasts.judged()
    seen = signals(facts, centrality, judged, now)
    bounds = limits(seen, settings, lowest)
    number = storage.blocks.numbers_of([block_id])[block_id]
    own = signals(storage.block_columns.facts(_EVERY).of([number]), centrality, judged, now)
    signs = low(own, bounds)
    told = tuple(
        Sign(name, *_measured(name, own, bounds), bool(signs[name][0]), _told(name, own, bounds)) for name in SIGNS
    )
    kept = [sign.name for sign in told if not sign.low]
    every = np.union1d(facts.numbers, np.array([number], dtype=np.int64))
    near = float(_nearest_other(storage, every, np.searchsorted(every, [number]))[0][0])
    if near >= REDUNDANT_COSINE and signs["relevance"][0] and signs["reinforcement"][0]:
        kept = [name for name in kept if name not in ("centrality", "confidence")]
    elif not kept and block.status == "consolidated" and _alone(block, near, settings):
        kept.append(ALONE)
    if block.is_self_component:
        kept.insert(0, "part of the self")
    if block.decay_lambda <= 0:
        kept.insert(0, "pinned")
    if block.status != "consolidated":
        kept.insert(0, f"is {block.status}")
    fades = falls_below(block.decay_lambda, block.last_reinforced_at, bounds["relevance"])
    return PruneAssessment(block, told, tuple(kept), fades)


def plan_hard(storage: Storage, *, now: datetime, change_counter: int, limit: int | None = None) -> PrunePlan:
    """Blocks that are pruned already and would leave the store, the longest unused first."""
    blocks = storage.blocks.select(_GONE, order="arrival")
    counts = {n.block.id: n.reinforcements for n in _numbered(storage, blocks)}
    candidates = [
        PruneCandidate(b, relevance_at(b.decay_lambda, b.last_reinforced_at, now), 0.0, counts[b.id], 0, "is pruned")
        for b in blocks
    ]
    candidates.sort(key=lambda c: (c.block.last_reinforced_at, c.block.id))
    return PrunePlan(tuple(candidates[:limit]), True, now, change_counter)


def _candidate(
    block: Block, seen: Signals, at: int, edges: int, bounds: Mapping[str, float], near: float
) -> PruneCandidate:
    one = Signals(*(getattr(seen, f.name)[at : at + 1] for f in fields(seen)))
    return PruneCandidate(
        block,
        round(float(one.relevance[0]), 6),
        round(float(one.centrality[0]), 6),
        int(one.reinforcement[0]),
        edges,
        ", ".join([*(_told(name, one, bounds) for name in SIGNS), f"another is as near as {near:.2f}"]),
    )


def _measured(name: str, one: Signals, bounds: Mapping[str, float]) -> tuple[float, float]:
    """A sign of a single block and its limit; in place of the confidence, the usefulness where verdicts exist."""
    if name == "confidence" and not np.isnan(one.usefulness[0]):
        return round(float(one.usefulness[0]), 6), EVEN
    return round(float(getattr(one, name)[0]), 6), bounds[name]


def _told(name: str, one: Signals, bounds: Mapping[str, float]) -> str:
    """A sign of a single block in words: "confidence 0.81 ≤ 0.88"."""
    value, bound = _measured(name, one, bounds)
    if name == "relevance":
        return f"relevance {value:.3f} {'<' if value < bound else '≥'} {bound:g}"
    sign = "≤" if value <= bound else ">"
    if name == "reinforcement":
        return f"reinforced {value:.0f}× {sign} {bound:.0f}"
    if name == "confidence" and not np.isnan(one.usefulness[0]):
        return f"useful by verdicts {value:.2f} {sign} {bound:g}"
    return f"{name} {value:.3f} {sign} {bound:g}"


def _numbered(storage: Storage, blocks: Sequence[Block]) -> Sequence[NumberedBlock]:
    numbers = storage.blocks.numbers_of([b.id for b in blocks])
    return storage.blocks.by_number(list(numbers.values()))


def _degree(storage: Storage, ids: Sequence[str]) -> dict[str, int]:
    found = dict.fromkeys(ids, 0)
    for e in storage.edges.touching(ids):
        for end in (e.source_id, e.target_id):
            if end in found:
                found[end] += 1
    return found


# --- the change -------------------------------------------------------------------------------------------


def apply(storage: Storage, proposal: PrunePlan, now: datetime, ledger: Path | None = None) -> Pruned:
    """Carry a plan out. A hard one is first written to the ledger, a line a block, and synced to the disk; without a
    file it goes into the table `deleted_blocks`, in the same transaction.

    Raises UsageError when the plan is out of date.
    """
    blocks = [c.block for c in proposal.candidates]
    if not proposal.hard:
        change = Change(tuple((b, replace(b, status="pruned")) for b in blocks))
        return Pruned(proposal, carry_out(storage, KIND, change, f"{plural(len(blocks), 'block')} pruned", now))
    kept = f"the table {LEDGER}" if ledger is None else ledger.name
    with storage.transaction():
        lines = _lines(storage, blocks, now)
        if ledger is None:
            storage.deleted_blocks.add(lines, now)
        elif lines:
            _append(ledger, lines.values())
        change = Change(taken=tuple(blocks))
        done = carry_out(storage, HARD, change, f"{plural(len(blocks), 'block')} deleted, kept in {kept}", now)
    return Pruned(proposal, done, "" if not blocks else kept if ledger is None else str(ledger))


def _lines(storage: Storage, blocks: Sequence[Block], now: datetime) -> dict[str, dict[str, Any]]:
    """What the ledger keeps of blocks, by id."""
    whole = storage.blocks.get([b.id for b in blocks])
    edges: dict[str, list[Any]] = {one: [] for one in whole}
    for edge in storage.edges.touching(list(whole)):
        for end in {edge.source_id, edge.target_id} & edges.keys():
            edges[end].append(_edge(edge))
    at = as_utc(now).isoformat()
    return {one: {"deleted_at": at, **_whole(block), "edges": edges[one]} for one, block in whole.items()}


def _append(ledger: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Append what is about to leave to the ledger; raises StoreError when it cannot be written."""
    try:
        with ledger.open("a", encoding="utf-8") as out:
            for line in lines:
                out.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise StoreError(
            f"The ledger {ledger} cannot be written: {error.strerror}; nothing was deleted.",
            title="Nothing can be deleted",
            way_out="Choose another file for the ledger.",
            about="ledger",
        ) from error


def _whole(block: Block) -> dict[str, Any]:
    return {
        "id": block.id,
        "content": block.content,
        "created_at": block.created_at.isoformat(),
        "last_reinforced_at": block.last_reinforced_at.isoformat(),
        "category": block.category,
        "confidence": block.confidence,
        "decay_lambda": block.decay_lambda,
        "status": block.status,
        "is_self_component": block.is_self_component,
        "meta": dict(block.meta),
    }


def _edge(edge: Edge) -> list[Any]:
    return [edge.source_id, edge.target_id, edge.relation_type, edge.weight, edge.confidence]
