"""Packs for a question: which of them it is given, and the text that is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.errors import UsageError
from amgs.text.loading import load
from amgs.types import Block
from amgs.wings.packs.api.part import PackPart
from amgs.wings.packs.engine import continuum, intents, keeping, pipeline, pruning, reading, routing
from amgs.wings.packs.engine.continuum import PackWorth
from amgs.wings.packs.engine.pipeline import Members
from amgs.wings.packs.engine.routing import Facets, RoutedItem, facets
from amgs.wings.packs.engine.sentence_relevance import ROUTED_WEIGHTS, SearchRelevance
from amgs.wings.packs.values import Pack, PackAssembly, PackRole, PackRoute, PackUsage, PackUse, RoutedPack

BUDGET = 2_048
"""Tokens of a reading unless given."""
LIVE = ("raw", "consolidated")


def live(context: MemoryContext, ids: Sequence[str]) -> dict[str, Block]:
    """The blocks that the memory still holds and uses, by id."""
    held = context.storage.blocks.get(list(ids))
    return {one: block for one, block in held.items() if block.status in LIVE}


def pruned(
    context: MemoryContext, pack: Pack, held: Mapping[str, Block], query: str, budget: int
) -> reading.PackReading:
    """The sentences of the members that are held that answer a query; raises UsageError for one without words."""
    if not any(c.isalnum() for c in query):
        raise UsageError("Nothing is asked.", way_out="Give a query, or read without pruning.")
    load(context.embedder, "the encoder")
    with context.derived.searching() as sources:
        numbers = context.storage.blocks.numbers_of(sorted(held))
        relevance = SearchRelevance(sources, numbers)
        title, members = pack.title or pack.name, reading.in_order(pack, held)
        now = context.clock.now()
        return pruning.prune(title, members, query, budget, now, context.count_tokens, relevance).reading


class PackRouting(PackPart):
    """See the module. `route` writes nothing; `assemble` what a reading writes."""

    def list(self, *, retired: bool = False, keep: int | None = None) -> tuple[PackUsage, ...]:
        """The latest version of each pack, by name, with what its log says and how likely it is read within 30 days.

        retired: those that are retired, too. keep: mark those to do without so that the others take at most so many
        tokens, the least needed first. Writes nothing.
        """
        most = bounds.count("What is kept", keep)
        storage, now = self._context.storage, self._context.clock.now()
        with storage.snapshot():
            read: dict[str, list[PackUse]] = {}
            for use in self._packs.uses():
                read.setdefault(use.name, []).append(use)
            every = [
                keeping.usage(one, read.get(one.name, ()), self._packs.versions(one.name)[0].created_at, now)
                for one in self._packs.latest()
                if retired or not one.retired
            ]
        if most is None:
            return tuple(every)
        worths = [PackWorth(one.pack.name, one.pack.tokens, one.needed) for one in every if not one.pack.retired]
        gone = {one.name for one in continuum.to_forget(worths, most)}
        return tuple(replace(one, forget=one.pack.name in gone) for one in every)

    def route(self, query: str, *, budget: int | None = None, role: PackRole | None = None) -> PackRoute:
        """The packs that a question should be given, whole, within `budget` tokens (2,048 unless given).

        Writes nothing. role: only the members of this role are read. Raises UsageError for a question without words.
        """
        allowed = BUDGET if budget is None else bounds.count("The budget", budget, least=1)
        found, packs, _ = self._facets(query, role=role)
        made = routing.route(found.items, found.shares, allowed)
        return PackRoute(
            query,
            allowed,
            made.tokens,
            tuple(_told(one, packs) for one in made.chosen),
            tuple((word, any(word in found.said[one.id] for one in made.chosen)) for word in found.words),
            sum(share * there for share, there in zip(found.shares, made.covered, strict=True)),
            tuple(_told(one, packs) for one in made.left_out),
            tuple(sorted(intents.packaged().of(query).items(), key=lambda one: -one[1])),
        )

    def assemble(
        self,
        query: str,
        *,
        budget: int | None = None,
        role: PackRole | None = None,
        session: str = "",
        log: bool = True,
    ) -> PackAssembly:
        """All packs as one text for a question, in at most `budget` tokens (2,048 unless given).

        Packs are chosen within four times as many, and the sentences of their members written that answer it. What
        stands in several packs is read once. The ledger says what each stage left out, and why.

        What was read of each pack is logged. role: only the members of this role are read. session: a name that joins
        what is read for one task. log: False for a look that leaves no trace. Raises UsageError for a question without
        words.
        """
        storage, now = self._context.storage, self._context.clock.now()
        allowed = BUDGET if budget is None else bounds.count("The budget", budget, least=1)
        made, packs, members = self._made(query, allowed, role)
        reading = made.written.reading
        uses: list[int] = []
        if log and not storage.read_only:
            standing = dict.fromkeys(reading.blocks, 0)
            for span in reading.spans:
                if span.block_id is not None:
                    standing[span.block_id] += span.tokens
            with storage.log():
                for one in made.choice.chosen:
                    own = [block.id for _, block in members[one.id] if block.id in standing]
                    if own:
                        tokens = sum(standing.pop(each) for each in own)
                        uses.append(self._packs.log(packs[one.id], now, query, session, tokens, own))
        return PackAssembly(
            query,
            allowed,
            reading.tokens,
            reading.text,
            reading.spans,
            tuple(_told(one, packs) for one in made.choice.chosen),
            reading.blocks,
            reading.shortened,
            made.stages,
            tuple(uses),
        )

    def _made(
        self, query: str, budget: int, role: PackRole | None = None
    ) -> tuple[pipeline.PipelineResult, dict[str, Pack], dict[str, Members]]:
        """The text of packs for a question; the packs by name, and what is read of each."""
        context = self._context
        found, packs, members = self._facets(query, role=role)
        read = {block.id for each in members.values() for _, block in each}
        numbers = context.storage.blocks.numbers_of(sorted(read))
        now, count = context.clock.now(), context.count_tokens
        with context.derived.searching() as sources:
            relevance = SearchRelevance(sources, numbers, ROUTED_WEIGHTS)
            made = pipeline.make(query, found.items, found.shares, members, budget, now, count, relevance)
        return made, packs, members

    def _facets(
        self, query: str, *, role: PackRole | None = None
    ) -> tuple[Facets, dict[str, Pack], dict[str, Members]]:
        """What a question asks for and how far each pack answers it; the packs by name, and what is read of each."""
        if not any(one.isalnum() for one in query):
            raise UsageError("Packs are routed for a question.", way_out="Ask in words.")
        context = self._context
        load(context.embedder, "the encoder")
        with context.storage.snapshot():
            every = self.list()
            held = live(context, [i for one in every for i in one.pack.blocks])
            number_of = context.storage.blocks.numbers_of(list(held))
        members: dict[str, Members] = {
            one.pack.name: [
                (each.role, held[each.block])
                for each in one.pack.members
                if each.block in number_of and role in (None, each.role)
            ]
            for one in every
        }
        numbers = {name: [number_of[block.id] for _, block in own] for name, own in members.items()}
        tokens = {name: sum(context.count_tokens(block.content) for _, block in own) for name, own in members.items()}
        with context.derived.searching() as sources:
            found = facets(query, numbers, tokens, sources)
        return found, {one.pack.name: one.pack for one in every}, members


def _told(one: RoutedItem, packs: Mapping[str, Pack]) -> RoutedPack:
    return RoutedPack(packs[one.id], one.tokens, one.gain)
