"""Claude Code, headless output: what `claude -p --output-format stream-json` prints, and files that hold such records.

A line is a record like those of Claude Code's own files, without a tree: `system` (`init`, `compact_boundary`), `user`,
`assistant`, and `result` at the end. The action for GitHub leaves them as one list, a session on the web as `loglines`.
Records of a subagent name the call that began it.

Source: `SDKMessage` of the Claude Agent SDK.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from amgs.errors import InputError
from amgs.sessions.building import SessionFormat, read_document, read_lines
from amgs.sessions.formats.claude_code import ClaudeReading
from amgs.sessions.lines import Line, Record, as_json, document_at, fields, items, lines_of, text
from amgs.sessions.turn import Session


class _Reading(ClaudeReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__(path, limit)
        self.format = "claude-stream"

    def take(self, line: Line) -> None:
        """Read one line, in the spelling of Claude Code's own files."""
        record = line.value
        if record is None:
            super().take(line)
            return
        if record.get("subtype") == "init":
            tools = record.get("tools")
            self.know(
                project=text(record.get("cwd")),
                model=text(record.get("model")),
                version=text(record.get("claude_code_version")),
                tools=as_json(tools) if isinstance(tools, list) and tools else "",
            )
        side = text(record.get("parent_tool_use_id"))
        more = {"sessionId": record.get("session_id"), **({"isSidechain": True, "agentId": side} if side else {})}
        super().take(Line(line.place, {**more, **record}))


def read(path: Path, end: int | None = None) -> Session:
    """Return the session in a file; see the module. Raises InputError for a file that cannot be read."""
    first = next((line.value for line in lines_of(path)), {})
    if first is None or "loglines" in first:
        try:
            whole = document_at(path)
        except InputError:  # lines, the first of which is damaged
            return read_lines(_Reading, path, end)
        return read_document(path, _Reading(path, None), fields(whole).get("loglines", whole))
    return read_lines(_Reading, path, end)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether records are of a stream: with the id of a session, and messages or the beginning of one."""
    del path
    records = items(first[0].get("loglines")) if len(first) == 1 and "loglines" in first[0] else first
    return any(
        isinstance(record.get("loglines"), list)
        or (
            "session_id" in record
            and (record.get("subtype") == "init" or record.get("type") in ("assistant", "user", "result"))
        )
        for record in [*first[:1], *records]
        if "parentUuid" not in record
    )


FORMAT: Final = SessionFormat("claude-stream", "Claude Code, headless output", "", (), recognises, read, read_end=read)
