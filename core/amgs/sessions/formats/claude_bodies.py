"""Bodies of requests and responses of Claude Code: the folder DIR of `OTEL_LOG_RAW_API_BODIES=file:DIR`.

`UUID.request.json` is the whole input of the model: system prompt, tools, messages; `REQUEST.response.json` is its
output. `index.jsonl`, in later versions, has the time, the session and the purpose of each call. A record is a file, or
a line of the index. A request repeats the messages of the previous one; if it does not, the window was rewritten.
Requests with another system prompt or other tools are those of subagents, or for titles and the like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import SessionBuilder, SessionFormat, no_session, read_latest
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    beside,
    content_text,
    fields,
    instant,
    items,
    lines_of,
    text,
    unreadable,
)
from amgs.sessions.messages import CONTINUED, parts_of, turns_of_part, usage_of, window_of
from amgs.sessions.turn import Boundary, Place, Session, TurnKind
from amgs.types.conversation import Role
from amgs.types.gateway import Usage

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
    """Remove and return the first free response of the same model that was written after a request; "" if there is
    none.
    """
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
        return CONTINUED in words or (self.rewriting and len(self.answer) >= _LONG and self.answer in words)


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


_MAIN: Final = ("repl_main_thread", "sdk", "compact")
_BILLING: Final = "x-anthropic-billing-header"


class _Reading(SessionBuilder):
    def __init__(self, path: Path, id: str) -> None:
        super().__init__("Claude Code", "claude-bodies", path)
        self.know(id=id)
        self._windows: list[RequestWindow] = []
        self._records = 0
        self._at: datetime | None = None

    def place(self) -> Place:
        """Return the place of the next record."""
        self._records += 1
        return Place(self._records)

    def take(self, call: BodyCall) -> None:
        """Read a call: its request and its response."""
        if call.request is None:
            if call.name:
                self.fail(Line(self.place(), None, "not a JSON object"))
            if call.answer:
                self.place()
                self.note("response without a request")
            return
        self._at = call.at
        place, first = self.place(), len(self.turns) + 1
        messages = items(call.request.get("messages"))
        marks = [mark_of(message) for message in messages]
        ids = [f"{call.name}:{number}" for number in range(len(messages))]
        usage = usage_of((call.response or {}).get("usage"))
        window, same = self._window_of(call, marks)
        if same >= window.asked:
            answered = same == window.asked < min(len(window.marks), len(messages))
            if answered and text(messages[same].get("role")) == "assistant":
                same += 1  # the answer, as the program stored it
            ids[:same] = window.ids[:same]
            new: Sequence[int] = range(same, len(messages))
        else:
            new = self._rewritten(window, messages, marks, ids, Boundary(after=usage.window or None), place)
        for number in new:
            self._say(window, messages[number], ids[number], place)
        window.marks, window.asked, window.ids, window.body = marks, len(marks), ids, call.request
        window.first, window.calls, window.rewriting = first, window.calls + 1, False
        if len(self.turns) < first:
            self.note("request without a new message")
        if call.answer:
            self._answer(window, call, usage)

    def _window_of(self, call: BodyCall, marks: Sequence[tuple[int, int]]) -> tuple[RequestWindow, int]:
        """Return the window that a request continues or rewrites, and the number of leading messages in common."""
        body = call.request or {}
        source = "" if call.source.startswith(_MAIN) else call.source
        system = [prompt for part in parts_of(body.get("system")) if (prompt := content_text(part))]
        key = (
            next((prompt for prompt in system if not prompt.startswith(_BILLING)), "")[:300],
            bool(body.get("tools")),
        )
        own = [
            (same_at_start(candidate.marks, marks), candidate)
            for candidate in self._windows
            if candidate.source == source
        ]
        fitting = [(same, candidate) for same, candidate in own if 0 < candidate.asked <= same]
        fitting = fitting or [
            (same, candidate) for same, candidate in own if candidate.key == key and (same or not source)
        ]
        if not fitting:
            fitting = [(0, RequestWindow(source, key))]
            self._windows.append(fitting[0][1])
        same, window = max(fitting, key=lambda pair: pair[0])
        return window, same

    def _rewritten(
        self,
        window: RequestWindow,
        messages: Sequence[Record],
        marks: Sequence[tuple[int, int]],
        ids: list[str],
        mark: Boundary,
        place: Place,
    ) -> Sequence[int]:
        """Read a request that does not begin with the previous one; return the numbers of its new messages.

        Tool results were removed, the user went back, or everything was compacted. ids: of the messages' turns, changed
        in place to those of existing turns.
        """
        old, asked = window.marks, window.asked
        known = dict(zip(old, window.ids, strict=False))
        last = window.usage
        mark = replace(mark, before=last.window + last.output if last else None)
        if [shape for _, shape in old[:asked]] == [shape for _, shape in marks[:asked]]:
            changed = [messages[at] for at in range(asked) if old[at] != marks[at]]
            parts = [fields(part) for message in changed for part in parts_of(message.get("content"))]
            dropped = tuple(filter(None, (text(part.get("tool_use_id")) for part in parts)))
            self._add(window, place, "system", "boundary", "", boundary=replace(mark, dropped=dropped, whole=False))
            there = asked + same_at_start(old[asked:], marks[asked:])
            ids[:there] = window.ids[:there]
            return range(there, len(messages))
        same = same_at_start(old, marks)
        window.rewriting = True
        summary = any(window.summary_in(content_text(message.get("content"))) for message in messages[same:])
        if same and not summary:
            ids[:same] = window.ids[:same]
            gone = {*window.ids[same:]}
            for turn in [self.turns[number - 1] for number in window.numbers]:
                if turn.id in gone:
                    self.change(turn, abandoned=True)
            return range(same, len(messages))
        if summary:  # the request for the summary and its answer are not part of the conversation
            for turn in [self.turns[number - 1] for number in window.numbers if number >= window.first]:
                if turn.kind == "said" and window.answer:
                    self.change(turn, kind="injected")
        remaining_ids = tuple(known[message_mark] for message_mark in marks if message_mark in known)
        self._add(window, place, "system", "boundary", "", boundary=replace(mark, preserved=remaining_ids))
        for number, message_mark in enumerate(marks):
            ids[number] = known.get(message_mark, ids[number])
        return [number for number, message_mark in enumerate(marks) if message_mark not in known]

    def _say(self, window: RequestWindow, message: Record, id: str, place: Place, **more: Any) -> None:
        """Add the turns of a message; right after a compaction, its summary."""
        role = text(message.get("role"))
        for part in parts_of(message.get("content")) if role in ("user", "assistant") else ():
            is_summary = role == "user" and window.summary_in(content_text(part))
            text_kind: TurnKind | None = "summary" if is_summary else None
            for who, kind, words, details in turns_of_part(part, role, text_kind):
                self._add(window, place, who, kind, words, id=id, **more, **details)

    def _add(self, window: RequestWindow, place: Place, role: Role, kind: TurnKind, words: str, **more: Any) -> None:
        window.numbers.append(self.turn(place, role, kind, words, at=self._at, **more).number)

    def _answer(self, window: RequestWindow, call: BodyCall, usage: Usage) -> None:
        place, before, response = self.place(), len(self.turns), call.response
        if response is None:
            self.fail(Line(place, None, "not a JSON object"))
            return
        id = text(response.get("id")) or call.answer
        message = {"role": "assistant", "content": response.get("content")}
        self._say(window, message, id, place, request=id, usage=usage if usage.window else None)
        if len(self.turns) == before:
            self.note(f"response: {text(response.get('type')) or 'without a type'}")
            return
        window.usage = usage if usage.window else window.usage
        window.answer = content_text(response.get("content")).strip()
        window.marks = [*window.marks, mark_of(message)]
        window.ids = [*window.ids, id]

    def finish(self) -> None:
        """Choose the line of requests that is the conversation: the longest without a known other purpose."""
        ordered = sorted(
            self._windows, key=lambda candidate: (bool(candidate.source), not candidate.key[1], -candidate.calls)
        )
        for number, window in enumerate(ordered):
            for at in window.numbers if number else ():
                self.change(self.turns[at - 1], agent=window.source or f"side {number}")
        body = ordered[0].body if ordered else {}
        model = text(body.get("model"))
        most = max((turn.usage.window for turn in self.turns if turn.usage and not turn.agent), default=0)
        self.know(model=model, window=window_of(model, most), system=content_text(body.get("system")))
        self.know(tools=as_json(body["tools"]) if body.get("tools") else "")


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a folder, latest first. Raises InputError for an unreadable folder."""
    return tuple(body_folder(path).sessions())


def read_one(path: Path, id: str) -> Session:
    """Return the session with an id. Raises InputError for an unknown id or an unreadable folder."""
    folder = body_folder(path)
    if id not in folder.sessions():
        raise no_session(path, id)
    reading = _Reading(path, id)
    for line in folder.index:
        place = reading.place()
        if line.value is None:
            reading.fail(Line(place, None, line.why))
        elif text(line.value.get("session_id")) in ("", id):
            reading.note("line of the index")
    for call in folder.calls:
        if call.session in ("", id):
            reading.take(call)
    for _ in range(folder.others):
        reading.place()
        reading.note("another file")
    reading.finish()
    return reading.session()


read: Final = partial(read_latest, sessions_in, read_one)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a path is a folder with bodies of requests."""
    del first
    return has_bodies(path)


FORMAT: Final = SessionFormat(
    "claude-bodies", "Claude Code, bodies of requests", "", (), recognises, read, inside=sessions_in, read_one=read_one
)
