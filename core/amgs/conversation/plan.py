"""The fates of a plan as one word that a caller keeps and gives back: `700:k1-5,9;m7;d12.0.2`.

It is of 700 messages, of which some are kept or masked, and of #12 its pieces 0 and 2 are cited. `700@650:…` was made
when there were 650.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from amgs.conversation.citing import pieces_of, runs, written
from amgs.conversation.material import DROPPED, KEPT, MASKED, Cited, Fate
from amgs.errors import UsageError
from amgs.types.conversation import ContextSettings, Message

_PLAN = re.compile(r"(\d{1,9})(?:@\d{1,9})?:(?:k([\d,-]*))?(?:;m([\d,-]*))?(?:;d([\d,.]*))?")


def encoded(messages: Sequence[Message], fates: Sequence[Fate], made: int | None = None) -> str:
    """The fates of all messages of a conversation. made: the number of the last message when the plan was made, None
    for now.
    """
    told = list(zip(messages, fates, strict=True))
    kept, masked = (written(runs(m.number for m, own in told if own == fate)) for fate in (KEPT, MASKED))
    cites = [".".join(map(str, (m.number, *own[1]))) for m, own in told if own[0] == "digested"]
    last = messages[-1].number if messages else 0
    since = f"@{made}" if made is not None and made != last else ""
    return (
        f"{last}{since}:k{kept}"
        + (f";m{masked}" if masked else "")
        + (f";d{','.join(cites)}" if cites else "")
    )


def decoded(plan: str, messages: Sequence[Message]) -> list[Fate]:
    """The fates of the messages; those that came after the plan was made are kept. Raises UsageError for no plan."""
    found = _PLAN.fullmatch(plan)
    if found is None:
        raise UsageError(
            f"{plan[:40]!r} is no plan.",
            title="Not a plan",
            way_out="Give back what an earlier context has as its plan, or nothing.",
        )
    until, kept, masked, cites = int(found[1]), _numbers(found[2]), _numbers(found[3]), _cites(found[4])
    fates = []
    for message in messages:
        if message.number > until or message.number in kept:
            fates.append(KEPT)
        elif message.number in masked:
            fates.append(MASKED)
        else:
            fates.append(_digested(message, cites.get(message.number, ())))
    return fates


def until(plan: str) -> int:
    """The number of the last message that a plan knows."""
    return int(plan.partition(":")[0].partition("@")[0])


def made_at(plan: str) -> int:
    """The number of the last message when a plan was made."""
    return int(plan.partition(":")[0].rpartition("@")[2])


def _digested(message: Message, given: Cited) -> Fate:
    size = len(pieces_of(message.text, message.at)) if given and not message.calls else 0
    pieces = tuple(sorted({number for number in given if number < size}))
    return ("digested", pieces) if pieces else DROPPED


def _numbers(text: str | None) -> set[int]:
    spans = [one.split("-") for one in (text or "").split(",") if one]
    found = set[int]()
    for span in spans:
        first, last = span[0], span[-1]
        if first.isdecimal() and last.isdecimal() and int(last) - int(first) < 10_000_000:
            found.update(range(int(first), int(last) + 1))
    return found


def _cites(text: str | None) -> dict[int, Cited]:
    given = [[int(n) for n in one.split(".") if n and len(n) < 10] for one in (text or "").split(",") if one]
    return {one[0]: tuple(one[1:]) for one in given if one}


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
