"""Proposals of enhancement: one value per proposal, with its reason and its change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from amgs.errors import UsageError
from amgs.lifecycle.change import Change

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
    one.
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
