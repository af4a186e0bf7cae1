"""pi and programs built on it, OpenClaw and OMP: `~/.pi/agent/sessions/PROJECT/TIME_ID.jsonl`.

A line is an entry with `id` and `parentId`; together they are a tree, and entries that are not on the way back from the
last were abandoned. A compaction is an entry with its summary, the first entry that stays, and the tokens before.

Source: `docs/session.md` of the coding agent in the badlogic/pi-mono repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.branches import RecordNode, way_back
from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Record, content_text, count, fields, instant, items, text
from amgs.sessions.messages import words_of_user
from amgs.sessions.turn import Boundary, Place
from amgs.types.gateway import Usage

_AGENTS: Final = {".openclaw": "OpenClaw", ".clawdbot": "OpenClaw", ".omp": "OMP"}
"""Programs by the folder of their files."""
_PUT_BEFORE: Final = re.compile(
    r"(?:[^\n]{1,80} \(untrusted[^\n)]*\):\n```json\n.*?\n```\s*"
    r"|System(?: \(untrusted\))?: \[(?:\w{3} )?\d{4}-\d\d-\d\d[^\n]*\s*"
    r"|\[[A-Za-z][^\]\n]{0,200}\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?!:)[^\]\n]{0,40}\]\s*"  # a line of a log has seconds
    r"|<(skill|file) name=\"[^\n>]*>.*?</\1>\s*)+",
    re.DOTALL,
)
"""What OpenClaw writes before a message that came by a channel, and pi before one with skills or files."""
_PUT_BEHIND: Final = re.compile(r"\n(?:\[message_id: [^\]\n]*\]|Untrusted context \([^\n]*\):\n.*)\s*$", re.DOTALL)
_SCHEDULED: Final = re.compile(
    r"Read HEARTBEAT\.md if it exists(?:\.| \()|A new session was started via /new or /reset|\[cron:[\w-]"
    r"|Pre-compaction memory flush\."
)
"""How messages begin that OpenClaw sends in the user's place."""


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        agent = next((_AGENTS[part] for part in path.parts if part in _AGENTS), "pi")
        super().__init__(agent, "pi", path, limit)
        self._nodes: dict[str, RecordNode] = {}
        self._last = ""
        self._ids: list[str] = []
        """Ids of all records."""

    def record(self, record: Record, place: Place) -> None:
        """Read an entry into turns."""
        kind, id = text(record.get("type")), text(record.get("id"))
        parent = text(record.get("parentId"))
        if kind == "title" or (kind == "session" and record.get("title")):
            self.know(title=text(record.get("title")))
        if kind not in ("session", "title") and "parentId" not in record:  # of version 1, a list without a tree
            id, parent = id or f"line {place.line}", self._last
        self._ids.append(id)
        if kind == "session":
            self.know(
                id=id,
                project=text(record.get("cwd")),
                version=f"{count(record.get('version')) or 1}",
                forked=text(record.get("parentSession") or record.get("branchedFrom")),
            )
            return
        more: dict[str, Any] = {"at": instant(record.get("timestamp")), "id": id, "parent": parent}
        if id and kind != "title":
            self._nodes[id] = RecordNode(parent, "other")
            self._last = id
        if kind == "message":
            self._message(fields(record.get("message")), place, more)
        elif kind == "compaction":
            self._compaction(record, place, more)
        elif kind == "branch_summary" and (words := text(record.get("summary"))):
            self.turn(place, "user", "injected", words, speaker="branch summary", **more)
        elif kind == "custom_message" and (words := content_text(record.get("content"))):
            self.turn(place, "user", "injected", words, speaker=text(record.get("customType")), **more)
        elif kind == "session_info" and (named := text(record.get("name"))):
            self.facts["title"] = named
        elif kind == "model_change":
            self.know(model=text(record.get("modelId")))

    def _message(self, message: Record, place: Place, more: dict[str, Any]) -> None:
        role, content = text(message.get("role")), content_text(message.get("content"))
        if role == "user" and content:
            for spoken, words, speaker in _divide(content):
                self.turn(place, "user", "said" if spoken else "injected", words, speaker=speaker, **more)
        elif role == "assistant":
            self._assistant(message, place, more)
        elif role == "toolResult":
            failed = message.get("isError") is True
            name = text(message.get("toolName"))
            self.result(place, message.get("toolCallId"), content, failed=failed, speaker=name, **more)
        elif role in ("bashExecution", "pythonExecution"):
            ran = f"! {text(message.get('command') or message.get('code'))}\n{text(message.get('output'))}"
            self.turn(place, "user", "injected", ran, **more)
        elif role == "fileMention":
            for file in items(message.get("files")):
                words = f"{text(file.get('path'))}\n{text(file.get('content'))}".strip()
                self.say(place, "user", "injected", words, speaker=role, **more)
        elif content or (content := text(message.get("summary"))):
            kind = text(message.get("customType")) or role
            self.turn(place, "user", "injected", content, speaker=kind, **more)

    def _assistant(self, message: Record, place: Place, more: dict[str, Any]) -> None:
        model = text(message.get("model"))
        if model:
            self.facts["model"] = model
        used = fields(message.get("usage"))
        usage = Usage(*(count(used.get(key)) for key in ("input", "cacheWrite", "cacheRead", "output")))
        cost = fields(used.get("cost")).get("total")
        more = more | {
            "request": text(message.get("responseId")) or more["id"],
            "usage": usage if usage.window else None,
            "model": model,
            "cost": cost if isinstance(cost, float) and cost > 0 else 0.0,
        }
        content = message.get("content")
        for part in items(content) or ([{"type": "text", "text": content}] if isinstance(content, str) else []):
            if part.get("type") == "toolCall":
                self.calls(place, part.get("name"), part.get("id"), part.get("arguments"), **more)
            elif part.get("type") == "thinking":
                self.turn(place, "assistant", "thinking", text(part.get("thinking")), **more)
            elif words := content_text(part):
                self.turn(place, "assistant", "said", words, **more)
        self.say(place, "assistant", "injected", text(message.get("errorMessage")), **more | {"usage": None})

    def _compaction(self, record: Record, place: Place, more: dict[str, Any]) -> None:
        way = [*way_back(self._nodes, more["parent"])][::-1]
        number = record.get("firstKeptEntryIndex")
        by_number = self._ids[number] if isinstance(number, int) and 0 <= number < len(self._ids) else ""
        first = text(record.get("firstKeptEntryId")) or by_number
        earlier = {turn.id for turn in self.turns if turn.boundary}  # only the last summary stands in a window
        remaining_ids = tuple(id for id in way[way.index(first) :] if id not in earlier) if first in way else ()
        mark = Boundary("", count(record.get("tokensBefore")) or None, None, remaining_ids)
        self.compact(place, mark, text(record.get("summary")), **more)

    def finish(self) -> None:
        """Mark the abandoned entries."""
        if forked := self.facts.pop("forked", ""):
            self.know(parent=Path(forked).stem.rpartition("_")[2], relation="fork")
        way = way_back(self._nodes, self._last)
        for turn in [turn for turn in self.turns if turn.id and turn.id not in way]:
            self.change(turn, abandoned=True)


def _divide(content: str) -> Iterator[tuple[bool, str, str]]:
    """Yield (said by the user, text, speaker) of a message in the user's place."""
    before = _PUT_BEFORE.match(content)
    rest = content[before.end() :] if before else content
    behind = _PUT_BEHIND.search(rest)
    rest = rest[: behind.start()] if behind else rest
    for put_in in filter(None, (before, behind)):
        yield False, put_in[0].strip(), ""
    if _SCHEDULED.match(rest):
        yield False, rest, ""
    elif rest.strip() or not (before or behind):
        yield from words_of_user(rest, human=True)


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a header of a session or entries of a tree come first."""
    del path
    if any(record.get("type") == "session" and "id" in record and "cwd" in record for record in first[:2]):
        return True
    messages = [
        fields(record.get("message"))
        for record in first
        if record.get("type") == "message" and "parentId" in record and "role" in fields(record.get("message"))
    ]
    return bool(messages) and not is_of_droid(first)


def is_of_droid(records: Sequence[Record]) -> bool:
    """Return whether records are of Droid, which has the same tree with messages as Anthropic's API takes them."""
    kinds = {record.get("type") for record in records} | {
        part.get("type") for record in records for part in items(fields(record.get("message")).get("content"))
    }
    return bool(kinds & {"session_start", "todo_state", "compaction_state", "session_end", "tool_use", "tool_result"})


FORMAT: Final = SessionFormat(
    "pi",
    "pi, OpenClaw, OMP",
    "2026-11-28, pi's version 3",
    (
        ".pi/agent/sessions/**/*.jsonl",
        ".omp/agent/sessions/**/*.jsonl",
        ".openclaw/agents/*/sessions/*.jsonl",
        ".clawdbot/agents/*/sessions/*.jsonl",
    ),
    recognises,
    read,
    ListMarks(re.compile(rb'"role"\s*:\s*"user"'), re.compile(rb'"type"\s*:\s*"compaction"')),
    read_end=read,
)
