"""`memory.packs`: frames that are kept under a name, versioned, read again, and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from amgs import bounds
from amgs.api.assembler import Assembler
from amgs.api.retrieval import Retrieval
from amgs.errors import InputError, NotFoundError, UsageError
from amgs.graph.view import GraphView
from amgs.identity import block_id
from amgs.ingest import raw_blocks
from amgs.ingest.raw_blocks import RawBlock
from amgs.log import journal
from amgs.text.plural import plural
from amgs.types import Block, JournalEntry
from amgs.types.retrieval import SearchResult
from amgs.wings.packs.api.consolidation import PackConsolidation
from amgs.wings.packs.api.proposals import PackProposing
from amgs.wings.packs.api.routing import BUDGET, PackRouting, live, pruned
from amgs.wings.packs.engine import document, families, keeping, outcome_weights, reading
from amgs.wings.packs.engine.keeping import keywords as best_keywords
from amgs.wings.packs.values import (
    Pack,
    PackContent,
    PackDifference,
    PackKept,
    PackLink,
    PackMember,
    PackText,
    PackUse,
    PackWeights,
)

KIND = "pack"
_READINGS = 50
"""Readings of a pack that are shown at most."""


class Packs(PackRouting, PackProposing, PackConsolidation):
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
        versions = self._packs.versions(name)
        tokens = sum(self._context.count_tokens(one.content) for one in chosen)
        given = Pack(name, 0, "", title, tuple(members), tuple(keywords), tokens, now, query, frame)
        pack = keeping.next_version(versions, given)
        if pack in versions:
            return PackKept(pack, operation)
        if operation is None:
            summary = f"keep {name}@{pack.version}, {plural(len(members), 'block')}"
            operation = journal.write(storage, KIND, now, summary, []).id
        self._packs.put(pack, operation)
        return PackKept(pack, operation)

    def show(self, pack: str) -> PackContent:
        """A pack, `NAME` or `NAME@VERSION`, with its members as they are now, its readings, and what links it to other
        packs.
        """
        now = self._context.clock.now()
        with self._context.derived.reading() as state:
            found = keeping.find(self._packs, pack)
            held = live(self._context, found.blocks)
            blocks = tuple(held[one] for one in found.blocks if one in held)
            gone = tuple(one for one in found.blocks if one not in held)
            versions, uses = self._packs.versions(found.name), self._packs.uses(found.name)
            return PackContent(
                keeping.usage(found, uses, versions[0].created_at, now),
                blocks,
                gone,
                versions,
                uses[:_READINGS],
                self._links(found, state.graph.view()),
            )

    def _links(self, pack: Pack, view: GraphView) -> tuple[PackLink, ...]:
        blocks, packs = self._context.storage.blocks, self._packs
        every = {one.name: one for one in packs.latest() if not one.retired} | {pack.name: pack}
        number_of = blocks.numbers_of(sorted({block for one in every.values() for block in one.blocks}))
        members = {name: [number_of[i] for i in one.blocks if i in number_of] for name, one in every.items()}
        return families.links(pack.name, members, view)

    def diff(self, left: str, right: str = "") -> PackDifference:
        """From one version to another; the latest of the same name unless given."""
        storage = self._context.storage
        with storage.snapshot():
            a = keeping.find(self._packs, left)
            b = keeping.find(self._packs, right or a.name)
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
        session: str = "",
        log: bool = True,
    ) -> PackText:
        """A pack as a text in at most `budget` tokens (2,048 unless given); that it was read is logged.

        prune: the sentences that answer the query, in place of whole members; " … " where something is left out.
        session: a name that joins what is read for one task. log: False for a look that leaves no trace. Raises
        UsageError for a pack that is retired, or to prune without a query.
        """
        storage, now = self._context.storage, self._context.clock.now()
        allowed = BUDGET if budget is None else bounds.count("The budget", budget, least=1)
        found = keeping.find_standing(self._packs, pack)
        held = live(self._context, found.blocks)
        if prune:
            made = pruned(self._context, found, held, query, allowed)
        else:
            made = reading.read(found, held, query, allowed, now, self._context.count_tokens)
        number = None
        if log and not storage.read_only:
            with storage.log():
                number = self._packs.log(found, now, query, session, made.tokens, made.blocks)
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

    def judge(self, use: int, *, useful: bool) -> PackUse:
        """Note whether what was read was useful; raises NotFoundError for a use that is not logged."""
        storage = self._context.storage
        with storage.transaction():
            if not self._packs.judge(use, 1.0 if useful else 0.0):
                raise NotFoundError(
                    f"No use {use} is logged.", way_out="Reading a pack tells its number; so does the pack itself."
                )
            return next(one for one in self._packs.uses() if one.number == use)

    def weights(self) -> PackWeights:
        """What judged readings taught of each pack. Explains only: nothing that chooses packs asks it. Where all packs
        of a session got one verdict, it is not counted for any of them.
        """
        return outcome_weights.weights(self._packs.uses())

    def retire(self, *names: str) -> JournalEntry:
        """Retire packs, as one change: they are no longer listed or used; their versions and their log stay. Raises
        UsageError for no name, or where one is retired already.
        """
        storage = self._context.storage
        with storage.transaction():
            found = [keeping.find(self._packs, name).name for name in dict.fromkeys(names)]
            if not found:
                raise UsageError("No pack is named.", way_out="Name the packs to retire.")
            for name in found:
                keeping.find_standing(self._packs, name)
            entry = journal.write(storage, KIND, self._context.clock.now(), f"retire {', '.join(found)[:80]}", [])
            for name in found:
                self._packs.retire(name, entry.id)
            return entry

    def document(self, pack: str) -> dict[str, Any]:
        """A pack as JSON knows it, with the texts of its members; `load` takes it into another memory."""
        storage = self._context.storage
        with storage.snapshot():
            found = keeping.find(self._packs, pack)
            return document.written(found, storage.blocks.get(list(found.blocks)))

    def load(self, data: object, *, name: str = "") -> PackKept:
        """Take in a pack that another memory exported: its members as raw blocks, and the next version of its name.

        name: another name. Raises InputError for what is no pack; nothing is changed then.
        """
        given = self._context.settings.ingest.mask(document.read(data))
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
            PackMember(block_id(draft.content), one.role) for draft, one in zip(drafts, given.members, strict=True)
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
