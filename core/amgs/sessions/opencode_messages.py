"""Read messages of opencode: from its database, from the earlier JSON folders, and from `opencode export`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from amgs.sessions.lines import Record, beside, fields, parse_object, text
from amgs.sessions.sqlite_file import SqliteFile

_NAME: Final = re.compile(r"\w[\w-]*")
SESSION_COLUMNS: Final = ("id", "parent_id", "directory", "title", "version", "revert", "time_updated")


@dataclass(frozen=True, slots=True)
class OpencodeMessage:
    """A message.

    info, parts: None for what is not a JSON object. agent: session of its subagent, "" in the main one. taken_back: the
    user went back before it.
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
