"""Codex, headless output: what `codex exec --json` prints.

A line is an event: `thread.started`, then for each turn items that were completed, and `turn.completed` with the tokens
of the whole turn. The user's question is not printed.

Source: `exec_events.rs` of the openai/codex repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Record, as_json, content_text, count, fields, instant, text, usage_with_cache
from amgs.sessions.turn import Place
from amgs.types.gateway import Usage


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Codex", "codex-exec", path, limit)
        self._turn, self._first = 1, 0

    def kind_of(self, record: Record) -> str:
        """Return the event's type, and that of its item."""
        return ": ".join(filter(None, (text(record.get("type")), _kind(fields(record.get("item"))))))

    def record(self, record: Record, place: Place) -> None:
        """Read an event into turns."""
        kind = text(record.get("type"))
        more: dict[str, Any] = {"at": instant(record.get("timestamp"))}
        if kind == "thread.started":
            self.know(id=text(record.get("thread_id")))
        elif kind == "item.completed":
            self._item(fields(record.get("item")), place, more)
        elif kind == "turn.completed":
            self._complete_turn(_usage(fields(record.get("usage"))))
        elif kind in ("turn.failed", "error"):
            error = record.get("error")
            message = text(fields(error).get("message")) or content_text(error) or text(record.get("message"))
            self.turn(place, "system", "injected", message or kind, **more)

    def _item(self, item: Record, place: Place, more: dict[str, Any]) -> None:
        kind, id = _kind(item), text(item.get("id"))
        words = text(item.get("text"))
        more = more | {"id": id}
        if kind in ("agent_message", "assistant_message", "reasoning"):
            self.turn(place, "assistant", "thinking" if kind == "reasoning" else "said", words, **more)
        elif kind == "command_execution":
            self.calls(place, "shell", id, {"command": text(item.get("command"))}, **more)
            failed = item.get("exit_code") not in (0, None) or item.get("status") == "failed"
            self.result(place, id, text(item.get("aggregated_output")), failed=failed, **more)
        elif kind in ("file_change", "mcp_tool_call", "web_search", "todo_list", "collab_tool_call"):
            arguments: Any = next((item[key] for key in ("changes", "arguments", "query", "items") if key in item), {})
            self.calls(place, text(item.get("tool")) or kind, id, as_json(arguments), **more)
            result = content_text(item.get("result")) or content_text(item.get("error"))
            if result or item.get("status"):
                failed = item.get("status") == "failed"
                self.result(place, id, result or text(item.get("status")), failed=failed, **more)
        elif kind == "error":
            self.turn(place, "system", "injected", text(item.get("message")), **more)

    def _complete_turn(self, usage: Usage) -> None:
        for turn in self.turns[self._first :] if usage.window else ():
            if turn.role == "assistant":
                self.change(turn, usage=usage, request=f"turn {self._turn}")
        self._turn, self._first = self._turn + 1, len(self.turns)


def _kind(item: Record) -> str:
    return text(item.get("type") or item.get("item_type"))


def _usage(counts: Record) -> Usage:
    return usage_with_cache(
        counts.get("input_tokens"), count(counts.get("output_tokens")), counts.get("cached_input_tokens")
    )


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether lines are events of a thread and its items."""
    del path
    kinds = ("thread.started", "turn.started", "turn.completed", "item.started", "item.completed")
    return any(record.get("type") in kinds for record in first)


FORMAT: Final = SessionFormat("codex-exec", "Codex, headless output", "", (), recognises, read, read_end=read)
