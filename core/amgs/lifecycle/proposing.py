"""Proposals of enhancement, a value each with its reason and its change; and the health of edges under use: faint ones,
those that use strengthens or weakens, and neighbours that disagree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from amgs.decay import relevance_at
from amgs.errors import UsageError
from amgs.lifecycle.change import Change
from amgs.lifecycle.linking import DUPLICATES, MENTIONS_SAME, RELATED
from amgs.types import Block, Edge

ProposalKind = Literal["duplicate", "merge", "overlap", "split", "weak_edge", "strengthen", "weaken", "confidence"]
KINDS: tuple[ProposalKind, ...] = get_args(ProposalKind)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed improvement, with its change.

    id: a hash of what it is about, so that it stays the same in the next plan. subjects: ids of blocks. confidence: in
    [0, 1]. effect: what applying it changes, in words. by: the language model that proposed it; "" for the rules.
    """

    id: str
    kind: ProposalKind
    subjects: tuple[str, ...]
    titles: tuple[str, ...]
    reason: str
    confidence: float
    effect: str
    change: Change = field(compare=False, repr=False)
    by: str = ""


@dataclass(frozen=True, slots=True)
class EnhancementPlan:
    """Proposals, the most confident first within a kind; nothing is written yet. left_out: how many
    exceed the limit.
    """

    proposals: tuple[Proposal, ...]
    made_at: datetime
    change_counter: int
    left_out: int = 0


def proposal_id(kind: str, *parts: str) -> str:
    """Return a short name: the first letter of the kind and seven digits of a hash of what it is about."""
    return kind[0] + hashlib.sha256(" ".join((kind, *parts)).encode()).hexdigest()[:7]


def chosen(plan: EnhancementPlan, only: Sequence[str]) -> tuple[Proposal, ...]:
    """Return the proposals with these ids (or beginnings of ids), all without any; raises UsageError for an unknown
    edge.
    """
    if not only:
        return plan.proposals
    wanted: dict[str, Proposal] = {}
    for name in only:
        matches = [p for p in plan.proposals if name and p.id.startswith(name)]
        if len(matches) != 1:
            what = "No proposal has" if not matches else f"{len(matches)} proposals begin with"
            raise UsageError(
                f"{what} the id {name!r}.", way_out="Choose one of the current proposals.", about="proposal"
            )
        wanted[matches[0].id] = matches[0]
    return tuple(p for p in plan.proposals if p.id in wanted)


LEARNED = frozenset({RELATED, MENTIONS_SAME, "same_event"})
"""Relations that were inferred; what a source says itself (`next`, `links_to`, …) is not for use to judge."""

WEAK_STRENGTH, WEAK_CONFIDENCE = 0.1, 0.6
"""An inferred edge is weak when weight · confidence · relevance and its confidence are both below these."""

LEAST_USES = 2
"""So many uses before the logs say anything about an edge."""

MISMATCH, MISMATCH_WEIGHT = 0.3, 0.7
"""Blocks that an edge of at least this weight calls alike disagree when their confidences differ by MISMATCH."""

_ALIKE = frozenset({RELATED, DUPLICATES, "same_event"})
_KEPT_SHARE = 0.8
_GAIN = 0.25


@dataclass(frozen=True, slots=True)
class EdgeUsage:
    """Use of blocks and edges in the logs.

    blocks: the occasions on which each block was used. walks: how often each edge (source, target, relation) led to a
    block that proved useful. What was only shown is in neither.
    """

    blocks: Mapping[str, frozenset[str]]
    walks: Mapping[tuple[str, str, str], int]


def faint(edges: Sequence[Edge], blocks: Mapping[str, Block], now: datetime, busy: Collection[str]) -> list[Proposal]:
    """Return inferred edges that are weak in strength as in confidence; they are taken out."""
    proposals = []
    for e in _select_inferred_edges(edges, blocks, busy):
        strength = e.weight * e.confidence * relevance_at(e.decay_lambda, e.last_reinforced_at, now)
        if strength < WEAK_STRENGTH and e.confidence < WEAK_CONFIDENCE:
            parts = f"weight {e.weight:.2f}, confidence {e.confidence:.2f}"
            reason = f"{e.relation_type}: strength {strength:.3f} ({parts})"
            sure = 1.0 - strength / WEAK_STRENGTH * 0.5
            proposals.append(_of_edge("weak_edge", e, blocks, reason, sure, "the edge goes; both blocks stay", None))
    return proposals


def by_use(
    edges: Sequence[Edge], blocks: Mapping[str, Block], usage: EdgeUsage, busy: Collection[str]
) -> list[Proposal]:
    """Return edges whose ends are used together gain weight, those whose ends are used apart lose some.

    n uses close the share 1 - (1 - ¼)ⁿ of the gap to 1; too few uses say nothing.
    """
    proposals = []
    none: frozenset[str] = frozenset()
    for e in _select_inferred_edges(edges, blocks, busy):
        a, b = usage.blocks.get(e.source_id, none), usage.blocks.get(e.target_id, none)
        together = len(a & b)
        walked = usage.walks.get((e.source_id, e.target_id, e.relation_type), 0)
        uses = max(together, walked)
        apart = min(len(a), len(b)) - together
        sure = uses / (uses + 2.0)
        if uses >= LEAST_USES and together >= apart:
            weight = round(1.0 - (1.0 - e.weight) * (1.0 - _GAIN) ** uses, 6)
            reason = f"{e.relation_type}: useful together {together} times, led there {walked}"
            effect = f"weight {e.weight:.2f} → {weight:.2f}"
            if weight > e.weight:
                proposals.append(_of_edge("strengthen", e, blocks, reason, sure, effect, replace(e, weight=weight)))
        elif together == 0 and walked == 0 and apart >= 2 * LEAST_USES:
            weight = round(e.weight * _KEPT_SHARE, 6)
            reason = f"{e.relation_type}: both ends used {apart} times or more, never together"
            effect = f"weight {e.weight:.2f} → {weight:.2f}"
            proposals.append(
                _of_edge("weaken", e, blocks, reason, apart / (apart + 4.0), effect, replace(e, weight=weight))
            )
    return proposals


def mismatches(
    edges: Sequence[Edge], blocks: Mapping[str, Block], usage: EdgeUsage, busy: Collection[str]
) -> list[Proposal]:
    """Return blocks that are strongly alike and believed very differently.

    The edge with less use behind it moves half of the way to the other; each block at most once a plan.
    """
    proposals: list[Proposal] = []
    moved: set[str] = set()
    strong = [e for e in edges if e.relation_type in _ALIKE and e.weight >= MISMATCH_WEIGHT]
    for e in sorted(strong, key=lambda e: (-e.weight, e.source_id, e.target_id)):
        a, b = blocks.get(e.source_id), blocks.get(e.target_id)
        if a is None or b is None or {a.id, b.id} & set(busy):
            continue
        if abs(a.confidence - b.confidence) < MISMATCH:
            continue
        # With equal use behind both, the lower confidence is the confidence that a hedge or a vague category gave.
        block, other = sorted((a, b), key=lambda x: (len(usage.blocks.get(x.id, ())), x.confidence, x.id))
        if block.id in moved or other.id in moved:
            continue
        moved.add(block.id)
        value = round((block.confidence + other.confidence) / 2, 4)
        after = replace(block, confidence=value)
        proposals.append(
            Proposal(
                proposal_id("confidence", block.id, other.id),
                "confidence",
                (block.id, other.id),
                (block.title, other.title),
                f"{e.relation_type} at {e.weight:.2f}, but believed {block.confidence:.2f} and {other.confidence:.2f}",
                round(e.weight * e.confidence, 4),
                f"confidence of {block.id[:8]} {block.confidence:.2f} → {value:.2f}",
                Change(((block, after),)),
            )
        )
    return proposals


def _select_inferred_edges(edges: Sequence[Edge], blocks: Mapping[str, Block], busy: Collection[str]) -> list[Edge]:
    """Inferred edges between blocks that are there and that no other proposal remakes."""
    return [
        e
        for e in edges
        if e.relation_type in LEARNED
        and e.source_id in blocks
        and e.target_id in blocks
        and e.source_id not in busy
        and e.target_id not in busy
    ]


def _of_edge(
    kind: ProposalKind,
    edge: Edge,
    blocks: Mapping[str, Block],
    reason: str,
    confidence: float,
    effect: str,
    after: Edge | None,
) -> Proposal:
    ends = (edge.source_id, edge.target_id)
    return Proposal(
        proposal_id(kind, *ends, edge.relation_type),
        kind,
        ends,
        tuple(blocks[i].title for i in ends),
        reason,
        round(confidence, 4),
        effect,
        Change(edges=((edge, after),)),
    )
