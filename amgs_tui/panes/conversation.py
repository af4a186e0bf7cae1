"""8 Conversation: what of a conversation a model reads, what became of the rest, and how to have it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text

from amgs_app import operations
from amgs_app.panes.row_fields import of_changes, of_spans
from amgs_app.render.figures.canvas import Canvas, Figure, Region
from amgs_app.render.figures.empty_state import notice
from amgs_tui.keys import shown
from amgs_tui.panes.context_views import SAID, VIEWS, call_of, title_of, view_of
from amgs_tui.panes.context_wish import ContextWish
from amgs_tui.panes.exchange_following import EXCHANGES, ExchangeFollowing, untouched

if TYPE_CHECKING:
    from amgs.types.conversation import ContextComparison, ConversationSummary, Message, OptimisedContext
    from amgs.types.mentions import ResolvedMention
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_app.results.memory import ConversationList, ConversationShown
    from amgs_tui.host import Host

PREVIEW: Final = 20
"""Messages of a span that are read at most to be shown beside it."""


class ConversationPane(ExchangeFollowing):
    """The context of one conversation, or what a model was sent through the gateway."""

    NAME = "conversation"
    SHOWS = frozenset(
        {
            "conversation list",
            "conversation optimise",
            "conversation compare",
            "conversation show",
            "conversation exchanges",
            "conversation exchange",
            "conversation survival",
        }
    )
    PURPOSE = """\
What a model should read of a conversation for a question, within a budget of tokens. The strip is the whole history:
each message is kept, digested, masked to one line, or dropped; below is how likely each is to be needed. Every span has
its handle, its tokens and the reason for its fate; the ledger says what each stage took and added. [ and ] go through
the history: the context as it was after each message. r puts a span back into the context. With a gateway the pane
follows the agents: what the model had in front of it when it answered, and what it said."""

    BINDINGS: ClassVar[list[Any]] = [
        *ExchangeFollowing.BINDINGS,
        shown(
            "v",
            "view",
            "view",
            "conversation.view",
            "Beside the spans: what was said, what survives of each class of words, topics, what is open, names",
        ),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.originals: tuple[Message, ...] = ()
        self.mentions: tuple[ResolvedMention, ...] = ()
        """What words of the originals mean."""
        self.view = SAID
        self.viewed: Any = None
        """What the view shows; None where that is what was said, or is still to come."""

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.gateway.exchanges(limit=EXCHANGES), operations.conversation.conversations()]

    def look(self) -> None:
        """As every pane; without a place too, it asks whether there is a conversation by now."""
        super().look()
        if self.stale:
            self.originals = ()  # what their words mean may be known by now
            self.ask(operations.conversation.conversations(), origin="screen")

    def take(self, command: str, result: Any) -> None:
        del command
        match type(result).__name__:
            case "ConversationList":
                self._take_list(result)
            case "ExchangeList":
                self.take_exchanges(result)
            case "GatewayExchange":
                self.show_exchange(result)
            case "OptimisedContext":
                self.take_context(result, None)
            case "ContextComparison":
                self.take_context(result.b, result)
            case "ConversationShown":
                self._take_originals(result)
            case _ if view_of(result) == self.view and result.conversation == self.wish.conversation:
                self.viewed = result

    def _take_list(self, result: ConversationList) -> None:
        self.listed = result
        names = [one.name for one in result.conversations]
        if self.wish.conversation not in names:
            newest = max(result.conversations, key=_last, default=None)
            self.wish = self.stood = ContextWish(newest.name if newest is not None else "")
            self.context, self.originals = None, ()
        if self.wish.conversation and self.exchange is None and self.has_place:
            self.look_again()

    def _take_originals(self, shown: ConversationShown) -> None:
        span, messages = self.span, shown.messages
        fits = span is not None and messages and messages[0].number == span.first
        if shown.conversation == self.wish.conversation and fits:
            self.originals, self.mentions = messages, shown.mentions

    def place_cursor(self, result: OptimisedContext | None, compared: ContextComparison | None) -> None:
        super().place_cursor(result, compared)
        self._ask_view()

    def _ask_view(self) -> None:
        if self.view != SAID and self.context is not None:
            self.ask(call_of(self.view, self.wish, self.context), slot="conversation:view", origin="screen")

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return (
            self.context is None and self.exchange is None and not (self.listed and self.listed.conversations)
        )

    def all_rows(self) -> Sequence[Row]:
        if self.comparison is not None:
            return of_changes(self.comparison.changes)
        return of_spans(self.unsifted)

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
                operations.conversation.show(
                    self.wish.conversation, f"#{span.first}-{last}", view="mentions"
                ),
                origin="screen",
            )

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return self._figure(self.canvas()).rows if self.context is not None else {}

    # --- drawing --------------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.exchange is not None:
            return self.exchange_said(self.exchange)
        if self.comparison is not None:
            return "A above, B below · a back · [ ] scrub"
        kept = f"{', '.join(self.wish.keep)} restored · " if self.wish.keep else ""
        if self.wish.configuration != "default":
            kept = f"{self.wish.configuration} · {kept}"
        if self.context is None:
            return kept
        if self.context.count("kept") == sum(one.last - one.first + 1 for one in self.context.spans):
            return f"{kept}everything fits · b gives a smaller budget"
        return f"{kept}[ ] scrub · m {'spans' if self.single else 'each message'} · v {self._next_view}"

    @property
    def _next_view(self) -> str:
        views = list(VIEWS)
        return views[(views.index(self.view) + 1) % len(views)]

    def draw(self, canvas: Canvas) -> Text:
        if self.exchange is not None and self.context is None:
            return notice(canvas, self.exchange.asked, (), untouched(self.exchange))
        if self.context is None and self.wish.conversation:
            return notice(canvas, "Conversation", (), self.waits)
        if self.context is None and self.through is not None and self.through.served:
            words = (
                "The gateway runs. What a model reads is shown here as soon as an agent asks it something."
            )
            return notice(canvas, "No request yet", (), words)
        if self.context is None:
            keys = (":conversation add NAME FILE", "amgs gateway --upstream URL")
            words = (
                "A conversation is kept word for word; here you see which parts of it a model reads, and why."
            )
            return notice(canvas, "No conversation yet", keys, words)
        return self._figure(canvas).render()

    def _figure(self, canvas: Canvas) -> Figure:
        from amgs_app.render.figures import conversation, conversation_comparison

        if self.comparison is not None:
            places = self.places if self.sift else None
            return conversation_comparison.figure(
                self.comparison, canvas, self.cursor, places, self.originals
            )
        assert self.context is not None
        exchange = self.exchange
        return conversation.figure(
            self.context,
            canvas,
            self.cursor,
            self.listed_spans,
            None if exchange is not None else self.length,
            self.originals,
            exchange.said if exchange is not None else None,
            f"request {exchange.number}" if exchange is not None else "",
            self._beside,
            self.mentions,
        )

    @property
    def _beside(self) -> Callable[[Region], None] | None:
        """What stands beside the spans in the place of what was said."""
        from amgs_app.render.catalogue import table_of
        from amgs_app.render.figures.conversation_views import draw_survival, draw_table

        viewed = self.viewed
        if viewed is None:
            return None
        if self.view == "survival":
            return lambda region: draw_survival(region, viewed)
        return lambda region: draw_table(region, table_of(viewed))

    def action_view(self) -> None:
        """The next view."""
        self.view, self.viewed = self._next_view, None
        self._ask_view()
        self._say()
        self.repaint()

    def shown_to_operator(self, command: str, result: Any) -> None:
        """What the operator typed themselves is shown, whatever the pane does with it."""
        if command == "conversation list":
            self.action_choose()
        elif command == "conversation exchanges" and result.exchanges:
            self.action_exchanges()
        elif view_of(result) and result.conversation == self.wish.conversation:
            self.view, self.viewed = view_of(result), result
            self.repaint()
        elif command == "conversation show" or view_of(result):
            from amgs_app.render.catalogue import page_of, page_width
            from amgs_tui.dialogs.reader import TextReader

            host = self.host
            self.app.push_screen(
                TextReader(
                    title_of(result),
                    lambda wide: page_of(result, host.canvas(wide, 1), host.now()),
                    needs=page_width(result),
                )
            )


def _last(one: ConversationSummary) -> tuple[bool, float]:
    """Conversations in the order of their last messages; those of unknown time first."""
    return one.last is not None, one.last.timestamp() if one.last is not None else 0.0
