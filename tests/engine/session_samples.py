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


def read_lines(name: str) -> list[dict[str, Any]]:
    lines = (Path(__file__).parent / "samples" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


CLAUDE_CODE = read_lines("claude_code.jsonl")
"""A session with a failed tool, a reminder, a compaction, a call that was stopped, a result without its call, and a
subagent."""
CODEX = read_lines("codex.jsonl")


def write_lines(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """The records as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path
