"""Goose: `~/.local/share/goose/sessions/sessions.db`, and before version 1.10 `sessions/SESSION.jsonl`.

A file of lines begins with facts about the session; the other lines, the rows of `messages`, and the `conversation`
that `goose session export` writes as JSON, are messages whose content is a list of texts, thoughts, requests of tools
and their responses. What a compaction writes is not shown to the user. Tokens are reported only for the session as a
whole.

Source: `session_manager.rs` and `message.rs` of the block/goose repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import (
    ListMarks,
    RecordReading,
    SessionFormat,
    no_session,
    read_document,
    read_latest,
    read_lines,
)
from amgs.sessions.lines import (
    Line,
    Record,
    content_text,
    fields,
    instant,
    items,
    lines_of,
    parse_object,
    text,
    whole_document,
)
from amgs.sessions.sqlite_file import is_sqlite, names_column, open_copy, tables_named_in
from amgs.sessions.turn import Boundary, Place, Session

_COLUMNS: Final = ("id", "name", "description", "working_dir", "updated_at", "provider_name", "model_config_json")
_MESSAGES: Final = ("message_id", "role", "content_json", "created_timestamp", "metadata_json")


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Goose", "goose", path, limit)

    def about(self, about: Record) -> None:
        """Read the facts of the session."""
        model = parse_object(text(about.get("model_config_json"))) or {}
        self.know(
            id=text(about.get("id")),
            project=text(about.get("working_dir")),
            title=text(about.get("name")) or text(about.get("description")),
            model=text(model.get("model_name")),
        )

    def kind_of(self, record: Record) -> str:
        """Return the record's role; for the first line, that it is the session's."""
        return "session" if "working_dir" in record else f"message: {text(record.get('role')) or 'without a role'}"

    def record(self, record: Record, place: Place) -> None:
        """Read a message into turns."""
        if "working_dir" in record:
            self.about(record)
            return
        role, metadata = text(record.get("role")), fields(record.get("metadata"))
        id = text(record.get("id"))
        more: dict[str, Any] = {"at": instant(record.get("created")), "id": id or f"message {place.line}"}
        if role == "assistant":
            more["request"] = more["id"]
        unseen = metadata.get("userVisible") is False
        for part in items(record.get("content")):
            kind, content = text(part.get("type")), content_text(part)
            if kind in ("toolRequest", "frontendToolRequest"):
                call = fields(fields(part.get("toolCall")).get("value"))
                self.calls(place, call.get("name"), part.get("id"), call.get("arguments"), **more)
            elif kind == "toolResponse":
                result = fields(part.get("toolResult"))
                value = result.get("value", result.get("error"))
                content = content_text(fields(value).get("content") or value)
                failed = result.get("status") == "error" or fields(value).get("isError") is True
                self.result(place, part.get("id"), content, failed=failed, **more)
            elif kind in ("thinking", "redactedThinking"):
                self.turn(place, "assistant", "thinking", text(part.get("thinking")), **more)
            elif kind in ("contextLengthExceeded", "summarizationRequested", "conversationCompacted"):
                self.compact(place, Boundary(), **more)
            elif content and role == "assistant":
                self.turn(place, "assistant", "summary" if unseen else "said", content, **more)
            elif content:
                self.turn(place, "user", "injected" if unseen else "said", content, **more)


def read(path: Path) -> Session:
    """Return the session in a file, the latest in a database. Raises InputError for an unreadable file."""
    if is_sqlite(path):
        return read_latest(sessions_in, read_one, path)
    first = next(lines_of(path), None)
    whole = fields(whole_document(path) or (first.value if first else None))
    messages = whole.get("conversation", whole.get("messages"))
    if messages is None:
        return read_lines(_Reading, path)
    reading = _Reading(path, None)
    reading.about(whole)
    return read_document(path, reading, messages)


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a database, latest first, or of the only session in another file. Raises
    InputError.
    """
    if not is_sqlite(path):
        return (read(path).id,)
    with open_copy(path) as file:
        return tuple(str(id) for id, _ in reversed(file.rows("sessions", ("id", "updated_at"), ("updated_at", "id"))))


def read_one(path: Path, id: str) -> Session:
    """Return the session with an id; raises InputError for none, and for a file that cannot be read."""
    if is_sqlite(path):
        with open_copy(path) as file:
            if rows := file.rows("sessions", _COLUMNS, id=id):
                reading = _Reading(path, None)
                reading.about(dict(zip(_COLUMNS, rows[0], strict=True)))
                messages = file.rows("messages", _MESSAGES, ("created_timestamp", "id"), session_id=id)
                for number, (message, role, content, created, metadata) in enumerate(messages, 1):
                    body = parse_object(f'{{"content": {content}}}')
                    about = {"id": message, "role": role, "created": created}
                    value = None if body is None else {**body, **about, "metadata": parse_object(text(metadata))}
                    reading.take(Line(Place(number), value, "not JSON"))
                return reading.session()
    else:
        session = read(path)
        if session.id == id:
            return session
    raise no_session(path, id)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a file is a database with Goose's tables, or lines that begin with a session's folder."""
    if path.is_file() and is_sqlite(path):
        return {"sessions", "messages"} <= tables_named_in(path) and names_column(path, "content_json")
    header = bool(first) and "working_dir" in first[0] and "role" not in first[0]
    kinds = ("toolRequest", "toolResponse")
    return header or any(part.get("type") in kinds for record in first for part in items(record.get("content")))


FORMAT: Final = SessionFormat(
    "goose",
    "Goose",
    "",
    (".local/share/goose/sessions/sessions.db", ".local/share/goose/sessions/*.jsonl"),
    recognises,
    read,
    ListMarks(
        re.compile(rb'"role"\s*:\s*"user"'), re.compile(rb'"conversationCompacted"'), re.compile(rb'"toolResponse"')
    ),
    inside=sessions_in,
    read_one=read_one,
)
