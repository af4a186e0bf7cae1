"""What stays together (a call with its results, a question with its answer), and how firmly each message is kept,
by itself or because somebody said so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import IntEnum

from amgs.conversation.acts import acts
from amgs.conversation.citing import handle, runs
from amgs.conversation.slots import find_slots
from amgs.errors import ImpossibleBudgetError
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.types.conversation import ConversationKept, Message, OptimisedContext


class Protection(IntEnum):
    """How firmly a message is kept. CRITICAL: always; HIGH, and after it MEDIUM: before everything that has to be worth
    it, each within its share of the room.
    """

    NONE = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


def protection(
    messages: Sequence[Message], recent: int, restored: Collection[int] = (), important: Mapping[int, str] | None = None
) -> list[tuple[Protection, str]]:
    """For each message how firmly it is kept, and why.

    recent: so many of the last, by time, are HIGH. restored: numbers of those that were asked back. CRITICAL are system
    prompts, what is pinned or restored, calls that still wait for their result, and the active task: the last message,
    and the last one of the user. important: why others are MEDIUM, by place.
    """
    answered = {m.answers for m in messages if m.answers}
    task = max((n for n, m in enumerate(messages) if m.role == "user"), default=-1)
    found: list[tuple[Protection, str]] = []
    for place, message in enumerate(messages):
        if message.role == "system":
            found.append((Protection.CRITICAL, "system prompt"))
        elif message.pinned:
            found.append((Protection.CRITICAL, "pinned"))
        elif message.number in restored:
            found.append((Protection.CRITICAL, "restored"))
        elif place == task:
            found.append((Protection.CRITICAL, "the active task"))
        elif place == len(messages) - 1:
            found.append((Protection.CRITICAL, "the last message"))
        elif any(call.id not in answered for call in message.calls):
            found.append((Protection.CRITICAL, "its call waits for a result"))
        elif place >= len(messages) - recent:
            found.append((Protection.HIGH, f"one of the last {recent}"))
        elif important is not None and place in important:
            found.append((Protection.MEDIUM, important[place]))
        else:
            found.append((Protection.NONE, ""))
    return found


_ASKS = ("?", "？", "؟", "¿")


def atoms(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """The messages in atoms, by their places in the sequence: rising within each, by the first of each.

    Calls and results whose counterpart is not among the messages are atoms of what is there.
    """
    group = list(range(len(messages)))

    def root(place: int) -> int:
        while group[place] != place:
            group[place] = group[group[place]]
            place = group[place]
        return place

    made: dict[str, int] = {}
    asked: int | None = None
    for place, message in enumerate(messages):
        for call in message.calls:
            made[call.id] = place
        if message.role == "tool" and message.answers in made:
            group[root(place)] = root(made[message.answers])
        elif message.role == "user":
            asked = place if asks(message.text) else None
        elif message.role == "assistant" and asked is not None and message.text.strip() and not message.calls:
            group[root(place)] = root(asked)
            asked = None
    found: dict[int, list[int]] = {}
    for place in range(len(messages)):
        found.setdefault(root(place), []).append(place)
    return tuple(sorted(tuple(one) for one in found.values()))


def asks(text: str) -> bool:
    """Whether a text ends with a question."""
    return text.rstrip(" \t\r\n\"'”’)]*_").endswith(_ASKS)


_OPEN = {"question": "an open question", "goal": "a goal", "commitment": "a commitment"}


def find_important(messages: Sequence[Message]) -> dict[int, str]:
    """Why messages matter, by their places: a decision, or a question, goal or commitment that is open.

    Only of those who speak: what a tool puts out decides and promises nothing.
    """
    said = [n for n, m in enumerate(messages) if m.role in ("user", "assistant") and m.text.strip()]
    texts = [messages[n].text for n in said]
    found = {
        said[act.place]: _OPEN[act.kind]
        for act in acts(texts, [messages[n].speaker or messages[n].role for n in said])
        if act.closed_by is None
    }
    for place in said:
        first = next(find_slots(messages[place].text), None)  # decisions come before all else
        if first is not None and first[0] == "decision":
            found[place] = "a decision"
    return found


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
        found, told = choose(must), "what is kept by hand does not fit into the budget"
        spans = tuple(
            replace(span, because=f"{span.because}; {told}")
            if span.fate != "kept" and any(span.first <= number <= span.last for number in standing)
            else span
            for span in found.spans
        )
        return replace(found, spans=spans, replanned=told)
