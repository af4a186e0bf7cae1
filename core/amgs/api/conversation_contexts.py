"""What of a conversation a model should read for a question, what survives there, and why; and what the conversation is
about: topics, what is open, summaries, the four memories, and what its words mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.conversation import citing, keeping, optimise, protection, views, why
from amgs.conversation.coreference.passage import packaged_parser
from amgs.conversation.coreference.resolver import ABSTAINS_BELOW
from amgs.conversation.material import MessageCounter
from amgs.conversation.relevance import Relevance, relevance
from amgs.conversation.resolved import keeping as resolved
from amgs.conversation.resolved.keeping import gather_entities, split_by_confidence
from amgs.conversation.segments import topic_spans
from amgs.conversation.survival import elements, of_context, survival
from amgs.errors import UnknownConversationError, UsageError
from amgs.storage.messages import StoredMessage
from amgs.text.loading import load
from amgs.types import Vector
from amgs.types.conversation import (
    CONTEXT_CONFIGURATIONS,
    CONTEXT_STRATEGIES,
    RELEVANCE_LAYERS,
    ContextComparison,
    ContextConfiguration,
    ContextSettings,
    ContextStrategy,
    Message,
    OptimisedContext,
    SpanReason,
)
from amgs.types.conversation_views import (
    SUMMARY_LEVELS,
    ConversationActs,
    ConversationExtract,
    ConversationMemories,
    ConversationSurvival,
    ConversationTopics,
    SummaryLevel,
)
from amgs.types.mentions import MENTION_TYPES, ConversationEntities, ConversationResolved, MentionType, ResolvedMention


def _confidence(least: float) -> float:
    """Raises UsageError for what is no confidence."""
    if not 0.0 <= least <= 1.0:
        raise UsageError(f"{least:g} is no confidence.", way_out="Give a number from 0 to 1.")
    return least


class ConversationContents(MemoryPart):
    """The part of `memory.conversation` that reads one conversation whole; only `resolve` writes."""

    def topics(self, conversation: str) -> ConversationTopics:
        """What is talked of, in the order of time, and which topics are on the same thing."""
        with self._storage.snapshot():
            stored = keeping.read_held(self._storage, conversation)
            vectors = self._vectors(stored)
        return views.topics(conversation, stored, vectors)

    def memories(self, conversation: str, *, recent: int = 20) -> ConversationMemories:
        """What is at hand, what is open, what is held for long and which episodes there were; and the state of the
        conversation: turns, topic, calls that are done, whether the user is asked back. Writes nothing.

        recent: messages at hand.
        """
        most = bounds.count("recent", recent)
        storage = self._storage
        with storage.snapshot():
            stored = keeping.read_held(storage, conversation)
            vectors = self._vectors(stored)
            blocks = storage.blocks.get(sorted({block for one in stored for block in one.blocks}))
        return views.memories(
            conversation,
            stored,
            views.acts_of(conversation, stored, closed=False),
            views.topics(conversation, stored, vectors),
            {number: block.status for number, block in blocks.items()},
            MessageCounter.of(self._context.count_tokens),
            most,
        )

    def acts(self, conversation: str, *, closed: bool = False) -> ConversationActs:
        """Questions, goals and commitments that are open; the closed ones too where they are asked for."""
        stored = keeping.read_held(self._storage, conversation)
        return views.acts_of(conversation, stored, closed=closed)

    def summary(
        self, conversation: str, level: SummaryLevel = "cumulative", *, sentences: int = 5
    ) -> ConversationExtract:
        """A summary in the words of a conversation, by turn, topic, session or of all; always from the originals.

        sentences: of a part, at most. Raises UsageError for another level.
        """
        if level not in SUMMARY_LEVELS:
            raise UsageError(f"There is no level {level!r}.", way_out=f"The levels are {', '.join(SUMMARY_LEVELS)}.")
        most = bounds.count("sentences", sentences)
        with self._storage.snapshot():
            stored = keeping.read_held(self._storage, conversation)
            vectors = self._vectors(stored if level == "topic" else ())
        return views.extract(conversation, stored, level, most, vectors)

    def _vectors(self, stored: Sequence[StoredMessage]) -> Vector:
        return views.vectors_of(stored, self._storage, self._context.embedder)

    def resolve(self, conversation: str) -> ConversationResolved:
        """Read the messages that were added since the last time with the parser, and keep what they mention beside
        them, as one journal entry: names with their types, whose something is, whom pronouns mean. `add` itself keeps
        what needs no parser: dates, amounts, addresses, paths. `undo` takes it back.

        Raises UnknownConversationError, or ModelError without spaCy's model; nothing is changed then.
        """
        storage = self._storage
        keeping.read_held(storage, conversation, 1, 1)
        return resolved.resolve(storage, conversation, self._now, packaged_parser())

    def mentions(
        self, conversation: str, handle: str = "", *, least: float = ABSTAINS_BELOW
    ) -> tuple[ResolvedMention, ...]:
        """What words of a conversation mean, of all its messages or of those a handle names, in the order of the words.

        least: confidence in [0, 1] below which nothing is said. Raises UnknownConversationError, or UsageError for
        another confidence.
        """
        first, last = citing.numbers(handle) if handle else (1, None)
        with self._storage.snapshot():
            keeping.read_held(self._storage, conversation, first, last)
            found = self._storage.mentions.held(conversation)
        asked = [one for one in found if first <= one.number and (last is None or one.number <= last)]
        return split_by_confidence(asked, _confidence(least))[0]

    def entities(
        self, conversation: str, *, type: MentionType | None = None, least: float = ABSTAINS_BELOW
    ) -> ConversationEntities:
        """What a conversation speaks of, the most often mentioned first, with each mention; writes nothing.

        type: only entities of this type. least: as in `mentions`. What only the parser finds is told of messages that
        `resolve` has read. Raises what `mentions` raises, and UsageError for a type that is none.
        """
        if type is not None and type not in MENTION_TYPES:
            raise UsageError(
                f"There is no type {type!r} of entities.", way_out=f"Types are {', '.join(MENTION_TYPES)}."
            )
        storage = self._storage
        with storage.snapshot():
            keeping.read_held(storage, conversation, 1, 1)
            found = storage.mentions.held(conversation)
            waiting = len(storage.mentions.waiting(conversation))
        told, withheld = split_by_confidence(found, _confidence(least))
        return ConversationEntities(conversation, gather_entities(told, type), withheld, waiting, least)


BUDGET = 124_000
"""Tokens unless given: a window of 128,000 less room for an answer."""


@dataclass(frozen=True)
class _Asked:
    """What a context is asked for. budget: in tokens, as `counter` counts. topics: (start, end) of each, by places."""

    conversation: str
    stored: Sequence[StoredMessage]
    query: str
    budget: int
    strategy: ContextStrategy
    settings: ContextSettings
    counter: MessageCounter
    topics: Callable[[], Sequence[tuple[int, int]]]

    @cached_property
    def messages(self) -> list[Message]:
        return [one.message for one in self.stored]


class ConversationContexts(ConversationContents):
    """The part of `memory.conversation` that chooses what is read for a question; writes nothing."""

    def optimise(
        self,
        conversation: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        previous: str = "",
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> OptimisedContext:
        """What of a conversation a model should read for a query, in at most `budget` tokens; writes nothing.

        query: the last message of the user unless given. budget: 124,000 unless given. previous: the `plan` of the
        context that was sent before; it is kept while it fits, so that what a provider has cached stays valid. until:
        the conversation as it stood after the message of this number. keep: handles of what must stay whole.
        configuration: what is kept and how much of the budget is used; its strategy serves unless another is given.
        Raises UnknownConversationError, ImpossibleBudgetError, or UsageError for another strategy, configuration or no
        plan.
        """
        start = self._context.clock.perf()
        asked = self._ask(conversation, query, budget, strategy, configuration, until)
        must = self._numbers(conversation, keep, asked.messages)
        worths = cache(lambda: self._relevance(asked).worths.tolist())
        made = self._plan(asked, asked.budget, must, worths, previous)
        return replace(made, milliseconds=1000.0 * (self._context.clock.perf() - start))

    def compare(
        self,
        conversation: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategies: tuple[ContextStrategy, ContextStrategy] = ("mask", "extractive"),
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> ContextComparison:
        """Two strategies for the same query and budget, and where they differ. Raises what `optimise` raises."""
        stored, _ = self._read(conversation, query, until)
        counter = MessageCounter.of(self._context.count_tokens)
        a, b = (
            self.optimise(conversation, query, budget=budget, strategy=one, until=until, keep=keep)
            for one in strategies
        )
        costs = {one.message.number: counter.cost(one.message) for one in stored}
        return ContextComparison(a, b, why.changes(a, b, costs))

    def why(
        self,
        conversation: str,
        handle: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> SpanReason:
        """Why the messages of a handle are kept or not, and the smallest changes that would keep them: how many tokens
        more, how much more worth, or what else would go. Every answer is a plan that was made.

        Raises what `optimise` raises.
        """
        asked = self._ask(conversation, query, budget, strategy, configuration, until)
        wanted = self._numbers(conversation, [handle], asked.messages)
        kept = self._numbers(conversation, keep, asked.messages)
        relevant = self._relevance(asked)
        weighed = relevant.worths.tolist()

        def plan(tokens: int, must: Collection[int], worths: Mapping[int, float]) -> OptimisedContext:
            given = [worths[message.number] for message in asked.messages]
            return self._plan(asked, tokens, kept.union(must), lambda: given)

        found = why.reason(
            min(wanted),
            max(wanted),
            asked.budget,
            {message.number: worth for message, worth in zip(asked.messages, weighed, strict=True)},
            {message.number: asked.counter.cost(message) for message in asked.messages},
            plan,
        )
        best = max(sorted(wanted), key=lambda number: weighed[number - 1])
        told = zip(RELEVANCE_LAYERS, relevant.parts[best - 1].tolist(), strict=True)
        return replace(found, layers=tuple(told) if any(weighed) else ())

    def survival(
        self,
        conversation: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        previous: str = "",
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> ConversationSurvival:
        """What of each class of words (numbers, paths, commitments, …) a context has in its window, what is one handle
        away, and what is lost. Takes and raises what `optimise` does.
        """
        context = self.optimise(
            conversation,
            query,
            budget=budget,
            strategy=strategy,
            configuration=configuration,
            previous=previous,
            until=until,
            keep=keep,
        )
        messages = [one.message for one in self._read(conversation, query, until)[0]]
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
        budget: int | None,
        strategy: ContextStrategy | None,
        configuration: ContextConfiguration,
        until: int | None,
    ) -> _Asked:
        """What a context is asked for; raises UsageError for what there is not."""
        settings = self._settings(configuration)
        strategy = strategy or settings.strategy
        allowed = self._check(budget, strategy)
        stored, query = self._read(conversation, query, until)
        counter = MessageCounter.of(self._context.count_tokens)
        counter = replace(counter, count=cache(counter.count))  # each text is counted once
        topics = cache(lambda: self._topic_spans(stored))
        return _Asked(conversation, stored, query, allowed, strategy, settings, counter, topics)

    def _plan(
        self,
        asked: _Asked,
        budget: int,
        must: Collection[int],
        worths: Callable[[], Sequence[float]],
        previous: str = "",
    ) -> OptimisedContext:
        """A context. must: numbers of messages that stay, beside those that every context keeps as far as they fit."""
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
            topics=asked.topics,
            summariser=self._context.summariser,
            settings=asked.settings,
        )
        stays = self._standing(asked.conversation, asked.messages)
        return protection.keep_what_fits(choose, frozenset(must), stays)

    def _check(self, budget: int | None, strategy: ContextStrategy) -> int:
        """The budget; raises UsageError for one that is none, or a strategy that there is not."""
        if strategy not in CONTEXT_STRATEGIES:
            raise UsageError(
                f"There is no strategy {strategy!r}.", way_out=f"The strategies are {', '.join(CONTEXT_STRATEGIES)}."
            )
        return BUDGET if budget is None else bounds.count("The budget", budget)

    def _settings(self, configuration: ContextConfiguration) -> ContextSettings:
        """What a configuration fixes; raises UsageError for one that there is not."""
        if configuration not in CONTEXT_CONFIGURATIONS:
            raise UsageError(
                f"There is no configuration {configuration!r}.",
                way_out=f"The configurations are {', '.join(CONTEXT_CONFIGURATIONS)}.",
            )
        return CONTEXT_CONFIGURATIONS[configuration]

    def _read(self, conversation: str, query: str, until: int | None) -> tuple[Sequence[StoredMessage], str]:
        """The messages of a conversation as it stood after one of them, and what they are read for."""
        with self._storage.snapshot():
            stored = keeping.read_held(self._storage, conversation, 1, until)
        messages = [one.message for one in stored]
        return stored, query or next((m.text for m in reversed(messages) if m.role == "user"), "")

    def _relevance(self, asked: _Asked) -> Relevance:
        """What each message is worth for a query; nothing where the strategy does not ask."""
        context = self._context
        if asked.strategy == "mask":
            return Relevance.none(len(asked.stored))
        load(context.embedder, "the encoder")
        costs = [asked.counter.cost(message) for message in asked.messages]
        with context.derived.searching() as sources:
            return relevance(asked.query, asked.stored, costs, context.storage, sources, context.settings)

    def _standing(self, conversation: str, messages: Sequence[Message]) -> frozenset[int]:
        """The numbers of messages that every context keeps, of these messages."""
        found = self._storage.messages.standing(conversation)
        return frozenset(number for number in found if number <= len(messages))

    def _topic_spans(self, stored: Sequence[StoredMessage]) -> Sequence[tuple[int, int]]:
        texts = [one.message.text for one in stored]
        return topic_spans(texts, self._vectors(stored), [one.message.at for one in stored])

    def _numbers(self, conversation: str, wanted: Sequence[str], messages: Sequence[Message]) -> frozenset[int]:
        """The numbers that handles name; raises UnknownConversationError for one beyond the messages."""
        found = frozenset[int]()
        for each in wanted:
            first, last = citing.numbers(each)
            if last > len(messages):
                raise UnknownConversationError(
                    f"{conversation[:60]!r} has no message {citing.handle(first, last)} here.",
                    title="No such message",
                    way_out=f"Its messages are {citing.handle(1, len(messages))}.",
                )
            found |= frozenset(range(first, last + 1))
        return found
