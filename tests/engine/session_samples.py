"""Small session files of agents, as Claude Code and Codex write them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def claude_line(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """A record of Claude Code, a minute after the one before it."""
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "sessionId": "s1",
        "timestamp": f"2026-02-01T09:{number:02}:00.000Z",
        "message": {"role": kind, "content": content},
        **more,
    }


def call(id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    """A part that calls a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    """A part with what a tool gave."""
    return {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}


CLAUDE_CODE: list[dict[str, Any]] = [
    claude_line(1, "user", "Rename the dome module."),
    claude_line(
        2,
        "assistant",
        [
            {"type": "thinking", "thinking": "Tests first."},
            {"type": "text", "text": "I run the tests."},
            call("c1", command="make test"),
        ],
        requestId="r1",
    ),
    claude_line(3, "user", [result("c1", "Exit code 1", failed=True)]),
    claude_line(4, "user", "<system-reminder>Be brief.</system-reminder>"),
    {"type": "progress", "sessionId": "s1", "data": {"type": "hook_progress"}},
    {
        **claude_line(5, "system", ""),
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 90_000},
    },
    claude_line(6, "user", "The module is called dome.py.", isCompactSummary=True),
    claude_line(7, "assistant", [call("c2", name="Read", path="dome.py")], requestId="r2"),
    claude_line(8, "user", [result("c9", "of a call that nobody made")]),
    claude_line(9, "user", "Stop. Who wrote it?"),
    claude_line(10, "assistant", [{"type": "text", "text": "Ilse wrote it."}], requestId="r3"),
    claude_line(11, "assistant", [{"type": "text", "text": "Aside."}], isSidechain=True, agentId="a1"),
]
"""A session with a failed tool, a reminder, a compaction, a call that was stopped, a result without its call, and a
subagent."""

CODEX: list[dict[str, Any]] = [
    {"timestamp": "2026-02-02T09:00:00Z", "type": kind, "payload": payload}
    for kind, payload in (
        ("session_meta", {"id": "x1", "cwd": "/home/ada/dome"}),
        (
            "response_item",
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "How old is the dome?"}]},
        ),
        (
            "response_item",
            {"type": "function_call", "call_id": "k1", "name": "shell", "arguments": '{"cmd": "git log"}'},
        ),
        ("response_item", {"type": "function_call_output", "call_id": "k1", "output": "1904"}),
        (
            "response_item",
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "From 1904."}]},
        ),
        ("event_msg", {"type": "agent_message", "message": "From 1904."}),
    )
]


def write_lines(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """The records as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path
