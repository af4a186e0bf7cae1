"""What a model said, read from the bytes of its answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from amgs_app.gateway.formats.spoken import Body, Format, Spoken


def said_in(form: Format, content: bytes, *, streamed: bool) -> Sequence[Spoken]:
    """The messages of an answer, whole or in server-sent events; nothing for one that cannot be read."""
    if streamed:
        return form.collected(_events(content))
    whole = _object(content)
    return [] if whole is None else form.answer(whole)


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
