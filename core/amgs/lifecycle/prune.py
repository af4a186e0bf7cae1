"""Pruning: blocks that are faded, peripheral, unused and doubted, all four at once (AMGS §8.5).

Soft: the block stays as pruned and loses its edges. Hard: it leaves the store, after it was written to a ledger.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from amgs.clock import as_utc
from amgs.decay import relevance_at
from amgs.errors import StoreError, UsageError
from amgs.lifecycle.change import Change, carry_out
from amgs.model import Block, BlockFilter, Edge, Operation
from amgs.settings import PruningSettings
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store.connection import Store

KIND, HARD = "prune", "prune hard"
_LIVE = BlockFilter(statuses=("consolidated",))
_GONE = BlockFilter(statuses=("pruned",))


@dataclass(frozen=True, slots=True)
class Candidate:
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

    hard: whether the blocks leave the store. spared: blocks that are faded, and which of the other three
    reasons keeps how many of them.
    """

    candidates: tuple[Candidate, ...]
    hard: bool
    made_at: datetime
    change_counter: int
    spared: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was pruned, its journal entry, and the ledger that holds what left the store."""

    plan: PrunePlan
    operation: Operation
    ledger: str = ""


def plan(
    store: Store,
    centrality: Mapping[int, float],
    settings: PruningSettings,
    *,
    now: datetime,
    change_counter: int,
    limit: int | None = None,
) -> PrunePlan:
    """Consolidated blocks under all four limits, the most faded first. Self components and pins stay.

    centrality: by running number, in [0, 1].
    """
    facts = stored_blocks.facts(store, _LIVE)
    hours = np.maximum(int(now.timestamp() * 1e6) - facts.reinforced, 0) / 3.6e9
    relevance = np.exp(-facts.decay_lambda * hours)
    central = np.array([centrality.get(int(n), 0.0) for n in facts.numbers])
    faded = (relevance < settings.relevance) & ~facts.self_component & (facts.decay_lambda > 0)
    kept = {
        "centrality": central > settings.centrality,
        "reinforcement": facts.reinforcements > settings.reinforcements,
        "confidence": facts.confidence > settings.confidence,
    }
    going = np.flatnonzero(faded & ~np.any(list(kept.values()), axis=0))
    order = going[np.lexsort((facts.numbers[going], relevance[going]))][:limit]
    blocks = stored_blocks.get(store, [str(facts.ids[i]) for i in order])
    degree = _degree(store, list(blocks))
    candidates = tuple(
        _candidate(
            blocks[str(facts.ids[i])],
            float(relevance[i]),
            float(central[i]),
            int(facts.reinforcements[i]),
            degree.get(str(facts.ids[i]), 0),
            settings,
        )
        for i in order
    )
    spared = {name: int((faded & mask).sum()) for name, mask in kept.items()}
    return PrunePlan(candidates, False, now, change_counter, spared)


def plan_hard(store: Store, *, now: datetime, change_counter: int, limit: int | None = None) -> PrunePlan:
    """Blocks that are pruned already and would leave the store, the longest unused first."""
    blocks = stored_blocks.select(store, _GONE, order="arrival")
    counts = {n.block.id: n.reinforcements for n in _numbered(store, blocks)}
    candidates = [
        Candidate(
            b, relevance_at(b.decay_lambda, b.last_reinforced_at, now), 0.0, counts[b.id], 0, "is pruned"
        )
        for b in blocks
    ]
    candidates.sort(key=lambda c: (c.block.last_reinforced_at, c.block.id))
    return PrunePlan(tuple(candidates[:limit]), True, now, change_counter)


def _candidate(
    block: Block, relevance: float, central: float, count: int, edges: int, settings: PruningSettings
) -> Candidate:
    because = (
        f"relevance {relevance:.3f} < {settings.relevance:g}, centrality {central:.3f} ≤ {settings.centrality:g}, "
        f"reinforced {count}× ≤ {settings.reinforcements}, confidence {block.confidence:.2f} ≤ {settings.confidence:g}"
    )
    return Candidate(block, round(relevance, 6), round(central, 6), count, edges, because)


def _numbered(store: Store, blocks: Sequence[Block]) -> Sequence[stored_blocks.Numbered]:
    numbers = stored_blocks.numbers_of(store, [b.id for b in blocks])
    return stored_blocks.by_number(store, list(numbers.values()))


def _degree(store: Store, ids: Sequence[str]) -> dict[str, int]:
    found = dict.fromkeys(ids, 0)
    for e in stored_edges.touching(store, ids):
        for end in (e.source_id, e.target_id):
            if end in found:
                found[end] += 1
    return found


# --- the change -------------------------------------------------------------------------------------------


def apply(store: Store, proposal: PrunePlan, now: datetime, ledger: Path | None = None) -> Pruned:
    """Carry a plan out. A hard one is first written to the ledger, a line a block, and synced to the disk.

    Raises UsageError when the plan is out of date, or hard without a ledger.
    """
    blocks = [c.block for c in proposal.candidates]
    if not proposal.hard:
        change = Change(tuple((b, replace(b, status="pruned")) for b in blocks))
        return Pruned(proposal, carry_out(store, KIND, change, f"{len(blocks)} blocks pruned", now))
    if ledger is None:
        raise UsageError(
            "A hard pruning needs a ledger, and this store lies in no file.", way_out="Give --ledger FILE."
        )
    with store.transaction():
        if blocks:
            _export(store, blocks, ledger, now)
        change = Change(taken=tuple(blocks))
        done = carry_out(store, HARD, change, f"{len(blocks)} blocks deleted, kept in {ledger.name}", now)
    return Pruned(proposal, done, str(ledger) if blocks else "")


def _export(store: Store, blocks: Sequence[Block], ledger: Path, now: datetime) -> None:
    """Append what is about to leave to the ledger; raises StoreError when it cannot be written."""
    whole = stored_blocks.get(store, [b.id for b in blocks])
    edges = stored_edges.touching(store, list(whole))
    try:
        with ledger.open("a", encoding="utf-8") as out:
            for block in whole.values():
                own = [_edge(e) for e in edges if block.id in (e.source_id, e.target_id)]
                line = {"deleted_at": as_utc(now).isoformat(), **_whole(block), "edges": own}
                out.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise StoreError(
            f"The ledger {ledger} cannot be written: {error.strerror}; nothing was deleted.",
            title="Nothing can be deleted",
            way_out="Give another file with --ledger.",
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
