"""What could be done with packs, and what decisions taught: the part of `memory.packs` that proposes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.errors import UsageError
from amgs.log import journal
from amgs.packs import continuum, keeping, learned_policy, proposals
from amgs.packs.off_policy import PolicyEstimate, share_bound
from amgs.packs.proposals import PackCandidate
from amgs.packs.views import views
from amgs.types import JournalEntry
from amgs.types.pack_learning import (
    PACK_ACTIONS,
    PackAction,
    PackDecisions,
    PackPolicy,
    PackPolicyValue,
    PackProposal,
    PackProposals,
)
from amgs.types.packs import Pack, PackMember, PackUse

FOUND, DECIDED = "pack proposals", "pack verdict"


class PackLearning:
    """Proposals about packs, and the log of what was decided of them. `undo` takes back what was queued or decided."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def propose(
        self, *, limit: int | None = None, explore: float = 0.0, queue: bool = False
    ) -> PackProposals:
        """What could be done with packs, what is worth most first; changes no pack.

        limit: at most so many. explore: the chance, in [0, 1], that a place of the list is given to any candidate that
        remains, those among them that are not thought worth a decision; decisions on such a list can tell what another
        order would have come to. queue: they wait for `accept` or `reject`, in place of the open ones before.
        """
        most = bounds.count("A limit", limit)
        if not 0.0 <= explore <= 1.0:
            raise UsageError(f"{explore:g} is no chance.", way_out="Give a number from 0 to 1.")
        storage, now = self._context.storage, self._context.clock.now()
        with storage.snapshot():
            log = storage.packs.proposals()
            every = self._candidates()
        decided = _decided(log)
        fresh = [one for one in every if (one.action, one.packs) not in decided]
        policy = self._policy(log)
        model = learned_policy.learned_from(log) if learned_policy.available() else None
        likely = model.likely if model is not None and policy.in_force == "learned" else proposals.by_rule
        chance = random.Random(f"{len(log)} {storage.change_counter}")
        placed, rest = proposals.listed(fresh, likely, explore, most, chance)
        bound = {one.action: one.bound for one in policy.decisions}

        def told(one: PackCandidate, place: int, propensity: float) -> PackProposal:
            learned = model.likely(one) if model is not None and policy.rounds else None
            return proposals.proposal(one, place, propensity, learned, bound[one.action])

        plan = PackProposals(
            tuple(told(one.candidate, n, one.propensity) for n, one in enumerate(placed, 1)),
            policy.in_force,
            explore,
            tuple(told(one, 0, 0.0) for one in rest),
            now,
        )
        if not queue:
            return plan
        with storage.transaction():
            count = len(plan.proposals)
            told_count = f"{count} proposal{'' if count == 1 else 's'} about packs"
            entry = journal.write(storage, FOUND, now, told_count, [])
            return storage.packs.queue(plan, entry.id)

    def proposals(self, *, every: bool = False) -> tuple[PackProposal, ...]:
        """The open proposals of the latest list in their order; every: those of all lists, decided or not."""
        log = self._context.storage.packs.proposals()
        if every:
            return tuple(one for plan in log for one in plan.proposals)
        return tuple(one for plan in log[:1] for one in plan.proposals if one.state == "open")

    def policy(self) -> PackPolicy:
        """Who proposes, the rule or what was learned, and what the log of decisions says of both; changes nothing."""
        return self._policy(self._context.storage.packs.proposals())

    def accept(self, number: int) -> JournalEntry:
        """Carry a proposal out, as one change that `undo` takes back.

        Raises UsageError for one that is not open, and where one of its packs was changed since.
        """
        storage = self._context.storage
        with storage.transaction():
            one = self._open(number)
            packs = [self._as_it_was(one, reference) for reference in one.packs]
            told = f"{one.action} {', '.join(one.packs)[:80]} (proposal {number})"
            entry = journal.write(storage, DECIDED, self._context.clock.now(), told, [])
            self._carry_out(one, packs, entry.id)
            storage.packs.decide(number, "accepted", entry.id)
            return entry

    def reject(self, number: int) -> JournalEntry:
        """Say that a proposal is not wanted; it is not made again while its packs stay as they are."""
        storage = self._context.storage
        with storage.transaction():
            one = self._open(number)
            told = f"no {one.action} {', '.join(one.packs)[:80]} (proposal {number})"
            entry = journal.write(storage, DECIDED, self._context.clock.now(), told, [])
            storage.packs.decide(number, "rejected", entry.id)
            return entry

    # --- inside -----------------------------------------------------------------------------------------

    def _policy(self, log: Sequence[PackProposals]) -> PackPolicy:
        decided = [one for plan in log for one in plan.proposals if one.state != "open"]
        told = tuple(_decisions(action, decided) for action in PACK_ACTIONS)
        if not decided or not learned_policy.available():
            why = "nothing was decided yet" if not decided else "the package river is not installed"
            return PackPolicy("rule", why, len(decided), told, ())
        found = learned_policy.compared(log)
        least = learned_policy.LEAST_EFFECTIVE
        if found.better:
            why = "by its lower bound it is better than the rule"
        elif found.learned.effective < least:
            why = f"the log is worth {found.learned.effective:.0f} rounds for what is learned, of {least:.0f} it takes"
        else:
            why = f"the lower bound of what learning gains is {found.gain.low:+.3f}"
        values = (
            _value("rule", found.rule),
            _value("learned", found.learned),
            _value("learned less rule", found.gain),
        )
        return PackPolicy("learned" if found.better else "rule", why, len(decided), told, values)

    def _candidates(self) -> tuple[PackCandidate, ...]:
        storage = self._context.storage
        uses: dict[str, list[PackUse]] = {}
        sessions: dict[str, set[str]] = {}
        for use in storage.packs.uses():
            uses.setdefault(use.name, []).append(use)
            if use.session:
                sessions.setdefault(use.session, set()).add(use.name)
        usages = [
            keeping.usage(one, uses.get(one.name, ())) for one in storage.packs.latest() if not one.retired
        ]
        seen = views(storage, usages, self._context.clock.now(), self._context.settings.decay.threshold)
        return proposals.candidates(seen, continuum.together(list(sessions.values())))

    def _open(self, number: int) -> PackProposal:
        found = next((one for one in self.proposals(every=True) if one.number == number), None)
        if found is None:
            raise UsageError(
                f"There is no proposal {number}.", way_out="Choose one of those that are listed."
            )
        if found.state != "open":
            raise UsageError(
                f"Proposal {number} is already {found.state}.",
                way_out=f"Undo operation {found.operation} to open it again.",
            )
        return found

    def _as_it_was(self, one: PackProposal, reference: str) -> Pack:
        found = keeping.find(self._context.storage.packs, reference.partition("@")[0])
        if found.retired or f"{found.name}@{found.version}" != reference:
            raise UsageError(
                f"{found.name} was changed since proposal {one.number} was made.",
                title="The proposal is out of date",
                way_out="Propose again.",
            )
        return found

    def _carry_out(self, one: PackProposal, packs: Sequence[Pack], operation: int) -> None:
        storage = self._context.storage
        if one.action == "DELETE":
            storage.packs.retire(packs[0].name, operation)
            return
        if one.action == "ADD":
            members = list(dict.fromkeys(member for pack in packs for member in pack.members))
            members = [member for member in members if member.block in one.come]
        else:
            stay = [member for member in packs[0].members if member.block not in one.gone]
            held = storage.blocks.get(one.come)
            roles = {member.block: member.role for pack in packs for member in pack.members}
            come = [PackMember(i, roles.get(i, keeping.role_of(held[i]))) for i in one.come if i in held]
            members = list(dict.fromkeys((*stay, *come)))
        self._next_version(one, packs, members, operation)
        if one.action == "MERGE":
            storage.packs.retire(packs[1].name, operation)

    def _next_version(
        self, one: PackProposal, packs: Sequence[Pack], members: Sequence[PackMember], operation: int
    ) -> None:
        storage = self._context.storage
        keeping.check_name(one.name)
        versions = storage.packs.versions(one.name)
        title = packs[0].title if one.action != "ADD" else ""
        words = tuple(dict.fromkeys(word for pack in packs for word in pack.keywords))
        own = keeping.pack_id(title, words, members)
        if versions and versions[-1].id == own and not versions[-1].retired:
            return
        held = storage.blocks.get([member.block for member in members])
        made = replace(
            packs[0],
            name=one.name,
            version=versions[-1].version + 1 if versions else 1,
            id=own,
            title=title,
            members=tuple(members),
            keywords=words,
            tokens=sum(self._context.count_tokens(block.content) for block in held.values()),
            created_at=self._context.clock.now(),
        )
        storage.packs.put(made, operation)


def _decided(log: Sequence[PackProposals]) -> Mapping[tuple[PackAction, tuple[str, ...]], PackProposal]:
    """What was decided, by the action and the packs as they were; the latest decision of each."""
    return {
        (one.action, one.packs): one
        for plan in reversed(log)
        for one in plan.proposals
        if one.state != "open"
    }


def _decisions(action: PackAction, decided: Sequence[PackProposal]) -> PackDecisions:
    own = [one.state == "accepted" for one in decided if one.action == action]
    return PackDecisions(action, sum(own), len(own) - sum(own), share_bound(sum(own), len(own)))


def _value(policy: Literal["rule", "learned", "learned less rule"], found: PolicyEstimate) -> PackPolicyValue:
    return PackPolicyValue(policy, found.value, found.low, found.high, found.effective)
