"""What a model said, read from the bytes of its answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from amgs_app.gateway.formats.spoken import Body, Format, Spoken

_COUNTS: Final = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""Tokens of a request in the `usage` of an answer: the first in chat completions, the second in responses, the last
three, which exclude each other, in Anthropic's.
"""


def said_in(form: Format, content: bytes, *, streamed: bool) -> Sequence[Spoken]:
    """The messages of an answer, whole or in server-sent events; nothing for one that cannot be read."""
    if streamed:
        return form.collected(_events(content))
    whole = _object(content)
    return [] if whole is None else form.answer(whole)


def tokens_in(content: bytes, *, streamed: bool) -> int:
    """How many tokens the request had as the model's server counted, what it took from its cache included; 0 where the
    answer does not say.
    """
    told = _events(content) if streamed else [one] if (one := _object(content)) else []
    counts = [0]
    for event in told:
        for holder in (event, event.get("message"), event.get("response")):
            usage = holder.get("usage") if isinstance(holder, dict) else None
            if isinstance(usage, dict):
                counts.append(sum(n for key in _COUNTS if isinstance(n := usage.get(key), int)))
    return max(counts)


def _events(content: bytes) -> list[Body]:
    """The JSON objects of server-sent events (WHATWG HTML, 9.2), in order."""
    found = []
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        event = _object("\n".join(lines).encode())
        if event is not None:
            found.append(event)
    return found


def _object(content: bytes) -> Body | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
