"""`memory.packs`: named, versioned sets of blocks that are read again for a question, and judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from amgs import bounds
from amgs.api.assembler import Assembler
from amgs.api.context import Retrieval
from amgs.decay import relevance_at
from amgs.errors import NotFoundError, UsageError
from amgs.log import journal
from amgs.text.embedding import load
from amgs.text.words import plural
from amgs.types import Block, JournalEntry
from amgs.types.retrieval import SearchResult
from amgs.wings.packs import choice, continuum, pipeline, proposals, store, values
from amgs.wings.packs.choice import Attention, Floats, Members, PackSentence, PackTask, session_chains
from amgs.wings.packs.continuum import train_weights
from amgs.wings.packs.proposals import PackView
from amgs.wings.packs.store import PackStorage

if TYPE_CHECKING:
    from amgs.api.context import MemoryContext
    from amgs.retrieval.sources import Sources

KIND, DECIDED, JUDGED = "pack", "pack verdict", "pack outcome"
BUDGET = 2_048
"""Default tokens of a reading."""
DEFAULT_LAYERS: tuple[values.PackLayer, ...] = ()
"""No layer was shown to improve on the search's evidence alone (docs/results/packs.md)."""
LIVE = ("raw", "consolidated")
_READINGS = 50
"""Most readings of a pack that `show` returns."""
_SUCCESSORS, _LONGEST = ("superseded_by", "merged_into"), 32


class Packs:
    """`memory.packs`: named, versioned sets of blocks. A version never changes, and a reading changes no pack; `undo`
    reverts everything else.
    """

    def __init__(self, context: MemoryContext) -> None:
        self._context = context
        self._packs = PackStorage(context.storage)

    def keep(
        self,
        name: str,
        *,
        query: str = "",
        frame: str = "SESSION",
        budget: int | None = None,
        blocks: Sequence[str] = (),
        title: str = "",
    ) -> values.PackKept:
        """Keep what a frame selects for a query, or the blocks that are named, as the next version of a pack, where
        that says anything new. A query is assembled without a trace, and the result says how likely it is answered.
        Raises UsageError for neither or both of query and blocks, or where nothing was found.
        """
        store.check_name(name)
        asked: SearchResult | None = None
        if bool(query) == bool(blocks):
            both = ", not from both" if query else ""
            raise UsageError(f"A pack is saved from a query or from blocks{both}.", way_out="Give only one.")
        if query:
            assembly = Assembler(self._context).assemble(frame, query=query, budget=budget, reinforce=False)
            chosen = [candidate.block for candidate in assembly.selected]
            if not chosen:
                way_out = "Consolidate what waits, ask in other words, or name blocks."
                raise UsageError(f"{frame} finds nothing for {query[:60]!r}.", way_out=way_out)
            asked = Retrieval(self._context).search(query, top_k=1)
        else:
            chosen = [self._context.block(block) for block in dict.fromkeys(blocks)]
        members = tuple(values.PackMember(block.id, store.role_of(block)) for block in chosen)
        with self._context.derived.searching() as sources:
            words = store.keywords([block.content for block in chosen], sources.keyword)
        pack = values.Pack(
            name, 0, "", title, members, words, 0, self._context.clock.now(), query, frame if query else ""
        )
        with self._context.storage.transaction():
            result = self._put(pack, chosen)
        if asked is None:
            return result
        return replace(result, answerable=asked.answerable, unestimated=asked.unestimated, unheld=asked.unheld)

    def _put(self, pack: values.Pack, blocks: Iterable[Block], operation: int | None = None) -> values.PackKept:
        """Write a pack as the next version of its name, unless the latest is equal. blocks: its members."""
        now, versions = self._context.clock.now(), self._packs.versions(pack.name)
        tokens = sum(self._context.count_tokens(block.content) for block in blocks)
        version = store.next_version(versions, replace(pack, tokens=tokens, created_at=now, retired=False))
        if version in versions:
            return values.PackKept(version, operation)
        if operation is None:
            summary = f"keep {version.name}@{version.version}, {plural(len(version.members), 'block')}"
            operation = journal.write(self._context.storage, KIND, now, summary, []).id
        self._packs.put(version, operation)
        return values.PackKept(version, operation)

    def list(self, *, retired: bool = False, keep: int | None = None) -> tuple[values.PackUsage, ...]:
        """Return the latest version of each pack, by name, with what its log says and how likely it is read within 30
        days. keep: mark those to do without so that the others take at most so many tokens, the least needed first.
        """
        most = bounds.count("What stays", keep)
        with self._context.storage.snapshot():
            every = self._usages(self._packs.uses(), retired=retired)
        in_use = [usage for usage in every if not usage.pack.retired]
        gone = () if most is None else continuum.forget_packs(in_use, most)
        return tuple(replace(usage, forget=usage.pack.name in gone) for usage in every)

    def _usages(self, uses: Sequence[values.PackUse], *, retired: bool = False) -> tuple[values.PackUsage, ...]:
        """Return the packs with what their logs say. uses: the log, newest first."""
        read: dict[str, list[values.PackUse]] = defaultdict(list)
        for use in uses:
            read[use.name].append(use)
        weights, now = train_weights(uses), self._context.clock.now()
        return tuple(
            store.usage(pack, read[pack.name], self._packs.born(pack.name), now, weights.get(pack.name, 0.5))
            for pack in self._packs.latest()
            if retired or not pack.retired
        )

    def show(self, pack: str) -> values.PackContent:
        """Return a pack, `NAME` or `NAME@VERSION`, with its members as they are now, its readings, and what ties it to
        other packs.
        """
        with self._context.storage.snapshot():
            version = store.find(self._packs, pack)
            uses = self._packs.uses()
            usages = {usage.pack.name: usage for usage in self._usages(uses, retired=True)}
            packs = {n: usage.pack for n, usage in usages.items() if not usage.pack.retired} | {version.name: version}
            members = self._members(packs)
            versions = self._packs.versions(version.name)
        blocks = tuple(replace(block, embedding=None) for _, block in members[version.name])
        ids = {block.id for block in blocks}
        beside = {name: n for (first, name), n in continuum.associations(uses).items() if first == version.name}
        return values.PackContent(
            replace(usages[version.name], pack=version),
            blocks,
            tuple(block for block in version.blocks if block not in ids),
            versions,
            tuple(use for use in uses if use.name == version.name)[:_READINGS],
            choice.links_of(version.name, choice.build_graphs(packs, members, uses)),
            tuple(sorted(beside, key=lambda name: (-beside[name], name))),
        )

    def _members(self, packs: Mapping[str, values.Pack]) -> dict[str, Members]:
        """Return the members of each pack that are still held and used, with vectors."""
        ids = {block for pack in packs.values() for block in pack.blocks}
        blocks = self._context.storage.blocks.get(ids, embeddings=True)
        live = {block: stored_block for block, stored_block in blocks.items() if stored_block.status in LIVE}
        return {
            name: [(m.role, live[m.block]) for m in pack.members if m.block in live] for name, pack in packs.items()
        }

    def assemble(
        self,
        query: str = "",
        *,
        pack: str = "",
        budget: int | None = None,
        layers: Sequence[values.PackLayer] = DEFAULT_LAYERS,
        session: str = "",
        attention: Attention | None = None,
        log: bool = True,
    ) -> values.PackAssembly:
        """Return the packs as a single text for a question, in at most `budget` tokens (2,048 by default).

        pack: read this pack alone, which needs no question. attention: of a language model; without it that layer
        passes everything. session: joins what is read for a task. What was read of each pack is logged, unless log is
        False. Raises UsageError for no question, or a pack that is retired.
        """
        storage = self._context.storage
        allowed = BUDGET if budget is None else bounds.count("The budget", budget, least=1)
        if not pack and not any(c.isalnum() for c in query):
            raise UsageError("Packs are chosen for a question.", way_out="Ask in words, or name a pack.")
        wanted = tuple(layer for layer in values.LAYERS if layer in layers)
        load(self._context.embedder, "the encoder")
        with self._context.derived.searching() as sources:
            task = self._task(query, allowed, session, sources, pack)
            task.attention = attention
            title = next(usage.pack.title or usage.pack.name for usage in task.usages.values()) if pack else "Packs"
            written, stages = pipeline.run_pipeline(task, wanted, title)
        uses: list[int] = []
        if log and not storage.read_only:
            tokens_in_text = dict.fromkeys(written.blocks, 0)
            for span in written.spans:
                if span.block_id is not None:
                    tokens_in_text[span.block_id] += span.tokens
            with storage.log():
                for name in task.chosen:
                    own = [block.id for _, block in task.members[name] if block.id in tokens_in_text]
                    if own:
                        tokens = sum(tokens_in_text.pop(block) for block in own)
                        uses.append(self._packs.log(task.usages[name].pack, task.now, query, session, tokens, own))
        out = sorted(task.usages.keys() - set(task.chosen), key=lambda name: (-task.worth[name], name))
        packs = []
        for name in (*task.chosen, *out):
            because = task.because.get(name, "no agent votes for it")
            pack_read = task.usages[name].pack
            packs.append(
                values.RoutedPack(pack_read, task.tokens(name), task.worth[name], name in task.chosen, because)
            )
        text, spans, tokens, _, blocks, shortened = written
        return values.PackAssembly(
            query,
            allowed,
            tokens,
            text,
            spans,
            tuple(packs),
            blocks,
            shortened,
            stages,
            layers=wanted,
            rationale=tuple(task.rationale.items()),
            uses=tuple(uses),
        )

    def _task(self, query: str, budget: int, session: str, sources: Sources, pack: str = "") -> PackTask:
        """Return the question with what is known of packs. pack: restrict it to this pack."""
        context = self._context
        with context.storage.snapshot():
            uses = self._packs.uses()
            usages = {usage.pack.name: usage for usage in self._usages(uses)}
            if pack:
                version = store.find(self._packs, pack, in_use=True)
                usages = {version.name: replace(usages[version.name], pack=version)}
            members = self._members({name: usage.pack for name, usage in usages.items()})
            numbers = context.storage.blocks.numbers_of(sorted({b.id for own in members.values() for _, b in own}))
            votes = self._packs.votes()
        evidence = pipeline.evidence_of(query, numbers, sources)
        likely = pipeline.likely_of(evidence)

        def stems(text: str) -> frozenset[str]:
            return frozenset(pipeline.stems_of(text, sources.keyword))

        def rate(asked: str, some: Sequence[PackSentence]) -> Floats:
            return pipeline.worth_of_sentences(asked, some, evidence, sources.keyword)

        task = PackTask(
            query,
            budget,
            session,
            context.clock.now(),
            usages,
            members,
            likely,
            uses,
            accuracy=choice.accuracies(votes),
            count_tokens=context.count_tokens,
            embedder=context.embedder,
            stems=stems,
            proposals=self.proposals,
            blocks=context.storage.blocks.get,
            relevance=rate,
        )
        worth = {name: sum(likely.get(b.id, 0.0) for _, b in own) for name, own in members.items()}
        task.worth = dict.fromkeys(members, 1.0) if pack else worth
        return task

    def outcome(self, *uses: int, session: str = "", score: float = 1.0) -> values.PackOutcome:
        """Note what came of readings, by their numbers or by their session, from 0 useless to 1 useful, as a single
        change that teaches all that learns from outcomes. Raises NotFoundError for a reading that is not logged.
        """
        if not 0.0 <= score <= 1.0:
            raise UsageError(f"{score:g} is no outcome.", way_out="Give a number from 0, useless, to 1, useful.")
        storage, now = self._context.storage, self._context.clock.now()
        known = self._packs.uses()
        judged = [use for use in known if use.number in uses or (session and use.session == session)]
        missing = sorted(set(uses) - {use.number for use in judged})
        if missing or not judged:
            what = f"reading {missing[0]}" if missing else f"reading of {session!r}" if session else "such reading"
            raise NotFoundError(f"No {what} is logged.", way_out="A pack names its readings.")
        votes = self._votes(judged)
        before = train_weights(known)
        with storage.transaction():
            names = sorted({use.name for use in judged})
            entry = journal.write(storage, JUDGED, now, f"outcome {score:g} of {', '.join(names)[:80]}", [])
            for use in judged:
                self._packs.judge(use.number, score, votes.get(use.number, {}), entry.id)
            after = train_weights(self._packs.uses())
        taught = tuple((name, before.get(name, 0.5), after.get(name, 0.5)) for name in names)
        return values.PackOutcome(tuple(replace(use, outcome=score) for use in reversed(judged)), entry.id, taught)

    def _votes(self, uses: Sequence[values.PackUse]) -> dict[int, dict[str, float]]:
        """Return each agent's votes for what was read, by number of the reading."""
        votes: dict[int, dict[str, float]] = {}
        picks: dict[str, Mapping[str, Sequence[str]]] = {}
        for use in uses:
            if not any(c.isalnum() for c in use.query):
                continue
            if use.query not in picks:
                load(self._context.embedder, "the encoder")
                with self._context.derived.searching() as sources:
                    picks[use.query] = choice.pick_packs(self._task(use.query, BUDGET, use.session, sources))
            voting = {agent: own for agent, own in picks[use.query].items() if use.name in own}
            votes[use.number] = {agent: 1.0 / (own.index(use.name) + 1) for agent, own in voting.items()}
        return votes

    def proposals(self) -> tuple[values.PackProposal, ...]:
        """Return what could be done with packs, what is worth most first, without what was decided of the same
        versions. Changes nothing.
        """
        with self._context.storage.snapshot():
            decided, uses = self._packs.read_decisions(), self._packs.uses()
            views = self._views(uses)
        known = {(decision.action, decision.packs) for decision in decided}
        sessions = [{use.name for use in chain} for chain in session_chains(uses)]
        every = proposals.candidates(views, continuum.find_combinations(sessions))
        undecided = [proposal for proposal in every if (proposal.action, proposal.packs) not in known]
        return proposals.propose(undecided, proposals.learn_policy(uses, decided, views))

    def _views(self, uses: Sequence[values.PackUse]) -> Sequence[PackView]:
        """Return the packs as the rules for proposals see them."""
        usages, now = self._usages(uses), self._context.clock.now()
        blocks = self._context.storage.blocks.get({block for usage in usages for block in usage.pack.blocks})
        threshold = self._context.settings.decay.threshold
        heirs = {block: heir for block, member in blocks.items() if (heir := self._heir(member)) is not None}
        views = []
        for usage in usages:
            own = {block: blocks[block] for block in usage.pack.blocks if block in blocks}
            faded = [relevance_at(b.decay_lambda, b.last_reinforced_at, now) < threshold for b in own.values()]
            live = {block: member for block, member in own.items() if member.status in LIVE}
            taken = {block: heirs[block] for block in own if block in heirs}
            views.append(PackView(usage, live, taken, sum(faded) / max(len(faded), 1)))
        return views

    def _heir(self, block: Block) -> Block | None:
        """Return the live block that replaced this block, directly or indirectly; None if there is none."""
        at = block
        for _ in range(_LONGEST):
            after = next((str(at.meta[key]) for key in _SUCCESSORS if at.meta.get(key)), "")
            successor = self._context.storage.blocks.get([after]).get(after) if after else None
            if successor is None:
                break
            at = successor
        return at if at is not block and at.status in LIVE and not at.superseded else None

    def decide(self, proposal: str, *, accept: bool) -> JournalEntry:
        """Carry a proposal out, or say that it is not wanted while its packs stay as they are, as a single change that
        teaches the policy. proposal: its id, or the start of it. Raises UsageError for an unknown proposal.
        """
        storage, now = self._context.storage, self._context.clock.now()
        with storage.transaction():
            matches = [candidate for candidate in self.proposals() if proposal and candidate.id.startswith(proposal)]
            if len(matches) != 1:
                how = f"begins the ids of {len(matches)} proposals" if matches else "is no proposal"
                way_out = "List the proposals again: they follow the packs as they are."
                raise UsageError(f"{proposal[:20]!r} {how}.", way_out=way_out)
            (choice,) = matches
            what = f"{'' if accept else 'no '}{choice.action} {', '.join(choice.packs)[:80]}"
            entry = journal.write(storage, DECIDED, now, what, [])
            if accept:
                self._carry_out(choice, entry.id)
            self._packs.decide(choice, "accepted" if accept else "rejected", now, entry.id)
            return entry

    def change(self, action: values.PackAction, *names: str) -> JournalEntry:
        """Do to packs what nobody proposed, as a single change that `undo` takes back. Raises UsageError for packs that
        are retired, or too few.
        """
        storage = self._context.storage
        wanted = list(dict.fromkeys(names))
        with storage.transaction():
            if action == "NOOP" or len(wanted) < (2 if action in ("ADD", "MERGE") else 1):
                raise UsageError(f"{action} of {plural(len(wanted), 'pack')} is nothing.", way_out="Name the packs.")
            known = [store.find(self._packs, name, in_use=True).name for name in wanted]
            views = {view.pack.name: view for view in self._views(self._packs.uses())}
            own = [views[name] for name in known]
            groups = [own] if action in ("ADD", "MERGE") else [[view] for view in own]
            what = f"{action} {', '.join(known)[:80]}"
            entry = journal.write(storage, KIND, self._context.clock.now(), what, [])
            for group in groups:
                self._carry_out(proposals.make_proposal(action, group), entry.id)
            return entry

    def _carry_out(self, proposal: values.PackProposal, operation: int) -> None:
        """Do to packs what a proposal says, as part of an operation."""
        packs = [store.find(self._packs, name) for name in store.names_of(proposal.packs)]
        if proposal.action != "DELETE":
            stay = [] if proposal.action == "ADD" else [m for m in packs[0].members if m.block not in proposal.gone]
            roles = {member.block: member.role for pack in packs for member in pack.members}
            blocks = self._context.storage.blocks.get([*proposal.come, *(member.block for member in stay)])
            come = [
                values.PackMember(i, roles.get(i) or store.role_of(blocks[i])) for i in proposal.come if i in blocks
            ]
            words = tuple(dict.fromkeys(word for pack in packs for word in pack.keywords))[: store.MOST]
            title = "" if proposal.action == "ADD" else packs[0].title
            store.check_name(proposal.name)
            pack = replace(packs[0], name=proposal.name, title=title, members=(*stay, *come), keywords=words)
            self._put(pack, blocks.values(), operation)
        for pack in packs if proposal.action == "DELETE" else packs[1:] if proposal.action == "MERGE" else ():
            self._packs.retire(pack.name, operation)
