"""What stands beside the spans: what was said, what survives, the topics, what is open, whom and what it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations

if TYPE_CHECKING:
    from amgs.types.conversation import OptimisedContext
    from amgs_app.calls.call import Call
    from amgs_tui.panes.context_wish import ContextWish

SAID: Final = "said"
VIEWS: Final[Mapping[str, str]] = {
    SAID: "",
    "survival": "conversation survival",
    "topics": "conversation topics",
    "open": "conversation acts",
    "entities": "conversation entities",
    "memories": "conversation memories",
}
"""The views in their order, and the commands whose results they show."""


def view_of(command: str) -> str:
    """The view that shows a command's results, "" for none."""
    return next((view for view, shown in VIEWS.items() if shown == command), "")


def call_of(view: str, wish: ContextWish, context: OptimisedContext) -> Call[Any]:
    """What a view asks for. wish: what the context was asked for by."""
    conversation = operations.conversation
    match view:
        case "survival":
            return conversation.survival(
                wish.conversation,
                context.query,
                budget=context.budget,
                strategy=context.strategy,
                configuration=wish.configuration,
                previous=context.plan,
                until=wish.until,
                keep=list(wish.keep) or None,
            )
        case "topics":
            return conversation.topics(wish.conversation)
        case "entities":
            return conversation.entities(wish.conversation)
        case "memories":
            return conversation.memories(wish.conversation)
        case _:
            return conversation.acts(wish.conversation)
