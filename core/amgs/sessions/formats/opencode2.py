"""opencode 2: `~/.local/share/opencode/opencode*.db` with the tables `session_v2` (earlier `session`) and
`session_message`.

A record is a message: of the user, of the model with its content (texts, thoughts, calls with their results), or a
compaction with its summary. A database that an earlier version began keeps that version's tables as they were on the
day of the update: their sessions are read as before, and it is said that nothing is written there any more.

Source: issues and parsers of public viewers that describe the tables of version 2.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import RecordReading, SessionFormat, no_session, read_latest
from amgs.sessions.formats import opencode
from amgs.sessions.formats.opencode import milliseconds
from amgs.sessions.lines import Line, Record, content_text, fields, instant, items, parse_object, text
from amgs.sessions.sqlite_file import SqliteFile, is_sqlite, open_copy, tables_named_in
from amgs.sessions.turn import Boundary, Place, Session

_COLUMNS: Final = (
    "id",
    "parent_id",
    "fork_session_id",
    "directory",
    "title",
    "version",
    "model",
    "revert",
    "time_updated",
)
_OLD: Final = frozenset({"session", "message", "part"})
"""Tables of version 1."""
_FROZEN: Final = (
    "It was written by opencode 1: since the update to version 2 nothing is added to it; what was said later is in a"
    " session of version 2."
)


class _Reading(RecordReading):
    def __init__(self, path: Path) -> None:
        super().__init__("opencode", "opencode2", path)
        self._number = 0
        self._window = 0
        self._agent = ""

    def add_session(self, file: SqliteFile, about: Record, agent: str = "") -> None:
        """Read all messages of a session, in order."""
        self._agent, self._window = agent, 0
        back = about.get("revert")
        reverted = text(fields(parse_object(back) if isinstance(back, str) else back).get("messageID"))
        rows = file.rows(
            "session_message",
            ("id", "type", "time_created", "data"),
            ("seq", "time_created", "id"),
            session_id=str(about["id"]),
        )
        gone = False
        for id, kind, created, data in rows:
            self._number += 1
            record = parse_object(str(data))
            gone = gone or (bool(reverted) and id == reverted)
            line = Line(Place(self._number), record, "not a JSON object")
            if record is not None:
                known = {"message_id": str(id), "message_type": str(kind), "message_time": created, "gone": gone}
                line = Line(line.place, {**record, **known})
            self.take(line)

    def kind_of(self, record: Record) -> str:
        """Return the type of its row."""
        return f"message: {record['message_type']}"

    def record(self, record: Record, place: Place) -> None:
        """Read one message into turns."""
        kind = record["message_type"]
        created = milliseconds(fields(record.get("time")).get("created")) or record["message_time"]
        more: dict[str, Any] = {
            "at": instant(created),
            "id": record["message_id"],
            "agent": self._agent,
            "abandoned": record["gone"],
        }
        words = text(record.get("text"))
        if kind == "user":
            self.say(place, "user", "said", words, **more)
            for file in items(record.get("files")):
                self.turn(place, "user", "injected", f"[file {text(file.get('name') or file.get('uri'))}]", **more)
        elif kind == "assistant":
            self._assistant(record, place, more)
        elif kind == "compaction" and record.get("status") in (None, "completed"):
            mark = Boundary(text(record.get("reason")), self._window or None)
            self.compact(place, mark, text(record.get("summary")), **more)
            self.say(place, "user", "injected", text(record.get("recent")), **more)
        elif kind == "shell":
            ran = f"! {text(record.get('command'))}\n{content_text(record.get('output'))}"
            self.turn(place, "user", "injected", ran, **more)
        elif words:
            self.turn(place, "user", "injected", words, speaker=kind, **more)

    def _assistant(self, record: Record, place: Place, more: dict[str, Any]) -> None:
        usage, cost = opencode.usage_of(fields(record.get("tokens"))), record.get("cost")
        self._window = usage.window + usage.output if usage.window else self._window
        more = more | {
            "request": more["id"],
            "usage": usage if usage.window else None,
            "model": text(fields(record.get("model")).get("id")),
            "cost": cost if isinstance(cost, float) and cost > 0 else 0.0,
        }
        if not self._agent:
            self.know(model=text(fields(record.get("model")).get("id")))
        for part in items(record.get("content")):
            kind = text(part.get("type"))
            if kind == "tool":
                state = fields(part.get("state"))
                self.calls(place, part.get("name"), part.get("id"), state.get("input"), **more)
                status = text(state.get("status"))
                if status in ("completed", "error"):
                    result = next(
                        filter(None, (content_text(state.get(key)) for key in ("content", "error", "output"))), ""
                    )
                    self.result(place, part.get("id"), result, failed=status == "error", **more)
            elif content := content_text(part):
                self.turn(place, "assistant", "thinking" if kind == "reasoning" else "said", content, **more)
        self.say(place, "assistant", "injected", content_text(record.get("error")), **more | {"usage": None})


def _about(file: SqliteFile, tables: Set[str], **where: str) -> list[Record]:
    table = "session_v2" if "session_v2" in tables else "session"
    rows = file.rows(table, _COLUMNS, ("time_updated", "id"), **where)
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a database, without subagents: those of version 2 first, latest first.

    Raises InputError for an unreadable file.
    """
    tables = tables_named_in(path)
    with open_copy(path) as file:
        new = [str(session["id"]) for session in reversed(_about(file, tables)) if not session["parent_id"]]
    old = opencode.sessions_in(path) if tables >= _OLD else ()
    return (*new, *(id for id in old if id not in new))


def read_one(path: Path, id: str) -> Session:
    """Return the session with an id. Raises InputError for an unknown id or an unreadable file."""
    tables = tables_named_in(path)
    new, old = "session_v2" in tables, tables >= _OLD
    with open_copy(path) as file:
        rows = _about(file, tables, id=id)
        if rows and (new or not old or file.rows("session_message", ("id",), session_id=id, type="user")):
            reading = _Reading(path)
            reading.know(
                id=id,
                project=text(rows[0]["directory"]),
                title=text(rows[0]["title"]),
                version=text(rows[0]["version"]),
                model=text((parse_object(text(rows[0]["model"])) or {}).get("id")),
                parent=text(rows[0]["fork_session_id"]) or text(rows[0]["parent_id"]),
                relation="fork" if rows[0]["fork_session_id"] else "subagent" if rows[0]["parent_id"] else "",
            )
            reading.add_session(file, rows[0])
            seen, waiting = {id}, [id]
            while waiting:
                for child in _about(file, tables, parent_id=waiting.pop(0)):
                    if str(child["id"]) not in seen:
                        seen.add(str(child["id"]))
                        waiting.append(str(child["id"]))
                        reading.add_session(file, child, str(child["id"]))
            return reading.session()
    if not old:
        raise no_session(path, id)
    session = opencode.read_one(path, id)
    return replace(session, notes=(_FROZEN,)) if new else session


read: Final = partial(read_latest, sessions_in, read_one)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a file is a database with the tables of version 2."""
    del first
    tables = tables_named_in(path) if path.is_file() and is_sqlite(path) else set()
    return "session_message" in tables and not tables.isdisjoint(("session", "session_v2"))


FORMAT: Final = SessionFormat(
    "opencode2", "opencode 2", "", (), recognises, read, inside=sessions_in, read_one=read_one
)
