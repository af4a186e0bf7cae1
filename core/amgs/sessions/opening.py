"""Open session files by path. The format is recognised by content; an error names a program that cannot be read."""

from __future__ import annotations

import itertools
import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.incoming import check_ends
from amgs.sessions.building import SessionFormat
from amgs.sessions.formats.pi import is_of_droid
from amgs.sessions.lines import (
    Record,
    beside,
    document_at,
    fields,
    items,
    lines_of,
    open_unpacked,
    parse_document,
    skip_to,
    text,
    text_of_file,
)
from amgs.sessions.sqlite_file import is_sqlite, tables_named_in
from amgs.sessions.turn import Session

NOT_READ: Final = (
    ("Cursor's editor", ".config/Cursor/User/globalStorage/state.vscdb"),
    ("Cursor's editor", "Library/Application Support/Cursor/User/globalStorage/state.vscdb"),
    ("Amp", ".local/share/amp/threads"),
    ("Crush", ".local/share/crush"),
    ("Zed", ".local/share/zed/threads"),
    ("Zed", "Library/Application Support/Zed/threads"),
    ("Kimi", ".kimi/sessions"),
    ("Kiro", ".kiro/sessions"),
    ("Kiro", ".local/share/kiro-cli"),
    ("Droid", ".factory/sessions"),
    ("Grok", ".grok/sessions"),
    ("Continue", ".continue/sessions"),
    ("Junie", ".junie/sessions"),
    ("Vibe", ".vibe/logs/session"),
    ("gptme", ".local/share/gptme/logs"),
    ("Windsurf", ".codeium/windsurf/cascade"),
    ("Trae", ".trae/sessions"),
    ("Antigravity's encrypted conversations", ".gemini/antigravity/conversations"),
)
"""Programs whose sessions are recognised by folder only."""


def _has(*keys: str) -> Callable[[Record], Any]:
    return lambda record: {*keys} <= {*record}


_BY_RECORDS: Final[tuple[tuple[str, Callable[[Record], Any]], ...]] = (
    ("OpenHands before version 1", lambda record: "source" in record and {"action", "observation"} & {*record}),
    ("Droid", lambda record: "parentId" in record and is_of_droid([record])),
    ("Droid", lambda record: record.get("type") == "session_start" and "cwd" in record),
    ("Droid's headless output", lambda record: {"finalText", "text"} & {*record} and "session_id" in record),
    ("Amp", lambda record: text(record.get("id")).startswith("T-") and "messages" in record),
    ("Continue", _has("history", "workspaceDirectory")),
    ("Kiro's command line", _has("conversation_id", "history")),
    ("Kiro's command line", _has("version", "kind", "data")),
    ("Kiro", _has("executionId", "chat")),
    ("Kimi", _has("type", "protocol_version")),
    ("Kimi", lambda record: record.get("role") in ("_checkpoint", "_usage")),
    ("mini-SWE-agent", _has("trajectory_format", "messages")),
    ("SWE-agent", _has("trajectory", "info")),
    ("Vibe", lambda record: "messages" in record and "session_id" in fields(record.get("metadata"))),
    ("Zed", _has("messages", "updated_at", "version")),
    ("Cursor's editor", _has("composerId")),
    ("CodeBuddy", _has("type", "role", "sessionId", "parentId")),
    ("Gemini CLI's headless output", lambda record: record.get("type") == "init" and "session_id" in record),
    ("Gemini CLI's list of prompts", _has("sessionId", "messageId", "message")),
    ("Codex's headless output before version 0.44", lambda record: "type" in fields(record.get("msg"))),
    ("opencode's headless output", _has("sessionID", "part")),
    ("Cline's ui_messages.json", lambda record: record.get("type") in ("say", "ask") and "ts" in record),
)
"""Tests of a program's records, most reliable first."""
_BY_TABLES: Final = (
    ("Crush", {"sessions", "messages", "files"}),
    ("Hermes", {"sessions", "messages"}),
    ("Zed", {"threads"}),
    ("Cursor's editor", {"ItemTable"}),
    ("Cursor's command line", {"blobs", "meta"}),
    ("Kiro's command line", {"conversations"}),
    ("Kiro's command line", {"conversations_v2"}),
)


def find_unread_program(path: Path, first: Sequence[Record]) -> str:
    """Return the unsupported program of a file; "" if unknown. first: its first records."""
    if path.is_dir():
        events = itertools.chain(path.glob("*.json"), path.glob("events/*.json"))
        first = [fields(beside(event)) for event in itertools.islice(events, 1)]
    elif is_sqlite(path):
        tables = tables_named_in(path)
        return next((program for program, own in _BY_TABLES if own <= tables), "")
    by_record = (program for program, fits in _BY_RECORDS for record in first if fits(record))
    whole = f"{path.absolute()}/"
    by_folder = (program for program, where in NOT_READ if f"/{where}/" in whole or path.name == "state.vscdb")
    return next(itertools.chain(by_record, by_folder), "")


_NAMES: Final = (
    "claude_bodies",
    "otlp",
    "opencode2",
    "opencode",
    "qwen_code",
    "iflow",
    "claude_code",
    "claude_stream",
    "codex",
    "codex_exec",
    "pi",
    "gemini_cli",
    "antigravity",
    "copilot_cli",
    "atif",
    "goose",
    "cursor",
    "vscode_chat",
    "openhands",
    "cline",
    "aider",
)
"""Modules of `formats`, most reliably recognised first."""

GROUP: Final = "amgs.session_formats"
"""Entry points for formats in installed packages: each names a `SessionFormat`."""


def load_formats(points: Iterable[EntryPoint]) -> Iterator[SessionFormat]:
    """Yield the formats of entry points, warning about those that cannot be loaded."""
    for point in sorted(points, key=lambda point: point.name):
        try:
            loaded = point.load()
        except Exception as error:  # noqa: BLE001 - whatever another package does at its import
            warnings.warn(f"The session format {point.name} of {point.value} cannot be loaded: {error}", stacklevel=2)
            continue
        if isinstance(loaded, SessionFormat):
            yield loaded
        else:
            warnings.warn(f"{point.value} is no session format.", stacklevel=2)


FORMATS: Final[tuple[SessionFormat, ...]] = (
    *(import_module(f"amgs.sessions.formats.{name}").FORMAT for name in _NAMES),
    *load_formats(entry_points(group=GROUP)),
)


END: Final = 8 * 1024 * 1024
"""Bytes of a large file that are shown first, after a fifth of a second, while the rest is read."""
_FIRST: Final = 40
"""Records examined to recognise a format."""
_WHOLE: Final = 64 * 1024 * 1024
"""Larger single JSON documents in bytes are not parsed to recognise them."""


def open_session(path: Path, id: str | None = None) -> Session:
    """Return the session in a file, or in a folder for formats that use folders; if it contains several, the session
    with this id, by default the latest.

    Raises InputError for an unreadable file, an unknown id, and an unknown format, with a list of the known ones.
    """
    session_format = format_of(path)
    if id is not None and session_format.read_one is not None:
        return session_format.read_one(path, id)
    session = session_format.read(path)
    if id is not None and id != session.id:
        raise InputError(f"{path} holds no session {id}.", way_out=f"It is the session {session.id}; leave the id out.")
    return session


def open_end(path: Path, size: int = END) -> Session:
    """Return the session in the last `size` bytes of a file, marked as partial; the whole session if the file has at
    most twice as many, or its format cannot be read from its middle. Raises InputError like `open_session`.
    """
    session_format = format_of(path)
    if session_format.read_end is None or path.is_dir() or path.stat().st_size <= 2 * size:
        return session_format.read(path)
    return session_format.read_end(path, size)


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a file of several, latest first; none for a file with a single session. Raises
    InputError like `open_session`.
    """
    session_format = format_of(path)
    return session_format.inside(path) if session_format.inside is not None else ()


def format_of(path: Path) -> SessionFormat:
    """Return the format of a file; raises InputError if it is unknown."""
    if not path.exists():
        raise InputError(f"{path} does not exist.", way_out="`amgs session` lists what lies on this machine.")
    first = first_records(path)
    for session_format in FORMATS:
        if session_format.recognises(path, first):
            return session_format
    if program := find_unread_program(path, first):
        raise InputError(
            f"{path} is of {program}, which is not read.", way_out="docs/sessions-formats.md says what is."
        )
    if path.is_file() and next(lines_of(path), None) is None:
        raise InputError(f"{path} is empty.", way_out="Give a file with a session.")
    if _begins_document(path):
        document_at(path)  # which says so where it is torn
    known = "; ".join(dict.fromkeys(known_format.agent for known_format in FORMATS))
    raise InputError(
        f"{path} is no session that is known.",
        way_out=f"Give a session file of these: {known}. What another program exported can be imported.",
    )


def _begins_document(path: Path) -> bool:
    """Return whether a JSON document begins on the first line of a file and goes on."""
    line = None if path.is_dir() or path.stat().st_size > _WHOLE else next(lines_of(path), None)
    if line is None or line.value is not None:
        return False
    with open_unpacked(path) as file:
        skip_to(file, line.place.offset)
        return _DOCUMENT.match(file.read(64).removeprefix(BOM_UTF8)) is not None


_DOCUMENT: Final = re.compile(rb"\s*(?:\{\s*(?:\"|\Z)|\[\s*(?:[\[{\"]|\Z))")
"""How a document begins; a line of a log may begin with [, too."""


def first_records(path: Path) -> Sequence[Record]:
    """Return the first objects of a file: of its lines, or of a single list or object; none for other files. Raises
    InputError for an unreadable file.
    """
    if path.is_dir():
        return ()
    check_ends(path)
    lines = [*itertools.islice(lines_of(path), _FIRST)]
    records = [line.value for line in lines if line.value is not None]
    document = bool(lines) and lines[0].value is None  # a document that ends on a later line
    if (records and not document) or path.stat().st_size > _WHOLE:
        return records
    try:
        whole = parse_document(text_of_file(path))
    except (ValueError, RecursionError):
        return records
    return [whole] if isinstance(whole, dict) else items(whole)[:_FIRST]
