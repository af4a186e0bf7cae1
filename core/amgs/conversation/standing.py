"""Messages that every context of a conversation keeps whole because somebody said so."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime

from amgs.conversation.citing import handle, runs
from amgs.errors import ImpossibleBudgetError
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.types.conversation import ConversationKept, OptimisedContext

KIND = "keep"


def handles_of(storage: Storage, conversation: str) -> tuple[str, ...]:
    """What is kept, as handles in order."""
    return tuple(handle(*span) for span in runs(sorted(storage.messages.standing(conversation))))


def change(
    storage: Storage, conversation: str, numbers: Collection[int], now: datetime, *, drop: bool
) -> ConversationKept:
    """Keep messages from now on, or keep them no longer; one entry of the journal where that changes anything."""
    with storage.transaction():
        standing = storage.messages.standing(conversation)
        changed = standing.intersection(numbers) if drop else frozenset(numbers) - standing
        done = None
        if changed:
            spans = ", ".join(handle(*span) for span in runs(sorted(changed)))
            told = f"{spans} of conversation {conversation} {'no longer kept' if drop else 'kept'} in every context"
            done = journal.write(storage, KIND, now, told, []).id
            note = storage.messages.fall if drop else storage.messages.stand
            note(conversation, changed, done)
        return ConversationKept(conversation, handles_of(storage, conversation), done)


def keep_what_fits(
    choose: Callable[[Collection[int]], OptimisedContext], must: frozenset[int], standing: frozenset[int]
) -> OptimisedContext:
    """The context that keeps both; without the standing messages, and saying so, where the budget holds none such.

    Raises ImpossibleBudgetError where it does not hold even what must be kept.
    """
    try:
        return choose(must | standing)
    except ImpossibleBudgetError:
        if standing <= must:
            raise
        return replace(
            choose(must), replanned="what is to stay in every context does not fit into the budget"
        )
