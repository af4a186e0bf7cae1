"""Session files of Claude Code's form, written step by step."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amgs.sessions.opening import open_session
from amgs.sessions.turn import Session

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LISTING = "\n".join(f"{n}\tdef step_{n}(value): return value * {n} + {n + 1}" for n in range(1, 41))
"""A file of forty lines, as a reading tool shows it."""


class ClaudeFile:
    """Records in order; each method adds what a session would hold. Time goes on by ten seconds a record."""

    def __init__(self, path: Path, project: str = "/home/ilse/orchard") -> None:
        self.path = path
        self.project = project
        self.records: list[dict[str, Any]] = []
        self.now = START
        self.window = 20_000
        self._calls = 0
        self._requests = 0

    def add(self, **record: Any) -> str:
        """A record as it is given; gives its id."""
        id = f"u{len(self.records) + 1}"
        before = self.records[-1].get("uuid") if self.records else None
        self.now += timedelta(seconds=10)
        common = {"uuid": id, "parentUuid": before, "sessionId": "orchard-1", "cwd": self.project}
        self.records.append({**common, "timestamp": self.now.isoformat(), "version": "2.1.0", **record})
        return id

    def say(self, words: str) -> str:
        return self.add(type="user", message={"role": "user", "content": words})

    def answer(self, words: str, cached: int | None = None) -> str:
        return self._assistant({"type": "text", "text": words}, cached)

    def call(self, tool: str, result: str, *, failed: bool = False, **given: Any) -> None:
        """A call and its result."""
        self._calls += 1
        id = f"call-{self._calls}"
        self._assistant({"type": "tool_use", "id": id, "name": tool, "input": given})
        part = {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}
        self.add(type="user", message={"role": "user", "content": [part]})
        self.window += 500 + len(result) // 3

    def read(self, path: str, shown: str = LISTING) -> None:
        self.call("Read", shown, file_path=path)

    def edit(self, path: str, new: str = "return 0  # mended") -> None:
        self.call("Edit", "The file was changed.", file_path=path, old_string="x", new_string=new)

    def run(self, command: str, shown: str, *, failed: bool = False) -> None:
        self.call("Bash", shown, failed=failed, command=command)

    def compact(self, summary: str, **about: Any) -> None:
        """A compaction with its summary."""
        told = {"trigger": "auto", "preTokens": self.window, **about}
        self.add(type="system", subtype="compact_boundary", content="Conversation compacted", compactMetadata=told)
        self.records[-1]["logicalParentUuid"] = self.records[-1]["parentUuid"]
        self.records[-1]["parentUuid"] = None
        self.add(type="user", isCompactSummary=True, message={"role": "user", "content": summary})
        self.window = 24_000

    def wait(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def save(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(each, separators=(",", ":")) for each in self.records)
        self.path.write_text("".join(f"{line}\n" for line in lines))
        return self.path

    def open(self) -> Session:
        return open_session(self.save())

    def _assistant(self, part: dict[str, Any], cached: int | None = None) -> str:
        self._requests += 1
        held = self.window - 400 if cached is None else cached
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": self.window - held,
            "cache_read_input_tokens": held,
            "output_tokens": 80,
        }
        said = {"role": "assistant", "model": "claude-opus-4-6", "content": [part], "usage": usage}
        return self.add(type="assistant", requestId=f"request-{self._requests}", message=said)
