"""Ask for a context: its question, budget, strategy and reading level, and the return of a span."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.render.format import ago
from amgs_tui.dialogs.questions import Choice
from amgs_tui.panes.context_wish import CONFIGURATIONS, STRATEGIES, fate_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types.conversation import ContextSpan, ConversationSummary, FateChange, OptimisedContext
    from amgs.types.gateway import GatewayExchange
    from amgs_tui.panes.base import Pane
    from amgs_tui.panes.context_wish import ContextWish

RESTORE_LEVELS: Final[Mapping[str, str]] = {
    "minimal": "decisions, names, numbers, dates, paths, commands, ids",
    "standard": "the sentences that weigh most, too",
    "detailed": "every sentence that holds one of them",
    "complete": "the messages, byte for byte",
}
SUMMARY_LEVELS: Final[Mapping[str, str]] = {
    "turn": "of each turn",
    "topic": "of each topic",
    "session": "of each session",
    "cumulative": "of all",
}

_NAMED: Final = 4
"""Messages that went for others, by their handles."""


@dataclass(eq=False)
class ContextAsking:
    """Requests that the keys of a pane make.

    wish: the present one; want: asks for something else; context: its result; span: the one under the cursor; exchange:
    the request on view. restores: the handle last asked back, until its outcome is reported; empty for none.
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
        """Offer the names as a list, with their meanings."""
        self.pane.choose(title, [Choice(name, name, meaning) for name, meaning in named.items()], then)

    def action_strategy(self) -> None:
        """Choose a strategy, or a configuration, which brings its own."""
        from amgs.types.conversation import CONTEXT_CONFIGURATIONS, CONTEXT_STRATEGIES

        wish = self.wish()
        here = wish.configuration
        choices = [
            Choice(name, name, STRATEGIES[name], marked=here == "default" and name == wish.strategy)
            for name in CONTEXT_STRATEGIES
        ]
        choices += [
            Choice(configuration, configuration, meaning, marked=configuration == here)
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
        """Two strategies one under the other; the other one is chosen. Once more: back."""
        wish = self.wish()
        if wish.other is not None:
            self.want(other=None)
            return
        others: dict[str, str] = {name: meaning for name, meaning in STRATEGIES.items() if name != wish.strategy}
        self._choose_named(f"Compare {wish.strategy} with", others, lambda name: self.want(other=name))

    def action_level(self) -> None:
        """Read the span at a level that is chosen."""
        span, name = self.span(), self.wish().conversation
        if span is not None:

            def read(level: Any) -> None:
                self.pane.ask(operations.conversation.restore(name, span.handle, level=level))

            self._choose_named(f"{span.handle} at which level?", RESTORE_LEVELS, read)

    def action_summary(self) -> None:
        """Read a summary, at a level that is chosen."""
        name = self.wish().conversation

        def read(level: Any) -> None:
            self.pane.ask(operations.conversation.show(name, view="summary", level=level))

        self._choose_named("A summary of what?", SUMMARY_LEVELS, read)

    def choose_conversation(self, conversations: Sequence[ConversationSummary]) -> None:
        """Choose one of the stored conversations."""
        if not conversations:
            self.pane.notify("`conversation add NAME FILE` keeps one.", title="No conversation yet")
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
        """Have the span in the context from now on; once more lets it go again. Where a request is looked at, the next
        one holds the span, or lets it go.
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
        """Have every context keep the span, that of the gateway's next request too; once more lets it go."""
        span, wish = self.span(), self.wish()
        if span is not None:
            self._keep(wish.conversation, span, drop=not wish.list_restored_handles(span) and is_restored(span))

    def _keep(self, conversation: str, span: ContextSpan | FateChange, *, drop: bool) -> None:
        context = self.context()
        budget = context.budget if context is not None else None
        self.pane.ask(operations.conversation.keep(conversation, span.handle, drop=drop, budget=budget))

    def tell_restored(self, before: OptimisedContext | None, after: OptimisedContext) -> None:
        """Say what came back, and what went instead; before: None where that is not to be told."""
        handle, self.restores = self.restores, ""
        if not handle or before is None:
            return
        gone = [f"#{number}" for number in sorted(_whole(before) - _whole(after))]
        handles = f"{', '.join(gone[:_NAMED])}{f' and {len(gone) - _NAMED:,} more' if gone[_NAMED:] else ''}"
        instead = f"Instead {handles} no longer {'go' if gone[1:] else 'goes'} whole." if gone else ""
        words = f"{after.tokens:,} of {after.budget:,} tokens. {instead}"
        self.pane.notify(words, title=f"{handle} is back", timeout=6)


def is_restored(span: ContextSpan | FateChange) -> bool:
    """Return whether a span stands in the context because somebody asked for it."""
    from amgs.types.conversation import ContextSpan

    return isinstance(span, ContextSpan) and span.because == "restored"


def _whole(context: OptimisedContext) -> set[int]:
    """Return the numbers of the messages that are kept as they are."""
    return {n for span in context.spans if span.fate == "kept" for n in range(span.first, span.last + 1)}
