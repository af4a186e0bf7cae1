"""Contexts of a conversation for a question: the part that a model should read, what survives, and why; and its
content: topics, open items, summaries, the four memories, mentions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Unpack

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.conversation import citing, keeping, optimise, protection, summaries, why
from amgs.conversation import keeping as resolved
from amgs.conversation.coreference.passage import load_packaged_parser
from amgs.conversation.coreference.resolver import ABSTAINS_BELOW
from amgs.conversation.keeping import gather_entities, split_by_confidence
from amgs.conversation.material import MessageCounter
from amgs.conversation.relevance import Relevance, rate_messages
from amgs.conversation.why import elements, of_context, survival
from amgs.errors import UnknownConversationError, UsageError
from amgs.storage.messages import StoredMessage
from amgs.text.embedding import load
from amgs.types import Vector
from amgs.types.conversation import (
    CONTEXT_CONFIGURATIONS,
    CONTEXT_STRATEGIES,
    RELEVANCE_LAYERS,
    ContextComparison,
    ContextConfiguration,
    ContextOptions,
    ContextSettings,
    ContextStrategy,
    Message,
    OptimisedContext,
    SpanReason,
)
from amgs.types.conversation_views import (
    MENTION_TYPES,
    SUMMARY_LEVELS,
    ConversationActs,
    ConversationEntities,
    ConversationExtract,
    ConversationMemories,
    ConversationResolved,
    ConversationSurvival,
    ConversationTopics,
    MentionType,
    ResolvedMention,
    SummaryLevel,
)


def _check_confidence(least: float) -> float:
    """Return a confidence; raises UsageError if it is outside [0, 1]."""
    if not 0.0 <= least <= 1.0:
        raise UsageError(f"{least:g} is no confidence.", way_out="Give a number from 0 to 1.")
    return least


def _check(what: str, name: str, known: Sequence[str], several: str) -> None:
    """Raise UsageError for an unknown name."""
    if name not in known:
        raise UsageError(f"There is no {what} {name!r}.", way_out=f"The {several} are {', '.join(known)}.")


class ConversationContents(MemoryPart):
    """The part of `memory.conversation` that analyses a whole conversation; only `resolve` writes."""

    def topics(self, conversation: str) -> ConversationTopics:
        """Return the topics in order of time."""
        with self._storage.snapshot():
            stored = keeping.read_held(self._storage, conversation)
            vectors = self._vectors(stored)
        return summaries.topics(conversation, stored, vectors)

    def memories(self, conversation: str, *, recent: int = 20) -> ConversationMemories:
        """Return the four memories of a conversation, and its state: turns, topic, finished calls, whether the user is
        asked. Writes nothing.

        recent: number of messages in the short-term memory.
        """
        most = bounds.count("recent", recent)
        storage = self._storage
        with storage.snapshot():
            stored = keeping.read_held(storage, conversation)
            vectors = self._vectors(stored)
            blocks = storage.blocks.get(sorted({block for stored_message in stored for block in stored_message.blocks}))
        return summaries.memories(
            conversation,
            stored,
            summaries.acts_of(conversation, stored, closed=False),
            summaries.topics(conversation, stored, vectors),
            {number: block.status for number, block in blocks.items()},
            MessageCounter.of(self._context.count_tokens),
            most,
        )

    def acts(self, conversation: str, *, closed: bool = False) -> ConversationActs:
        """Return the open questions, goals and commitments; closed: also the closed ones."""
        stored = keeping.read_held(self._storage, conversation)
        return summaries.acts_of(conversation, stored, closed=closed)

    def summary(
        self, conversation: str, level: SummaryLevel = "cumulative", *, sentences: int = 5
    ) -> ConversationExtract:
        """Return a summary in the conversation's own words, by turn, topic or session, or cumulative; always from the
        originals.

        sentences: most per part. Raises UsageError for an unknown level.
        """
        _check("level", level, SUMMARY_LEVELS, "levels")
        most = bounds.count("sentences", sentences)
        with self._storage.snapshot():
            stored = keeping.read_held(self._storage, conversation)
            vectors = self._vectors(stored if level == "topic" else ())
        return summaries.extract(conversation, stored, level, most, vectors)

    def _vectors(self, stored: Sequence[StoredMessage]) -> Vector:
        return summaries.vectors_of(stored, self._storage, self._context.embedder)

    def resolve(self, conversation: str) -> ConversationResolved:
        """Parse messages added since the last time, and store what they mention, as a single journal entry: names with
        types, owners, and antecedents of pronouns.

        `add` itself stores what needs no parser: dates, amounts, addresses, paths. `undo` reverts it. Raises
        UnknownConversationError, or ModelError without spaCy's model; then nothing is changed.
        """
        storage = self._storage
        keeping.read_held(storage, conversation, 1, 1)
        return resolved.resolve(storage, conversation, self._now, load_packaged_parser())

    def mentions(
        self, conversation: str, handle: str = "", *, least: float = ABSTAINS_BELOW
    ) -> tuple[ResolvedMention, ...]:
        """Return what words of a conversation, or of a handle's messages, refer to, in order.

        least: confidence below which mentions are withheld. Raises UnknownConversationError, or UsageError for an
        invalid confidence.
        """
        first, last = citing.numbers(handle) if handle else (1, None)
        with self._storage.snapshot():
            keeping.read_held(self._storage, conversation, first, last)
            resolved_mentions = self._storage.mentions.read_mentions(conversation)
        asked = [
            mention
            for mention in resolved_mentions
            if first <= mention.number and (last is None or mention.number <= last)
        ]
        return split_by_confidence(asked, _check_confidence(least))[0]

    def entities(
        self, conversation: str, *, type: MentionType | None = None, least: float = ABSTAINS_BELOW
    ) -> ConversationEntities:
        """Return the entities in a conversation, most frequent first, with their mentions; writes nothing.

        type: only this type. least: as in `mentions`. Findings of the parser are included only for messages that
        `resolve` has read. Raises like `mentions`, and UsageError for an unknown type.
        """
        _check("type", type or MENTION_TYPES[0], MENTION_TYPES, "types")
        storage = self._storage
        with storage.snapshot():
            keeping.read_held(storage, conversation, 1, 1)
            mentions = storage.mentions.read_mentions(conversation)
            waiting = len(storage.mentions.waiting(conversation))
        confident_mentions, withheld = split_by_confidence(mentions, _check_confidence(least))
        return ConversationEntities(conversation, gather_entities(confident_mentions, type), withheld, waiting, least)


BUDGET = 120_000
"""Default budget in tokens: a window of 128,000 less 8,000 for the answer (conversation §10.1)."""


@dataclass(frozen=True)
class _Asked:
    """Request for a context. budget: in tokens by `counter`. must: numbers of messages to keep."""

    conversation: str
    stored: Sequence[StoredMessage]
    query: str
    budget: int
    strategy: ContextStrategy
    settings: ContextSettings
    previous: str
    must: frozenset[int]
    counter: MessageCounter

    @cached_property
    def messages(self) -> list[Message]:
        return [stored_message.message for stored_message in self.stored]


class ConversationContexts(ConversationContents):
    """The part of `memory.conversation` that selects what is read for a question; writes nothing."""

    def optimise(self, conversation: str, query: str = "", **options: Unpack[ContextOptions]) -> OptimisedContext:
        """Select the part of a conversation that a model should read for a query, in at most `budget` tokens; writes
        nothing.

        query: default: the user's last message. options: see there. Raises UnknownConversationError,
        ImpossibleBudgetError, or UsageError for an unknown strategy or configuration, or an invalid plan.
        """
        start = self._context.clock.perf()
        asked = self._ask(conversation, query, **options)
        worths = cache(lambda: self._relevance(asked).worths.tolist())
        context = self._plan(asked, asked.budget, asked.must, worths, asked.previous)
        return replace(context, milliseconds=1000.0 * (self._context.clock.perf() - start))

    def compare(
        self,
        conversation: str,
        query: str = "",
        *,
        strategies: tuple[ContextStrategy, ContextStrategy] = ("mask", "extractive"),
        **options: Unpack[ContextOptions],
    ) -> ContextComparison:
        """Compare the contexts of two strategies for the same query and budget. Arguments and errors as
        in `optimise`.
        """
        options["strategy"] = strategies[0]
        a = self.optimise(conversation, query, **options)
        options["strategy"] = strategies[1]
        b = self.optimise(conversation, query, **options)
        return ContextComparison(a, b, why.find_changes(a, b))

    def why(self, conversation: str, handle: str, query: str = "", **options: Unpack[ContextOptions]) -> SpanReason:
        """Return why the messages of a handle are kept or not, and the smallest changes that would keep them: a larger
        budget, or other messages dropped instead. Both are found by planning such contexts. Arguments and errors as in
        `optimise`.
        """
        asked = self._ask(conversation, query, **options)
        wanted = self._numbers(conversation, [handle], asked.messages)
        relevant = self._relevance(asked)
        worths = relevant.worths.tolist()

        def plan(tokens: int, must: Collection[int]) -> OptimisedContext:
            return self._plan(asked, tokens, asked.must.union(must), lambda: worths)

        reason = why.reason(min(wanted), max(wanted), asked.budget, plan)
        best = max(sorted(wanted), key=lambda number: worths[number - 1])
        layers = zip(RELEVANCE_LAYERS, relevant.parts[best - 1].tolist(), strict=True)
        return replace(reason, layers=tuple(layers) if any(worths) else ())

    def survival(self, conversation: str, query: str = "", **options: Unpack[ContextOptions]) -> ConversationSurvival:
        """Count for each class (numbers, paths, commitments, …) what is in a context's window, what is one handle away,
        and what is lost. Arguments and errors as in `optimise`.
        """
        context = self.optimise(conversation, query, **options)
        messages = [stored_message.message for stored_message in self._read(conversation, options.get("until"))]
        window, reached = of_context(context.messages)
        return ConversationSurvival(
            conversation,
            citing.handle(1, len(messages)),
            f"{context.strategy}, within {context.budget:,} tokens",
            survival(elements(messages), messages, window, reached),
            context.tokens,
            context.history,
            context.counter,
            context.estimated,
        )

    def _ask(
        self,
        conversation: str,
        query: str,
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        previous: str = "",
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> _Asked:
        """Return the parsed request for a context; raises UsageError for unknown values."""
        _check("strategy", strategy or CONTEXT_STRATEGIES[0], CONTEXT_STRATEGIES, "strategies")
        _check("configuration", configuration, tuple(CONTEXT_CONFIGURATIONS), "configurations")
        settings = CONTEXT_CONFIGURATIONS[configuration]
        allowed = BUDGET if budget is None else bounds.count("The budget", budget)
        stored = self._read(conversation, until)
        messages = [stored_message.message for stored_message in stored]
        query = query or next((m.text for m in reversed(messages) if m.role == "user"), "")
        counter = MessageCounter.of(self._context.count_tokens)
        counter = replace(counter, count=cache(counter.count))  # each text is counted once
        must = self._numbers(conversation, keep, messages)
        strategy = strategy or settings.strategy
        return _Asked(conversation, stored, query, allowed, strategy, settings, previous, must, counter)

    def _plan(
        self,
        asked: _Asked,
        budget: int,
        must: Collection[int],
        worths: Callable[[], Sequence[float]],
        previous: str = "",
    ) -> OptimisedContext:
        """Plan a context. must: numbers of messages to keep, besides those that every context keeps if they fit."""
        choose = partial(
            optimise.optimise,
            asked.conversation,
            asked.messages,
            asked.query,
            budget,
            asked.strategy,
            asked.counter,
            worths,
            previous,
            topics=cache(lambda: [(start, end) for start, end, _ in self._topics(asked.stored)]),
            summariser=self._context.summariser,
            settings=asked.settings,
            referred=lambda: self._find_referred(asked),
        )
        stays = self._standing(asked.conversation, asked.messages)
        return protection.keep_what_fits(choose, frozenset(must), stays)

    def _read(self, conversation: str, until: int | None) -> Sequence[StoredMessage]:
        """Read the messages of a conversation up to the message `until`."""
        with self._storage.snapshot():
            return keeping.read_held(self._storage, conversation, 1, until)

    def _relevance(self, asked: _Asked) -> Relevance:
        """Weigh each message for a query; nothing if the strategy does not need it."""
        context = self._context
        if asked.strategy == "mask":
            return Relevance.none(len(asked.stored))
        load(context.embedder, "the encoder")
        costs = [asked.counter.cost(message) for message in asked.messages]
        with context.derived.searching() as sources:
            return rate_messages(asked.query, asked.stored, costs, context.storage, sources, context.settings)

    def _find_referred(self, asked: _Asked) -> dict[int, str]:
        """Return why the last messages need an earlier one, by its number: a word in them is sure to refer to it."""
        first = len(asked.messages) - asked.settings.recent + 1
        mentions = self._storage.mentions.read_mentions(asked.conversation, max(first, 1), len(asked.messages))
        return {
            mention.antecedent[0]: f"“{mention.text}” in {citing.handle(mention.number, mention.number)} refers to it"
            for mention in split_by_confidence(mentions, ABSTAINS_BELOW)[0]
            if mention.antecedent is not None
        }

    def _standing(self, conversation: str, messages: Sequence[Message]) -> frozenset[int]:
        """Return the numbers of these messages that every context keeps."""
        standing = self._storage.messages.read_kept(conversation)
        return frozenset(number for number in standing if number <= len(messages))

    def _topics(self, stored: Sequence[StoredMessage]) -> list[tuple[int, int, float]]:
        return summaries.find_topics(stored, self._vectors(stored))

    def _numbers(self, conversation: str, handles: Sequence[str], messages: Sequence[Message]) -> frozenset[int]:
        """Return the message numbers of handles; raises UnknownConversationError for a number beyond the messages."""
        numbers = frozenset[int]()
        for handle in handles:
            first, last = citing.numbers(handle)
            if last > len(messages):
                raise UnknownConversationError(
                    f"{conversation[:60]!r} has no message {citing.handle(first, last)} here.",
                    title="No such message",
                    way_out=f"Its messages are {citing.handle(1, len(messages))}.",
                )
            numbers |= frozenset(range(first, last + 1))
        return numbers
