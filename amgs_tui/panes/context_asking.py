"""Requests for the context of a conversation: the operator's question, budget, strategy and reading level, the views
beside it, and restoring a span.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from amgs.text.words import plural
from amgs_app import operations
from amgs_app.render.format import ago
from amgs_tui.dialogs.questions import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types.conversation import (
        ContextConfiguration,
        ContextSpan,
        ContextStrategy,
        ConversationSummary,
        FateChange,
        OptimisedContext,
        SpanFate,
    )
    from amgs.types.gateway import GatewayExchange
    from amgs_app.calls.call import Call
    from amgs_app.render.canvas import Region
    from amgs_tui.panes.base import Pane


STRATEGIES: Final[Mapping[ContextStrategy, str]] = {
    "mask": "old outputs of tools as one line, then the oldest go",
    "extractive": "what answers the question stays whole",
    "hybrid": "what answers the question, whole or cited in part",
    "topic": "each topic in an extract, or not",
    "levels": "each topic whole, in an extract, as findings, or not",
    "abstractive": "the same, in the words of a language model",
}
"""Short descriptions of the strategies."""

CONFIGURATIONS: Final[Mapping[ContextConfiguration, str]] = {
    "high-compression": "half of the budget, each topic by what it is worth",
    "high-fidelity": "more of the latest messages, and what was decided and is owed",
}
"""Short descriptions of the configurations beside the default."""


@dataclass(frozen=True, slots=True)
class ContextWish:
    """The context that the operator wants.

    until: number of the last message, None for all. keep: handles of restored spans. other: strategy to compare with,
    None for none.
    """

    conversation: str = ""
    query: str = ""
    budget: int | None = None
    strategy: ContextStrategy = "extractive"
    configuration: ContextConfiguration = "default"
    until: int | None = None
    keep: tuple[str, ...] = ()
    other: ContextStrategy | None = None

    def list_restored_handles(self, span: ContextSpan | FateChange) -> tuple[str, ...]:
        """Return the restored handles whose last message is in a span."""
        return tuple(handle for handle in self.keep if span.first <= last_of(handle) <= span.last)

    @property
    def call(self) -> Call[Any]:
        options: dict[str, Any] = {
            "budget": self.budget,
            "strategy": self.strategy,
            "until": self.until,
            "keep": list(self.keep) or None,
        }
        if self.other is not None:
            return operations.conversation.show(
                self.conversation, view="compare", query=self.query, against=self.other, **options
            )
        return operations.conversation.optimise(
            self.conversation, self.query, configuration=self.configuration, **options
        )


def fate_of(span: ContextSpan | FateChange) -> SpanFate:
    """Return the fate of a span's messages; in a comparison, under the second strategy."""
    from amgs.types.conversation import ContextSpan

    return span.fate if isinstance(span, ContextSpan) else span.after


def last_of(handle: str) -> int:
    """Return the number of a handle's last message."""
    return int(handle.lstrip("#").rpartition("-")[2])


SAID: Final = "said"
VIEWS: Final = (SAID, "survival", "topics", "open", "entities", "memories")
"""The views in order."""


@runtime_checkable
class OfConversation(Protocol):
    """A result about a conversation."""

    @property
    def conversation(self) -> str: ...


def view_of(result: object, conversation: str | None = None) -> str:
    """Return the view that shows a result, "" for none. conversation: accept only results about this one."""
    from amgs.types import conversation_views as views
    from amgs.types.conversation_views import GIVEN_TEXT, ConversationEntities

    shown_by = {
        views.ConversationSurvival: "survival",
        views.ConversationTopics: "topics",
        views.ConversationActs: "open",
        views.ConversationMemories: "memories",
        ConversationEntities: "entities",
    }
    view = shown_by.get(type(result), "")
    if getattr(result, "of", "") == GIVEN_TEXT:  # a comparison with a given text has a page of its own
        return ""
    is_shown = isinstance(result, OfConversation) and conversation in (None, result.conversation)
    return view if is_shown else ""


def title_of(result: object) -> str:
    """Return the title of a page with a view of a conversation."""
    kind = type(result).__name__.removeprefix("Conversation").lower()
    return f"Conversation {'summary' if kind == 'extract' else 'messages' if kind == 'shown' else kind}"


@dataclass(eq=False)
class ContextView:
    """The view beside the spans of a context. result: its content; None for the messages, or while it is awaited."""

    name: str = SAID
    result: Any = None

    @property
    def next(self) -> str:
        """Name of the next view."""
        return VIEWS[(VIEWS.index(self.name) + 1) % len(VIEWS)]

    def take(self, result: object, conversation: str) -> None:
        """Store a result that the view shows, if it is about this conversation."""
        if view_of(result, conversation) == self.name:
            self.result = result

    def turn_to(self, result: object, conversation: str) -> bool:
        """Switch to the view that shows a result about this conversation; return whether there is one."""
        view = view_of(result, conversation)
        if view:
            self.name, self.result = view, result
        return bool(view)

    def turn(self) -> None:
        """Switch to the next view."""
        self.name, self.result = self.next, None

    def call(self, wish: ContextWish, context: OptimisedContext | None) -> Call[Any] | None:
        """Return the call for the view's content, None if it needs none. wish: what the context was requested with."""
        conversation = operations.conversation
        match self.name:
            case _ if self.name == SAID or context is None:
                return None
            case "survival":
                return conversation.show(
                    wish.conversation,
                    view="survival",
                    query=context.query,
                    budget=context.budget,
                    strategy=context.strategy,
                    configuration=wish.configuration,
                    previous=context.plan,
                    until=wish.until,
                    keep=list(wish.keep) or None,
                )
            case "topics" | "entities" | "memories":
                return conversation.show(wish.conversation, view=self.name)
        return conversation.show(wish.conversation, view="acts")

    @property
    def drawn(self) -> Callable[[Region], None] | None:
        """Function that draws the result in place of the messages; None without a list."""
        from amgs_app.conversation.figure import draw_list
        from amgs_app.render.catalogue import list_of

        listed = None if self.result is None else list_of(self.result)
        return None if listed is None else lambda region: draw_list(region, listed)


RESTORE_LEVELS: Final[Mapping[str, str]] = {
    "minimal": "decisions, names, numbers, dates, paths, commands, ids",
    "standard": "the sentences that weigh most, too",
    "detailed": "every sentence with any of them",
    "complete": "the messages, byte for byte",
}
SUMMARY_LEVELS: Final[Mapping[str, str]] = {
    "turn": "of each turn",
    "topic": "of each topic",
    "session": "of each session",
    "cumulative": "of all",
}

_NAMED: Final = 4
"""Most messages named that no longer go whole."""


@dataclass(eq=False)
class ContextAsking:
    """The keys of a pane that request a context.

    wish: the present wish; want: requests another context; context: the present result; span: under the cursor;
    exchange: the request on view. restores: the handle restored last, until its outcome is reported; "" for none.
    """

    pane: Pane
    wish: Callable[[], ContextWish]
    want: Callable[..., None]
    context: Callable[[], OptimisedContext | None]
    span: Callable[[], ContextSpan | FateChange | None]
    exchange: Callable[[], GatewayExchange | None]
    restores: str = ""

    # --- typed ----------------------------------------------------------------------------------------------

    def action_ask(self) -> None:
        hint = "What should the model answer? Blank: the last message of the user."
        query = self.wish().query
        self.pane.ask_line("question", lambda line: self.want(query=line), query, hint=hint, replace=True, blank=True)

    def action_budget(self) -> None:
        context = self.context()
        now = self.wish().budget if context is None else context.budget
        self.pane.ask_line("budget in tokens", self._use_budget, str(now or ""), replace=True)

    def action_check(self) -> None:
        hint = "What does it say that was not said, and what does it leave out?"
        self.pane.ask_line("text to check", self._check, hint=hint)

    def _check(self, text: str) -> None:
        self.pane.ask(operations.conversation.show(self.wish().conversation, view="survival", text=text))

    def _use_budget(self, line: str) -> None:
        number = line.replace(",", "").strip()
        if number.isdecimal() and int(number) > 0:
            self.want(budget=int(number))
        else:
            words = "Give a number of tokens, such as 4000."
            self.pane.notify(words, title="No budget", severity="warning")

    # --- chosen ---------------------------------------------------------------------------------------------

    def _choose_named(self, title: str, named: Mapping[str, str], then: Callable[[str], object]) -> None:
        """Ask for a choice among names with their meanings."""
        self.pane.choose(title, [Choice(name, name, meaning) for name, meaning in named.items()], then)

    def action_strategy(self) -> None:
        """Choose a strategy, or a configuration, which has a strategy of its own."""
        from amgs.types.conversation import CONTEXT_CONFIGURATIONS, CONTEXT_STRATEGIES

        wish = self.wish()
        current = wish.configuration
        choices = [
            Choice(name, name, STRATEGIES[name], marked=current == "default" and name == wish.strategy)
            for name in CONTEXT_STRATEGIES
        ]
        choices += [
            Choice(configuration, configuration, meaning, marked=configuration == current)
            for configuration, meaning in CONFIGURATIONS.items()
        ]
        brought = {configuration: CONTEXT_CONFIGURATIONS[configuration].strategy for configuration in CONFIGURATIONS}

        def use(name: str) -> None:
            if name in brought:
                self.want(configuration=name, strategy=brought[name], other=None)
            else:
                self.want(configuration="default", strategy=name, other=None)

        self.pane.choose("Which strategy, or which configuration?", choices, use)

    def action_compare(self) -> None:
        """Compare with a strategy to choose; if two are compared, end that."""
        wish = self.wish()
        if wish.other is not None:
            self.want(other=None)
            return
        others: dict[str, str] = {name: meaning for name, meaning in STRATEGIES.items() if name != wish.strategy}
        self._choose_named(f"Compare {wish.strategy} with", others, lambda name: self.want(other=name))

    def action_level(self) -> None:
        """Read the span at a level to choose."""
        span, name = self.span(), self.wish().conversation
        if span is not None:

            def read(level: Any) -> None:
                self.pane.ask(operations.conversation.restore(name, span.handle, level=level))

            self._choose_named(f"{span.handle} at which level?", RESTORE_LEVELS, read)

    def action_summary(self) -> None:
        """Read a summary at a level to choose."""
        name = self.wish().conversation

        def read(level: Any) -> None:
            self.pane.ask(operations.conversation.show(name, view="summary", level=level))

        self._choose_named("A summary of what?", SUMMARY_LEVELS, read)

    def choose_conversation(self, conversations: Sequence[ConversationSummary]) -> None:
        """Choose a stored conversation."""
        if not conversations:
            self.pane.notify("`conversation add NAME FILE` stores a conversation.", title="No conversation yet")
            return
        now = self.pane.host.now()
        choices = [
            Choice(
                conversation.name,
                conversation.name,
                plural(conversation.messages, "message")
                + (f", {ago(conversation.last, now)}" if conversation.last is not None else ""),
                marked=conversation.name == self.wish().conversation,
            )
            for conversation in conversations
        ]
        self.pane.choose(
            "Which conversation?", choices, lambda name: self.want(conversation=name, query="", until=None, keep=())
        )

    # --- spans back in the context --------------------------------------------------------------------------

    def action_restore(self) -> None:
        """Restore the span to the context, or release it. With a gateway request on view, this applies to the next
        request.
        """
        span, exchange, wish = self.span(), self.exchange(), self.wish()
        if span is None:
            return
        mine = wish.list_restored_handles(span)
        if exchange is not None:
            self._keep(exchange.conversation, span, drop=is_restored(span))
        elif mine:
            self.want(keep=tuple(handle for handle in wish.keep if handle not in mine))
        elif fate_of(span) == "kept":
            title = f"{span.handle} is in the context"
            self.pane.notify("It goes to the model as it is.", title=title, timeout=3)
        else:
            self.restores = span.handle
            self.want(keep=(*wish.keep, span.handle))

    def action_keep(self) -> None:
        """Restore the span to every context, including the gateway's next request, or release it."""
        span, wish = self.span(), self.wish()
        if span is not None:
            self._keep(wish.conversation, span, drop=not wish.list_restored_handles(span) and is_restored(span))

    def _keep(self, conversation: str, span: ContextSpan | FateChange, *, drop: bool) -> None:
        context = self.context()
        budget = context.budget if context is not None else None
        self.pane.ask(operations.conversation.keep(conversation, span.handle, drop=drop, budget=budget))

    def tell_restored(self, before: OptimisedContext | None, after: OptimisedContext) -> None:
        """Report what was restored, and what no longer goes whole instead. before: the earlier context, None to report
        nothing.
        """
        handle, self.restores = self.restores, ""
        if not handle or before is None:
            return
        dropped = [f"#{number}" for number in sorted(_whole(before) - _whole(after))]
        handles = f"{', '.join(dropped[:_NAMED])}{f' and {len(dropped) - _NAMED:,} more' if dropped[_NAMED:] else ''}"
        instead = f"Instead {handles} no longer {'go' if dropped[1:] else 'goes'} whole." if dropped else ""
        words = f"{after.tokens:,} of {after.budget:,} tokens. {instead}"
        self.pane.notify(words, title=f"{handle} is back", timeout=6)


def is_restored(span: ContextSpan | FateChange) -> bool:
    """Return whether a span is in the context because it was restored."""
    from amgs.types.conversation import ContextSpan

    return isinstance(span, ContextSpan) and span.because == "restored"


def _whole(context: OptimisedContext) -> set[int]:
    """Return the numbers of the messages that are kept whole."""
    return {n for span in context.spans if span.fate == "kept" for n in range(span.first, span.last + 1)}
