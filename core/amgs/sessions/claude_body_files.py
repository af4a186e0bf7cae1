"""API calls in a folder of request and response bodies that Claude Code wrote, in order of time; and which requests
continue which, since each repeats the messages before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from amgs.sessions.anthropic_messages import parts_of
from amgs.sessions.lines import Line, Record, beside, content_text, fields, instant, lines_of, text, unreadable
from amgs.types.usage import Usage

_REQUEST: Final = ".request.json"
_RESPONSE: Final = ".response.json"
_INDEX: Final = "index.jsonl"
_SESSION: Final = re.compile(r"session(?:_id)?[\"_: ]+([0-9a-zA-Z-]{6,})")


@dataclass(frozen=True, slots=True)
class BodyCall:
    """An API call.

    request, response: its bodies, None if missing or not a JSON object. name, answer: file names, "" if missing.
    source: purpose of the call in the program. session: "" if neither index nor request says it.
    """

    name: str
    answer: str
    request: Record | None
    response: Record | None
    at: datetime | None
    source: str
    session: str


@dataclass(frozen=True, slots=True)
class BodyFolder:
    """A folder of bodies. calls: in order of time. index: its lines. others: number of other files."""

    calls: Sequence[BodyCall]
    index: Sequence[Line]
    others: int

    def sessions(self) -> list[str]:
        """Return the sessions, latest first."""
        session_ids = list(dict.fromkeys(call.session for call in reversed(self.calls)))
        return [session_id for session_id in session_ids if session_id] or session_ids


def has_bodies(path: Path) -> bool:
    """Return whether a folder contains request bodies."""
    return path.is_dir() and next(path.glob(f"*{_REQUEST}"), None) is not None


def body_folder(path: Path) -> BodyFolder:
    """Return the content of a folder.

    Requests and responses that are not in an index are ordered by the times of their files. Raises InputError for an
    unreadable folder or index.
    """
    try:
        files = sorted(file for file in path.iterdir() if file.is_file())
        changed = {file.name: file.stat().st_mtime for file in files}
    except OSError as error:
        raise unreadable(path, error) from error
    requests = [file for file in files if file.name.endswith(_REQUEST)]
    responses = [file for file in files if file.name.endswith(_RESPONSE)]
    index = [*lines_of(path / _INDEX)] if _INDEX in changed else []
    records = {Path(text(line.value.get("request_file"))).name: line.value for line in index if line.value}
    named = {Path(text(record.get("response_file"))).name for record in records.values()}
    free = sorted(
        (response for response in responses if response.name not in named), key=lambda response: changed[response.name]
    )
    bodies = {file.name: _body(file) for file in [*requests, *responses]}
    calls = []
    for request_file in sorted(requests, key=lambda file: (changed[file.name], file.name)):
        entry = records.get(request_file.name, {})
        answer = Path(text(entry.get("response_file"))).name if entry else _next(free, request_file, bodies, changed)
        if answer not in bodies:
            answer = ""
        at = instant(entry.get("timestamp")) or instant(changed[request_file.name])
        request = bodies[request_file.name]
        session = text(entry.get("session_id")) or _session_of(request)
        source = text(entry.get("query_source"))
        calls.append(BodyCall(request_file.name, answer, request, bodies.get(answer), at, source, session))
    calls.sort(key=lambda call: call.at.timestamp() if call.at else 0.0)
    used = {call.answer for call in calls}
    lost = [
        BodyCall("", response.name, None, bodies[response.name], None, "", "")
        for response in responses
        if response.name not in used
    ]
    others = len(files) - len(requests) - len(responses) - (_INDEX in changed)
    return BodyFolder([*lost, *calls], index, others)


def _next(free: list[Path], request: Path, bodies: Mapping[str, Record | None], changed: Mapping[str, float]) -> str:
    """Remove and return the first free response of the same model that was written after a request; "" without one."""
    model = text((bodies[request.name] or {}).get("model"))
    for response in free:
        same = text((bodies[response.name] or {}).get("model")).startswith(model)
        if same and changed[response.name] >= changed[request.name]:
            free.remove(response)
            return response.name
    return ""


def _body(path: Path) -> Record | None:
    value: Any = beside(path)
    return value if isinstance(value, dict) else None


def _session_of(request: Record | None) -> str:
    match = _SESSION.search(text(fields((request or {}).get("metadata")).get("user_id")))
    return match[1] if match else ""


_CONTINUED: Final = "This session is being continued from a previous conversation"
_LONG: Final = 40
"""Length of an answer from which a message that contains it is the summary made of it."""


@dataclass
class RequestWindow:
    """A series of requests that continue each other, with its last window.

    source, key: identify requests that may continue it. marks: of its messages, see `mark_of`; asked: how many of them
    were in the request, without the answer. ids: of the turns made of each message. numbers: of all its turns; first:
    number of the first turn of the last call. answer: text of the last answer. rewriting: a compaction is being read.
    """

    source: str
    key: tuple[str, bool]
    calls: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    asked: int = 0
    ids: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    first: int = 0
    usage: Usage | None = None
    answer: str = ""
    rewriting: bool = False
    body: Record = field(default_factory=dict)

    def summary_in(self, words: str) -> bool:
        """Return whether a message is a summary of the previous window."""
        return _CONTINUED in words or (self.rewriting and len(self.answer) >= _LONG and self.answer in words)


def same_at_start(old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]) -> int:
    """Return the number of messages with which both begin."""
    differing = (at for at, (mark, other) in enumerate(zip(old, new, strict=False)) if mark != other)
    return next(differing, min(len(old), len(new)))


def mark_of(message: Record) -> tuple[int, int]:
    """Return two hashes of a message without thoughts, which later requests omit: with and without tool results."""
    contents: list[tuple[str, str, str]] = []
    for part in parts_of(message.get("content")):
        part_fields = {"type": "text", "text": part} if isinstance(part, str) else fields(part)
        kind, id = text(part_fields.get("type")), text(part_fields.get("tool_use_id") or part_fields.get("id"))
        if "thinking" not in kind:
            contents.append((kind, id, "" if kind == "tool_use" else content_text(part_fields).strip()))
    shape = tuple((kind, id, "" if kind.endswith("tool_result") else words) for kind, id, words in contents)
    role = text(message.get("role"))
    return hash((role, tuple(contents))), hash((role, shape))
