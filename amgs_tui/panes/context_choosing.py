"""The context of one conversation, asked for by keys: its question, budget, strategy and moment, and what must stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.render.figures.format import ago
from amgs_tui.keys import quiet, shown
from amgs_tui.panes.context_wish import CONFIGURATIONS, STRATEGIES, ContextWish, fate_of, last_of
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.types.conversation import (
        ContextComparison,
        ContextSpan,
        ConversationSummary,
        FateChange,
        OptimisedContext,
    )
    from amgs_app.results.memory import ConversationList
    from amgs_tui.host import Host
    from amgs_tui.messages import Failed, Origin

_NAMED: Final = 4
"""Messages that went for others, by their handles."""


class ContextChoosing(ListPane):
    """A pane over a context, with a cursor on one of its spans.

    wish: what is asked for; stood: the last one that could be. context: what came of it; comparison: with another
    strategy, None for none.
    """

    BINDINGS: ClassVar[list[Any]] = [
        shown("e", "ask", "question", "conversation.ask", "Change the question that the context is made for"),
        shown("b", "budget", "budget", "conversation.budget", "Change the budget, in tokens"),
        shown(
            "r", "restore", "restore", "conversation.restore", "Put it back into the context, or let it go"
        ),
        shown(
            "w", "why", "why", "conversation.why", "Why it is kept or not, and the smallest change that would"
        ),
        shown("enter", "read", "read", "conversation.read", "Read it in full, as it was said"),
        shown(
            "left_square_bracket",
            "scrub(-1)",
            "scrub",
            "conversation.earlier",
            "One message back; through the gateway: the request before",
        ),
        shown(
            "right_square_bracket",
            "scrub(1)",
            "scrub",
            "conversation.later",
            "One message on; through the gateway: the next request",
        ),
        shown(
            "m", "single", "messages", "conversation.single", "List each message, or neighbours as one span"
        ),
        shown(
            "a",
            "compare",
            "a/b",
            "conversation.compare",
            "Compare with another strategy at the same budget; once more: back",
        ),
        shown("f", "strategy", "strategy", "conversation.strategy", "Choose the strategy or a configuration"),
        shown("o", "choose", "open", "conversation.choose", "Choose a conversation"),
        shown("L", "live", "live", "conversation.live", "To the live end; follow the gateway"),
        quiet(
            "K",
            "keep",
            "keep",
            "conversation.keep",
            "Have every context keep it from now on, an agent's next request too; once more: no longer",
        ),
        quiet("left_curly_bracket", "scrub(-10)", "scrub", "conversation.earlier_10", "Ten back"),
        quiet("right_curly_bracket", "scrub(10)", "scrub", "conversation.later_10", "Ten on"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.listed: ConversationList | None = None
        self.context: OptimisedContext | None = None
        self.comparison: ContextComparison | None = None
        self.wish = self.stood = ContextWish()
        self.single = False
        """Whether each message is a row of its own."""
        self._restored = ""
        self.asked = False
        """Whether an answer to the wish is still to come."""
        self._typing: Literal["query", "budget", "text"] = "query"

    @property
    def held(self) -> ConversationSummary | None:
        """The conversation that is looked at, where it is still held."""
        every = self.listed.conversations if self.listed is not None else ()
        return next((one for one in every if one.name == self.wish.conversation), None)

    @property
    def length(self) -> int:
        """How many messages the conversation has."""
        return self.held.messages if self.held is not None else 0

    @property
    def unsifted(self) -> Sequence[ContextSpan]:
        """The spans of the context, or its messages one by one."""
        if self.context is None:
            return ()
        spans = self.context.spans
        return [one for span in spans for one in self.context.messages_of(span)] if self.single else spans

    @property
    def listed_spans(self) -> Sequence[ContextSpan]:
        """Those that the filter leaves."""
        every = self.unsifted
        return [every[place] for place in self.places] if self.sift else every

    @property
    def spans(self) -> Sequence[ContextSpan | FateChange]:
        """What is listed; where two contexts are compared, the runs of messages in which they differ."""
        if self.comparison is None:
            return self.listed_spans
        changes = self.comparison.changes
        return [changes[place] for place in self.places] if self.sift else changes

    @property
    def span(self) -> ContextSpan | FateChange | None:
        """The span under the cursor."""
        return self.spans[self.cursor] if 0 <= self.cursor < len(self.spans) else None

    # --- what is asked for -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("restore", "read", "why", "keep"):
            return self.span is not None
        if action in ("ask", "budget", "strategy", "scrub", "compare"):
            return bool(self.wish.conversation)
        return True

    def want(self, origin: Origin = "operator", **changed: Any) -> None:
        """Ask for another context; what cannot be is said, and the one before stays."""
        self.wish = replace(self.wish, **changed)
        self.look_again(origin)

    def look_again(self, origin: Origin = "screen") -> None:
        """Ask for the context that is wanted."""
        self.asked = True
        self.ask(self.wish.call, slot="conversation:context", origin=origin)

    def failed(self, failure: Failed) -> None:
        self._restored = ""
        if failure.request.slot == "conversation:context" and failure.request.origin == "operator":
            self.wish = self.stood
        super().failed(failure)

    def take_context(self, result: OptimisedContext, compared: ContextComparison | None) -> None:
        """Show a context, or the second of two that were compared."""
        self.asked = False
        if result.conversation != self.wish.conversation:  # the operator typed it
            self.wish = ContextWish(result.conversation, result.query, result.budget, result.strategy)
        self.wish = self.stood = replace(self.wish, other=compared.a.strategy if compared else None)
        if self._restored and self.context is not None and compared is None:
            self._say_restored(self.context, result)
        self._restored = ""
        self.place_cursor(result, compared)

    def place_cursor(self, result: OptimisedContext | None, compared: ContextComparison | None) -> None:
        """Take another context; the cursor stays with the message on which it stands."""
        span, before = self.span, self.context
        self.context, self.comparison = result, compared
        same = result is not None and before is not None and result.conversation == before.conversation
        if same:
            self.place_on(span.first if span is not None else 0)
        else:
            self.cursor = 0
            self.moved()

    def place_on(self, number: int) -> None:
        """Put the cursor on the row that has a message; where none has, it stays in its place."""
        here = (n for n, each in enumerate(self.spans) if each.first <= number <= each.last)
        self.cursor = next(here, min(self.cursor, max(0, self.rows - 1)))
        self.moved()

    def _say_restored(self, before: OptimisedContext, after: OptimisedContext) -> None:
        """What came back, and what went instead."""
        had, has = _whole(before), _whole(after)
        gone = [f"#{number}" for number in sorted(had - has)]
        told = f"{', '.join(gone[:_NAMED])}{f' and {len(gone) - _NAMED:,} more' if gone[_NAMED:] else ''}"
        instead = f"Instead {told} no longer {'go' if gone[1:] else 'goes'} whole." if gone else ""
        words = f"{after.tokens:,} of {after.budget:,} tokens. {instead}"
        self.notify(words, title=f"{self._restored} is back", timeout=6)

    # --- what the keys do -----------------------------------------------------------------------------------

    def action_ask(self) -> None:
        self._typing = "query"
        hint = "What should the model answer? Blank: the last message of the user."
        self.host.ask_line(self.NAME, "question", self.wish.query, hint=hint, replace=True, blank=True)

    def action_budget(self) -> None:
        self._typing = "budget"
        now = self.wish.budget if self.context is None else self.context.budget
        self.host.ask_line(self.NAME, "budget in tokens", str(now or ""), replace=True)

    def answered(self, line: str) -> None:
        if self._typing == "query":
            self.want(query=line)
        elif line.replace(",", "").strip().isdecimal() and int(line.replace(",", "")) > 0:
            self.want(budget=int(line.replace(",", "")))
        else:
            self.notify("Give a number of tokens, such as 4000.", title="No budget", severity="warning")

    def action_strategy(self) -> None:
        """Choose a strategy, or a configuration, which brings its own."""
        from amgs.types.context_settings import CONTEXT_CONFIGURATIONS
        from amgs.types.conversation import CONTEXT_STRATEGIES
        from amgs_tui.dialogs.chooser import Choice, Chooser

        here = self.wish.configuration
        choices = [
            Choice(name, name, STRATEGIES[name], marked=here == "default" and name == self.wish.strategy)
            for name in CONTEXT_STRATEGIES
        ]
        choices += [Choice(each, each, told, marked=each == here) for each, told in CONFIGURATIONS.items()]
        brought = {each: CONTEXT_CONFIGURATIONS[each].strategy for each in CONFIGURATIONS}

        def chose(name: str | None) -> None:
            if name in brought:
                self.want(configuration=name, strategy=brought[name], other=None)
            elif name is not None:
                self.want(configuration="default", strategy=name, other=None)

        self.app.push_screen(Chooser("Which strategy, or which configuration?", choices), chose)

    def action_choose(self) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        if self.listed is None or not self.listed.conversations:
            self.notify("`conversation add NAME FILE` keeps one.", title="No conversation yet")
            return
        now = self.host.now()
        choices = [
            Choice(
                one.name,
                one.name,
                plural(one.messages, "message") + (f", {ago(one.last, now)}" if one.last is not None else ""),
                marked=one.name == self.wish.conversation,
            )
            for one in self.listed.conversations
        ]

        def chose(name: str | None) -> None:
            if name is not None:
                self.want(conversation=name, query="", until=None, keep=())

        self.app.push_screen(Chooser("Which conversation?", choices), chose)

    def action_scrub(self, by: int) -> None:
        """The context as it stood some messages earlier or later."""
        size = self.length
        place = max(1, min(size, (self.wish.until or size) + by))
        keep = tuple(one for one in self.wish.keep if last_of(one) <= place)
        self.want("screen", until=None if place == size else place, keep=keep)

    def action_live(self) -> None:
        """The context as it stands after the last message."""
        self.want("screen", until=None)

    def action_restore(self) -> None:
        """Have the span in the context from now on; once more lets it go again."""
        span = self.span
        if span is None:
            return
        mine = [one for one in self.wish.keep if span.first <= last_of(one) <= span.last]
        if mine:
            self.want(keep=tuple(one for one in self.wish.keep if one not in mine))
        elif fate_of(span) == "kept":
            self.notify("It goes to the model as it is.", title=f"{span.handle} is in the context", timeout=3)
        else:
            self._restored = span.handle
            self.want(keep=(*self.wish.keep, span.handle))

    def action_keep(self) -> None:
        """Have every context keep the span, that of the gateway's next request too; once more lets it go."""
        span = self.span
        if span is not None:
            mine = any(span.first <= last_of(one) <= span.last for one in self.wish.keep)
            drop = not mine and getattr(span, "because", "") == "restored"
            budget = self.context.budget if self.context is not None else None
            keep = operations.conversation.keep
            self.ask(keep(self.wish.conversation, span.handle, drop=drop, budget=budget))

    def action_single(self) -> None:
        """List each message, or neighbours with the same fate as one; the cursor stays with its message."""
        span = self.span
        self.single = not self.single
        self.place_on(span.first if span is not None else 0)
        self._say()
        self.repaint()

    def action_read(self) -> None:
        """Every message of the span, whole, with what their words mean below."""
        if self.span is not None:
            size = self.span.last - self.span.first + 1
            show = operations.conversation.show
            self.ask(show(self.wish.conversation, self.span.handle, limit=size, view="mentions"))

    def action_why(self) -> None:
        span, wish = self.span, self.wish
        if span is not None and self.context is not None:
            self.ask(
                operations.conversation.why(
                    wish.conversation,
                    span.handle,
                    self.context.query,
                    budget=self.context.budget,
                    strategy=wish.strategy,
                    configuration=wish.configuration,
                    until=wish.until,
                    keep=list(wish.keep) or None,
                )
            )

    def action_compare(self) -> None:
        """Two strategies one under the other; the other one is chosen."""
        from amgs.types.conversation import CONTEXT_STRATEGIES
        from amgs_tui.dialogs.chooser import Choice, Chooser

        others = [name for name in CONTEXT_STRATEGIES if name != self.wish.strategy]
        if self.wish.other is not None:
            self.want(other=None)
        else:

            def chose(name: str | None) -> None:
                if name is not None:
                    self.want(other=name)

            title = f"Compare {self.wish.strategy} with"
            self.app.push_screen(
                Chooser(title, [Choice(name, name, STRATEGIES[name]) for name in others]), chose
            )


def _whole(context: OptimisedContext) -> set[int]:
    """The numbers of the messages that are kept as they are."""
    return {n for span in context.spans if span.fate == "kept" for n in range(span.first, span.last + 1)}
