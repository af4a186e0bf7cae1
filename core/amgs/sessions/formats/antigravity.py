"""Antigravity and its CLI: `~/.gemini/antigravity*/brain/SESSION/.system_generated/logs/transcript.jsonl`.

A line is a step: of the user, of the model with its calls, or of a tool, which names no call, so that it answers the
first of its kind that waits. A compaction is a step `CHECKPOINT`. Tokens are not told.

Source: the registry of session formats of the vshulcz/deja-vu repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Record, as_json, content_text, fields, instant, items, name, parse_object, text
from amgs.sessions.turn import Boundary, Place

_REQUEST: Final = re.compile(r"<USER_REQUEST>\s*(.*?)\s*(?:</USER_REQUEST>|\Z)", re.DOTALL)
_PUT_IN: Final = re.compile(r"<(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE)>.*?</\1>\s*", re.DOTALL)
_FAILED: Final = re.compile(r"exited with code [1-9]|^Error\b", re.MULTILINE)


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Antigravity", "antigravity", path, limit)
        self._waiting: list[tuple[str, str]] = []
        """(name, id) of calls that have no result."""

    def kind_of(self, record: Record) -> str:
        """Return where it comes from, and its type."""
        return ": ".join(filter(None, (text(record.get("source")), text(record.get("type")))))

    def record(self, record: Record, place: Place) -> None:
        """Read one step into turns."""
        source, kind = text(record.get("source")), text(record.get("type"))
        content = content_text(record.get("content"))
        more: dict[str, Any] = {"at": instant(record.get("created_at")), "id": f"step {name(record.get('step_index'))}"}
        if kind == "CHECKPOINT":
            self.compact(place, Boundary(), **more)
            if content:
                self.turn(place, "assistant", "summary", content, **more)
        elif source == "USER_EXPLICIT":
            self._user(content, place, more)
        elif source == "MODEL" and kind in ("PLANNER_RESPONSE", ""):
            self._model(record, content, place, more | {"request": f"line {place.line}"})
        elif source == "MODEL" and content:
            tool = kind.lower()
            at = next((n for n, (called, _) in enumerate(self._waiting) if called == tool), 0)
            _, id = self._waiting.pop(at) if self._waiting else ("", "")
            failed = record.get("status") == "ERROR" or _FAILED.search(content[:2_000]) is not None
            self.result(place, id, content, failed=failed, speaker=tool, **more)
        elif content:
            self.turn(place, "user", "injected", content, speaker=source.lower(), **more)

    def finish(self) -> None:
        """Take the session's id from its folder."""
        above = [above.name for above in self.path.parents]
        self.know(id=above[2] if above[1:2] == [".system_generated"] else "")

    def _user(self, content: str, place: Place, more: dict[str, Any]) -> None:
        for match in _PUT_IN.finditer(content):
            self.turn(place, "user", "injected", match[0].strip(), **more)
        rest = _PUT_IN.sub("", content)
        asked = _REQUEST.search(rest)
        self.say(place, "user", "said", (asked[1] if asked else rest).strip(), **more)

    def _model(self, record: Record, content: str, place: Place, more: dict[str, Any]) -> None:
        self.say(place, "assistant", "thinking", text(record.get("thinking")), **more)
        self.say(place, "assistant", "said", content, **more)
        for number, call in enumerate(items(record.get("tool_calls"))):
            tool, id = text(call.get("name")), text(call.get("id")) or f"{place.line}.{number}"
            arguments = {key: _plain(value) for key, value in fields(call.get("args")).items()}
            self.calls(place, tool, id, as_json(arguments), **more)
            self._waiting.append((tool, id))


def _plain(value: Any) -> Any:
    """Return an argument, which is written as JSON within JSON."""
    inner = parse_object(f'{{"value": {value}}}') if isinstance(value, str) else None
    return inner["value"] if inner else value


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether lines are steps with a source and an index."""
    del path
    return any(
        "step_index" in record and record.get("source") in ("USER_EXPLICIT", "MODEL", "SYSTEM") for record in first
    )


FORMAT: Final = SessionFormat(
    "antigravity",
    "Antigravity",
    "",
    (".gemini/antigravity*/brain/*/.system_generated/logs/transcript.jsonl",),
    recognises,
    read,
    ListMarks(re.compile(rb'"source"\s*:\s*"USER_EXPLICIT"'), re.compile(rb'"type"\s*:\s*"CHECKPOINT"')),
    read_end=read,
)
