"""Protection: what a context keeps whatever the query is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum

from amgs.types.conversation import Message


class Protection(IntEnum):
    """How firmly a message is kept. CRITICAL: always; HIGH, and after it MEDIUM: before everything that has to be worth
    it, each within its share of the room.
    """

    NONE = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


def protection(
    messages: Sequence[Message],
    recent: int,
    restored: Collection[int] = (),
    important: Mapping[int, str] | None = None,
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
