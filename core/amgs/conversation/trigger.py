"""When a plan that still fits is made anew: early, at a natural boundary, rather than in the middle of a step.

A plan that no longer fits is made anew at once (the hard trigger). Above the soft trigger one is made where a step or a
topic has ended, unless the last one is too young: every new plan costs the provider's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amgs.types.context_settings import ContextSettings
from amgs.types.conversation import Message

Topics = Callable[[], Sequence[tuple[int, int]]]


def due(
    messages: Sequence[Message],
    share: float,
    made: int,
    known: int,
    settings: ContextSettings,
    topics: Topics,
) -> bool:
    """Whether the soft trigger fires. share: of the room, what the plan takes by now. made: the number of the last
    message when it was made; known: when it was used last.
    """
    if not messages or share <= settings.trigger or messages[-1].number - made < settings.cooldown:
        return False
    return is_boundary(messages, known, topics)


def is_boundary(messages: Sequence[Message], known: int, topics: Topics) -> bool:
    """Whether nothing is under way at the end of messages: of an agent at work, a user speaks; of a talk, the topic
    changed since the message of a number.
    """
    if any(m.calls for m in messages):
        return messages[-1].role == "user"
    found = topics()
    return bool(found) and messages[found[-1][0]].number > known
