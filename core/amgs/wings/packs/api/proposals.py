"""What could be done with packs: the part of `memory.packs` that proposes, and carries out what is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amgs.errors import UsageError
from amgs.log import journal
from amgs.types import JournalEntry
from amgs.wings.packs.api.part import PackPart
from amgs.wings.packs.engine import continuum, keeping, proposals
from amgs.wings.packs.engine.proposals import views
from amgs.wings.packs.values import Pack, PackMember, PackProposal, PackUse

DECIDED = "pack verdict"


class PackProposing(PackPart):
    """Proposals about packs, made anew from the packs as they are each time. `undo` takes back what was decided."""

    def proposals(self) -> tuple[PackProposal, ...]:
        """What could be done with packs, what is worth most first, without what was decided of the same versions.

        MERGE: two packs whose members say the same. UPDATE: members that were superseded. DELETE: packs that are hardly
        needed any more. ADD: packs that sessions read together become one. Changes nothing.
        """
        storage = self._context.storage
        with storage.snapshot():
            decided = self._packs.decided()
            uses: dict[str, list[PackUse]] = {}
            sessions: dict[str, set[str]] = {}
            for use in self._packs.uses():
                uses.setdefault(use.name, []).append(use)
                if use.session:
                    sessions.setdefault(use.session, set()).add(use.name)
            packs = [one for one in self._packs.latest() if not one.retired]
            threshold = self._context.settings.decay.threshold
            seen = views(storage, packs, uses, self._context.clock.now(), threshold)
        every = proposals.candidates(seen, continuum.together(list(sessions.values())))
        return proposals.proposed([one for one in every if (one.action, one.packs) not in decided])

    def accept(self, proposal: str) -> JournalEntry:
        """Carry a proposal out, as one change that `undo` takes back; proposal: its id, or the start of it.

        Raises UsageError for one that is not made, which may be because one of its packs was changed since.
        """
        return self._decide(proposal, "accepted")

    def reject(self, proposal: str) -> JournalEntry:
        """Say that a proposal is not wanted; it is not made again while its packs stay as they are."""
        return self._decide(proposal, "rejected")

    def _decide(self, proposal: str, verdict: str) -> JournalEntry:
        storage = self._context.storage
        with storage.transaction():
            one = self._open(proposal)
            now, packs = self._context.clock.now(), ", ".join(one.packs)[:80]
            summary = f"{one.action} {packs}" if verdict == "accepted" else f"no {one.action} {packs}"
            entry = journal.write(storage, DECIDED, now, summary, [])
            if verdict == "accepted":
                named = [reference.rpartition("@")[0] for reference in one.packs]
                self._carry_out(one, [keeping.find(self._packs, name) for name in named], entry.id)
            self._packs.decide(one, verdict, now, entry.id)
            return entry

    def _open(self, proposal: str) -> PackProposal:
        found = [one for one in self.proposals() if proposal and one.id.startswith(proposal)]
        if len(found) != 1:
            raise UsageError(
                f"There is no proposal {proposal[:20]!r}."
                if not found
                else f"{proposal[:20]!r} begins the ids of {len(found)} proposals.",
                way_out="List the proposals again: they follow the packs as they are.",
            )
        return found[0]

    def _carry_out(self, one: PackProposal, packs: Sequence[Pack], operation: int) -> None:
        storage = self._context.storage
        if one.action == "DELETE":
            self._packs.retire(packs[0].name, operation)
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
        keeping.check_name(one.name)
        held = storage.blocks.get([member.block for member in members])
        given = replace(
            packs[0],
            name=one.name,
            title=packs[0].title if one.action != "ADD" else "",
            members=tuple(members),
            keywords=tuple(dict.fromkeys(word for pack in packs for word in pack.keywords)),
            tokens=sum(self._context.count_tokens(block.content) for block in held.values()),
            created_at=self._context.clock.now(),
        )
        versions = self._packs.versions(one.name)
        made = keeping.next_version(versions, given)
        if made not in versions:
            self._packs.put(made, operation)
        if one.action == "MERGE":
            self._packs.retire(packs[1].name, operation)
