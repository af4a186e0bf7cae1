"""What of a conversation a model should read for a question, what survives there, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

from amgs import bounds
from amgs.api.conversation_contents import ConversationContents
from amgs.conversation import citing, keeping, optimise, standing, why
from amgs.conversation.relevance import Relevance, relevance
from amgs.conversation.segments import topic_spans
from amgs.conversation.survival import elements, of_context, survival
from amgs.conversation.tokens import MessageCounter
from amgs.errors import UnknownConversationError, UsageError
from amgs.storage.messages import StoredMessage
from amgs.text.loading import load
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
from amgs.types.conversation_views import ConversationSurvival

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
        return standing.keep_what_fits(choose, frozenset(must), stays)

    def _check(self, budget: int | None, strategy: ContextStrategy) -> int:
        """The budget; raises UsageError for one that is none, or a strategy that there is not."""
        if strategy not in CONTEXT_STRATEGIES:
            raise UsageError(
                f"There is no strategy {strategy!r}.",
                way_out=f"The strategies are {', '.join(CONTEXT_STRATEGIES)}.",
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
        with self._context.storage.snapshot():
            stored = keeping.read_held(self._context.storage, conversation, 1, until)
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
        found = self._context.storage.messages.standing(conversation)
        return frozenset(number for number in found if number <= len(messages))

    def _topic_spans(self, stored: Sequence[StoredMessage]) -> Sequence[tuple[int, int]]:
        texts = [one.message.text for one in stored]
        return topic_spans(texts, self._vectors(stored), [one.message.at for one in stored])

    def _numbers(
        self, conversation: str, wanted: Sequence[str], messages: Sequence[Message]
    ) -> frozenset[int]:
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
