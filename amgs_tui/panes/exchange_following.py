"""Requests of agents through the gateway: the newest is followed, any can be chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from amgs.text.plural import plural
from amgs_tui.panes.context_wish import ContextWish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types.gateway import GatewayExchange
    from amgs_app.results.memory import ExchangeList

EXCHANGES: Final = 50
"""Requests through a gateway that can be gone through."""


class GatewayFollower:
    """Which request is looked at.

    through: the latest requests; exchange: the one that is looked at, None for none, and number its number, or that of
    the one that was asked for. follows: whether the newest takes its place. late: whether one came to be looked at
    since a context was asked for.
    """

    def __init__(self) -> None:
        self.through: ExchangeList | None = None
        self.exchange: GatewayExchange | None = None
        self.number = 0
        self.follows = True
        self.late = False

    @property
    def requests(self) -> Sequence[GatewayExchange]:
        """The newest first."""
        return self.through.exchanges if self.through is not None else ()

    @property
    def served(self) -> bool:
        """Whether a gateway runs."""
        return self.through is not None and bool(self.through.served)

    def take(self, result: ExchangeList) -> int | None:
        """Keep the latest requests; the number of the newest, where it is followed and a gateway runs."""
        self.through = result
        return result.exchanges[0].number if self.follows and result.served and result.exchanges else None

    def needs(self, number: int) -> bool:
        """Whether a request has to be asked for; it is looked at from now on."""
        missing = number != self.number or self.exchange is None
        self.number = number
        return missing

    def look_at(self, exchange: GatewayExchange, *, asked: bool) -> ContextWish | None:
        """Show a request; what was wished with it, where it was of a conversation. asked: whether a context was asked
        for meanwhile.
        """
        self.exchange, self.late, self.number = exchange, asked, exchange.number
        if not exchange.conversation:
            return None
        wish = ContextWish(exchange.conversation, exchange.asked, until=exchange.until or None)
        context = exchange.context
        return wish if context is None else replace(wish, budget=context.budget, strategy=context.strategy)

    def beside(self, by: int) -> int | None:
        """The number of the request some places later or earlier."""
        every = self.requests
        place = next((n for n, one in enumerate(every) if one.number == self.number), 0)
        return every[max(0, min(len(every) - 1, place - by))].number if every else None

    def told(self, exchange: GatewayExchange) -> str:
        """Which request it is, and whether newer ones take its place."""
        newer = (self.requests[0].number if self.requests else 0) - exchange.number
        if newer > 0:
            return f"request {exchange.number} · {plural(newer, 'newer request')}: L follows"
        return f"request {exchange.number} · {'following' if self.follows else 'L follows'}"


def untouched(exchange: GatewayExchange) -> str:
    """What there is to say of a request that shows no context."""
    words = f"Request {exchange.number} went on as it came: {exchange.untouched}."
    if exchange.missing:
        words = f"What was sent with request {exchange.number} cannot be shown: {exchange.missing}."
    return f"{words} The model said: {exchange.said}" if exchange.said else words
