"""The fates of a plan as one word that a caller keeps and gives back: `700:k1-5,9;m7;d12.0.2`.

It is of 700 messages, of which some are kept or masked, and of #12 its pieces 0 and 2 are cited. Earlier versions wrote
`700@650:…` for one that was made when there were 650.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from amgs.conversation.citing import pieces_of, runs, write_spans
from amgs.conversation.material import DROPPED, KEPT, MASKED, Cited, Fate
from amgs.errors import UsageError
from amgs.types.conversation import Message

_PLAN = re.compile(r"(\d{1,9})(?:@\d{1,9})?:(?:k([\d,-]*))?(?:;m([\d,-]*))?(?:;d([\d,.]*))?")


def encode(messages: Sequence[Message], fates: Sequence[Fate]) -> str:
    """The fates of all messages of a conversation."""
    told = list(zip(messages, fates, strict=True))
    kept, masked = (write_spans(runs(m.number for m, own in told if own == fate)) for fate in (KEPT, MASKED))
    cites = [".".join(map(str, (m.number, *own[1]))) for m, own in told if own[0] == "digested"]
    last = messages[-1].number if messages else 0
    return f"{last}:k{kept}" + (f";m{masked}" if masked else "") + (f";d{','.join(cites)}" if cites else "")


def decode(plan: str, messages: Sequence[Message]) -> list[Fate]:
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
            fates.append(_decode_cites(message, cites.get(message.number, ())))
    return fates


def until(plan: str) -> int:
    """The number of the last message that a plan knows."""
    return int(plan.partition(":")[0].partition("@")[0])


def _decode_cites(message: Message, given: Cited) -> Fate:
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
