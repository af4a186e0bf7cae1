"""Prune blocks that are low in relevance, centrality, reinforcement and confidence, all four at once (AMGS §8.5).

Soft pruning sets a block's status to pruned and deletes its edges. Hard pruning deletes pruned blocks from the store,
and the table `deleted_blocks` keeps them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.decay import falls_below, relevance_at
from amgs.lifecycle.change import Change, carry_out
from amgs.log import journal
from amgs.settings import PruningSettings
from amgs.storage.block_columns import BlockFacts
from amgs.storage.store import Storage
from amgs.text.words import plural
from amgs.types import STATUSES, Block, BlockFilter, JournalEntry
from amgs.types.calibration import Usefulness

KIND, HARD = "prune", "prune hard"
_LIVE = BlockFilter(statuses=("consolidated",))
_EVERY = BlockFilter(statuses=STATUSES)
_GONE = BlockFilter(statuses=("pruned",))

_EVEN = 0.5
"""Limit of usefulness by verdicts: a block that is useful more often than not stays."""

Values = NDArray[np.float64]
Signs = Mapping[str, tuple[Values, Values]]
"""Values (n,) and limits (n,) of n blocks for each sign: relevance, centrality, reinforcement, confidence."""


@dataclass(frozen=True, slots=True)
class PruneCandidate:
    """A block that may be pruned, with the values of its signs. because: the four comparisons in words."""

    block: Block
    relevance: float
    centrality: float
    reinforcements: int
    because: str


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """Plan of a pruning; nothing is written yet.

    hard: whether the blocks are deleted from the store. spared: how many blocks of low relevance stay, by the reason
    ("confidence", "centrality and confidence", "self or pin"). limits: the limit of each sign.
    """

    candidates: tuple[PruneCandidate, ...]
    hard: bool
    made_at: datetime
    change_counter: int
    spared: Mapping[str, int] = field(default_factory=dict, hash=False)
    limits: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Sign:
    """One of the four signs of a block: its value, its limit, and whether it is low. told: the same in words."""

    name: str
    value: float
    limit: float
    low: bool
    told: str


@dataclass(frozen=True, slots=True)
class PruneAssessment:
    """Whether a block may be pruned, and why not. kept_by: the reasons to keep it; () when it may be pruned.

    fades_at: when its relevance falls below the limit if nothing reinforces it; None for a pinned block.
    """

    block: Block
    signs: tuple[Sign, ...]
    kept_by: tuple[str, ...]
    fades_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pruned:
    """Result of a pruning and its journal entry."""

    plan: PrunePlan
    operation: JournalEntry


def plan(
    storage: Storage,
    centrality: Mapping[int, float],
    settings: PruningSettings,
    *,
    now: datetime,
    change_counter: int,
    limit: int | None = None,
) -> PrunePlan:
    """Find the consolidated blocks that are low in all four signs, the lowest first. Self components and pinned blocks
    stay. centrality: by the block's number, in [0, 1].
    """
    facts = storage.block_columns.facts(_LIVE)
    signs = _measure(storage, facts, centrality, settings, now)
    low = {name: _is_low(name, values, limits) for name, (values, limits) in signs.items()}
    exempt = facts.self_component | (facts.decay_lambda <= 0)
    goes = np.logical_and.reduce([~exempt, *low.values()])
    spared: Counter[str] = Counter()
    for at in np.flatnonzero(low["relevance"] & ~goes).tolist():
        keeping = [name for name in signs if not low[name][at]]
        spared["self or pin" if exempt[at] else " and ".join(keeping)] += 1
    rank = np.sum([np.unique(values, return_inverse=True)[1] for values, _ in signs.values()], axis=0)
    chosen = np.flatnonzero(goes)[np.argsort(rank[goes], kind="stable")][:limit].tolist()
    blocks = storage.blocks.get([str(facts.ids[at]) for at in chosen])
    candidates = []
    for at in chosen:
        readings = _describe_signs(signs, at)
        relevance, central, reinforced, _ = (sign.value for sign in readings)
        because = ", ".join(sign.told for sign in readings)
        candidates.append(PruneCandidate(blocks[str(facts.ids[at])], relevance, central, int(reinforced), because))
    return PrunePlan(tuple(candidates), False, now, change_counter, dict(spared.most_common()), _limits(settings))


def _limits(settings: PruningSettings) -> dict[str, float]:
    return {
        "relevance": settings.relevance,
        "centrality": settings.centrality,
        "reinforcement": settings.reinforcements,
        "confidence": settings.confidence,
    }


def _measure(
    storage: Storage, facts: BlockFacts, centrality: Mapping[int, float], settings: PruningSettings, now: datetime
) -> Signs:
    """Return the four signs of all blocks. Where verdicts say how useful a block is, that replaces its confidence,
    which is only about its category.
    """
    hours = np.maximum(int(now.timestamp() * 1e6) - facts.reinforced, 0) / 3.6e9
    judged = storage.forecasts.count_verdicts()
    useful = [Usefulness(*judged[i]).mean if i in judged else np.nan for i in map(str, facts.ids)]
    known = ~np.isnan(useful)
    values = {
        "relevance": np.exp(-facts.decay_lambda * hours),
        "centrality": np.array([centrality.get(int(number), 0.0) for number in facts.numbers], dtype=np.float64),
        "reinforcement": facts.reinforcements.astype(np.float64),
        "confidence": np.where(known, useful, facts.confidence),
    }
    limits = {name: np.full(known.shape, limit) for name, limit in _limits(settings).items()}
    limits["confidence"][known] = _EVEN
    return {name: (values[name], limits[name]) for name in values}


def _is_low(name: str, values: Values, limits: Values) -> NDArray[np.bool_]:
    """Return which values are low (n,): relevance below its limit, any other at or below."""
    return values < limits if name == "relevance" else values <= limits


def _describe_signs(signs: Signs, at: int) -> tuple[Sign, ...]:
    """Return the signs of the block in row `at`, with words such as "confidence 0.810 ≤ 0.88"."""
    readings = []
    for name, columns in signs.items():
        (value,), (limit,) = cells = [column[at : at + 1] for column in columns]
        low = bool(_is_low(name, *cells)[0])
        under, over = ("<", "≥") if name == "relevance" else ("≤", ">")
        words = f"{name} {value:.3f}"
        if name == "reinforcement":
            words = f"reinforced {value:.0f}×"
        elif name == "confidence" and limit == _EVEN:
            words = f"useful by verdicts {value:.2f}"
        sentence = f"{words} {under if low else over} {limit:g}"
        readings.append(Sign(name, round(float(value), 6), float(limit), low, sentence))
    return tuple(readings)


def explain(
    storage: Storage, block_id: str, centrality: Mapping[int, float], settings: PruningSettings, *, now: datetime
) -> PruneAssessment:
    """Compare a block, of any status, with the four limits, and say why it stays or may be pruned."""
    block = storage.blocks.get([block_id])[block_id]
    number = storage.blocks.numbers_of([block_id])[block_id]
    facts = storage.block_columns.facts(_EVERY).of([number])
    signs = _describe_signs(_measure(storage, facts, centrality, settings, now), 0)
    reasons = [sign.name for sign in signs if not sign.low]
    if block.is_self_component:
        reasons.insert(0, "part of the self")
    if block.decay_lambda <= 0:
        reasons.insert(0, "pinned")
    if block.status != "consolidated":
        reasons.insert(0, f"is {block.status}")
    fades = falls_below(block.decay_lambda, block.last_reinforced_at, settings.relevance)
    return PruneAssessment(block, signs, tuple(reasons), fades)


def plan_hard(storage: Storage, *, now: datetime, change_counter: int, limit: int | None = None) -> PrunePlan:
    """Find pruned blocks that would be deleted from the store, the longest unused first."""
    facts = storage.block_columns.facts(_GONE)
    uses = dict(zip(map(str, facts.ids), facts.reinforcements.tolist(), strict=True))
    blocks = sorted(storage.blocks.get(list(uses)).values(), key=lambda b: (b.last_reinforced_at, b.id))[:limit]
    candidates = [
        PruneCandidate(b, relevance_at(b.decay_lambda, b.last_reinforced_at, now), 0.0, uses[b.id], "is pruned")
        for b in blocks
    ]
    return PrunePlan(tuple(candidates), True, now, change_counter)


def apply_plan(storage: Storage, proposal: PrunePlan, now: datetime) -> Pruned:
    """Write a plan in a single transaction. Raises UsageError when the plan is out of date."""
    blocks = [candidate.block for candidate in proposal.candidates]
    if not proposal.hard:
        change = Change(tuple((block, replace(block, status="pruned")) for block in blocks))
        return Pruned(proposal, carry_out(storage, KIND, change, f"{plural(len(blocks), 'block')} pruned", now))
    with storage.transaction():
        storage.deleted_blocks.add(_ledger_lines(storage, blocks, now), now)
        summary = f"{plural(len(blocks), 'block')} deleted, stored in deleted_blocks"
        return Pruned(proposal, carry_out(storage, HARD, Change(taken=tuple(blocks)), summary, now))


def _ledger_lines(storage: Storage, blocks: Sequence[Block], now: datetime) -> dict[str, dict[str, Any]]:
    """Return what the table `deleted_blocks` keeps of each block, by id: the block and its edges."""
    edges: dict[str, list[Any]] = {block.id: [] for block in blocks}
    for edge in storage.edges.touching(list(edges)):
        for end in {edge.source_id, edge.target_id} & edges.keys():
            edges[end].append([*edge.key, edge.weight, edge.confidence])
    at = as_utc(now).isoformat()
    return {
        block.id: {
            **json.loads(journal.block_row(block, None).before or "{}"),
            "id": block.id,
            "deleted_at": at,
            "edges": edges[block.id],
        }
        for block in blocks
    }
