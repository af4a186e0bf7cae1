"""Cursor's command line: `~/.cursor/projects/PROJECT/agent-transcripts/SESSION/SESSION.jsonl`.

A line is a message in Anthropic's form, without ids, times, tokens, and results of tools. What the user asked stands in
`<user_query>`, after `<timestamp>`. The chats of the editor lie in a database of its own, which is not read.

Source: the registry of session formats of the vshulcz/deja-vu repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Record, content_text, fields, text
from amgs.sessions.messages import parts_of, turns_of_part, words_of_user
from amgs.sessions.turn import Place

_TIME: Final = re.compile(r"<timestamp>.*?</timestamp>\s*", re.DOTALL)

_QUERY: Final = re.compile(r"<user_query>(.*?)</user_query>(?=\s*(?:[<\[]|\Z))", re.DOTALL)


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Cursor", "cursor", path, limit)

    def record(self, record: Record, place: Place) -> None:
        """Read one message into turns."""
        role = text(record.get("role"))
        if role not in ("user", "assistant"):
            return
        more: dict[str, Any] = {"request": f"line {place.line}"} if role == "assistant" else {}
        for part in parts_of(fields(record.get("message")).get("content")):
            words = "" if role == "assistant" or fields(part).get("type") == "tool_result" else content_text(part)
            words = _TIME.sub("", words)
            if queries := _QUERY.findall(words):
                for _, content, speaker in words_of_user(_QUERY.sub("", words).strip()):
                    self.say(place, "user", "injected", content, speaker=speaker, **more)
                self.turn(place, "user", "said", "\n\n".join(map(str.strip, queries)), **more)
                continue
            for who, kind, content, about in turns_of_part(words or part, role):
                self.turn(place, who, kind, content, **more | about)


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether lines have a role beside a message without a role, and no ids."""
    del path
    return any(
        "role" in record
        and isinstance(message := record.get("message"), dict)
        and "content" in message
        and "role" not in message
        for record in first
    )


FORMAT: Final = SessionFormat(
    "cursor",
    "Cursor",
    "",
    (".cursor/projects/*/agent-transcripts/**/*.jsonl",),
    recognises,
    read,
    ListMarks(re.compile(rb'"role"\s*:\s*"user"'), re.compile(rb"(?!)")),
    read_end=read,
)
