"""Which kept conversation a request goes on with: an agent sends its whole history each time, and names nothing."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.types.conversation import Message
from amgs_app.gateway.formats.spoken import Spoken


def aligned(kept: Sequence[Message], sent: Sequence[Spoken]) -> tuple[int, ...]:
    """For each of a request's messages the number of the kept one, as far as they are kept; none where the request is
    of another conversation.

    What users and tools said has to be equal but for white space. What the assistant said may differ: agents send back
    its answers shortened, mended or without the thoughts.
    """
    numbers: list[int] = []
    for message, said in zip(kept, sent, strict=False):
        same = message.role == said.role and (
            said.role == "assistant" or message.text.split() == said.text.split()
        )
        if not same:
            return ()
        numbers.append(message.number)
    return tuple(numbers)
