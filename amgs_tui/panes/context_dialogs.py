"""What the conversation pane asks an operator: questions, budgets, strategies, levels, conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.render.figures.format import ago
from amgs_tui.dialogs.questions import Choice
from amgs_tui.panes.context_wish import CONFIGURATIONS, STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types.conversation import ContextSpan, ConversationSummary, FateChange, OptimisedContext
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


class ContextDialogs:
    """Lines that are typed and lists to choose from. wish: what is asked for; want: asks for something else; context:
    what came of it; span: the one under the cursor.
    """

    def __init__(
        self,
        pane: Pane,
        wish: Callable[[], ContextWish],
        want: Callable[..., None],
        context: Callable[[], OptimisedContext | None],
        span: Callable[[], ContextSpan | FateChange | None],
    ) -> None:
        self._pane = pane
        self._wish = wish
        self._want = want
        self._context = context
        self._span = span
        self._typing: Literal["query", "budget", "text"] = "query"

    # --- typed ----------------------------------------------------------------------------------------------

    def action_ask(self) -> None:
        self._typing = "query"
        hint = "What should the model answer? Blank: the last message of the user."
        self._ask_line("question", self._wish().query, hint=hint, replace=True, blank=True)

    def action_budget(self) -> None:
        self._typing = "budget"
        context = self._context()
        now = self._wish().budget if context is None else context.budget
        self._ask_line("budget in tokens", str(now or ""), replace=True)

    def action_check(self) -> None:
        self._typing = "text"
        self._ask_line(
            "text to check", hint="What does it say that was not said, and what does it leave out?"
        )

    def _ask_line(self, label: str, value: str = "", **how: Any) -> None:
        self._pane.host.ask_line(self._pane.NAME, label, value, **how)

    def take_answer(self, line: str) -> None:
        """The question, the budget or the text was entered."""
        number = line.replace(",", "").strip()
        if self._typing == "text":
            self._pane.ask(operations.conversation.validate(self._wish().conversation, line))
        elif self._typing == "query":
            self._want(query=line)
        elif number.isdecimal() and int(number) > 0:
            self._want(budget=int(number))
        else:
            words = "Give a number of tokens, such as 4000."
            self._pane.notify(words, title="No budget", severity="warning")

    # --- chosen ---------------------------------------------------------------------------------------------

    def _choose_named(self, title: str, named: Mapping[str, str], then: Callable[[str], object]) -> None:
        """One of the names, each with what it means."""
        self._pane.choose(title, [Choice(name, name, told) for name, told in named.items()], then)

    def action_strategy(self) -> None:
        """A strategy, or a configuration, which brings its own."""
        from amgs.types.conversation import CONTEXT_CONFIGURATIONS, CONTEXT_STRATEGIES

        wish = self._wish()
        here = wish.configuration
        choices = [
            Choice(name, name, STRATEGIES[name], marked=here == "default" and name == wish.strategy)
            for name in CONTEXT_STRATEGIES
        ]
        choices += [Choice(each, each, told, marked=each == here) for each, told in CONFIGURATIONS.items()]
        brought = {each: CONTEXT_CONFIGURATIONS[each].strategy for each in CONFIGURATIONS}

        def use(name: str) -> None:
            if name in brought:
                self._want(configuration=name, strategy=brought[name], other=None)
            else:
                self._want(configuration="default", strategy=name, other=None)

        self._pane.choose("Which strategy, or which configuration?", choices, use)

    def action_compare(self) -> None:
        """Two strategies one under the other; the other one is chosen. Once more: back."""
        wish = self._wish()
        if wish.other is not None:
            self._want(other=None)
            return
        others: dict[str, str] = {name: told for name, told in STRATEGIES.items() if name != wish.strategy}
        self._choose_named(f"Compare {wish.strategy} with", others, lambda name: self._want(other=name))

    def action_level(self) -> None:
        """Read the span at a level that is chosen."""
        span, name = self._span(), self._wish().conversation
        if span is not None:

            def read(level: Any) -> None:
                self._pane.ask(operations.conversation.restore(name, span.handle, level=level))

            self._choose_named(f"{span.handle} at which level?", RESTORE_LEVELS, read)

    def action_summary(self) -> None:
        """Read a summary, at a level that is chosen."""
        name = self._wish().conversation

        def read(level: Any) -> None:
            self._pane.ask(operations.conversation.show(name, view="summary", level=level))

        self._choose_named("A summary of what?", SUMMARY_LEVELS, read)

    def choose_conversation(self, held: Sequence[ConversationSummary]) -> None:
        """One of the conversations that are held."""
        if not held:
            self._pane.notify("`conversation add NAME FILE` keeps one.", title="No conversation yet")
            return
        now = self._pane.host.now()
        choices = [
            Choice(
                one.name,
                one.name,
                plural(one.messages, "message") + (f", {ago(one.last, now)}" if one.last is not None else ""),
                marked=one.name == self._wish().conversation,
            )
            for one in held
        ]
        self._pane.choose(
            "Which conversation?",
            choices,
            lambda name: self._want(conversation=name, query="", until=None, keep=()),
        )
