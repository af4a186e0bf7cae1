"""opencode: `~/.local/share/opencode/opencode.db`, the folders of JSON before it, and exports
of `opencode export`.

A session is messages, and a message parts: `message.data` and `part.data` in the database, `message` and `part` under
`storage` in the folders. A record is a message or a part; a part `tool` is a call and its result. A compaction is a
part `compaction` of the user; it took place once a message of the model with `summary` that answers it is finished.
Results that were pruned say when. What the user took back is named by `revert` of the session. A subagent is a session
of its own that names its parent.

Source: `message-v2.ts` and `session.sql.ts` of the opencode repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import SessionBuilder, SessionFormat, no_session, read_latest
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    beside,
    content_text,
    count,
    document_at,
    fields,
    instant,
    items,
    parse_object,
    text,
)
from amgs.sessions.sqlite_file import SqliteFile, is_sqlite, open_copy, tables_named_in
from amgs.sessions.turn import Boundary, Place, Session, Turn, TurnKind
from amgs.types.conversation import Role, ToolCall
from amgs.types.gateway import Usage

_NAME: Final = re.compile(r"\w[\w-]*")
SESSION_COLUMNS: Final = ("id", "parent_id", "directory", "title", "version", "revert", "time_updated")


@dataclass(frozen=True, slots=True)
class OpencodeMessage:
    """A message.

    info, parts: None for what is not a JSON object. agent: session of its subagent, "" in the main session. taken_back:
    the user went back before it.
    """

    id: str
    info: Record | None
    parts: tuple[Record | None, ...]
    agent: str = ""
    taken_back: bool = False

    @property
    def created(self) -> float:
        """Creation time in milliseconds; 0 if missing."""
        return milliseconds(fields((self.info or {}).get("time")).get("created"))


def milliseconds(value: Any) -> float:
    """Return a time in milliseconds; 0 for anything else."""
    return float(value) if isinstance(value, (int, float)) and 0 < value < 1e15 else 0.0


def of_database(file: SqliteFile, id: str) -> Iterator[OpencodeMessage]:
    """Yield the messages of a session and, recursively, of its subagents. Raises InputError for an
    unreadable database.
    """
    seen, waiting = {id}, [(id, "")]
    while waiting:
        session_id, agent = waiting.pop(0)
        rows = file.rows("session", SESSION_COLUMNS, id=session_id)
        messages = []
        for message, data in file.rows("message", ("id", "data"), ("time_created", "id"), session_id=session_id):
            parts = file.rows("part", ("data",), ("id",), message_id=str(message))
            part_records = tuple(parse_object(str(part)) for (part,) in parts)
            messages.append(OpencodeMessage(str(message), parse_object(str(data)), part_records, agent))
        about = dict(zip(SESSION_COLUMNS, rows[0], strict=True)) if rows else {}
        yield from _mark_reverted(about, messages)
        for (child,) in file.rows("session", ("id",), ("time_created",), parent_id=session_id):
            if str(child) not in seen:
                seen.add(str(child))
                waiting.append((str(child), str(child)))


def of_folders(storage: Path, about: Record, id: str) -> Iterator[OpencodeMessage]:
    """Yield the messages of a session below `storage`, in the layout of either version; none for an id that no folder
    can have.
    """
    messages = []
    for inner in ("message", "session/message") if _NAME.fullmatch(id) else ():
        for path in sorted((storage / inner / id).glob("*.json")):
            folders = (storage / "part" / path.stem, storage / "session/part" / id / path.stem)
            parts = [beside(part) for folder in folders for part in sorted(folder.glob("*.json"))]
            messages.append(_message(path.stem, beside(path), parts))
    yield from _mark_reverted(about, messages)


def of_export(whole: Record) -> Iterator[OpencodeMessage]:
    """Yield the messages of an exported session."""
    messages = whole.get("messages")
    session_messages = []
    for number, message in enumerate(messages if isinstance(messages, list) else (), 1):
        info, parts = fields(message).get("info"), fields(message).get("parts")
        id = text(fields(info).get("id")) or f"message {number}"
        session_messages.append(_message(id, info, parts if isinstance(parts, list) else []))
    yield from _mark_reverted(fields(whole.get("info")), session_messages)


def _message(id: str, info: Any, parts: Sequence[Any]) -> OpencodeMessage:
    part_records = tuple(part if isinstance(part, dict) else None for part in parts)
    return OpencodeMessage(id, info if isinstance(info, dict) else None, part_records)


def _mark_reverted(about: Record, messages: Sequence[OpencodeMessage]) -> Sequence[OpencodeMessage]:
    """Return the messages, marking those that the user took back."""
    back = about.get("revert")
    first = text(fields(parse_object(back) if isinstance(back, str) else back).get("messageID"))
    ids = [message.id for message in messages]
    start = ids.index(first) if first in ids else len(ids)
    return [replace(message, taken_back=at >= start) for at, message in enumerate(messages)]


class _Reading(SessionBuilder):
    def __init__(self, path: Path, about: Record) -> None:
        super().__init__("opencode", "opencode", path)
        self.know(
            id=text(about.get("id")),
            project=text(about.get("directory")),
            title=text(about.get("title")),
            version=text(about.get("version")),
        )
        self._records = 0
        self._summed: set[str] = set()
        """Messages that requested a compaction which was completed."""
        self._last: dict[str, Usage] = {}
        """Tokens of each agent's last request."""
        self._opened: dict[str, Turn] = {}
        """A compaction of each agent, until its next request."""
        self._pruned: list[tuple[float, str]] = []
        """(Time, call) of each result removed from the window, earliest first."""

    def take(self, messages: Sequence[OpencodeMessage]) -> None:
        """Read all messages, of the session and its subagents."""
        timed: list[tuple[float, OpencodeMessage]] = []
        for message in messages:  # a message without a time stays where it is
            timed.append((message.created or (timed[-1][0] if timed else 0.0), message))
        every = [message for _, message in sorted(timed, key=lambda pair: pair[0])]
        for part in (part for message in every for part in message.parts if part is not None):
            if at := milliseconds(fields(fields(part.get("state")).get("time")).get("compacted")):
                self._pruned.append((at, text(part.get("callID"))))
        self._pruned.sort()
        self._summed = {
            text(message.info.get("parentID"))
            for message in every
            if message.info and _is_finished_summary(message.info)
        }
        for message in every:
            self._message(message, [later.id for later in every if later.agent == message.agent])

    def _place(self) -> Place:
        self._records += 1
        return Place(self._records)

    def _message(self, message: OpencodeMessage, ids: list[str]) -> None:
        place, info = self._place(), message.info
        if info is None:
            self.fail(Line(place, None, "not a JSON object"))
        else:
            gone = tuple(call for at, call in self._pruned if at <= message.created)
            if gone:
                self._pruned = self._pruned[len(gone) :]
                mark = Boundary("auto", dropped=gone, whole=False)
                self.compact(place, mark, at=instant(message.created))
            else:
                self.note(f"message: {text(info.get('role')) or 'without a role'}")
        info = info or {}
        more = self._of_message(message, info)
        for part in message.parts:
            at = self._place()
            if part is None:
                self.fail(Line(at, None, "not a JSON object"))
                continue
            before = len(self.turns)
            self._part(part, info, at, more, ids)
            if len(self.turns) == before:
                self.note(f"part: {text(part.get('type')) or 'without a type'}")

    def _of_message(self, message: OpencodeMessage, info: Record) -> dict[str, Any]:
        """Return the fields common to all turns of a message, and read its facts of the session."""
        more: dict[str, Any] = {
            "at": instant(message.created),
            "id": message.id,
            "parent": text(info.get("parentID")),
            "agent": message.agent,
            "abandoned": message.taken_back,
        }
        if info.get("role") == "assistant":
            usage = usage_of(fields(info.get("tokens")))
            more |= {
                "request": message.id,
                "usage": usage if usage.window else None,
                "model": text(info.get("modelID")),
            }
            if isinstance(cost := info.get("cost"), float) and cost > 0:
                more["cost"] = cost
            if not message.agent:
                self.know(model=text(info.get("modelID")), project=text(fields(info.get("path")).get("cwd")))
            if usage.window:
                self._last[message.agent] = usage
                opened = None if info.get("summary") is True else self._opened.pop(message.agent, None)
                if opened is not None and opened.boundary is not None:
                    self.change(opened, boundary=replace(opened.boundary, after=usage.window))
        elif not message.agent:
            self.know(system=text(info.get("system")))
        return more

    def _part(self, part: Record, info: Record, place: Place, more: dict[str, Any], ids: list[str]) -> None:
        kind, role = text(part.get("type")), text(info.get("role"))
        who: Role = "assistant" if role == "assistant" else "user"
        words = text(part.get("text"))
        if kind == "text" and words and part.get("ignored") is not True:
            is_summary = who == "assistant" and _is_finished_summary(info)
            put_in = who == "user" and part.get("synthetic") is True
            what: TurnKind = "summary" if is_summary else "injected" if put_in else "said"
            self.turn(place, who, what, words, **more)
        elif kind == "reasoning" and words:
            self.turn(place, who, "thinking", words, **more)
        elif kind == "tool":
            self._tool(part, place, more)
        elif kind == "file":
            name = text(part.get("filename")) or content_text(fields(part.get("source")).get("path"))
            self.turn(place, "user", "injected", f"[file {name or text(part.get('mime'))}]", **more)
        elif kind == "subtask" and (asked := text(part.get("prompt"))):
            self.turn(place, who, "injected", asked, **more)
        elif kind == "compaction" and more["id"] in self._summed:
            last = self._last.get(more["agent"])
            start = text(part.get("tail_start_id"))
            tail_ids = tuple(ids[ids.index(start) : ids.index(more["id"])]) if start in ids else ()
            before = last.window + last.output if last else None
            mark = Boundary("manual" if part.get("auto") is False else "auto", before, None, tail_ids)
            self._opened[more["agent"]] = self.compact(place, mark, **more)

    def _tool(self, part: Record, place: Place, more: dict[str, Any]) -> None:
        state = fields(part.get("state"))
        call = ToolCall(text(part.get("callID")), text(part.get("tool")), as_json(state.get("input")))
        self.turn(place, "assistant", "call", "", (call,), **more)
        status = text(state.get("status"))
        if status in ("completed", "error"):
            output = content_text(state.get("output" if status == "completed" else "error"))
            details = more | {"usage": None, "answers": call.id, "failed": status == "error"}
            self.turn(place, "tool", "result", output, **details)


def _is_finished_summary(info: Record) -> bool:
    """Return whether a message is the summary of a compaction that neither failed nor was broken off."""
    ended = info.get("finish") or fields(info.get("time")).get("completed")
    return info.get("summary") is True and bool(ended) and not info.get("error")


def usage_of(tokens: Record) -> Usage:
    """Return the tokens of a request; `input` excludes the cache, and `output` excludes reasoning."""
    cache = fields(tokens.get("cache"))
    output = count(tokens.get("output")) + count(tokens.get("reasoning"))
    return Usage(count(tokens.get("input")), count(cache.get("write")), count(cache.get("read")), output)


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a database, latest first, without subagents; of another file, its only id.

    Raises InputError for an unreadable file.
    """
    if not is_sqlite(path):
        return (read(path).id,)
    with open_copy(path) as file:
        rows = file.rows("session", ("id", "parent_id", "time_updated"), ("time_updated", "id"))
    return tuple(str(id) for id, parent, _ in reversed(rows) if not parent)


def read_one(path: Path, id: str) -> Session:
    """Return the session with an id. Raises InputError for an unknown id or an unreadable file."""
    if not is_sqlite(path):
        session = read(path)
        if session.id == id:
            return session
    else:
        with open_copy(path) as file:
            if rows := file.rows("session", SESSION_COLUMNS, id=id):
                reading = _Reading(path, dict(zip(SESSION_COLUMNS, rows[0], strict=True)))
                reading.take([*of_database(file, id)])
                return reading.session()
    raise no_session(path, id)


def read(path: Path) -> Session:
    """Return the session in a file, the latest in a database; see the module. Raises InputError if it is unreadable."""
    if is_sqlite(path):
        return read_latest(sessions_in, read_one, path)
    whole = fields(document_at(path))
    if isinstance(whole.get("messages"), list):
        reading = _Reading(path, fields(whole.get("info")))
        reading.take([*of_export(whole)])
        return reading.session()
    if not (id := text(whole.get("id"))):
        raise InputError(f"{path} has no messages and no id.", way_out="Give a session of opencode.")
    reading = _Reading(path, whole)
    storage = next((above for above in path.parents if above.name == "storage"), path.parent.parent.parent)
    reading.take([*of_folders(storage, whole, id)])
    return reading.session()


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a file is a database with these tables, an export, or the session of the folders."""
    if path.is_file() and is_sqlite(path):
        tables = tables_named_in(path)
        return {"session", "message", "part"} <= tables and "session_v2" not in tables
    if len(first) != 1:
        return False
    messages, info = items(first[0].get("messages")), fields(first[0].get("info"))
    if info and any("parts" in message for message in messages):
        return True
    return text((info or first[0]).get("id")).startswith("ses_") and "time" in (info or first[0])


FORMAT: Final = SessionFormat(
    "opencode",
    "opencode",
    "",
    (".local/share/opencode/opencode*.db", ".local/share/opencode/storage/session/*/ses_*.json"),
    recognises,
    read,
    inside=sessions_in,
    read_one=read_one,
)
