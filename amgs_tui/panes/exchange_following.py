"""Agents' requests through the gateway: the newest is followed, any can be chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from amgs.text.words import plural
from amgs_app import operations
from amgs_tui.dialogs.questions import Choice
from amgs_tui.panes.context_asking import ContextWish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types.gateway import GatewayExchange
    from amgs_app.results.memory import ExchangeList
    from amgs_tui.panes.base import Pane

EXCHANGES: Final = 50
"""Most requests that can be chosen."""


@dataclass(eq=False)
class GatewayFollower:
    """Chooses the gateway request on view.

    through: the latest requests; exchange: the request on view, None for none. number: its number, or the requested
    one. follows: whether newer requests replace it. late: whether a request came on view after a context was requested.
    """

    pane: Pane
    through: ExchangeList | None = None
    exchange: GatewayExchange | None = None
    number: int = 0
    follows: bool = True
    late: bool = False

    @property
    def requests(self) -> Sequence[GatewayExchange]:
        """Requests, newest first."""
        return self.through.exchanges if self.through is not None else ()

    @property
    def served(self) -> bool:
        """Whether a gateway runs."""
        return self.through is not None and bool(self.through.served)

    def take(self, result: ExchangeList) -> None:
        """Store the latest requests; if they are followed and a gateway runs, show the newest."""
        self.through = result
        if self.follows and result.served and result.exchanges:
            self._ask(result.exchanges[0].number)

    def go_to(self, number: int | None, *, follow: bool) -> None:
        """Show a request; None does nothing. follow: newer ones replace it."""
        if number is not None:
            self.follows = follow
            self._ask(number)
            self.pane.show_change()

    def _ask(self, number: int) -> None:
        """Request what a model was sent, unless it is on view already."""
        missing = number != self.number or self.exchange is None
        self.number = number
        if missing:
            self.pane.ask(operations.traffic.exchanges(number), slot="conversation:exchange", origin="screen")

    def action_exchanges(self) -> None:
        """Choose a request; if it is the newest, newer ones replace it."""
        every = self.requests
        if not every:
            self.pane.notify("No agent has asked anything yet.", title="No requests")
            return
        choices = [
            Choice(
                str(exchange.number),
                f"{exchange.number} {exchange.asked}",
                _request_note(exchange),
                marked=exchange.number == self.number,
            )
            for exchange in every
        ]
        newest = str(every[0].number)
        self.pane.choose("Which request?", choices, lambda number: self.go_to(int(number), follow=number == newest))

    def look_at(self, exchange: GatewayExchange, *, asked: bool) -> ContextWish | None:
        """Show a request; return its wish if it belongs to a conversation. asked: whether a context is awaited."""
        self.exchange, self.late, self.number = exchange, asked, exchange.number
        if not exchange.conversation:
            return None
        wish = ContextWish(exchange.conversation, exchange.asked, until=exchange.until or None)
        context = exchange.context
        return wish if context is None else replace(wish, budget=context.budget, strategy=context.strategy)

    def beside(self, by: int) -> int | None:
        """Return the number of the request `by` places later (earlier if negative)."""
        every = self.requests
        place = next((n for n, exchange in enumerate(every) if exchange.number == self.number), 0)
        return every[max(0, min(len(every) - 1, place - by))].number if every else None

    def describe(self, exchange: GatewayExchange) -> str:
        """Return the request's number, and whether newer ones replace it."""
        newer = (self.requests[0].number if self.requests else 0) - exchange.number
        if newer > 0:
            return f"request {exchange.number} · {plural(newer, 'newer request')}: L follows"
        return f"request {exchange.number} · {'following' if self.follows else 'L follows'}"


def _request_note(exchange: GatewayExchange) -> str:
    """Return a note on a request for a list, most important parts first, since a long line is cut."""
    used = exchange.usage
    sent = f"{exchange.tokens:,} of {exchange.tokens_before:,} tok" if exchange.tokens else exchange.untouched
    parts = [sent, *(f"{kind} changed" for kind in exchange.changed)]
    if used is not None:
        parts.append(f"{used.fresh:,} fresh, {used.written:,} written, {used.cached:,} cached")
    return " · ".join(parts)


def explain_untouched(exchange: GatewayExchange) -> str:
    """Return why a request shows no context."""
    words = f"Request {exchange.number} went on as it came: {exchange.untouched}."
    if exchange.missing:
        words = f"What was sent with request {exchange.number} cannot be shown: {exchange.missing}."
    return f"{words} The model said: {exchange.said}" if exchange.said else words
