"""8 Conversation: which parts of a conversation a model reads, what became of the rest, and how to restore it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text

from amgs_app import operations
from amgs_app.conversation.rows import CHANGES, SPANS
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.glyphs import notice
from amgs_tui.keys import hide, show
from amgs_tui.panes.context_asking import ContextAsking, ContextView, ContextWish, last_of, title_of, view_of
from amgs_tui.panes.exchange_following import EXCHANGES, GatewayFollower, explain_untouched
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.types.conversation import (
        ContextComparison,
        ContextSpan,
        ConversationSummary,
        FateChange,
        Message,
        OptimisedContext,
    )
    from amgs.types.conversation_views import ResolvedMention
    from amgs.types.gateway import GatewayExchange
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_app.results.memory import ConversationList, ConversationShown
    from amgs_tui.host import Host
    from amgs_tui.messages import Failed, Origin


BINDINGS: Final[list[Any]] = [
    show("e", "ask", "question", "conversation.ask", "Change the question that the context is made for"),
    show("b", "budget", "budget", "conversation.budget", "Change the budget, in tokens"),
    show("r", "restore", "restore", "conversation.restore", "Put it back into the context, or let it go"),
    show("w", "why", "why", "conversation.why", "Why it is kept or not, and the smallest change that would"),
    show("enter", "read", "read", "conversation.read", "Read it in full, as it was said"),
    show("left_square_bracket", "scrub(-1)", "scrub", "conversation.earlier", "One message back, or one request"),
    show("right_square_bracket", "scrub(1)", "scrub", "conversation.later", "One message on, or one request"),
    show("m", "single", "messages", "conversation.single", "List each message, or neighbours as one span"),
    show("a", "compare", "a/b", "conversation.compare", "Compare with another strategy; again: back"),
    show("f", "strategy", "strategy", "conversation.strategy", "Choose the strategy or a configuration"),
    show("o", "choose", "open", "conversation.choose", "Choose a conversation"),
    show("L", "live", "live", "conversation.live", "To the live end; follow the gateway"),
    hide("K", "keep", "keep", "conversation.keep", "Have every context keep it from now on; again: no longer"),
    hide("left_curly_bracket", "scrub(-10)", "scrub", "conversation.earlier_10", "Ten back"),
    hide("right_curly_bracket", "scrub(10)", "scrub", "conversation.later_10", "Ten on"),
    *ListPane.BINDINGS,
    hide("l", "level", "level", "conversation.level", "Read the span at a level, from findings to all"),
    hide("S", "summary", "summary", "conversation.summary", "Read a summary in its own words"),
    hide("C", "check", "check", "conversation.check", "Hold a text, as a model's summary, against the conversation"),
    hide("N", "resolve", "names", "conversation.resolve", "Read what its words mean, where that waits"),
    show("s", "exchanges", "requests", "conversation.exchanges", "Choose a request through the gateway"),
    show("v", "view", "view", "conversation.view", "What stands beside the spans: words, what survives, topics, names"),
]


PREVIEW: Final = 20
"""Most messages of a span that are read to be shown beside it."""
_OF_SPAN: Final = frozenset({"restore", "read", "why", "keep", "level"})
_OF_CONVERSATION: Final = frozenset({"ask", "budget", "strategy", "scrub", "compare", "summary", "check", "resolve"})
"""Actions that need a span (`_OF_SPAN`) or a conversation."""


class ConversationPane(ListPane):
    """The context of a conversation, or what a model was sent through the gateway, with a cursor on a span.

    wish: what is requested; stood: the last wish that was fulfilled. context: its result; comparison: with another
    strategy, None for none. beside: the view beside the spans; gateway: chooses the request on view.
    """

    NAME = "conversation"
    SHOWS = frozenset({"conversation list", "conversation optimise", "conversation show", "conversation exchanges"})
    PURPOSE = """\
What a model should read of a conversation for a question, within a budget of tokens. The strip is the whole history:
each message is kept, digested, masked to one line, or dropped; below is how likely each is to be needed. Every span has
its handle, its tokens and the reason for its fate; the ledger says what each stage took and added. [ and ] go through
the history: the context as it was after each message. r puts a span back into the context. With a gateway the pane
follows the agents: what the model had in front of it when it answered, and what it said."""

    BINDINGS: ClassVar[list[Any]] = BINDINGS

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.listed: ConversationList | None = None
        self.context: OptimisedContext | None = None
        self.comparison: ContextComparison | None = None
        self.wish = self.stood = ContextWish()
        self.single = False
        """Whether each message has a row of its own."""
        self.asked = False
        """Whether the answer to the wish is still awaited."""
        self.originals: tuple[Message, ...] = ()
        self.mentions: tuple[ResolvedMention, ...] = ()
        """What words of the originals refer to."""
        self.beside = ContextView()
        self.gateway = GatewayFollower(self)
        self.asking = ContextAsking(
            self, lambda: self.wish, self.want, lambda: self.context, lambda: self.span, lambda: self.gateway.exchange
        )
        self.adopt(self.gateway)
        self.adopt(self.asking)

    @property
    def held(self) -> ConversationSummary | None:
        """The conversation on view, if it is still stored."""
        every = self.listed.conversations if self.listed is not None else ()
        return next((conversation for conversation in every if conversation.name == self.wish.conversation), None)

    @property
    def length(self) -> int:
        """Number of messages in the conversation."""
        return self.held.messages if self.held is not None else 0

    @property
    def unsifted(self) -> Sequence[ContextSpan]:
        """Spans of the context, or its single messages."""
        if self.context is None:
            return ()
        spans = self.context.spans
        return [message for span in spans for message in self.context.messages_of(span)] if self.single else spans

    @property
    def listed_spans(self) -> Sequence[ContextSpan]:
        """Spans that the filter leaves."""
        return self.sift_rows(self.unsifted)

    @property
    def spans(self) -> Sequence[ContextSpan | FateChange]:
        """Listed spans; in a comparison, the runs of messages in which the contexts differ."""
        if self.comparison is None:
            return self.listed_spans
        return self.sift_rows(self.comparison.changes)

    @property
    def span(self) -> ContextSpan | FateChange | None:
        """Span under the cursor."""
        return self.at_cursor(self.spans)

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.traffic.exchanges(limit=EXCHANGES), operations.conversation.conversations()]

    def look(self) -> None:
        """Refresh the pane; if it is not visible, ask whether there are conversations by now."""
        super().look()
        if self.stale:
            self.originals = ()  # what their words refer to may be known by now
            self.ask(operations.conversation.conversations(), origin="screen")

    def take(self, result: object) -> None:
        from amgs.types.conversation import ContextComparison, OptimisedContext
        from amgs.types.gateway import GatewayExchange
        from amgs_app.results.memory import ConversationList, ConversationShown, ExchangeList

        match result:
            case ConversationList():
                self._take_list(result)
            case ExchangeList():
                self.gateway.take(result)
            case GatewayExchange():
                self._take_exchange(result)
            case OptimisedContext():
                self.take_context(result, None)
            case ContextComparison():
                self.take_context(result.b, result)
            case ConversationShown():
                self._take_originals(result)
            case _:
                self.beside.take(result, self.wish.conversation)

    def _take_list(self, result: ConversationList) -> None:
        self.listed = result
        names = [conversation.name for conversation in result.conversations]
        if self.wish.conversation not in names:
            newest = max(result.conversations, key=_last, default=None)
            self.wish = self.stood = ContextWish(newest.name if newest is not None else "")
            self.context, self.originals = None, ()
        if self.wish.conversation and self.gateway.exchange is None and self.has_place:
            self.look_again()

    def _take_originals(self, shown: ConversationShown) -> None:
        span, messages = self.span, shown.messages
        fits = span is not None and messages and messages[0].number == span.first
        if shown.conversation == self.wish.conversation and fits:
            self.originals, self.mentions = messages, shown.mentions

    def _take_exchange(self, exchange: GatewayExchange) -> None:
        """Show what a model was sent."""
        wish = self.gateway.look_at(exchange, asked=self.asked)
        if wish is not None:
            self.wish = self.stood = wish
        self.place_cursor(exchange.context, None)

    def take_context(self, result: OptimisedContext, compared: ContextComparison | None) -> None:
        """Show a context, or the second of two that were compared.

        A context requested before a gateway request came on view is dropped.
        """
        asked, self.asked = self.asked, False
        late, self.gateway.late = self.gateway.late, False
        if late and self.gateway.exchange is not None:
            return
        self.gateway.exchange = None
        if not asked or result.conversation != self.wish.conversation:  # the operator typed it
            self.wish = ContextWish(result.conversation, result.query, result.budget, result.strategy)
        self.wish = self.stood = replace(self.wish, other=compared.a.strategy if compared else None)
        self.asking.tell_restored(self.context if compared is None else None, result)
        self.place_cursor(result, compared)

    def receive_failure(self, failure: Failed) -> None:
        self.asking.restores = ""
        if failure.request.slot == "conversation:context" and failure.request.origin == "operator":
            self.wish = self.stood
        super().receive_failure(failure)

    def place_cursor(self, result: OptimisedContext | None, compared: ContextComparison | None) -> None:
        """Show another context; the cursor stays on its message."""
        span, before = self.span, self.context
        self.context, self.comparison = result, compared
        same = result is not None and before is not None and result.conversation == before.conversation
        if same:
            self.place_on_message(span.first if span is not None else 0)
        else:
            self.cursor = 0
            self.follow_cursor()
        self._ask_view()

    def place_on_message(self, number: int) -> None:
        """Put the cursor on the row that contains a message; without one, it stays."""
        self.clip_cursor()
        self.place_on(span.first <= number <= span.last for span in self.spans)
        self.follow_cursor()

    # --- what is asked for -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in _OF_SPAN:
            return self.span is not None
        if action in _OF_CONVERSATION:
            return bool(self.wish.conversation)
        return action != "exchanges" or self.gateway.served or bool(self.gateway.requests)

    def want(self, origin: Origin = "operator", **changed: Any) -> None:
        """Request another context; if that fails, the error is reported and the present context stays."""
        self.gateway.follows = False
        if "conversation" in changed:
            self.gateway.exchange = None
        self.wish = replace(self.wish, **changed)
        self.look_again(origin)

    def look_again(self, origin: Origin = "screen") -> None:
        """Request the wanted context."""
        self.gateway.late = False
        self.asked = True
        self.ask(self.wish.call, slot="conversation:context", origin=origin)

    def _ask_view(self) -> None:
        call = self.beside.call(self.wish, self.context)
        if call is not None:
            self.ask(call, slot="conversation:view", origin="screen")

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return (
            self.context is None and self.gateway.exchange is None and not (self.listed and self.listed.conversations)
        )

    def all_rows(self) -> Sequence[Row]:
        if self.comparison is not None:
            return CHANGES.of("", self.comparison.changes).fields
        return SPANS.of("", self.unsifted).fields

    @property
    def rows(self) -> int:
        return len(self.spans)

    def follow_cursor(self) -> None:
        """Read the messages of the span under the cursor, unless they are loaded."""
        span = self.span
        if span is None or not self.wish.conversation:
            self.originals = ()
            return
        last = min(span.last, span.first + PREVIEW - 1)
        if [m.number for m in self.originals] != list(range(span.first, last + 1)):
            self.originals = ()
            self.ask(
                operations.conversation.show(self.wish.conversation, f"#{span.first}-{last}", view="mentions"),
                origin="screen",
            )

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return self._figure(self.canvas()).rows if self.context is not None else {}

    def move_to(self, row: int) -> None:
        self.gateway.follows = False  # no newer request replaces what is being read
        super().move_to(row)

    # --- drawing --------------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.gateway.exchange is not None:
            return self.gateway.describe(self.gateway.exchange)
        if self.comparison is not None:
            return "A above, B below · a back · [ ] scrub"
        prefix = f"{', '.join(self.wish.keep)} restored · " if self.wish.keep else ""
        if self.wish.configuration != "default":
            prefix = f"{self.wish.configuration} · {prefix}"
        if self.context is None:
            return prefix
        if self.context.count("kept") == sum(span.last - span.first + 1 for span in self.context.spans):
            return f"{prefix}everything fits · b gives a smaller budget"
        return f"{prefix}[ ] scrub · m {'spans' if self.single else 'each message'} · v {self.beside.next}"

    def draw(self, canvas: Canvas) -> Text:
        exchange = self.gateway.exchange
        if exchange is not None and self.context is None:
            return notice(canvas, exchange.asked, (), explain_untouched(exchange))
        if self.context is None and self.wish.conversation:
            return notice(canvas, "Conversation", (), self.waits)
        if self.context is None and self.gateway.served:
            words = "The gateway runs. What a model reads is shown here as soon as an agent asks it something."
            return notice(canvas, "No request yet", (), words)
        if self.context is None:
            keys = (":conversation add NAME FILE", "amgs gateway --upstream URL")
            words = "A conversation is kept word for word; here you see which parts of it a model reads, and why."
            return notice(canvas, "No conversation yet", keys, words)
        return self._figure(canvas).render()

    def _figure(self, canvas: Canvas) -> Figure:
        from amgs_app.conversation import figure as conversation

        if self.comparison is not None:
            changes = self.sift_rows(self.comparison.changes)
            return conversation.compare(self.comparison, canvas, changes, self.cursor, self.originals)
        assert self.context is not None
        exchange = self.gateway.exchange
        return conversation.figure(
            self.context,
            canvas,
            self.cursor,
            self.listed_spans,
            None if exchange is not None else self.length,
            self.originals,
            exchange.said if exchange is not None else None,
            f"request {exchange.number}" if exchange is not None else "",
            self.beside.drawn,
            self.mentions,
        )

    # --- what the keys do -----------------------------------------------------------------------------------

    def action_choose(self) -> None:
        self.asking.choose_conversation(self.listed.conversations if self.listed is not None else ())

    def action_scrub(self, by: int) -> None:
        """Show the context some messages earlier or later; with a gateway request on view, show another request."""
        if self.gateway.exchange is not None and self.gateway.through is not None:
            self.gateway.go_to(self.gateway.beside(by), follow=False)
            return
        size = self.length
        place = max(1, min(size, (self.wish.until or size) + by))
        keep = tuple(handle for handle in self.wish.keep if last_of(handle) <= place)
        self.want("screen", until=None if place == size else place, keep=keep)

    def action_live(self) -> None:
        """Go to the newest request, if any; else to the context after the last message."""
        if self.gateway.requests:
            self.gateway.go_to(self.gateway.requests[0].number, follow=True)
        else:
            self.want("screen", until=None)

    def action_single(self) -> None:
        """List each message, or neighbours with the same fate together; the cursor stays with its message."""
        span = self.span
        self.single = not self.single
        self.place_on_message(span.first if span is not None else 0)
        self.show_change()

    def action_read(self) -> None:
        """Read every message of the span in full, followed by what its words refer to."""
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

    def action_resolve(self) -> None:
        self.ask(operations.conversation.resolve(self.wish.conversation))

    def action_view(self) -> None:
        """Show the next view."""
        self.beside.turn()
        self._ask_view()
        self.show_change()

    def show_to_operator(self, command: str, result: object) -> None:
        """Show the result of a typed command, by a list of choices, a view or a page."""
        from amgs.types.conversation import ContextComparison
        from amgs_app.results.memory import ConversationList, ExchangeList

        if isinstance(result, ConversationList):
            self.action_choose()
        elif isinstance(result, ExchangeList) and result.exchanges:
            self.gateway.action_exchanges()
        elif self.beside.turn_to(result, self.wish.conversation):
            self.repaint()
        elif (command == "conversation show" and not isinstance(result, ContextComparison)) or view_of(result):
            self.host.show_page(title_of(result), result)


def _last(conversation: ConversationSummary) -> tuple[bool, float]:
    """Return a sort key by the time of the last message; conversations without a time come first."""
    return conversation.last is not None, conversation.last.timestamp() if conversation.last is not None else 0.0
