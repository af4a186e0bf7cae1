"""OTLP in JSON: what a collector's file exporter, or `recorded --out`, writes; one request a line, or a whole document.

A record is a span. The conversations of a file are separated by `gen_ai.conversation.id` or its equivalent in other
conventions, else by trace. A model's request repeats the messages before it, so only its new ones become turns; if it
repeats a part of them and the others never come back, that is a compaction.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import SessionBuilder, SessionFormat
from amgs.sessions.foreign_spans import form_of, is_export, records_in, rows_in, single_calls, span_of
from amgs.sessions.lines import Line, Record, as_json, document_at, items, lines_of, text
from amgs.sessions.messages import turns_of
from amgs.sessions.span_messages import (
    ANSWERS,
    Item,
    SpanMessages,
    call_of,
    conversation_ids,
    kinds_unread,
    messages_of,
    model_of,
    operation_of,
    parse_value,
    read_attributes,
    usage_of,
)
from amgs.sessions.spans import OtlpContent, RecordedSpan, SpanFormatError, as_request, join_contents, parse_otlp
from amgs.sessions.turn import Boundary, Place, Session, Turn
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_NOWHERE: Final = Place(0)


class _Window:
    """Window of an agent's model.

    held: count of each message in it, by its digest; system: those of the system, which are in every request.
    """

    def __init__(self) -> None:
        self.held: Counter[str] = Counter()
        self.system: set[str] = set()
        self.usage: Usage | None = None


class _Reading(SessionBuilder):
    """said: messages by the ids of their spans, in order. failed: ids of tool calls whose spans report a failure."""

    def __init__(
        self, path: Path, id: str, messages_by_span: Mapping[str, SpanMessages], failed: frozenset[str]
    ) -> None:
        self._said, self._failed = messages_by_span, failed
        self._answered = 0
        self._latest = {
            _turns(item, _NOWHERE)[0]: number
            for number, messages in enumerate(messages_by_span.values(), 1)
            for item in messages.read
        }
        turns = [
            turn
            for messages in messages_by_span.values()
            for item in (*messages.read, *messages.written)
            for turn in _turns(item, _NOWHERE)[1]
        ]
        self._called = {call.id for turn in turns for call in turn.calls}
        self._told = {turn.answers for turn in turns if turn.kind == "result"}
        super().__init__("OpenTelemetry", "otlp", path)
        self.know(id=id)
        self._windows: dict[str, _Window] = {}
        self._main: str | None = None

    def span(self, number: int, span: RecordedSpan, *, tools: bool) -> None:
        """Read a span. tools: whether calls of tools are taken from spans, since no message states them."""
        attributes, operation, place = read_attributes(span), operation_of(span), Place(number)
        id = text(call_of(attributes, "id"))
        alone = id in self._called and id not in self._told and call_of(attributes, "result") is not None
        if operation == "execute_tool" and (tools or alone):
            self._tool(place, span, called=alone)
        elif span.id in self._said:
            self._answer(place, span, text(attributes.get("gen_ai.agent.name")))
        else:
            self.note(operation or "span of something else")

    def _answer(self, place: Place, span: RecordedSpan, agent: str) -> None:
        attributes, messages = read_attributes(span), self._said[span.id]
        self._answered += 1
        if not messages.read and not messages.written:
            self.note("answer whose messages were not recorded")
            return
        self.know(
            model=model_of(attributes),
            project=text(span.resource.get("service.name")),
            tools=as_json(definitions) if (definitions := attributes.get("gen_ai.tool.definitions")) else None,
        )
        if self._main is None:
            self._main = agent
        agent = "" if agent == self._main else agent
        window = self._windows.setdefault(agent, _Window())
        common: dict[str, Any] = {"at": span.at, "request": span.id, "agent": agent}
        usage = usage_of(attributes)
        before = len(self.turns)
        aside = self._take_read(place, messages.read, window, common, usage)
        for item in messages.written:
            digest, turns = _turns(item, place)
            if not aside and digest in self._latest:
                window.held[digest] += 1
            self._add(turns, digest, place, common | {"usage": usage})
        window.usage = usage or window.usage
        if len(self.turns) == before:
            self.note("answer that says nothing new")

    def _take_read(
        self, place: Place, read: Sequence[Item], window: _Window, common: dict[str, Any], usage: Usage | None
    ) -> bool:
        """Add turns for the new messages that an answer's request reads, after a compaction if messages of the window
        are missing from it for good: not if nothing new is asked, which repeats a question, nor if they come back
        later.

        Return whether they come back: then the request is a side request, and its messages do not join the window.
        """
        system = [item["role"] == "system" for item in read]
        item_turns = [_turns(item, place) for item in read]
        left = Counter(window.held)
        known = []
        for (digest, _), first in zip(item_turns, system, strict=True):
            known.append(digest in window.system if first else left[digest] > 0)
            left[digest] -= known[-1] and not first
        known_digests = [digest for (digest, _), old in zip(item_turns, known, strict=True) if old]
        known_places = [n for n, old in enumerate(known) if old and not system[n]]
        dropped = [digest for digest, count in left.items() if count > 0]
        fresh = any(not old and not first for old, first in zip(known, system, strict=True))
        gone = any(self._latest.get(digest, 0) < self._answered for digest in dropped)
        cut = bool(known_places) and fresh and gone
        if cut:
            sizes = [request_usage.window if request_usage else None for request_usage in (window.usage, usage)]
            boundary = Boundary(before=sizes[0], after=sizes[1], preserved=tuple(dict.fromkeys(known_digests)))
            self.compact(place, boundary, **common)
            window.held = Counter(item_turns[n][0] for n in known_places)
        for n, (digest, turns) in enumerate(item_turns):
            if known[n]:
                continue
            if not system[n] and (gone or not dropped):
                window.held[digest] += 1
            elif not common["agent"]:
                self.know(system="\n".join(turn.text for turn in turns))
            window.system |= {digest} if system[n] else set()
            self._add(turns, digest, place, common, summary=cut and not system[n] and n < known_places[0])
        return bool(dropped) and not gone

    def _add(
        self, turns: Sequence[Turn], digest: str, place: Place, more: dict[str, Any], *, summary: bool = False
    ) -> None:
        for turn in turns:
            kind = "summary" if summary and turn.kind == "said" else turn.kind
            own: dict[str, Any] = {"answers": turn.answers, "speaker": turn.speaker, "id": digest}
            own["failed"] = turn.failed or turn.answers in self._failed
            self.turn(place, turn.role, kind, turn.text, turn.calls, **own, **more)

    def _tool(self, place: Place, span: RecordedSpan, *, called: bool) -> None:
        """Add a call of a tool and its result. called: whether a message states the call already."""
        attributes = read_attributes(span)
        id = text(call_of(attributes, "id")) or span.id
        name = text(call_of(attributes, "name")) or span.name
        common: dict[str, Any] = {"at": span.at, "id": span.id}
        if not called:
            call = ToolCall(id, name, as_json(call_of(attributes, "arguments")))
            self.turn(place, "assistant", "call", "", (call,), **common)
        result = call_of(attributes, "result")
        if result is not None or span.failed:
            output = as_json(result) if result is not None else span.told
            self.turn(place, "tool", "result", output, answers=id, failed=span.failed, **common)


def _turns(item: Item, place: Place) -> tuple[str, list[Turn]]:
    """Return the turns of a message, and a digest by which it is recognised."""
    turns = [turn for turn in turns_of(item, place, 1, None, lambda *_: None) if turn.words or turn.kind == "result"]
    transcript = "\0".join(f"{turn.role} {turn.kind} {turn.answers} {_words(turn)}" for turn in turns)
    thoughts = [text(part.get("thinking")) for part in items(item["content"]) if part.get("type") == "thinking"]
    thought = [Turn(1, "assistant", "thinking", words, place) for words in thoughts if words]
    return hashlib.sha256(transcript.encode()).hexdigest()[:16], [*thought, *turns]


def _words(turn: Turn) -> str:
    """Return the words of a turn, with arguments as normalised JSON, since libraries differ in its spaces."""
    calls = [(call.name, parse_value(call.arguments)) for call in turn.calls]
    return f"{turn.text.strip()}{json.dumps(calls, sort_keys=True) if calls else ''}"


def session_of(spans: Sequence[RecordedSpan], path: Path, id: str, unread: Sequence[Line] = ()) -> Session:
    """Return the session in the spans of a conversation, in the order in which they began. unread: lines of the file
    that could not be read.
    """
    failed = (call_of(read_attributes(span), "id") for span in spans if span.failed)
    calls = single_calls(spans)
    messages_by_span = {span.id: messages_of(span) for span in calls if operation_of(span) in ANSWERS}
    if not any(messages.written for messages in messages_by_span.values()):  # agents may tell what their models do not
        messages_by_span |= {span.id: messages_of(span) for span in calls if operation_of(span) == "invoke_agent"}
    reading = _Reading(path, id, messages_by_span, frozenset(map(text, failed)) - {""})
    for line in unread:
        reading.fail(line)
    tools = not any(messages.written for messages in messages_by_span.values())
    for number, span in enumerate(calls, 1):
        reading.span(number, span, tools=tools)
    for _ in range(len(spans) - len(calls)):
        reading.note("span of a call that another span tells of")
    if kinds := kinds_unread(calls):
        reading.know(notes=(f"Spans of a kind that is not understood: {', '.join(kinds)}.",))
    elif not reading.turns:
        reading.know(notes=("No span holds what a model read or wrote.",))
    return reading.session()


def by_conversation(spans: Sequence[RecordedSpan]) -> dict[str, list[RecordedSpan]]:
    """Return the spans of each conversation; the last to end comes first."""
    names = conversation_ids(spans)
    conversations: dict[str, list[RecordedSpan]] = {}
    for span in spans:
        conversations.setdefault(names[span.trace], []).append(span)
    return dict(sorted(conversations.items(), key=lambda pair: -max(span.end for span in pair[1])))


def _spans(path: Path) -> tuple[tuple[RecordedSpan, ...], list[Line]]:
    """Return the spans of a file, and the lines that could not be read. Raises InputError for a file that cannot be
    read or holds no OTLP.
    """
    contents: list[OtlpContent] = []
    unread: list[Line] = []
    rows: list[Record] = []
    for line in lines_of(path):
        try:
            if line.value is None:
                unread.append(line)
            elif is_export([line.value]):
                rows += rows_in(line.value)
            else:
                contents.append(parse_otlp(line.value))
        except SpanFormatError as error:
            unread.append(Line(line.place, None, str(error)))
    if not contents and not rows:
        unread = []
        whole = document_at(path)
        rows = rows_in(whole) if is_export(records_in(whole)) else []
        try:
            contents = [parse_otlp(record) for record in items(whole) or [whole]] if not rows else []
        except SpanFormatError as error:
            raise InputError(f"{path}: {error}", way_out="Give a file of OTLP in JSON.") from error
    if rows:
        form = form_of(rows)
        spans = (span_of(form, row) for row in rows)
        contents.append(OtlpContent(tuple(span for span in spans if span.trace and span.id)))
    return join_contents(contents), unread


def _inside(path: Path) -> Sequence[str]:
    return tuple(by_conversation(_spans(path)[0]))


def _read_one(path: Path, id: str) -> Session:
    spans, unread = _spans(path)
    conversations = by_conversation(spans)
    if id not in conversations:
        raise InputError(f"{path} holds no conversation {id}.", way_out=f"It holds {', '.join(conversations)}.")
    return session_of(conversations[id], path, id, unread)


def _read(path: Path) -> Session:
    spans, unread = _spans(path)
    conversations = by_conversation(spans)
    id = next(iter(conversations), "")
    return session_of(conversations.get(id, ()), path, id, unread)


def _recognises(path: Path, first: Sequence[Record]) -> bool:
    del path
    return bool(first) and (bool({"resourceSpans", "resourceLogs"} & {*as_request(first[0])}) or is_export(first))


FORMAT: Final = SessionFormat("otlp", "OpenTelemetry", "", (), _recognises, _read, inside=_inside, read_one=_read_one)
