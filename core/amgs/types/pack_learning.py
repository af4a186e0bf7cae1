"""What could be done with packs, what was decided of it, and what the log of readings and decisions taught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

PackAction = Literal["ADD", "UPDATE", "DELETE", "MERGE"]
"""ADD: keep what is read together as one pack. UPDATE: put what superseded a member in its place. DELETE: retire.
MERGE: keep the members of both under the first name and retire the second. What is not proposed is left as it is.
"""
PACK_ACTIONS: tuple[PackAction, ...] = get_args(PackAction)

PackPolicyName = Literal["rule", "learned"]


@dataclass(frozen=True, slots=True)
class PackProposal:
    """Something that could be done with packs. Nothing is done before it is accepted.

    number: in the queue; None for a plan. packs: names with the version they were looked at; the first is the one that
    changes, or stays. name: what the pack that comes of it is called. come, gone: blocks that become members, or are
    members no longer. features: what was seen of them, by name. sure: the rule's confidence in [0, 1]; likely: that it
    is accepted, as learned, None without learning. bound: the one-sided 95 % lower bound of the share of decisions on
    this action that accepted it; 0 without decisions. propensity: how likely it was to stand at its place, given what
    stands before. place: from 1 up. operation: of the decision; None while it is open.
    """

    number: int | None
    action: PackAction
    packs: tuple[str, ...]
    name: str
    come: tuple[str, ...]
    gone: tuple[str, ...]
    because: str
    features: Mapping[str, float] = field(hash=False)
    sure: float
    likely: float | None
    bound: float
    place: int
    propensity: float
    state: Literal["open", "accepted", "rejected"] = "open"
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class PackProposals:
    """Proposals in their order. policy: who ordered them. explore: the chance of each place to be given to any of what
    remains. passed_over: candidates that were looked at and are not thought worth a decision, or did not fit, with
    place 0. operation: of the journal, None for a plan.
    """

    proposals: tuple[PackProposal, ...]
    policy: PackPolicyName
    explore: float
    passed_over: tuple[PackProposal, ...]
    made_at: datetime
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class PackDecisions:
    """How an action's proposals were decided. bound: the one-sided 95 % lower bound of the share that was accepted."""

    action: PackAction
    accepted: int
    rejected: int
    bound: float


@dataclass(frozen=True, slots=True)
class PackPolicyValue:
    """What a decided proposal is worth on average by a policy: 1 where it is accepted, less its cost where it is not.

    low, high: the 95 % interval. effective: how many rounds of equal weight the log is worth for it.
    """

    policy: Literal["rule", "learned", "learned less rule"]
    value: float
    low: float
    high: float
    effective: float


@dataclass(frozen=True, slots=True)
class PackPolicy:
    """Who proposes. in_force: "learned" only where its gain over the rule is above 0 by its lower bound, and the log
    is worth enough rounds for it; because: which of that is so. rounds: proposals that were decided in their lists.
    values: by doubly robust estimation from the log; empty without decisions, or without what learns.
    """

    in_force: PackPolicyName
    because: str
    rounds: int
    decisions: tuple[PackDecisions, ...]
    values: tuple[PackPolicyValue, ...]
