"""Layer 4: proposals for packs. Rules say what may be done and how sure that is; a linear policy, learned from
verdicts, orders them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from amgs.types import Block
from amgs.wings.packs import store
from amgs.wings.packs.choice import PackTask
from amgs.wings.packs.continuum import ReadTogether, sigmoid
from amgs.wings.packs.store import PackDecision
from amgs.wings.packs.values import ACTIONS, Pack, PackAction, PackProposal, PackUsage, PackUse

COST: Mapping[PackAction, float] = {"ADD": 1.0, "UPDATE": 1.0, "DELETE": 9.0, "MERGE": 9.0}
"""Loss by a wrong proposal, where a right proposal gains 1."""
FEATURES = 8
_RATE = 0.1
_CONTAINED, _ALIKE = 0.9, 0.6
"""Share of the smaller pack's members, and of all members, that two packs must have in common to be merged."""
_RESTS_DAYS, _UNREAD_DAYS, _NEVER_DAYS, _FADED = 60.0, 400.0, 730.0, 0.9
"""Days without a reading: from which on a pack may be deleted; after which it surely may; the same for a pack never
read; and the share of faded members needed for that.
"""
_SURE, _HARDLY, _LEAST, _LIFT = 0.95, 0.01, 1e-3, 2.0


@dataclass(frozen=True, slots=True)
class PackView:
    """A pack as the rules see it.

    blocks: members that are held and used. heirs: blocks that replaced members, by the member's id. faded: share of
    members with relevance below the threshold.
    """

    usage: PackUsage
    blocks: Mapping[str, Block]
    heirs: Mapping[str, Block]
    faded: float

    @property
    def pack(self) -> Pack:
        return self.usage.pack


def features(
    age: float, uses: int, success: float | None, failures: int, tokens: int, similarity: float = 0.0
) -> tuple[float, ...]:
    """Return the state of a pack as numbers for the policy. age: in days."""
    known = 0.5 if success is None else success
    return (1.0, age / 365, uses / 100, known, similarity, failures / 10, tokens / 1000, float(similarity >= _ALIKE))


class PackPolicy:
    """A weight of each feature for each action; all 0 if nothing was learned."""

    def __init__(self) -> None:
        self.weights: dict[PackAction, NDArray[np.float64]] = {action: np.zeros(FEATURES) for action in ACTIONS}

    def learn(self, state: Sequence[float], taken: PackAction, reward: float) -> None:
        """Take a policy-gradient step (REINFORCE) on the softmax over actions."""
        scores = np.array([weights @ np.array(state) for weights in self.weights.values()])
        likely = np.exp(scores - scores.max())
        likely /= likely.sum()
        for action, chance in zip(ACTIONS, likely.tolist(), strict=True):
            self.weights[action] += _RATE * reward * (float(action == taken) - chance) * np.array(state)

    def sure(self, proposal: PackProposal) -> float:
        """Return how likely an action is better than doing nothing, from the confidence of the rule."""
        ruled = min(max(proposal.sure, _LEAST), 1 - _LEAST)
        learned = float((self.weights[proposal.action] - self.weights["NOOP"]) @ np.array(proposal.features))
        return sigmoid(log(ruled / (1 - ruled)) + learned)


def learn_policy(uses: Sequence[PackUse], decisions: Sequence[PackDecision], views: Sequence[PackView]) -> PackPolicy:
    """Learn the policy from verdicts and outcomes, in order of time.

    A reading is an outcome of the action last accepted for its pack, else of NOOP; its reward is its outcome less the
    mean so far. uses: newest first.

    It is computed from the log each time, so that `undo` of a verdict or outcome unlearns it.
    """
    policy, born = PackPolicy(), {view.pack.name: view.usage.born for view in views}
    read: Counter[str] = Counter()
    outcomes: dict[str, list[float]] = defaultdict(list)
    taken: dict[str, PackAction] = {}
    every = [0.5]
    events: list[PackDecision | PackUse] = [*decisions, *reversed(uses)]
    for event in sorted(events, key=lambda entry: entry.at):
        if isinstance(event, PackDecision):
            if len(event.features) == FEATURES:
                policy.learn(event.features, event.action, 1.0 if event.accepted else -1.0)
            if event.accepted:
                taken[event.name] = event.action
            continue
        own = outcomes[event.name]
        if event.outcome is not None:
            age = max((event.at - born.get(event.name, event.at)).total_seconds(), 0.0) / 86400
            success = sum(own) / len(own) if own else None
            state = features(age, read[event.name], success, store.failures(own), event.tokens)
            policy.learn(state, taken.get(event.name, "NOOP"), event.outcome - sum(every) / len(every))
            every.append(event.outcome)
            own.append(event.outcome)
        read[event.name] += 1
    return policy


def candidates(views: Sequence[PackView], read_together: Sequence[ReadTogether]) -> list[PackProposal]:
    """Return all proposals that the rules allow, with the rules' confidence."""
    named = {view.pack.name: view for view in views}
    proposals = [merger for a, b in combinations(views, 2) if (merger := _merge(a, b)) is not None]
    proposals += [make_proposal("UPDATE", [view], _SURE) for view in views if view.heirs]
    proposals += [_delete(view) for view in views if view.usage.unread >= _RESTS_DAYS]
    for names, sessions, lift, either in read_together:
        if all(name in named for name in names):
            reason = f"read together in {sessions} of {either} sessions, {lift:.1f} times as often as by chance"
            # Packs that all sessions read have no lift; then the share of sessions decides.
            sure = max(1 - _LIFT / lift, (sessions - 1) / either)
            addition = make_proposal("ADD", [named[name] for name in names], sure, reason)
            if not any(set(addition.come) <= view.blocks.keys() for view in views):
                proposals.append(addition)
    return proposals


def propose(every: Sequence[PackProposal], policy: PackPolicy) -> tuple[PackProposal, ...]:
    """Return the candidates worth proposing, most valuable first: 1 if right, less its cost if wrong."""
    learned = [replace(proposal, sure=policy.sure(proposal)) for proposal in every]
    worth = {proposal.id: proposal.sure - (1.0 - proposal.sure) * COST[proposal.action] for proposal in learned}
    wanted = [proposal for proposal in learned if worth[proposal.id] > 0]
    return tuple(sorted(wanted, key=lambda proposal: (-worth[proposal.id], proposal.action, proposal.packs)))


def _merge(a: PackView, b: PackView) -> PackProposal | None:
    """Propose a merge; the pack read more often stays, then the larger, then the older. None if they
    differ too much.
    """
    survivor, gone = sorted(
        (a, b), key=lambda view: (-view.usage.uses, -len(view.blocks), -view.usage.age, view.pack.name)
    )
    same, sizes = len(survivor.blocks.keys() & gone.blocks.keys()), (len(survivor.blocks), len(gone.blocks))
    alike = same / max(sum(sizes) - same, 1)
    if same < _CONTAINED * min(sizes) or alike < _ALIKE or not same:
        return None
    reason = f"{same} of {sizes[1]} members are in {survivor.pack.name}"
    return make_proposal("MERGE", [survivor, gone], 0.9 + 0.1 * alike, reason, alike)


def _delete(view: PackView) -> PackProposal:
    """Propose to delete a pack."""
    usage, sure = view.usage, 0.5 * min(view.usage.unread / _UNREAD_DAYS, 1.0) * view.faded
    rests = usage.unread >= _UNREAD_DAYS and usage.needed < _HARDLY if usage.uses else usage.unread >= _NEVER_DAYS
    if rests and view.faded >= _FADED:
        sure = _SURE
    read = f"read {usage.uses} times, last {usage.unread:.0f} days ago" if usage.uses else "never read"
    reason = f"{read}, saved {usage.age:.0f} days ago, {view.faded:.0%} of its members faded"
    return make_proposal("DELETE", [view], sure, reason)


def make_proposal(
    action: PackAction, views: Sequence[PackView], sure: float = 1.0, because: str = "", similarity: float = 0.0
) -> PackProposal:
    """Return what an action would do to packs; except for ADD, the first stays."""
    first, name = views[0].pack, views[0].pack.name
    gone, blocks = tuple[str, ...](), list[str]()
    if action == "UPDATE":
        heirs = views[0].heirs
        gone = tuple(block for block in first.blocks if block in heirs)
        blocks = [heirs[block].id for block in gone]
        because = because or f"{len(gone)} of {len(first.members)} members are superseded"
    elif action in ("ADD", "MERGE"):
        blocks = [block for view in views for block in view.blocks]
    if action == "ADD":
        name = " + ".join(view.pack.name for view in views)[:80].rstrip()
    come = tuple(block for block in dict.fromkeys(blocks) if action == "ADD" or block not in first.blocks)
    packs = tuple(f"{view.pack.name}@{view.pack.version}" for view in views)
    own = hashlib.sha256(json.dumps([action, *packs], ensure_ascii=False).encode()).hexdigest()[:8]
    last = views[-1].usage
    state = features(last.age, last.uses, last.success, last.failures, last.pack.tokens, similarity)
    return PackProposal(own, action, packs, name, come, gone, because, sure, state)


_DONE: Final[Mapping[PackAction, str]] = {
    "ADD": "added to",
    "UPDATE": "updated",
    "DELETE": "left out",
    "MERGE": "merged",
    "NOOP": "left as it is",
}
"""What is said of packs on which something was done."""


def operate_on_packs(task: PackTask) -> str:
    """Do to each chosen pack what the policy proposes, for this text only; the store is not changed."""
    done: Counter[PackAction] = Counter()
    best = {name: p for p in reversed(task.proposals()) for name in store.names_of(p.packs)}
    for name in list(task.chosen):
        if name not in task.chosen:
            continue  # merged into another pack
        wanted = best.get(name)
        done["NOOP" if wanted is None else wanted.action] += 1
        if wanted is None:
            continue
        task.because[name] = f"{task.because.get(name, '')}; {wanted.action}: {wanted.because}".lstrip("; ")
        own = {block.id: (role, block) for role, block in task.members[name] if block.id not in wanted.gone}
        own |= {i: (store.role_of(block), block) for i, block in task.blocks(wanted.come).items() if i not in own}
        task.members[name] = list(own.values())
        joined = {name} if wanted.action == "DELETE" else {*store.names_of(wanted.packs)} - {name}
        task.chosen = [other for other in task.chosen if other not in joined]
    return ", ".join(f"{done[action]} {word}" for action, word in _DONE.items() if done[action]) or "nothing was chosen"
