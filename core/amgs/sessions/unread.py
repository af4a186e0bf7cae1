"""Recognise sessions of programs that cannot be read, by folder, records or tables, so that the error names the
program.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from amgs.sessions.lines import Record, beside, fields, text
from amgs.sessions.sqlite_file import is_sqlite, tables_named_in

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
