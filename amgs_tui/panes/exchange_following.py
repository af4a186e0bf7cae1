"""Requests of agents through the gateway: the newest is followed, any can be chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from amgs.text.plural import plural
from amgs_app import operations
from amgs_tui.keys import shown
from amgs_tui.panes.context_reading import ContextReading
from amgs_tui.panes.context_wish import ContextWish

if TYPE_CHECKING:
    from amgs.types.conversation import ContextComparison, OptimisedContext
    from amgs.types.gateway import GatewayExchange
    from amgs_app.results.memory import ExchangeList
    from amgs_tui.host import Host
    from amgs_tui.messages import Origin

EXCHANGES: Final = 50
"""Requests through a gateway that can be gone through."""


class ExchangeFollowing(ContextReading):
    """A pane that shows what a model was sent.

    exchange: the request that is looked at, None for none. follows: whether the newest request takes its place.
    """

    BINDINGS: ClassVar[list[Any]] = [
        *ContextReading.BINDINGS,
        shown("s", "exchanges", "requests", "conversation.exchanges", "Choose a request through the gateway"),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.through: ExchangeList | None = None
        self.exchange: GatewayExchange | None = None
        self.follows = True

        self._number = 0
        """Of the request that is looked at, or that was asked for."""
        self._late = False
        """Whether a request came to be looked at since a context was asked for."""

    def take_exchanges(self, result: ExchangeList) -> None:
        """Keep the latest requests; the newest is shown where they are followed and a gateway runs."""
        self.through = result
        if self.follows and result.served and result.exchanges:
            self._look_at(result.exchanges[0].number)

    def _look_at(self, number: int) -> None:
        """Ask for what a model was sent with a request, unless it is there already."""
        if number != self._number or self.exchange is None:
            self._number = number
            self.ask(operations.gateway.exchange(number), slot="conversation:exchange", origin="screen")

    def show_exchange(self, exchange: GatewayExchange) -> None:
        """Show what a model was sent."""
        self.exchange, self._late, self._number = exchange, self.asked, exchange.number
        context = exchange.context
        if exchange.conversation:
            wish = ContextWish(exchange.conversation, exchange.asked, until=exchange.until or None)
            if context is not None:
                wish = replace(wish, budget=context.budget, strategy=context.strategy)
            self.wish = self.stood = wish
        self.place_cursor(context, None)

    def exchange_said(self, exchange: GatewayExchange) -> str:
        """Which request it is, and whether newer ones take its place."""
        newest = self.through.exchanges[0].number if self.through and self.through.exchanges else 0
        newer = newest - exchange.number
        if newer > 0:
            return f"request {exchange.number} · {plural(newer, 'newer request')}: L follows"
        return f"request {exchange.number} · {'following' if self.follows else 'L follows'}"

    # --- contexts that are asked for meanwhile ----------------------------------------------------------------

    def want(self, origin: Origin = "operator", **changed: Any) -> None:
        self.follows = False
        if "conversation" in changed:
            self.exchange = None
        super().want(origin, **changed)

    def look_again(self, origin: Origin = "screen") -> None:
        self._late = False
        super().look_again(origin)

    def take_context(self, result: OptimisedContext, compared: ContextComparison | None) -> None:
        late, self._late = self._late, False
        if late and self.exchange is not None:
            self.asked = False  # it was asked for before the request came that is looked at now
            return
        self.exchange = None
        super().take_context(result, compared)

    def move_to(self, row: int) -> None:
        self.follows = False  # what is being read is not taken away
        super().move_to(row)

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "exchanges":
            return self.through is not None and bool(self.through.served or self.through.exchanges)
        return super().check_action(action, parameters)

    def action_scrub(self, by: int) -> None:
        """As with every conversation; where a request is looked at, another request."""
        if self.exchange is None or self.through is None:
            super().action_scrub(by)
            return
        every = self.through.exchanges
        place = next((n for n, one in enumerate(every) if one.number == self._number), 0)
        if every:
            self._choose_exchange(every[max(0, min(len(every) - 1, place - by))].number, follow=False)

    def action_restore(self) -> None:
        """As with every conversation; where a request is looked at, the next one holds the span, or lets it go."""
        span, exchange = self.span, self.exchange
        if exchange is None or span is None:
            super().action_restore()
            return
        stays = getattr(span, "because", "") == "restored"
        budget = self.context.budget if self.context is not None else None
        keep = operations.conversation.keep
        self.ask(keep(exchange.conversation, span.handle, drop=stays, budget=budget))

    def action_live(self) -> None:
        """To the newest request, where there is one."""
        if self.through is not None and self.through.exchanges:
            self._choose_exchange(self.through.exchanges[0].number, follow=True)
        else:
            super().action_live()

    def _choose_exchange(self, number: int, *, follow: bool) -> None:
        self.follows = follow
        self._look_at(number)
        self._say()

    def action_exchanges(self) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        every = self.through.exchanges if self.through is not None else ()
        choices = [
            Choice(
                str(one.number),
                f"{one.number} {one.asked}",
                f"{one.tokens:,} of {one.tokens_before:,} tok" if one.tokens else one.untouched,
                marked=one.number == self._number,
            )
            for one in every
        ]

        def chose(number: str | None) -> None:
            if number is not None:
                self._choose_exchange(int(number), follow=number == str(every[0].number))

        if choices:
            self.app.push_screen(Chooser("Which request?", choices), chose)
        else:
            self.notify("No agent has asked anything yet.", title="No requests")


def untouched(exchange: GatewayExchange) -> str:
    """What there is to say of a request that shows no context."""
    words = f"Request {exchange.number} went on as it came: {exchange.untouched}."
    if exchange.missing:
        words = f"What was sent with request {exchange.number} cannot be shown: {exchange.missing}."
    return f"{words} The model said: {exchange.said}" if exchange.said else words
