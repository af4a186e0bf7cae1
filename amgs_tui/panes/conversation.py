"""8 Conversation: what of a conversation a model reads, what became of the rest, and how to have it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from rich.text import Text

from amgs_app import operations
from amgs_app.render.figures.canvas import Canvas, Figure
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import ago, plural
from amgs_app.row_fields import of_changes, of_spans
from amgs_tui.keys import quiet, shown
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.types.conversation import (
        ContextComparison,
        ContextSpan,
        ContextStrategy,
        ConversationSummary,
        FateChange,
        Message,
        OptimisedContext,
        SpanFate,
    )
    from amgs_app.calls.call import Call
    from amgs_app.gateway_exchange import GatewayExchange
    from amgs_app.results import ConversationList, ExchangeList
    from amgs_app.row_filter import Row
    from amgs_tui.host import Host
    from amgs_tui.messages import Failed, Origin

EXCHANGES: Final = 50
"""Requests through a gateway that can be gone through."""
PREVIEW: Final = 20
"""Messages of a span that are read at most to be shown beside it."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the operator wants to see. until: after which message, None for the last. keep: handles of what was
    restored. other: the strategy to compare with, None for none.
    """

    conversation: str = ""
    query: str = ""
    budget: int | None = None
    strategy: ContextStrategy = "extractive"
    until: int | None = None
    keep: tuple[str, ...] = ()
    other: ContextStrategy | None = None

    @property
    def call(self) -> Call[Any]:
        if self.other is not None:
            return operations.conversation.compare(
                self.conversation,
                self.query,
                budget=self.budget,
                a=self.other,
                b=self.strategy,
                until=self.until,
                keep=list(self.keep) or None,
            )
        return operations.conversation.optimise(
            self.conversation,
            self.query,
            budget=self.budget,
            strategy=self.strategy,
            until=self.until,
            keep=list(self.keep) or None,
        )


class ConversationPane(ListPane):
    """The context of one conversation, or what a model was sent through the gateway.

    wish: what is asked for; stood: the last one that could be. exchange: the request through the gateway that is looked
    at, None for none. follows: whether the newest request takes its place.
    """

    NAME = "conversation"
    SHOWS = frozenset(
        {
            "conversation list",
            "conversation optimise",
            "conversation compare",
            "conversation show",
            "conversation exchanges",
        }
    )
    PURPOSE = """\
What of a conversation a model should read for a question, within a budget of tokens. The strip is the whole history:
each message kept, digested, masked to one line, or dropped; under it how likely each is needed. Every span has its
handle, its tokens and the reason for its fate; the ledger says what each stage took and added. [ and ] go through the
history: the context as it stood after each message. r puts a span back into the context. With a gateway the pane
follows the agents: what the model had in front of it when it answered, and what it said."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("e", "ask", "question", "conversation.ask", "Change the question that the context is made for"),
        shown("b", "budget", "budget", "conversation.budget", "Change the budget, in tokens"),
        shown("s", "strategy", "strategy", "conversation.strategy", "Choose the strategy"),
        shown("o", "choose", "open", "conversation.choose", "Choose a conversation"),
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
        quiet("left_curly_bracket", "scrub(-10)", "scrub", "conversation.earlier_10", "Ten back"),
        quiet("right_curly_bracket", "scrub(10)", "scrub", "conversation.later_10", "Ten on"),
        shown("L", "live", "live", "conversation.live", "To the live end; follow the gateway"),
        shown(
            "r",
            "restore",
            "restore",
            "conversation.restore",
            "Put this span back into the context, or let it go",
        ),
        shown(
            "enter", "read", "read", "conversation.read", "Read the messages of this span as they were said"
        ),
        shown(
            "w",
            "why",
            "why",
            "conversation.why",
            "Why this span is kept or not, and the smallest change that would keep it",
        ),
        shown(
            "a",
            "compare",
            "a/b",
            "conversation.compare",
            "Compare with another strategy at the same budget; once more: back",
        ),
        shown("x", "exchanges", "requests", "conversation.exchanges", "Choose a request through the gateway"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.listed: ConversationList | None = None
        self.through: ExchangeList | None = None
        self.context: OptimisedContext | None = None
        self.comparison: ContextComparison | None = None
        self.exchange: GatewayExchange | None = None
        self.wish = self.stood = Wish()
        self.follows = True
        self.originals: tuple[Message, ...] = ()
        self._typing: Literal["query", "budget"] = "query"
        self._asked = self._late = False

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.gateway.exchanges(limit=EXCHANGES), operations.conversation.conversations()]

    def look(self) -> None:
        """As every pane; without a place too, it asks whether there is a conversation by now."""
        super().look()
        if self.stale:
            self.ask(operations.conversation.conversations(), origin="screen")

    def take(self, command: str, result: Any) -> None:
        match command:
            case "conversation list":
                self._take_list(result)
            case "conversation exchanges":
                self._take_exchanges(result)
            case "conversation optimise":
                self._take_context(result, None)
            case "conversation compare":
                self._take_context(result.b, result)
            case "conversation show":
                self._take_originals(result.conversation, result.messages)

    def _take_list(self, result: ConversationList) -> None:
        self.listed = result
        names = [one.name for one in result.conversations]
        if self.wish.conversation not in names:
            newest = max(result.conversations, key=_last, default=None)
            self.wish = self.stood = Wish(newest.name if newest is not None else "")
            self.context, self.originals = None, ()
        if self.wish.conversation and self.exchange is None and self.has_place:
            self._look_again()

    def _take_exchanges(self, result: ExchangeList) -> None:
        self.through = result
        if self.follows and result.exchanges:
            self._show_exchange(result.exchanges[0])

    def _take_context(self, result: OptimisedContext, compared: ContextComparison | None) -> None:
        late, self._asked, self._late = self._late, False, False
        if late and self.exchange is not None:
            return  # it was asked for before the request came that is looked at now
        if result.conversation != self.wish.conversation:  # the operator typed it
            self.wish = Wish(result.conversation, result.query, result.budget, result.strategy)
        self.wish = self.stood = replace(self.wish, other=compared.a.strategy if compared else None)
        self.exchange = None
        self._place_cursor(result, compared)

    def _show_exchange(self, exchange: GatewayExchange) -> None:
        if self.exchange is not None and self.exchange.number == exchange.number:
            return
        self.exchange, self._late = exchange, self._asked
        if exchange.conversation:
            self.wish = self.stood = replace(
                Wish(exchange.conversation),
                query=exchange.asked,
                budget=exchange.context.budget if exchange.context is not None else None,
                strategy=exchange.context.strategy if exchange.context is not None else "extractive",
                until=exchange.context.spans[-1].last
                if exchange.context and exchange.context.spans
                else None,
            )
        self._place_cursor(exchange.context, None)

    def _place_cursor(self, result: OptimisedContext | None, compared: ContextComparison | None) -> None:
        """Take another context; the cursor stays with the message on which it stands."""
        span, before = self.span, self.context
        self.context, self.comparison = result, compared
        same = result is not None and before is not None and result.conversation == before.conversation
        number = span.first if span is not None and same else 0
        here = (n for n, each in enumerate(self.spans) if each.first <= number <= each.last)
        last = max(0, self.rows - 1)
        self.cursor = next(here, min(self.cursor, last) if same else 0)
        self.moved()

    def _take_originals(self, conversation: str, messages: Sequence[Message]) -> None:
        span = self.span
        fits = span is not None and messages and messages[0].number == span.first
        if conversation == self.wish.conversation and fits:
            self.originals = tuple(messages)

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return (
            self.context is None and self.exchange is None and not (self.listed and self.listed.conversations)
        )

    @property
    def spans(self) -> Sequence[ContextSpan | FateChange]:
        """The spans that the filter leaves, or the runs of messages in which two contexts differ."""
        every: Sequence[ContextSpan | FateChange] = self.context.spans if self.context is not None else ()
        if self.comparison is not None:
            every = self.comparison.changes
        return [every[place] for place in self.places] if self.sift else every

    @property
    def span(self) -> ContextSpan | FateChange | None:
        """The span under the cursor."""
        return self.spans[self.cursor] if 0 <= self.cursor < len(self.spans) else None

    def all_rows(self) -> Sequence[Row]:
        if self.comparison is not None:
            return of_changes(self.comparison.changes)
        return of_spans(self.context.spans) if self.context is not None else ()

    @property
    def rows(self) -> int:
        return len(self.spans)

    def sifted(self) -> None:
        self.cursor = 0
        self.moved()

    def moved(self) -> None:
        """Read what the span under the cursor says, unless that is here already."""
        span = self.span
        if span is None or not self.wish.conversation:
            self.originals = ()
            return
        last = min(span.last, span.first + PREVIEW - 1)
        if [m.number for m in self.originals] != list(range(span.first, last + 1)):
            self.originals = ()
            self.ask(
                operations.conversation.show(self.wish.conversation, f"#{span.first}-{last}"), origin="screen"
            )

    def move_to(self, row: int) -> None:
        self.follows = False  # what is being read is not taken away
        super().move_to(row)

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return self._figure(self.canvas()).rows if self.context is not None else {}

    # --- drawing --------------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.exchange is not None:
            newest = self.through.exchanges[0].number if self.through and self.through.exchanges else 0
            newer = newest - self.exchange.number
            if newer > 0:
                return f"request {self.exchange.number} · {plural(newer, 'newer request')}: L follows"
            return f"request {self.exchange.number} · {'following' if self.follows else 'L follows'}"
        if self.comparison is not None:
            return "A above, B below · a back · [ ] scrub"
        kept = f"{', '.join(self.wish.keep)} restored · " if self.wish.keep else ""
        return f"{kept}[ ] scrub · r restores" if self.context is not None else kept

    def draw(self, canvas: Canvas) -> Text:
        if self.exchange is not None and self.context is None:
            words = f"Request {self.exchange.number} went on as it came: {self.exchange.untouched}."
            return notice(canvas, self.exchange.asked, (), f"{words} The model said: {self.exchange.said}")
        if self.context is None and self.wish.conversation:
            return notice(canvas, "Conversation", (), self.waits)
        if self.context is None:
            keys = (":conversation add NAME FILE", "amgs gateway --upstream URL")
            words = "A conversation is kept word for word; here you see what of it a model reads, and why."
            return notice(canvas, "No conversation yet", keys, words)
        return self._figure(canvas).render()

    def _figure(self, canvas: Canvas) -> Figure:
        from amgs_app.render.figures import conversation, conversation_comparison

        places = self.places if self.sift else None
        if self.comparison is not None:
            return conversation_comparison.figure(
                self.comparison, canvas, self.cursor, places, self.originals
            )
        assert self.context is not None
        exchange = self.exchange
        return conversation.figure(
            self.context,
            canvas,
            self.cursor,
            places,
            None if exchange is not None else self._length,
            self.originals,
            exchange.said if exchange is not None else None,
            f"request {exchange.number}" if exchange is not None else "",
        )

    @property
    def _summary(self) -> ConversationSummary | None:
        every = self.listed.conversations if self.listed is not None else ()
        return next((one for one in every if one.name == self.wish.conversation), None)

    @property
    def _length(self) -> int:
        """How many messages the conversation has."""
        return self._summary.messages if self._summary is not None else 0

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("restore", "read", "why"):
            return self.span is not None
        if action in ("ask", "budget", "strategy", "scrub", "compare"):
            return bool(self.wish.conversation)
        if action == "exchanges":
            return self.through is not None and self.through.served
        return True

    def _want(self, origin: Origin = "operator", **changed: Any) -> None:
        """Ask for another context; what cannot be is said, and the one before stays."""
        self.follows = False
        self.wish = replace(self.wish, **changed)
        self._look_again(origin)

    def _look_again(self, origin: Origin = "screen") -> None:
        self._asked, self._late = True, False
        self.ask(self.wish.call, slot="conversation:context", origin=origin)

    def failed(self, failure: Failed) -> None:
        if failure.request.slot == "conversation:context" and failure.request.origin == "operator":
            self.wish = self.stood
        super().failed(failure)

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
            self._want(query=line)
        elif line.replace(",", "").strip().isdecimal() and int(line.replace(",", "")) > 0:
            self._want(budget=int(line.replace(",", "")))
        else:
            self.notify("Give a number of tokens, such as 4000.", title="No budget", severity="warning")

    def action_strategy(self) -> None:
        from amgs.types.conversation import CONTEXT_STRATEGIES
        from amgs_tui.dialogs.chooser import Choice, Chooser

        choices = [Choice(name, name, marked=name == self.wish.strategy) for name in CONTEXT_STRATEGIES]

        def chose(name: str | None) -> None:
            if name is not None:
                self._want(strategy=name, other=None)

        self.app.push_screen(Chooser("Which strategy?", choices), chose)

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
                self.exchange = None
                self._want(conversation=name, query="", until=None, keep=())

        self.app.push_screen(Chooser("Which conversation?", choices), chose)

    def action_scrub(self, by: int) -> None:
        """The context as it stood some messages earlier or later, or another request."""
        if self.exchange is not None and self.through is not None:
            self._walk_exchanges(by)
            return
        size = self._length
        place = max(1, min(size, (self.wish.until or size) + by))
        keep = tuple(one for one in self.wish.keep if _last_of(one) <= place)
        self._want("screen", until=None if place == size else place, keep=keep)

    def _walk_exchanges(self, by: int) -> None:
        every = self.through.exchanges if self.through is not None else ()
        place = next((n for n, one in enumerate(every) if one is self.exchange), 0)
        self.follows = False
        self._show_exchange(every[max(0, min(len(every) - 1, place - by))])
        self._say()
        self.repaint()

    def action_live(self) -> None:
        """To the last message, or to the newest request."""
        if self.through is not None and self.through.exchanges:
            self.follows = True
            self._show_exchange(self.through.exchanges[0])
            self._say()
            self.repaint()
        else:
            self._want("screen", until=None)

    def action_restore(self) -> None:
        """Show what the span says, and have it in the context from now on; once more lets it go again."""
        span = self.span
        if span is None:
            return
        mine = [one for one in self.wish.keep if span.first <= _last_of(one) <= span.last]
        if mine:
            self._want(keep=tuple(one for one in self.wish.keep if one not in mine))
        elif fate_of(span) == "kept":
            self.notify("It goes to the model as it is.", title=f"{span.handle} is in the context", timeout=3)
        else:
            self._want(keep=(*self.wish.keep, span.handle))
            self.ask(operations.conversation.restore(self.wish.conversation, span.handle))

    def action_read(self) -> None:
        if self.span is not None:
            self.ask(operations.conversation.restore(self.wish.conversation, self.span.handle))

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
                    until=wish.until,
                    keep=list(wish.keep) or None,
                )
            )

    def action_compare(self) -> None:
        """Two strategies one under the other; with more than two there are, the other one is chosen."""
        from amgs.types.conversation import CONTEXT_STRATEGIES
        from amgs_tui.dialogs.chooser import Choice, Chooser

        others = [name for name in CONTEXT_STRATEGIES if name != self.wish.strategy]
        if self.wish.other is not None:
            self._want(other=None)
        elif len(others) == 1:
            self._want(other=others[0])
        else:

            def chose(name: str | None) -> None:
                if name is not None:
                    self._want(other=name)

            title = f"Compare {self.wish.strategy} with"
            self.app.push_screen(Chooser(title, [Choice(name, name) for name in others]), chose)

    def action_exchanges(self) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        every = self.through.exchanges if self.through is not None else ()
        choices = [
            Choice(
                str(one.number),
                f"{one.number} {one.asked}",
                f"{one.context.tokens:,} of {one.context.history:,} tok" if one.context else one.untouched,
                marked=one is self.exchange,
            )
            for one in every
        ]

        def chose(number: str | None) -> None:
            for one in every:
                if str(one.number) == number:
                    self.follows = one is every[0]
                    self._show_exchange(one)
                    self._say()
                    self.repaint()

        if choices:
            self.app.push_screen(Chooser("Which request?", choices), chose)
        else:
            self.notify("No agent has asked anything yet.", title="No requests")

    def shown_to_operator(self, command: str, result: Any) -> None:
        """What the operator typed themselves is shown, whatever the pane does with it."""
        if command == "conversation list":
            self.action_choose()
        elif command == "conversation exchanges" and result.served:
            self.action_exchanges()
        elif command == "conversation show":
            from amgs_app.render.catalogue import page_of
            from amgs_tui.dialogs.reader import TextReader

            host = self.host
            self.app.push_screen(
                TextReader(command, lambda wide: page_of(result, host.canvas(wide, 1), host.now()))
            )


def fate_of(span: ContextSpan | FateChange) -> SpanFate:
    """What becomes of messages; in a comparison, under the strategy that is looked at."""
    return span.fate if hasattr(span, "fate") else span.after


def _last(one: ConversationSummary) -> tuple[bool, float]:
    """Conversations in the order of their last messages; those of unknown time first."""
    return one.last is not None, one.last.timestamp() if one.last is not None else 0.0


def _last_of(handle: str) -> int:
    """The number of the last message of a handle."""
    return int(handle.lstrip("#").rpartition("-")[2])
