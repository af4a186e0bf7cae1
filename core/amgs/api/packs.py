"""`memory.packs`: frames that are kept under a name, versioned, read again, and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from amgs import bounds
from amgs.api.assembler import Assembler
from amgs.api.pack_consolidation import PackConsolidation
from amgs.api.pack_crediting import PackCrediting
from amgs.api.pack_families import PackFamilies
from amgs.api.pack_learning import PackLearning
from amgs.api.pack_pruning import live, pruned
from amgs.api.pack_routing import BUDGET, PackRouting
from amgs.api.pack_weighing import PackWeighing
from amgs.api.retrieval import Retrieval
from amgs.decay import hours_between
from amgs.errors import InputError, NotFoundError, UsageError
from amgs.identity import block_id
from amgs.ingest import raw_blocks
from amgs.ingest.raw_blocks import RawBlock
from amgs.log import journal
from amgs.packs import continuum, document, keeping, reading
from amgs.packs.continuum import PackWorth
from amgs.packs.keeping import usage
from amgs.packs.keywords import keywords as best_keywords
from amgs.text.plural import plural
from amgs.types import Block, JournalEntry
from amgs.types.pack_assembly import PackStage
from amgs.types.pack_sentences import PackSentences, PackSentenceWorth
from amgs.types.packs import (
    Pack,
    PackContent,
    PackCourse,
    PackDifference,
    PackForecast,
    PackHabits,
    PackKept,
    PackMember,
    PackOutlook,
    PackSet,
    PackText,
    PackUse,
)
from amgs.types.retrieval import SearchResult

KIND = "pack"
_QUARTERS = 12
_COURSE, _MARKED = 48, 200
"""Points of a pack's course before now, and after; readings that are marked in it at most."""
"""Quarters of the horizon for which a forecast says what a pack is worth where it is not read."""


class Packs(PackFamilies, PackRouting, PackLearning, PackWeighing, PackCrediting, PackConsolidation):
    """See the module. A version is never written over; `undo` takes back what `keep`, `retire` and `load` did."""

    def keep(
        self,
        name: str,
        *,
        query: str = "",
        frame: str = "SESSION",
        budget: int | None = None,
        blocks: Sequence[str] = (),
        title: str = "",
        keywords: Sequence[str] = (),
    ) -> PackKept:
        """Keep what a frame selects for a query, or the blocks that are named, as the next version of a pack.

        query: assembled without a trace; a frame takes the nearest there is, so the result says how likely the memory
        holds an answer. blocks: ids, in place of a query. keywords: those that tell its members from
        the rest of the memory unless given. Where the latest version says the same, nothing is written. Raises
        UsageError for neither or both of query and blocks, or where nothing was found.
        """
        keeping.check_name(name)
        asked: SearchResult | None = None
        if bool(query) == bool(blocks):
            raise UsageError(
                "A pack is kept from a query or from blocks, not from both."
                if query
                else "A pack is kept from a query or from blocks.",
                way_out="Give one of them.",
            )
        if query:
            made = Assembler(self._context).assemble(frame, query=query, budget=budget, reinforce=False)
            chosen = [candidate.block for candidate in made.selected]
            if not chosen:
                raise UsageError(
                    f"{frame} finds nothing for {query[:60]!r}.",
                    way_out="Consolidate what waits, ask in other words, or name blocks.",
                )
            asked = Retrieval(self._context).search(query, top_k=1)
        else:
            chosen = [self._context.block(one) for one in dict.fromkeys(blocks)]
        members = [PackMember(block.id, keeping.role_of(block)) for block in chosen]
        with self._context.derived.searching() as sources:
            told = tuple(keywords) or best_keywords([one.content for one in chosen], sources.keyword)
        with self._context.storage.transaction():
            kept = self._kept(name, title, members, chosen, told, query, frame if query else "")
        if asked is None:
            return kept
        return replace(kept, answerable=asked.answerable, unestimated=asked.unestimated, unheld=asked.unheld)

    def _kept(
        self,
        name: str,
        title: str,
        members: Sequence[PackMember],
        chosen: Sequence[Block],
        keywords: Sequence[str],
        query: str,
        frame: str,
        operation: int | None = None,
    ) -> PackKept:
        storage, now = self._context.storage, self._context.clock.now()
        versions = storage.packs.versions(name)
        own = keeping.pack_id(title, keywords, members)
        if versions and versions[-1].id == own and not versions[-1].retired:
            return PackKept(versions[-1], operation)
        pack = Pack(
            name,
            versions[-1].version + 1 if versions else 1,
            own,
            title,
            tuple(members),
            tuple(keywords),
            sum(self._context.count_tokens(one.content) for one in chosen),
            now,
            query,
            frame,
        )
        if operation is None:
            summary = f"keep {name}@{pack.version}, {plural(len(members), 'block')}"
            operation = journal.write(storage, KIND, now, summary, []).id
        storage.packs.put(pack, operation)
        return PackKept(pack, operation)

    def show(self, pack: str) -> PackContent:
        """A pack, `NAME` or `NAME@VERSION`, with its members as they are now."""
        storage = self._context.storage
        with storage.snapshot():
            found = keeping.find(storage.packs, pack)
            held = live(self._context, found.blocks)
            blocks = tuple(held[one] for one in found.blocks if one in held)
            gone = tuple(one for one in found.blocks if one not in held)
            made_of = dict.fromkeys(one for block in blocks for one in keeping.origins_of(block))
            origins = storage.blocks.get(list(made_of))
            return PackContent(
                usage(found, storage.packs.uses(found.name)),
                blocks,
                gone,
                storage.packs.versions(found.name),
                tuple(origins[one] for one in made_of if one in origins),
            )

    def diff(self, left: str, right: str = "") -> PackDifference:
        """From one version to another; the latest of the same name unless given."""
        storage = self._context.storage
        with storage.snapshot():
            a = keeping.find(storage.packs, left)
            b = keeping.find(storage.packs, right or a.name)
            held = storage.blocks.get([*a.blocks, *b.blocks])
        come = tuple(held[one] for one in b.blocks if one not in a.blocks and one in held)
        gone = tuple(held[one] for one in a.blocks if one not in b.blocks and one in held)
        return PackDifference(
            a,
            b,
            come,
            gone,
            len(set(a.blocks) & set(b.blocks)),
            tuple(one for one in b.keywords if one not in a.keywords),
            tuple(one for one in a.keywords if one not in b.keywords),
        )

    def use(
        self,
        pack: str,
        query: str = "",
        *,
        budget: int | None = None,
        prune: bool = False,
        settle: bool = False,
        session: str = "",
        log: bool = True,
    ) -> PackText:
        """A pack as a text in at most `budget` tokens (2,048 unless given); that it was read is logged.

        prune: the sentences that answer the query, in place of whole members; " … " where something is left out.
        settle: the language model decides between the sentences near the border of the budget. session: a name that
        joins what is read for one task. log: False for a look that leaves no trace. Raises UsageError for a pack that
        is retired, to prune without a query, or to settle without pruning.
        """
        if settle and not prune:
            raise UsageError("Only what is pruned has a border to settle.", way_out="Prune as well.")
        storage, now = self._context.storage, self._context.clock.now()
        allowed = BUDGET if budget is None else bounds.count("The budget", budget, least=1)
        found = keeping.find_standing(storage.packs, pack)
        held = live(self._context, found.blocks)
        if prune:
            made = pruned(self._context, found, held, query, allowed, settle=settle).reading
        else:
            made = reading.read(found, held, query, allowed, now, self._context.count_tokens)
        number = None
        if log and not storage.read_only:
            with storage.transaction():
                number = storage.packs.log(found, now, query, session, made.tokens, made.blocks)
        return PackText(
            found,
            query,
            allowed,
            made.tokens,
            made.text,
            made.spans,
            made.blocks,
            made.left_out,
            tuple(one for one in found.blocks if one not in held),
            number,
            made.shortened,
        )

    def sentences(self, query: str, *, pack: str | None = None, budget: int | None = None) -> PackSentences:
        """What each sentence is worth for a question, and which stand in a text of at most `budget` tokens (2,048
        unless given): of one pack, as `use` prunes it, or of those that `assemble` chooses. Writes nothing.
        """
        allowed = BUDGET if budget is None else bounds.count("The budget", budget, least=1)
        stages: tuple[PackStage, ...] = ()
        if pack is None:
            made, packs, _ = self._made(query, allowed)
            chosen, stages, written = [packs[one.id] for one in made.choice.chosen], made.stages, made.written
        else:
            found = keeping.find_standing(self._context.storage.packs, pack)
            held = live(self._context, found.blocks)
            chosen, written = [found], pruned(self._context, found, held, query, allowed)
        count = self._context.count_tokens
        weighed = zip(written.sentences, written.worths.tolist(), written.kept.tolist(), strict=True)
        return PackSentences(
            query,
            allowed,
            written.reading.tokens,
            tuple(f"{one.name}@{one.version}" for one in chosen),
            tuple(
                PackSentenceWorth(one.block.id, one.block.title, one.text, count(one.text), worth, kept)
                for one, worth, kept in weighed
            ),
            stages,
        )

    def judge(self, use: int, *, useful: bool) -> PackUse:
        """Note whether what was read was useful; raises NotFoundError for a use that is not logged."""
        storage = self._context.storage
        with storage.transaction():
            if not storage.packs.judge(use, 1.0 if useful else 0.0):
                raise NotFoundError(f"No use {use} is logged.", way_out="`use` tells its number.")
            return next(one for one in storage.packs.uses() if one.number == use)

    def uses(self, pack: str | None = None, limit: int = 50) -> tuple[PackUse, ...]:
        """What was read, the newest first; of one pack when it is named."""
        storage = self._context.storage
        name = None if pack is None else keeping.find(storage.packs, pack).name
        return storage.packs.uses(name, bounds.count("A limit", limit))

    def forecast(self, *, days: int = 30, keep: int | None = None) -> PackForecast:
        """How likely each pack is read within so many days, by when it was read; and, where `keep` tokens are given,
        which packs to retire so that the others take no more. A plan: nothing is written.
        """
        storage, now = self._context.storage, self._context.clock.now()
        horizon = float(bounds.count("The days", days, least=1))
        most = bounds.count("What is kept", keep)
        with storage.snapshot():
            every = self.list()
            born = {one.pack.name: storage.packs.versions(one.pack.name)[0].created_at for one in every}
        worths, ahead_of = [], {}
        for one in every:
            age = max(hours_between(born[one.pack.name], now), 0.0) / 24.0
            last = 0.0
            if one.last_used is not None:
                last = min(max(hours_between(born[one.pack.name], one.last_used), 0.0) / 24.0, age)
            ahead = tuple(
                continuum.needed(one.uses, last, age + step * horizon / 4, horizon)
                for step in range(_QUARTERS + 1)
            )
            ahead_of[one.pack.name] = ahead
            worths.append(PackWorth(one.pack.name, one.pack.tokens, ahead[0]))
        gone = {one.name for one in continuum.to_forget(worths, most)} if most is not None else set()
        told = []
        for one in every:
            ahead = ahead_of[one.pack.name]
            told.append(PackOutlook(one, ahead[0], one.pack.name in gone, ahead))
        return PackForecast(
            horizon,
            sum(one.tokens for one in worths),
            most,
            tuple(sorted(told, key=lambda one: (-one.needed, one.usage.pack.name))),
        )

    def course(self, pack: str, *, days: int = 30) -> PackCourse:
        """How likely a pack was read within so many days, since it was kept, and from now on if it is not read."""
        storage, now = self._context.storage, self._context.clock.now()
        horizon = float(bounds.count("The days", days, least=1))
        with storage.snapshot():
            name = keeping.find(storage.packs, pack).name
            born = min(storage.packs.versions(name)[0].created_at, now)
            read = [min(max(one.at, born), now) for one in reversed(storage.packs.uses(name))]
        past = [born + (now - born) * step / _COURSE for step in range(_COURSE)]
        ahead = [now + timedelta(days=horizon) * step / _COURSE for step in range(1, _COURSE + 1)]
        at = sorted({*past, *read[-_MARKED:], now, *ahead})
        needed = continuum.course(
            [hours_between(born, one) / 24.0 for one in read],
            [hours_between(born, one) / 24.0 for one in at],
            horizon,
        )
        return PackCourse(name, horizon, now, tuple(at), needed, tuple(read[-_MARKED:]))

    def forget(self, *, keep: int, days: int = 30) -> PackForecast:
        """Retire what `forecast` says, as one change that can be undone."""
        storage = self._context.storage
        with storage.transaction():
            plan = self.forecast(days=days, keep=keep)
            if not plan.forgotten:
                return plan
            names = [one.usage.pack.name for one in plan.forgotten]
            told = f"retire {plural(len(names), 'pack')}, {', '.join(names)[:80]}"
            entry = journal.write(storage, KIND, self._context.clock.now(), told, [])
            for name in names:
                storage.packs.retire(name, entry.id)
            return replace(plan, operation=entry.id)

    def habits(self) -> PackHabits:
        """What is read after what, and what is read together, in sessions that have a name."""
        sessions: dict[str, list[str]] = {}
        for one in reversed(self._context.storage.packs.uses()):
            if one.session:
                sessions.setdefault(one.session, []).append(one.name)
        read = list(sessions.values())
        names = sorted({name for one in read for name in one})
        return PackHabits(
            len(read),
            continuum.transitions(read, names),
            tuple(PackSet(one.names, one.count, one.lift) for one in continuum.together(read)),
        )

    def retire(self, name: str) -> JournalEntry:
        """Retire a pack: it is no longer listed or used; its versions and its log stay. Raises UsageError where it is
        retired already.
        """
        storage = self._context.storage
        with storage.transaction():
            found = keeping.find(storage.packs, name)
            if found.retired:
                raise UsageError(f"{found.name!r} is retired already.", way_out="Nothing was changed.")
            entry = journal.write(storage, KIND, self._context.clock.now(), f"retire {found.name}", [])
            storage.packs.retire(found.name, entry.id)
            return entry

    def document(self, pack: str) -> dict[str, Any]:
        """A pack as JSON knows it, with the texts of its members; `load` takes it into another memory."""
        storage = self._context.storage
        with storage.snapshot():
            found = keeping.find(storage.packs, pack)
            return document.written(found, storage.blocks.get(list(found.blocks)))

    def load(self, data: object, *, name: str = "") -> PackKept:
        """Take in a pack that another memory exported: its members as raw blocks, and the next version of its name.

        name: another name. Raises InputError for what is no pack; nothing is changed then.
        """
        given = document.read(data)
        storage, now = self._context.storage, self._context.clock.now()
        wanted = name or given.name
        keeping.check_name(wanted)
        drafts = []
        for number, one in enumerate(given.members, 1):
            try:
                at = datetime.fromisoformat(one.created_at)
                drafts.append(raw_blocks.fit(RawBlock(one.content, at, one.meta)))
            except ValueError as error:
                raise InputError(
                    f"Member {number} cannot be taken in: {error}.", way_out="Nothing was changed."
                ) from error
        members = [
            PackMember(block_id(draft.content), one.role)
            for draft, one in zip(drafts, given.members, strict=True)
        ]
        with storage.transaction():
            report = raw_blocks.ingest(storage, drafts, now, told=f"pack {wanted}")
            held = storage.blocks.get([one.block for one in members])
            return self._kept(
                wanted,
                given.title,
                members,
                [held[one.block] for one in members],
                given.keywords,
                given.query,
                given.frame,
                report.operation,
            )
