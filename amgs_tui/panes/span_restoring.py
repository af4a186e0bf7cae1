"""Spans that an operator has back in the context: what was asked back, and what went for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amgs_app import operations
from amgs_tui.panes.context_wish import fate_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs.types.conversation import ContextSpan, FateChange, OptimisedContext
    from amgs.types.gateway import GatewayExchange
    from amgs_tui.panes.base import Pane
    from amgs_tui.panes.context_wish import ContextWish

_NAMED: Final = 4
"""Messages that went for others, by their handles."""


class SpanRestoring:
    """Puts the span under the cursor into the context, or lets it go again.

    wish: what is asked for; want: asks for something else; span: the one under the cursor; exchange: the request that
    is looked at; context: what is in it. asked: the handle of what was asked back last, until it is told what came of
    it; "" for none.
    """

    def __init__(
        self,
        pane: Pane,
        wish: Callable[[], ContextWish],
        want: Callable[..., None],
        span: Callable[[], ContextSpan | FateChange | None],
        exchange: Callable[[], GatewayExchange | None],
        context: Callable[[], OptimisedContext | None],
    ) -> None:
        self._pane = pane
        self._wish = wish
        self._want = want
        self._span = span
        self._exchange = exchange
        self._context = context
        self.asked = ""

    def action_restore(self) -> None:
        """Have the span in the context from now on; once more lets it go again. Where a request is looked at, the next
        one holds the span, or lets it go.
        """
        span, exchange, wish = self._span(), self._exchange(), self._wish()
        if span is None:
            return
        mine = wish.restored_in(span)
        if exchange is not None:
            self._keep(exchange.conversation, span, drop=is_restored(span))
        elif mine:
            self._want(keep=tuple(one for one in wish.keep if one not in mine))
        elif fate_of(span) == "kept":
            title = f"{span.handle} is in the context"
            self._pane.notify("It goes to the model as it is.", title=title, timeout=3)
        else:
            self.asked = span.handle
            self._want(keep=(*wish.keep, span.handle))

    def action_keep(self) -> None:
        """Have every context keep the span, that of the gateway's next request too; once more lets it go."""
        span, wish = self._span(), self._wish()
        if span is not None:
            self._keep(wish.conversation, span, drop=not wish.restored_in(span) and is_restored(span))

    def _keep(self, conversation: str, span: ContextSpan | FateChange, *, drop: bool) -> None:
        context = self._context()
        budget = context.budget if context is not None else None
        self._pane.ask(operations.conversation.keep(conversation, span.handle, drop=drop, budget=budget))

    def tell(self, before: OptimisedContext | None, after: OptimisedContext) -> None:
        """Say what came back, and what went instead; before: None where that is not to be told."""
        handle, self.asked = self.asked, ""
        if not handle or before is None:
            return
        gone = [f"#{number}" for number in sorted(_whole(before) - _whole(after))]
        told = f"{', '.join(gone[:_NAMED])}{f' and {len(gone) - _NAMED:,} more' if gone[_NAMED:] else ''}"
        instead = f"Instead {told} no longer {'go' if gone[1:] else 'goes'} whole." if gone else ""
        words = f"{after.tokens:,} of {after.budget:,} tokens. {instead}"
        self._pane.notify(words, title=f"{handle} is back", timeout=6)


def is_restored(span: ContextSpan | FateChange) -> bool:
    """Whether a span stands in the context because somebody asked for it."""
    from amgs.types.conversation import ContextSpan

    return isinstance(span, ContextSpan) and span.because == "restored"


def _whole(context: OptimisedContext) -> set[int]:
    """The numbers of the messages that are kept as they are."""
    return {n for span in context.spans if span.fate == "kept" for n in range(span.first, span.last + 1)}
