"""The requests about conversations and the gateway, described once for both clients."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amgs.client.ask import Ask, operation, part

if TYPE_CHECKING:
    from amgs.conversation.messages import GivenMessage
    from amgs.types import JournalEntry
    from amgs.types.conversation import (
        ContextConfiguration,
        ContextStrategy,
        ConversationAdded,
        ConversationKept,
        ConversationStats,
        ConversationSummary,
        Message,
        OptimisedContext,
        RestoredSpan,
    )
    from amgs.types.conversation_views import (
        ConversationActs,
        ConversationExtract,
        ConversationMemories,
        ConversationSurvival,
        ConversationTopics,
        RestoreLevel,
        SummaryLevel,
    )
    from amgs.types.mentions import ConversationEntities, ConversationResolved, MentionType, ResolvedMention


def add(conversation: str, messages: Sequence[GivenMessage]) -> Ask[ConversationAdded]:
    """Keep messages that follow on those that are held, and take them in as raw blocks."""
    from amgs.types.conversation import Message

    told = [one.as_object() if isinstance(one, Message) else dict(one) for one in messages]
    written = json.dumps(told, ensure_ascii=False, default=str)
    return operation("conversation_add", writes=True, conversation=conversation, messages=written)


def list_conversations() -> Ask[tuple[ConversationSummary, ...]]:
    """The conversations that are held, by name."""
    return operation("conversation_list", part("conversations"))


def show(conversation: str, handle: str = "") -> Ask[tuple[Message, ...]]:
    """The messages of a conversation, or those that a handle names."""
    return operation(
        "conversation_show",
        part("messages"),
        conversation=conversation,
        handle=handle or None,
        limit=1_000_000_000,
    )


def optimise(
    conversation: str,
    query: str = "",
    *,
    budget: int | None = None,
    strategy: ContextStrategy | None = None,
    configuration: ContextConfiguration = "default",
    previous: str = "",
    until: int | None = None,
    keep: Sequence[str] = (),
) -> Ask[OptimisedContext]:
    """What of a conversation a model should read for a query, in at most `budget` tokens; writes nothing."""
    given = _wanted(query, budget, strategy, configuration, previous, until, keep)
    return operation("conversation_optimise", conversation=conversation, **given)


def survival(
    conversation: str,
    query: str = "",
    *,
    budget: int | None = None,
    strategy: ContextStrategy | None = None,
    configuration: ContextConfiguration = "default",
    previous: str = "",
    until: int | None = None,
    keep: Sequence[str] = (),
) -> Ask[ConversationSurvival]:
    """What of each class of words a context has in its window, what is one handle away, and what is lost."""
    given = _wanted(query, budget, strategy, configuration, previous, until, keep)
    return operation("conversation_survival", conversation=conversation, **given)


def _wanted(
    query: str,
    budget: int | None,
    strategy: ContextStrategy | None,
    configuration: ContextConfiguration,
    previous: str,
    until: int | None,
    keep: Sequence[str],
) -> dict[str, Any]:
    """Which context is asked for, as the service takes it."""
    return {
        "query": query or None,
        "budget": budget,
        "strategy": strategy,
        "configuration": configuration,
        "previous": previous or None,
        "until": until,
        "keep": list(keep) or None,
    }


def validate(conversation: str, text: str, handle: str = "") -> Ask[ConversationSurvival]:
    """What of a conversation is in a text that somebody else made of it, and what that makes up."""
    return operation("conversation_validate", conversation=conversation, text=text, handle=handle or None)


def restore(
    conversation: str, handle: str, level: RestoreLevel = "complete", *, most: int = 12
) -> Ask[RestoredSpan]:
    """The messages that a handle names, byte for byte as they were said, or at a shorter level."""
    return operation("conversation_restore", conversation=conversation, handle=handle, level=level, most=most)


def topics(conversation: str) -> Ask[ConversationTopics]:
    """What is talked of, in the order of time, and which topics are on the same thing."""
    return operation("conversation_show", conversation=conversation, view="topics")


def memories(conversation: str, *, recent: int = 20) -> Ask[ConversationMemories]:
    """What is at hand, what is open, what is held for long and which episodes there were."""
    return operation("conversation_show", conversation=conversation, view="memories", recent=recent)


def acts(conversation: str, *, closed: bool = False) -> Ask[ConversationActs]:
    """Questions, goals and commitments that are open; the closed ones too where they are asked for."""
    return operation("conversation_show", conversation=conversation, view="acts", closed=closed)


def summary(
    conversation: str, level: SummaryLevel = "cumulative", *, sentences: int = 5
) -> Ask[ConversationExtract]:
    """A summary in the words of a conversation, by turn, topic, session or of all; always from the originals."""
    return operation(
        "conversation_show", conversation=conversation, view="summary", level=level, sentences=sentences
    )


def keep(
    conversation: str, handle: str = "", *, drop: bool = False, budget: int | None = None
) -> Ask[ConversationKept]:
    """Keep messages whole in every context of a conversation from now on, or, with `drop`, no longer. budget: of a
    context, in tokens, of which it is said whether it can hold them.
    """
    return operation(
        "conversation_keep",
        writes=True,
        conversation=conversation,
        handle=handle or None,
        drop=drop,
        budget=budget,
    )


def resolve(conversation: str) -> Ask[ConversationResolved]:
    """Read the messages that were added since the last time with the parser, and keep what they mention beside them."""
    return operation("conversation_resolve", writes=True, conversation=conversation)


def mentions(conversation: str, handle: str = "", *, least: float = 0.75) -> Ask[tuple[ResolvedMention, ...]]:
    """What words of a conversation mean, of all its messages or of those a handle names."""
    return operation(
        "conversation_show",
        part("mentions"),
        conversation=conversation,
        handle=handle or None,
        view="mentions",
        least=least,
        limit=1_000_000_000,
    )


def entities(
    conversation: str, *, type: MentionType | None = None, least: float = 0.75
) -> Ask[ConversationEntities]:
    """What a conversation speaks of, the most often mentioned first, with each mention; writes nothing."""
    return operation(
        "conversation_show",
        conversation=conversation,
        view="entities",
        kind=type,
        least=least,
        limit=1_000_000_000,
    )


def stats(conversation: str) -> Ask[ConversationStats]:
    """What a conversation holds, by role and in tokens."""
    return operation("conversation_show", conversation=conversation, view="stats")


def clear(conversation: str) -> Ask[JournalEntry]:
    """Drop a conversation: its messages go, and what no other source holds of them is archived."""
    return operation("conversation_clear", writes=True, conversation=conversation)
