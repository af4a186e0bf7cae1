"""Qwen Code: `~/.qwen/projects/PROJECT/chats/SESSION.jsonl`, and subagents in `subagents/SESSION/agent-*.jsonl`.

A line is a record with `uuid` and `parentUuid`, like Claude Code's, whose message has `parts` as in Gemini's API.
Records that are not on the way back from the last one were rewound. A compaction is a `system` record of subtype
`chat_compression`.

Source: `ChatRecord` in `chatRecordingService.ts` of the QwenLM/qwen-code repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.branches import RecordNode, find_abandoned_records
from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Record, content_text, count, fields, instant, items, text, usage_with_cache
from amgs.sessions.messages import gemini_parts, response_text, user_parts, words_of_user
from amgs.sessions.turn import Boundary, Place, TurnKind
from amgs.types.gateway import Usage

_BY_USER: Final = ("", "mid_turn_user_message", "realtime_message")
"""Subtypes of user records that a person sent."""


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Qwen Code", "qwen-code", path, limit)
        self._nodes: dict[str, RecordNode] = {}
        self._last, self._window = "", 0

    def kind_of(self, record: Record) -> str:
        """Return the record's type and subtype."""
        return ": ".join(filter(None, (text(record.get("type")), text(record.get("subtype")))))

    def record(self, record: Record, place: Place) -> None:
        """Read a record into turns."""
        self.know(
            id=text(record.get("sessionId")),
            project=text(record.get("cwd")),
            branch=text(record.get("gitBranch")),
            version=text(record.get("version")),
        )
        kind, id = text(record.get("type")), text(record.get("uuid"))
        more: dict[str, Any] = {
            "at": instant(record.get("timestamp")),
            "id": id,
            "parent": text(record.get("parentUuid")),
        }
        before = len(self.turns)
        if kind == "assistant":
            self.know(model=text(record.get("model")))
            usage = _usage(fields(record.get("usageMetadata")))
            self._window = usage.window + usage.output if usage.window else self._window
            more |= {"request": id, "usage": usage if usage.window else None, "model": text(record.get("model"))}
        if kind == "system":
            self._system(record, place, more)
        else:
            self._parts(record, kind, place, more)
        own = self.turns[before:]
        is_spoken = any(turn.kind == "said" for turn in own)
        what = "answer" if kind != "user" and own else "said" if is_spoken else "put in" if own else "other"
        self._nodes[id] = RecordNode(more["parent"], what, more.get("request", ""))  # type: ignore[arg-type]
        self._last = id if own else self._last

    def _parts(self, record: Record, kind: str, place: Place, more: dict[str, Any]) -> None:
        sent = text(record.get("subtype")) in _BY_USER and text(record.get("provenance")) in ("", "real_user")
        message = fields(record.get("message"))
        status = text(fields(record.get("toolCallResult")).get("status"))
        for part, own in user_parts(message.get("parts", message.get("content"))):
            content = content_text(part)
            if call := fields(part.get("functionCall")):
                self.calls(place, call.get("name"), call.get("id"), call.get("args"), **more)
            elif answer := fields(part.get("functionResponse")):
                response = fields(answer.get("response"))
                id = text(answer.get("id")) or text(answer.get("name"))
                failed = "error" in response or status in ("error", "cancelled")
                self.result(place, id, response_text(response), failed=failed, **more)
            elif content and kind == "assistant":
                self.turn(place, "assistant", "thinking" if part.get("thought") is True else "said", content, **more)
            elif content:
                for spoken, words, speaker in words_of_user(content):
                    who = text(record.get("subtype")) if not sent else speaker
                    kind_of_words: TurnKind = "said" if spoken and sent and own else "injected"
                    self.turn(place, "user", kind_of_words, words, speaker=who, **more)

    def _system(self, record: Record, place: Place, more: dict[str, Any]) -> None:
        payload, subtype = fields(record.get("systemPayload")), text(record.get("subtype"))
        if subtype == "custom_title":
            self.facts["title"] = text(payload.get("customTitle") or payload.get("title"))
        elif subtype == "parent_session":
            self.know(parent=text(payload.get("parentSessionId") or payload.get("sessionId")), relation="fork")
        elif subtype == "chat_compression":
            about = fields(payload.get("info"))
            before = count(about.get("originalTokenCount")) or self._window or None
            contents = items(payload.get("compressedHistory"))
            repeated = [(content, self._turn_of(content)) for content in contents]
            ids = tuple(dict.fromkeys(id for _, id in repeated if id))
            mark = Boundary("", before, count(about.get("newTokenCount")) or None, ids)
            self.compact(place, mark, **more)
            for part in (part for content, id in repeated if not id for part in gemini_parts(content.get("parts"))):
                self.say(place, "assistant", "summary", content_text(part), **more)

    def _turn_of(self, content: Record) -> str:
        """Return the id of the record whose words a content of the new window repeats; "" for none."""
        answers = {id for part in gemini_parts(content.get("parts")) if (id := _call_id(part))}
        words = content_text([part for part in gemini_parts(content.get("parts")) if not _call_id(part)])
        for turn in reversed(self.turns):
            if turn.answers in answers or any(call.id in answers for call in turn.calls):
                return turn.id
            if words and turn.kind == "said" and turn.text == words:
                return turn.id
        return ""

    def finish(self) -> None:
        """Mark rewound turns and find the owner of the file."""
        left = find_abandoned_records(self._nodes, self._last)
        for turn in [turn for turn in self.turns if turn.id in left]:
            self.change(turn, abandoned=True)
        path = self.path
        if path.name.startswith("agent-") and path.parent.parent.name == "subagents":
            self.facts["id"] = path.stem
            self.know(parent=path.parent.name, relation="subagent")


def _call_id(part: Record) -> str:
    return text(fields(part.get("functionCall") or part.get("functionResponse")).get("id"))


def _usage(counts: Record) -> Usage:
    """Return the tokens of a request; `promptTokenCount` includes cached ones."""
    output = count(counts.get("candidatesTokenCount")) + count(counts.get("thoughtsTokenCount"))
    return usage_with_cache(counts.get("promptTokenCount"), output, counts.get("cachedContentTokenCount"))


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether records are of a session, and their messages have parts or a model's role, or some are the
    program's own.
    """
    del path
    return any(
        "sessionId" in record
        and "uuid" in record
        and ("systemPayload" in record or "parts" in message or message.get("role") == "model")
        for record in first
        if (message := fields(record.get("message"))) is not None
    )


FORMAT: Final = SessionFormat(
    "qwen-code",
    "Qwen Code",
    "",
    (".qwen/projects/*/chats/*.jsonl", ".qwen/projects/*/subagents/*/agent-*.jsonl"),
    recognises,
    read,
    ListMarks(re.compile(rb'"type"\s*:\s*"user"'), re.compile(rb'"subtype"\s*:\s*"chat_compression"')),
    read_end=read,
)
