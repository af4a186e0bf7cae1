"""Wish of an operator for a view of a conversation, the next question to the context optimiser; and the views beside
the spans: messages, survival, topics, open points, people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from amgs_app import operations

if TYPE_CHECKING:
    from amgs.types.conversation import (
        ContextConfiguration,
        ContextSpan,
        ContextStrategy,
        FateChange,
        OptimisedContext,
        SpanFate,
    )
    from amgs_app.calls.call import Call
    from amgs_app.render.canvas import Region


STRATEGIES: Final[Mapping[ContextStrategy, str]] = {
    "mask": "old outputs of tools as one line, then the oldest go",
    "extractive": "what answers the question stays whole",
    "hybrid": "what answers the question, whole or cited in part",
    "topic": "each topic in an extract, or not",
    "levels": "each topic whole, in an extract, as findings, or not",
    "abstractive": "the same, in the words of a language model",
}
"""What each does, in a few words."""

CONFIGURATIONS: Final[Mapping[ContextConfiguration, str]] = {
    "high-compression": "half of the budget, each topic by what it is worth",
    "high-fidelity": "more of the latest messages, and what was decided and is owed",
}
"""Beside the default one, what each does, in a few words."""


@dataclass(frozen=True, slots=True)
class ContextWish:
    """View that the operator wants.

    until: number of the last message, None for all. keep: handles of restored spans. other: the strategy to compare
    with, None for none.
    """

    conversation: str = ""
    query: str = ""
    budget: int | None = None
    strategy: ContextStrategy = "extractive"
    configuration: ContextConfiguration = "default"
    until: int | None = None
    keep: tuple[str, ...] = ()
    other: ContextStrategy | None = None

    def list_restored_handles(self, span: ContextSpan | FateChange) -> tuple[str, ...]:
        """Return the handles of what was restored that end in a span."""
        return tuple(handle for handle in self.keep if span.first <= last_of(handle) <= span.last)

    @property
    def call(self) -> Call[Any]:
        asked: dict[str, Any] = {
            "budget": self.budget,
            "strategy": self.strategy,
            "until": self.until,
            "keep": list(self.keep) or None,
        }
        if self.other is not None:
            return operations.conversation.show(
                self.conversation, view="compare", query=self.query, against=self.other, **asked
            )
        return operations.conversation.optimise(
            self.conversation, self.query, configuration=self.configuration, **asked
        )


def fate_of(span: ContextSpan | FateChange) -> SpanFate:
    """Return what becomes of messages; in a comparison, under the strategy that is looked at."""
    from amgs.types.conversation import ContextSpan

    return span.fate if isinstance(span, ContextSpan) else span.after


def last_of(handle: str) -> int:
    """Return the number of the last message of a handle."""
    return int(handle.lstrip("#").rpartition("-")[2])


SAID: Final = "said"
VIEWS: Final = (SAID, "survival", "topics", "open", "entities", "memories")
"""The views in their order."""


@runtime_checkable
class OfConversation(Protocol):
    """A result that is of one conversation."""

    @property
    def conversation(self) -> str: ...


def view_of(result: object, conversation: str | None = None) -> str:
    """Return the view that shows a result, "" for none. conversation: only where it is of this one."""
    from amgs.types import conversation_views as views
    from amgs.types.conversation_views import GIVEN_TEXT
    from amgs.types.mentions import ConversationEntities

    shown_by = {
        views.ConversationSurvival: "survival",
        views.ConversationTopics: "topics",
        views.ConversationActs: "open",
        views.ConversationMemories: "memories",
        ConversationEntities: "entities",
    }
    view = shown_by.get(type(result), "")
    if getattr(result, "of", "") == GIVEN_TEXT:  # held against a text that was given: a page of its own
        return ""
    of = isinstance(result, OfConversation) and conversation in (None, result.conversation)
    return view if of else ""


def title_of(result: object) -> str:
    """Return what a page with a view of a conversation is called."""
    kind = type(result).__name__.removeprefix("Conversation").lower()
    return f"Conversation {'summary' if kind == 'extract' else 'messages' if kind == 'shown' else kind}"


@dataclass(eq=False)
class ContextView:
    """View beside the spans of a context.

    name: of the view; result: its content, None where that is the messages, or is still to come.
    """

    name: str = SAID
    result: Any = None

    @property
    def next(self) -> str:
        """Name of the view after this one."""
        return VIEWS[(VIEWS.index(self.name) + 1) % len(VIEWS)]

    def take(self, result: object, conversation: str) -> None:
        """Keep what the view shows, where it is of this conversation."""
        if view_of(result, conversation) == self.name:
            self.result = result

    def turn_to(self, result: object, conversation: str) -> bool:
        """Go to the view that shows a result, where it is of this conversation; whether it is one."""
        view = view_of(result, conversation)
        if view:
            self.name, self.result = view, result
        return bool(view)

    def turn(self) -> None:
        """Go on to the next view."""
        self.name, self.result = self.next, None

    def call(self, wish: ContextWish, context: OptimisedContext | None) -> Call[Any] | None:
        """Return what the view asks for; None where it needs nothing. wish: what the context was asked for by."""
        conversation = operations.conversation
        match self.name:
            case _ if self.name == SAID or context is None:
                return None
            case "survival":
                return conversation.show(
                    wish.conversation,
                    view="survival",
                    query=context.query,
                    budget=context.budget,
                    strategy=context.strategy,
                    configuration=wish.configuration,
                    previous=context.plan,
                    until=wish.until,
                    keep=list(wish.keep) or None,
                )
            case "topics" | "entities" | "memories":
                return conversation.show(wish.conversation, view=self.name)
        return conversation.show(wish.conversation, view="acts")

    @property
    def drawn(self) -> Callable[[Region], None] | None:
        """Function that draws the result in place of the messages."""
        from amgs_app.conversation.figure import draw_list
        from amgs_app.render.catalogue import list_of

        listed = None if self.result is None else list_of(self.result)
        return None if listed is None else lambda region: draw_list(region, listed)
