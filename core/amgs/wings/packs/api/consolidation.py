"""Learnings: what the sources of packs say in a part of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from amgs.errors import UsageError
from amgs.lifecycle.change import Change, carry_out
from amgs.types import Block
from amgs.wings.packs.api.part import PackPart
from amgs.wings.packs.engine import consolidation, keeping
from amgs.wings.packs.engine.consolidation import Consolidation
from amgs.wings.packs.engine.keeping import MOST as MOST_KEYWORDS
from amgs.wings.packs.engine.learnings import SHARE
from amgs.wings.packs.values import Learning, Pack, PackLearned, PackMember

KIND = "pack"


class PackConsolidation(PackPart):
    """The part of `memory.packs` that learns. A learning stands beside its sources and never in their place."""

    def learn(
        self, pack: str, *, others: Sequence[str] = (), share: float = SHARE, dry_run: bool = False
    ) -> PackLearned:
        """Make learnings of the sources of a pack that are in none yet, and keep the next version, with both.

        Sources that speak of one thing, eight at most, give one learning: the sentence that weighs most, what was
        decided, further sentences, and names, dates, numbers, paths, commands and ids that these do not tell. All of it
        is cited word for word, and the sources stay members. Nothing is learned from learnings, and none is ever
        rewritten: where nothing is new, nothing happens. Raw sources wait.

        others: packs whose sources, and learnings, it takes over. share: of the sources' tokens, for sentences; further
        findings take as many at most. dry_run: the plan; nothing is written. Raises UsageError for a pack that is
        retired.
        """
        if not 0.0 < share <= 1.0:
            raise UsageError(f"{share:g} is no share.", way_out="Give a number above 0, at most 1.")
        storage, context = self._context.storage, self._context
        references = tuple(dict.fromkeys(one.partition("@")[0] for one in (pack, *others)))
        with storage.snapshot():
            packs = [keeping.find_standing(self._packs, one) for one in references]
            ids = dict.fromkeys(i for one in packs for i in one.blocks)
            held = storage.blocks.get(list(ids), embeddings=True)
            members = [held[i] for i in ids if i in held and held[i].status in consolidation.LIVE]
            now = context.clock.now()
            plan = consolidation.consolidate(storage, members, share, context.count_tokens, context.embedder, now)
        made = self._version(packs, members, plan, now)
        found = PackLearned(
            made,
            tuple(self._learning(block, own) for block, own in plan.made),
            len(plan.stood),
            tuple(one.id for one in plan.stale),
            plan.waiting,
            dry_run,
        )
        if dry_run or (made == packs[0] and plan.change == Change()):
            return found
        with storage.transaction():
            if [keeping.find(self._packs, one) for one in references] != packs:
                raise UsageError("The packs have changed meanwhile.", way_out="Learn again.")
            new = f"{len(plan.made)} learning{'' if len(plan.made) == 1 else 's'}"
            told = f"learn {made.name}@{made.version}, {new} of {len(members)} blocks"
            operation = carry_out(storage, KIND, plan.change, told, now).id
            if made != packs[0]:
                self._packs.put(made, operation)
        return replace(found, operation=operation)

    def _version(self, packs: Sequence[Pack], members: Sequence[Block], plan: Consolidation, now: datetime) -> Pack:
        """The next version of the first pack: learnings, then all else; the pack as it is where that says the same."""
        first = packs[0]
        learned = [*plan.stood, *(block for block, _ in plan.made)]
        rest = [one for one in members if not consolidation.is_learning(one)]
        keywords = tuple(dict.fromkeys(word for one in packs for word in one.keywords))[:MOST_KEYWORDS]
        blocks = [PackMember(one.id, keeping.role_of(one)) for one in (*learned, *rest)]
        tokens = sum(self._context.count_tokens(one.content) for one in (*learned, *rest))
        given = replace(first, members=tuple(blocks), keywords=keywords, tokens=tokens, created_at=now)
        return keeping.next_version([first], given)

    def _learning(self, block: Block, members: Sequence[Block]) -> Learning:
        count = self._context.count_tokens
        return Learning(
            replace(block, embedding=None),
            tuple(one.id for one in members),
            count(block.content),
            sum(count(one.content) for one in members),
        )
