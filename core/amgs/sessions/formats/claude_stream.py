"""Claude Code, headless output: what `claude -p --output-format stream-json` prints, and files that hold such records.

A line is a record like those of Claude Code's own files, without a tree: `system` (`init`, `compact_boundary`), `user`,
`assistant`, and `result` at the end. The action for GitHub writes them as a single list, a session on the web as
`loglines`. Records of a subagent name the call that began it. `--output-format json` prints only the last record, with
the answer. Cursor, Amp and Qwen Code print records of this form, too.

Source: `SDKMessage` of the Claude Agent SDK.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from amgs.errors import InputError
from amgs.sessions.building import SessionFormat, read_document, read_lines
from amgs.sessions.formats.claude_code import ClaudeReading
from amgs.sessions.lines import Line, Record, as_json, content_text, document_at, fields, items, lines_of, text
from amgs.sessions.turn import Place, Session


class _Reading(ClaudeReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__(path, limit)
        self.format = "claude-stream"

    def take(self, line: Line) -> None:
        """Read a line, in the spelling of Claude Code's own files."""
        record = line.value
        if record is None:
            super().take(line)
            return
        self.agent = _agent_of(record) or self.agent
        kind, answer = record.get("type"), "" if self.turns else text(record.get("result"))
        words = answer or content_text(record.get("errors"))
        if kind == "result" and words:
            self.know(id=text(record.get("session_id")))
            failed = record.get("is_error") is True or not answer
            self.turn(line.place, "assistant", "injected" if failed else "said", words)
            return
        if kind == "tool_call" and record.get("subtype") != "started":
            self._call_of_cursor(record, line.place)
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

    def _call_of_cursor(self, record: Record, place: Place) -> None:
        name, told = next(iter(fields(record.get("tool_call")).items()), ("tool", {}))
        call = fields(told)
        result = fields(call.get("result"))
        self.calls(place, name.removesuffix("ToolCall"), record.get("call_id"), call.get("args"))
        content = content_text(result.get("success", result)) or as_json(result)
        self.result(place, record.get("call_id"), content, failed=bool(result) and "success" not in result)


def _agent_of(record: Record) -> str:
    """Return the other program that printed a record of this form; "" if unknown."""
    if text(record.get("session_id")).startswith("T-"):
        return "Amp"
    if "qwen_code_version" in record or record.get("subtype") == "session_start":
        return "Qwen Code"
    bare = record.get("subtype") == "init" and not {"tools", "uuid", "claude_code_version"} & {*record}
    bare = bare and not text(record.get("model")).startswith("claude-")  # Cursor writes its display name
    return "Cursor" if record.get("type") == "tool_call" or bare else ""


def read(path: Path, end: int | None = None) -> Session:
    """Return the session in a file; see the module. Raises InputError for a file that cannot be read."""
    first = next((line.value for line in lines_of(path)), {})
    if first is None or "loglines" in first:
        try:
            whole = document_at(path)
        except InputError:  # lines, the first of which is damaged
            return read_lines(_Reading, path, end)
        records = [whole] if isinstance(whole, dict) and "loglines" not in whole else whole
        return read_document(path, _Reading(path, None), fields(whole).get("loglines", records))
    return read_lines(_Reading, path, end)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether records are of a stream: with a session's id, and messages or the beginning of a session."""
    del path
    records = items(first[0].get("loglines")) if len(first) == 1 and "loglines" in first[0] else first
    if any("session_id" in record and {"finalText", "text"} & {*record} for record in records):
        return False  # output of Droid
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
