"""GitHub Copilot CLI: `~/.copilot/session-state/SESSION/events.jsonl`, and older files beside it.

A line is an event `{type, data, id, timestamp}`. What the model wrote is `assistant.message`, with the calls that it
made; what they gave back is `tool.execution_complete`. A compaction is `session.compaction_complete` with its summary,
and `session.truncation` a cut without. Events of a subagent name the call that began it. The oldest sessions are one
document, `history-session-state/*.json`, with `chatMessages` in OpenAI's form.

Source: `session-events.schema.json` in the github/copilot-sdk repository.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    content_text,
    count,
    document_at,
    fields,
    instant,
    items,
    text,
    usage_with_cache,
)
from amgs.sessions.turn import Boundary, Place, Session, Turn
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_TRIGGERS: Final = {"manual": "manual", "": ""}
"""How a compaction was triggered; any other trigger is the program's own."""


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Copilot CLI", "copilot-cli", path, limit)
        self._called: set[str] = set()
        """Ids of calls that are turns."""
        self._unpaid: list[Turn] = []
        """Turns of the model since the last token count."""

    def record(self, record: Record, place: Place) -> None:
        """Read an event into turns."""
        kind, data = text(record.get("type")), fields(record.get("data"))
        agent = text(data.get("parentToolCallId")) or text(record.get("agentId"))
        more: dict[str, Any] = {
            "at": instant(record.get("timestamp")),
            "id": text(record.get("id")),
            "parent": text(record.get("parentId")),
            "agent": agent,
        }
        if kind.startswith("session."):
            self._session(kind, data, place, more)
        elif kind.startswith("assistant."):
            self._assistant(kind, data, place, more)
        elif kind.startswith("tool."):
            self._tool(kind, data, place, more)
        elif content := content_text(data.get("content")):
            self._put_in(kind, data, content, place, more)

    def finish(self) -> None:
        """Take the session's id from the folder if no event has it."""
        path = self.path
        self.know(id=path.parent.name if path.name == "events.jsonl" else "")

    def _session(self, kind: str, data: Record, place: Place, more: dict[str, Any]) -> None:
        if kind in ("session.start", "session.resume", "session.context_changed"):
            context = fields(data.get("context")) or data
            self.know(
                id=text(data.get("sessionId")),
                version=text(data.get("copilotVersion")),
                model=text(data.get("selectedModel")),
                project=text(context.get("cwd")),
                branch=text(context.get("branch")),
            )
        elif kind == "session.model_change":
            self.know(model=text(data.get("newModel")))
        elif kind == "session.title_changed":
            self.know(title=text(data.get("title")))
        elif kind == "session.usage_info":
            self.know(window=count(data.get("tokenLimit")))
        elif kind == "session.compaction_complete" and data.get("success") is not False:
            trigger = text(data.get("trigger"))
            before, after = count(data.get("preCompactionTokens")), count(data.get("postCompactionTokens"))
            mark = Boundary(_TRIGGERS.get(trigger, "auto"), before or None, after or None)
            self.compact(place, mark, text(data.get("summaryContent")), **more)
        elif kind == "session.truncation":
            self.know(window=count(data.get("tokenLimit")))
            before = count(data.get("preTruncationTokensInMessages"))
            after = count(data.get("postTruncationTokensInMessages"))
            mark = Boundary("auto", before or None, after or None)
            self.compact(place, mark, **more)
        elif kind == "session.context_cleared":
            self.compact(place, Boundary("manual"), **more)
        elif kind == "session.snapshot_rewind":
            self._rewind(text(data.get("upToEventId")))
        elif kind == "session.handoff" and (summary := text(data.get("summary"))):
            self.turn(place, "user", "injected", summary, **more)

    def _rewind(self, last: str) -> None:
        """Mark what follows an event as taken back."""
        ids = [turn.id for turn in self.turns]
        if last in ids:
            for turn in self.turns[len(ids) - ids[::-1].index(last) :]:
                self.change(turn, abandoned=True)

    def _assistant(self, kind: str, data: Record, place: Place, more: dict[str, Any]) -> None:
        if kind == "assistant.usage":
            self.know(model=text(data.get("model")))
            usage = _usage(data)
            for turn in self._unpaid if usage.window else ():
                self.change(self.turns[turn.number - 1], usage=usage)
            self._unpaid = []
        if kind not in ("assistant.message", "assistant.reasoning"):
            return
        details = more | {"request": text(data.get("messageId")) or more["id"]}
        content = content_text(data.get("content"))
        if kind == "assistant.reasoning":
            if content:
                self._unpaid.append(self.turn(place, "assistant", "thinking", content, **more))
            return
        self.know(model="" if more["agent"] else text(data.get("model")))
        if thought := text(data.get("reasoningText")):
            self._unpaid.append(self.turn(place, "assistant", "thinking", thought, **details))
        if content:
            self._unpaid.append(self.turn(place, "assistant", "said", content, **details))
        for tool_request in items(data.get("toolRequests")):
            self._unpaid.append(self._call(tool_request, text(tool_request.get("name")), place, details))

    def _call(self, data: Record, name: str, place: Place, more: dict[str, Any]) -> Turn:
        call = ToolCall(text(data.get("toolCallId")), name, as_json(data.get("arguments")))
        self._called.add(call.id)
        return self.turn(place, "assistant", "call", "", (call,), **more)

    def _tool(self, kind: str, data: Record, place: Place, more: dict[str, Any]) -> None:
        """Read the events of a tool; the start of a call is stated twice, unless the user made it."""
        id = text(data.get("toolCallId"))
        if kind in ("tool.execution_start", "tool.user_requested") and id not in self._called:
            self._call(data, text(data.get("toolName")), place, more)
        elif kind == "tool.execution_complete":
            failed = data.get("success") is False
            output = content_text(data.get("result")) or text(fields(data.get("error")).get("message"))
            self.turn(place, "tool", "result", output, answers=id, failed=failed, **more)

    def _put_in(self, kind: str, data: Record, content: str, place: Place, more: dict[str, Any]) -> None:
        """Read messages from the user, and those that the program sends in the user's role."""
        if kind == "user.message":
            spoken = text(data.get("source")) in ("", "user")
            self.turn(place, "user", "said" if spoken else "injected", content, **more)
        elif kind == "system.message":
            first = not more["agent"] and not self.facts.get("system")
            self.know(system=content if first else "")
            self.turn(place, "system", "said" if first else "injected", content, **more)
        elif kind in ("system.notification", "skill.invoked"):
            self.turn(place, "user", "injected", content, **more)

    def document(self, whole: Record) -> None:
        """Read a session in the oldest format."""
        self.know(id=text(whole.get("sessionId")), model=text(whole.get("selectedModel")))
        messages = whole.get("chatMessages")
        number = 0
        for number, entry in enumerate(messages if isinstance(messages, list) else (), 1):
            if isinstance(entry, dict):
                self._message(entry, Place(number))
            else:
                self.fail(Line(Place(number), None, "not an object"))
        for entry in items(whole.get("timeline")):
            self.note(f"timeline: {text(entry.get('type')) or 'without a type'}")

    def _message(self, message: Record, place: Place) -> None:
        role, content, before = text(message.get("role")), content_text(message.get("content")), len(self.turns)
        more: dict[str, Any] = {"at": instant(message.get("timestamp"))}
        if role == "tool":
            self.turn(place, "tool", "result", content, answers=text(message.get("tool_call_id")), **more)
        elif role == "user" and content:
            self.turn(place, "user", "said", content, **more)
        elif role in ("system", "developer") and content:
            self.turn(place, "system", "injected", content, **more)
        elif role == "assistant":
            more["request"] = f"message {place.line}"
            self.say(place, "assistant", "said", content, **more)
            for one_call in items(message.get("tool_calls")):
                function = fields(one_call.get("function"))
                asked = {"toolCallId": one_call.get("id"), "arguments": function.get("arguments")}
                self._call(asked, text(function.get("name")), place, more)
        if len(self.turns) == before:
            self.note(f"message: {role or 'without a role'}")


def _usage(data: Record) -> Usage:
    """Return the tokens of a request; `inputTokens` include the cached ones."""
    output, cached = count(data.get("outputTokens")), data.get("cacheReadTokens")
    return usage_with_cache(data.get("inputTokens"), output, cached, data.get("cacheWriteTokens"))


def read(path: Path) -> Session:
    """Return the session in a file; see the module. Raises InputError for a file that cannot be read, or is no JSON."""
    if path.suffix != ".json":
        return read_end(path, None)
    reading = _Reading(path, None)
    reading.document(fields(document_at(path)))
    return reading.session()


def read_end(path: Path, end: int | None) -> Session:
    """Return the session in the last so many bytes of a file of events, or in all of it. Raises InputError as `read`
    does.
    """
    return read_lines(_Reading, path, end)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether lines are events of Copilot CLI, or a document is one of its oldest sessions."""
    del path
    if len(first) == 1 and "chatMessages" in first[0]:
        return True
    kinds = ("session.start", "session.resume", "user.message", "assistant.message", "system.message")
    return any(record.get("type") in kinds and isinstance(record.get("data"), dict) for record in first)


FORMAT: Final = SessionFormat(
    "copilot-cli",
    "Copilot CLI",
    "",
    (".copilot/session-state/**/*.jsonl", ".copilot/history-session-state/*.json"),
    recognises,
    read,
    ListMarks(re.compile(rb'"type"\s*:\s*"user.message"'), re.compile(rb'"type"\s*:\s*"session.compaction_complete"')),
    read_end=read_end,
)
