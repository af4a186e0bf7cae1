"""Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-*.json` or `.jsonl`, and checkpoints, `checkpoint-*.json`.

A record is a message; a message of the model holds its thoughts, its calls with their results, and its tokens. In the
older files they are the list `messages` of a document. In the newer ones each is a line, which a later line of the same
id replaces; `$set` changes what is known of the session, and with `messages` the whole window, which is how a
compaction is written; `$rewindTo` takes back a message and all after it. A checkpoint is the window as the API takes
it.

Source: `chatRecordingService.ts` of the google-gemini/gemini-cli repository.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import SessionBuilder, SessionFormat
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
    lines_of,
    text,
    text_beside,
    usage_with_cache,
)
from amgs.sessions.messages import gemini_parts, response_text, user_parts
from amgs.sessions.turn import Boundary, Place, Session, TurnKind
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_COMPRESSED: Final = re.compile(r"[Cc]ompressed from (\d[\d,]{0,11})(%?)(?: tokens)? to (\d[\d,]{0,11})")
_SUMMARY: Final = "<state_snapshot>"
_PUT_IN: Final = ("<session_context>", "This is the Gemini CLI. We are setting up the context", "<hook_context>")


class _Reading(SessionBuilder):
    def __init__(self, path: Path) -> None:
        super().__init__("Gemini CLI", "gemini-cli", path)
        self._window = 0
        """Tokens that the model last read and wrote."""
        self._live: set[str] = set()
        """Ids of the messages in the window."""

    def about(self, record: Record) -> None:
        """Read the facts of the session in a document, a first line or `$set`."""
        self.know(id=text(record.get("sessionId")), title=text(record.get("summary")))

    def lines(self, lines: Sequence[Line]) -> None:
        """Read all lines; a later line may replace or take back an earlier one."""
        events: list[tuple[Place, Record]] = []
        known: dict[str, int] = {}  # index of a message's event, by its id
        live: list[str] = []
        left: set[tuple[int, str]] = set()  # events and ids of messages that were taken back
        for line in lines:
            record = line.value
            if record is None:
                self.fail(line)
            elif isinstance(back := record.get("$rewindTo"), str):
                at = live.index(back) if back in live else 0
                left.update((known.pop(id), id) for id in live[at:] if id in known)
                del live[at:]
                self.note("$rewindTo")
            elif change := fields(record.get("$set")):
                self.about(change)
                if isinstance(change.get("messages"), list):
                    ids = [text(message.get("id")) for message in items(change["messages"])]
                    events.append((line.place, record))
                    known.update({id: len(events) - 1 for id in ids if id not in known})
                    live = [id for id in ids if id in known]
                else:
                    self.note(f"$set: {', '.join(sorted(map(text, change)))}")
            elif (id := text(record.get("id"))) and "type" in record:
                if id in known and "$set" not in events[known[id]][1]:
                    events[known[id]] = (line.place, record)
                    self.note("message, written again later")
                else:
                    events.append((line.place, record))
                    known[id] = len(events) - 1
                    live.append(id)
            elif "sessionId" in record:
                self.about(record)
                self.note("session")
            else:
                self.note("line without a type")
        for number, (place, record) in enumerate(events):
            if "$set" in record:
                gone = {id for event, id in left if event == number}
                self._replace(items(fields(record["$set"]).get("messages")), place, gone)
            else:
                self.message(record, place, abandoned=(number, text(record.get("id"))) in left)

    def _replace(self, messages: Sequence[Record], place: Place, gone: set[str]) -> None:
        """Replace the window by a new window: mark messages no longer in it and calls with results removed, and add new
        messages.
        """
        ids = [text(message.get("id")) for message in messages]
        results = {turn.answers: turn.text for turn in self.turns if turn.kind == "result"}
        calls = [call for message in messages for call in items(message.get("toolCalls"))]
        outputs = {text(call.get("id")): _read_output(call) for call in calls}
        masked = [id for id, result in outputs.items() if not result.startswith(results.get(id, ""))]
        before = len(self.turns)
        whole = bool(self._live - {*ids})
        if whole or masked:
            remaining_ids = tuple(dict.fromkeys(id for id in ids if id in self._live)) if whole else ()
            mark = Boundary("", self._window or None, None, remaining_ids, () if whole else tuple(masked), whole)
            self.compact(place, mark)
        known = {turn.id for turn in self.turns}
        for message in messages:
            if text(message.get("id")) not in known:
                self._say(message, place, abandoned=text(message.get("id")) in gone)
        self._live = {*ids}
        if len(self.turns) == before:
            self.note("$set: messages, as they were")

    def message(self, record: Record, place: Place, *, abandoned: bool = False) -> None:
        """Read a message into turns; count it by kind if it has none."""
        before = len(self.turns)
        self._say(record, place, abandoned=abandoned)
        if len(self.turns) == before:
            self.note(f"message: {text(record.get('type') or record.get('role')) or 'without a type'}")

    def _say(self, record: Record, place: Place, *, abandoned: bool) -> None:
        who = text(record.get("type") or record.get("role"))
        if who == "info" and (shrunk := _COMPRESSED.search(content_text(record.get("content")))):
            self._read_compression(shrunk, record, place, abandoned=abandoned)
        if who == "qwen":
            self.agent = "Qwen Code"  # before version 0.5 it wrote files of this form
        if who not in ("user", "gemini", "qwen", "model"):
            return
        id, at = text(record.get("id")), instant(record.get("timestamp"))
        if not abandoned:
            self._live.add(id)
        content = record.get("content", record.get("parts"))
        more: dict[str, Any] = {"at": at, "id": id, "abandoned": abandoned}
        if who == "user":
            self._user(content, place, more)
            return
        self.know(model=text(record.get("model")))
        usage = _usage(fields(record.get("tokens")))
        if usage.window:
            self._window = usage.window + usage.output
        more |= {"usage": usage if usage.window else None, "request": id}
        for thought in items(record.get("thoughts")):
            self.say(
                place,
                "assistant",
                "thinking",
                f"{text(thought.get('subject'))}\n{text(thought.get('description'))}".strip(),
                **more,
            )
        for part in gemini_parts(content):
            if call := fields(part.get("functionCall")):
                self._call(call, place, more)
            elif words := content_text(part):
                kind: TurnKind = "thinking" if part.get("thought") is True else "said"
                self.turn(place, "assistant", kind, words, **more)
        for call in items(record.get("toolCalls")):
            self._call(call, place, more)
            failed = call.get("status") in ("error", "cancelled")
            if failed or "result" in call:
                answer = more | {"usage": None, "answers": text(call.get("id")) or text(call.get("name"))}
                self.turn(place, "tool", "result", _read_output(call), failed=failed, **answer)

    def _read_compression(self, match: re.Match[str], record: Record, place: Place, *, abandoned: bool) -> None:
        """Add a compaction known only from the program's words, with tokens or shares of the window."""
        if any(turn.boundary and turn.boundary.whole for turn in self.turns[-3:]):
            return  # the new window was reported before
        share = match[2] == "%"
        before, after = (count(int(number.replace(",", ""))) or None for number in (match[1], match[3]))
        mark = Boundary("", self._window or None if share else before, None if share else after)
        at, id = instant(record.get("timestamp")), text(record.get("id"))
        self.compact(place, mark, at=at, id=id, abandoned=abandoned)

    def _user(self, content: Any, place: Place, more: dict[str, Any]) -> None:
        for part, own in user_parts(content):
            words = content_text(part)
            if answer := fields(part.get("functionResponse")):
                response = fields(answer.get("response"))
                result = more | {"answers": text(answer.get("id")) or text(answer.get("name"))}
                result["failed"] = "error" in response
                self.turn(place, "tool", "result", response_text(response), **result)
            elif _SUMMARY in words:
                if not self.turns or self.turns[-1].kind != "boundary":
                    self.compact(place, Boundary("", self._window or None))
                self.turn(place, "assistant", "summary", words, **more)
            elif words:
                kind: TurnKind = "said" if own and not words.lstrip().startswith(_PUT_IN) else "injected"
                self.turn(place, "user", kind, words, **more)

    def _call(self, call: Record, place: Place, more: dict[str, Any]) -> None:
        name = text(call.get("name"))
        tool_call = ToolCall(text(call.get("id")) or name, name, as_json(call.get("args")))
        self.turn(place, "assistant", "call", "", (tool_call,), **more)


def _read_output(call: Record) -> str:
    """Return the result of a call as text."""
    texts = [
        response_text(fields(fields(part.get("functionResponse")).get("response"))) or content_text(part)
        for part in gemini_parts(call.get("result"))
    ]
    return "\n".join(filter(None, texts))


def _usage(tokens: Record) -> Usage:
    """Return the tokens of a request; `input` includes the cached ones, and thoughts count as output."""
    output = count(tokens.get("output")) + count(tokens.get("thoughts"))
    return usage_with_cache(tokens.get("input"), output, tokens.get("cached"))


def read(path: Path) -> Session:
    """Return the session in a file; see the module. Raises InputError for a file that cannot be read, or is no JSON."""
    reading = _Reading(path)
    first = [line.value for line in itertools.islice(lines_of(path), 2)]
    if path.suffix == ".jsonl" or (len(first) > 1 and first[0] is not None):
        reading.lines([*lines_of(path)])
    else:
        whole = document_at(path)
        reading.about(fields(whole))
        inside = next((fields(whole)[k] for k in ("messages", "history") if k in fields(whole)), whole)
        if not isinstance(inside, list):
            raise InputError(f"{path} has no messages.", way_out="Give a session of Gemini CLI.")
        for number, message in enumerate(inside, 1):
            if isinstance(message, dict):
                reading.message(message, Place(number))
            else:
                reading.fail(Line(Place(number), None, "not an object"))
    reading.know(project=text_beside(path.parent.parent / ".project_root"))
    return reading.session()


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a document or first line has a session and a project's hash, or a checkpoint parts by role."""
    del path
    if first and "sessionId" in first[0] and "projectHash" in first[0]:
        return True
    window = items(first[0].get("history")) if len(first) == 1 else first
    return bool(window) and all("parts" in record and record.get("role") in ("user", "model") for record in window)


FORMAT: Final = SessionFormat(
    "gemini-cli",
    "Gemini CLI",
    "",
    (".gemini/tmp/*/chats/**/*.json*", ".gemini/tmp/*/checkpoint-*.json"),
    recognises,
    read,
)
