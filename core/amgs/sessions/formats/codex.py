"""Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl`.

A line is `{timestamp, type, payload}`. What the model read and wrote are the `response_item` lines; `event_msg` lines
mostly repeat them for the screen. A compaction is a line `compacted`, whose `replacement_history` is what the model
reads from then on; its summary may be encrypted. The oldest files have the items without a wrapper.

Source: `RolloutLine` of the openai/codex repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import SessionBuilder, SessionFormat, read_lines
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    content_text,
    count,
    fields,
    instant,
    items,
    parse_object,
    text,
)
from amgs.sessions.turn import Boundary, LoadedRules, Place, Session, Turn
from amgs.types.conversation import ToolCall
from amgs.types.usage import Usage

_PUT_IN: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions|skill|INSTRUCTIONS)\b"
    r"|# AGENTS\.md instructions)"
)
_EXIT: Final = re.compile(r"^(?:Process exited with code|Exit code:) (\d+)", re.MULTILINE)
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "mcp_tool_call")
_ITEMS: Final = ("message", "reasoning", "compaction", "compaction_summary", *_CALLS)


class _Reading:
    def __init__(self, path: Path, limit: int | None) -> None:
        self.made = SessionBuilder("Codex", "codex", path, limit)
        self._unpaid: list[Turn] = []
        """Turns of the model since tokens were counted last."""
        self._requests = 0
        self._total = -1
        self._last = Usage()
        self._messages: dict[int, str] = {}
        """The number of a message's turn, by the hash of its whole text."""

    def take(self, line: Line) -> None:
        """One line: turns, or a count of what it is."""
        record = line.value
        if record is None:
            self.made.fail(line)
            return
        wrapped = isinstance(record.get("payload"), dict)
        payload = fields(record.get("payload")) if wrapped else record
        kind = text(record.get("type")) if wrapped else "response_item"
        at = record.get("timestamp")
        before = len(self.made.turns)
        if kind == "response_item":
            self._item(payload, line.place, at)
        elif kind == "session_meta" or (not wrapped and "instructions" in record):
            self._meta(payload)
        elif kind == "turn_context":
            self._context(payload)
        elif kind == "compacted":
            self._compacted(payload, line.place, at)
        elif kind == "event_msg":
            self._event(payload)
        if len(self.made.turns) == before:
            inner = text(payload.get("type")) if wrapped else ""
            self.made.note(f"{kind}: {inner}" if inner else kind)

    def finish(self) -> None:
        """Nothing: each line tells all that it has to tell."""

    def _meta(self, payload: Record) -> None:
        self.made.know(
            id=text(payload.get("id")),
            project=text(payload.get("cwd")),
            version=text(payload.get("cli_version")),
            branch=text(fields(payload.get("git")).get("branch")),
            system=content_text(payload.get("base_instructions") or payload.get("instructions")),
        )

    def _context(self, payload: Record) -> None:
        self.made.know(model=text(payload.get("model")), project=text(payload.get("cwd")))
        told = text(payload.get("user_instructions"))
        if told and not any(rules.text == told for rules in self.made.rules):
            self.made.rules.append(LoadedRules("AGENTS.md", told, len(self.made.turns) + 1))

    def _item(self, item: Record, place: Place, at: Any) -> None:
        kind = text(item.get("type"))
        common: dict[str, Any] = {"at": instant(at), "id": text(item.get("id"))}
        if kind == "message":
            role = text(item.get("role"))
            told = content_text(item.get("content"))
            if role == "assistant":
                self._paid(self.made.turn(place, "assistant", "said", told, **common))
            elif role == "user":
                put_in = _PUT_IN.match(told) is not None
                self.made.turn(place, "user", "injected" if put_in else "said", told, **common)
            else:
                self.made.turn(place, "system", "injected", told, **common)
            self._messages[hash(told)] = str(len(self.made.turns))
        elif kind == "reasoning":
            told = content_text(item.get("summary")) or content_text(item.get("content"))
            self._paid(self.made.turn(place, "assistant", "thinking", told, **common))
        elif kind in _CALLS:
            given = next((item[key] for key in ("arguments", "input", "action") if item.get(key)), None)
            name = text(item.get("name")) or kind.removesuffix("_call")
            call = ToolCall(text(item.get("call_id") or item.get("id")), name, as_json(given))
            self._paid(self.made.turn(place, "assistant", "call", "", (call,), **common))
        elif kind.endswith("_output"):
            told, failed = _output(item.get("output"))
            answers = text(item.get("call_id"))
            self.made.turn(place, "tool", "result", told, answers=answers, failed=failed, **common)
        elif kind in ("compaction", "compaction_summary"):
            self._boundary(
                place, at, content_text(item.get("summary")), sealed=bool(item.get("encrypted_content"))
            )

    def _paid(self, turn: Turn) -> None:
        self._unpaid.append(turn)

    def _event(self, payload: Record) -> None:
        self.made.know(window=count(payload.get("model_context_window")))
        info = fields(payload.get("info"))
        self.made.know(window=count(info.get("model_context_window")))
        total = count(fields(info.get("total_token_usage")).get("total_tokens"))
        last = fields(info.get("last_token_usage"))
        if payload.get("type") != "token_count" or not last or total == self._total:
            return
        self._total = total
        cached = count(last.get("cached_input_tokens"))
        self._last = Usage(
            max(0, count(last.get("input_tokens")) - cached), 0, cached, count(last.get("output_tokens"))
        )
        self._requests += 1
        for turn in self._unpaid:
            now = self.made.turns[turn.number - 1]
            self.made.change(now, usage=self._last, request=f"request {self._requests}")
        self._unpaid = []

    def _compacted(self, payload: Record, place: Place, at: Any) -> None:
        history = payload.get("replacement_history")
        sealed = any(one.get("encrypted_content") for one in items(history)) and not payload.get("message")
        self._boundary(place, at, text(payload.get("message")), sealed=sealed, history=items(history))

    def _boundary(
        self, place: Place, at: Any, summary: str, *, sealed: bool, history: Sequence[Record] = ()
    ) -> None:
        """A compaction, and what stands in its window from the beginning: what it kept is found by its words."""
        told = [content_text(one.get("content")) for one in history if one.get("type") == "message"]
        kept = tuple(self._messages[hash(one)] for one in told if hash(one) in self._messages)
        self.made.turn(
            place,
            "system",
            "boundary",
            "",
            at=instant(at),
            boundary=Boundary(
                "", self._last.window + self._last.output or None, None, kept, (), True, sealed
            ),
        )
        new = [one for one in told if hash(one) not in self._messages and one.strip()]
        for one in [summary, *(one for one in new if one != summary)]:
            if one:
                self.made.turn(place, "assistant", "summary", one, at=instant(at))


def _output(given: Any) -> tuple[str, bool]:
    """(text, whether it failed) of what a tool gave back: a text, parts, or a text of JSON with the exit status."""
    told = content_text(given)
    inner = parse_object(told) if told.startswith("{") else None
    if inner is not None and "output" in inner:
        return content_text(inner["output"]), fields(inner.get("metadata")).get("exit_code") not in (0, None)
    found = _EXIT.search(told[:400])
    return told, found is not None and found[1] != "0"


def read(path: Path, end: int | None = None) -> Session:
    """The session in a file, or in its last so many bytes; see the module. Raises InputError for a file that cannot be
    read.
    """
    return read_lines(path, partial(_Reading, path), end)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Whether lines are of Codex: wrapped ones of its types, or the first of a file without wrappers."""
    wrapped = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
    if any(one.get("type") in wrapped and isinstance(one.get("payload"), dict) for one in first):
        return True
    old = bool(first) and "instructions" in first[0] and "id" in first[0]
    return path.name.startswith("rollout-") and (old or any(one.get("type") in _ITEMS for one in first))


FORMAT: Final = SessionFormat(
    "codex",
    "Codex",
    "2026-11-26, 0.104 to 0.126",
    (".codex/sessions/**/rollout-*.jsonl", ".codex/archived_sessions/**/rollout-*.jsonl"),
    recognises,
    read,
    (b'"type":"user_message"', b'"type":"compacted"'),
    read_end=read,
)
