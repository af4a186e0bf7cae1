"""The memory of another program, as its spans tell of it: what was stored, changed, deleted and recalled, and when.

Source: the GenAI semantic conventions of OpenTelemetry, memory operations as merged in May 2026 (`gen_ai.memory.*`),
and `retrieval` with its documents. What a program does not tell (texts of records are opt-in) cannot be shown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from amgs.sessions.lines import fields, text
from amgs.sessions.span_calls import single_calls
from amgs.sessions.span_messages import (
    ANSWERS,
    conversation_ids,
    listed,
    messages_of,
    operation_of,
    parsed,
    told_by,
    words_of,
)
from amgs.sessions.spans import RecordedSpan, number

Act = Literal["create", "update", "upsert", "delete", "search", "create store", "delete store"]
ACTS: Final[Mapping[str, Act]] = {
    "create_memory": "create",
    "update_memory": "update",
    "upsert_memory": "upsert",
    "delete_memory": "delete",
    "search_memory": "search",
    "retrieval": "search",
    "create_memory_store": "create store",
    "delete_memory_store": "delete store",
}
_RECALLING: Final = ("load_memory",)
"""Tools that recall: that of ADK, whose memory writes no span of its own."""
_TEXTS: Final = ("text", "memory", "content", "fact", "value", "page_content", "data")
"""Fields that hold the text of a record whose content is an object."""
_RECORDS: Final = ("gen_ai.memory.records", "gen_ai.retrieval.documents", "retrieval.documents")
_GIVEN: Final = ("gen_ai.completion", "output.value", "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response")
"""Attributes that hold what a retriever or a tool gave, whatever it was, as LangSmith, OpenInference and ADK write it.
"""
_ASKED: Final = ("gen_ai.prompt", "input.value", "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args")
_SCORES: Final = ("score", "similarity", "relevance", "relevance_score")


@dataclass(frozen=True, slots=True)
class RecalledRecord:
    """A record as an operation tells of it. id: "" where it has none. score: None where none is told."""

    id: str
    content: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryOperation:
    """One thing that a memory was asked to do. number: from 1 on, in order. count: how many records it concerned, None
    where it is not told. told: whether the records themselves are told.
    """

    number: int
    at: datetime
    act: Act
    store: str
    conversation: str
    query: str
    records: tuple[RecalledRecord, ...]
    record: str
    count: int | None
    milliseconds: float
    failed: bool
    told: bool
    trace: str
    span: str


@dataclass(frozen=True, slots=True)
class Recall:
    """That a record was found by a search. rank: from 1 on."""

    operation: int
    at: datetime
    rank: int
    score: float | None


@dataclass
class ForeignRecord:
    """A record of the other memory. versions: its texts and since when, the last one holds. written: whether it was
    seen to be stored, and not only to be recalled. deleted: when, None while it is there.
    """

    store: str
    id: str
    versions: list[tuple[datetime, str]]
    written: bool
    recalls: list[Recall] = field(default_factory=list)
    deleted: datetime | None = None

    @property
    def content(self) -> str:
        """What it says now."""
        return self.versions[-1][1]

    @property
    def since(self) -> datetime:
        """When it was first seen."""
        return self.versions[0][0]

    def content_at(self, at: datetime) -> str | None:
        """Return what it said then; None where it was not there."""
        if self.deleted is not None and self.deleted <= at:
            return None
        return next((told for since, told in reversed(self.versions) if since <= at), None)


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """What a model wrote."""

    at: datetime
    conversation: str
    words: str


@dataclass
class ForeignMemory:
    """All that spans tell of memories. records: those that are there and those that were deleted."""

    operations: list[MemoryOperation] = field(default_factory=list)
    records: list[ForeignRecord] = field(default_factory=list)
    answers: list[ForeignAnswer] = field(default_factory=list)
    _by_id: dict[tuple[str, str], ForeignRecord] = field(default_factory=dict)
    _by_text: dict[tuple[str, str], ForeignRecord] = field(default_factory=dict)

    @property
    def present(self) -> list[ForeignRecord]:
        """The records that are there now."""
        return [one for one in self.records if one.deleted is None]

    def searches(self) -> list[MemoryOperation]:
        """Return the searches that did not fail, in order."""
        return [one for one in self.operations if one.act == "search" and not one.failed]

    def take(self, one: MemoryOperation) -> None:
        """Add an operation, and do to the records what it did."""
        self.operations.append(one)
        if one.failed:
            return
        match one.act:
            case "delete" | "delete store":
                self._delete(one)
            case "search":
                for rank, each in enumerate(one.records, 1):
                    found = self._put(one, each, written=False)
                    found.recalls.append(Recall(one.number, one.at, rank, each.score))
            case "create" | "update" | "upsert":
                for each in one.records:
                    self._put(one, each, written=True)

    def _put(self, one: MemoryOperation, each: RecalledRecord, *, written: bool) -> ForeignRecord:
        """Return the record that is told of, with what it says now."""
        id = each.id or (one.record if len(one.records) == 1 else "")
        found = self._by_id.get((one.store, id)) if id else None
        if found is None:
            found = self._by_text.get((one.store, each.content))
            if found is not None and id and found.id not in ("", id):
                found = None
        if found is None or found.deleted is not None:
            found = ForeignRecord(one.store, id, [(one.at, each.content)], written)
            self.records.append(found)
        elif each.content and found.content != each.content:
            found.versions.append((one.at, each.content))
        found.id = found.id or id
        found.written = found.written or written
        if found.id:
            self._by_id[one.store, found.id] = found
        self._by_text[one.store, found.content] = found
        return found

    def _delete(self, one: MemoryOperation) -> None:
        ids = {id for id in (one.record, *(each.id for each in one.records)) if id}
        named = [found for id in ids if (found := self._by_id.get((one.store, id))) is not None]
        for each in named if ids else self.records:
            if each.store == one.store and each.deleted is None:
                each.deleted = one.at


def act_of(span: RecordedSpan) -> Act | None:
    """Return what a memory was asked to do; None for a span that asks none."""
    operation = operation_of(span)
    if operation == "execute_tool" and span.attributes.get("gen_ai.tool.name") in _RECALLING:
        return "search"
    return ACTS.get(operation)


def memory_of(spans: Sequence[RecordedSpan]) -> ForeignMemory:
    """Return what spans, in the order in which they began, tell of memories and of answers."""
    made, names = ForeignMemory(), conversation_ids(spans)
    for span in single_calls(spans):
        if operation_of(span) in ANSWERS:
            if words := words_of(messages_of(span).written).strip():
                made.answers.append(ForeignAnswer(span.at, names[span.trace], words))
        elif (act := act_of(span)) is not None:
            made.take(_operation(len(made.operations) + 1, act, span, names[span.trace]))
    return made


def _operation(place: int, act: Act, span: RecordedSpan, conversation: str) -> MemoryOperation:
    given = told_by(span)
    records = _records(given, (*_RECORDS, *_GIVEN) if act == "search" else _RECORDS)
    count = given.get("gen_ai.memory.record.count")
    store = given.get("gen_ai.memory.store.id", given.get("gen_ai.data_source.id"))
    query = given.get("gen_ai.memory.query.text", given.get("gen_ai.retrieval.query.text"))
    return MemoryOperation(
        place,
        span.at,
        act,
        text(store) or text(span.resource.get("service.name")),
        conversation,
        text(query) or (_asked(given) if act == "search" else ""),
        tuple(records or ()),
        text(given.get("gen_ai.memory.record.id")),
        number(count) if count is not None else None if records is None else len(records),
        span.milliseconds,
        span.failed,
        records is not None,
        span.trace,
        span.id,
    )


def _asked(given: Mapping[str, Any]) -> str:
    """Return what a retriever was asked."""
    told = next((parsed(given[name]) for name in _ASKED if name in given), "")
    return text(fields(told).get("query")) if isinstance(told, dict) else text(told)


def _records(given: Mapping[str, Any], names: Sequence[str]) -> list[RecalledRecord] | None:
    """Return the records that a span tells of under one of the names; None where it tells of none."""
    for name in names:
        found = listed(given, name) or parsed(given.get(name))
        if found is None or found == {}:
            continue
        if isinstance(found, dict):
            found = fields(found.get("result")) or found
            found = next(
                (found[key] for key in ("results", "records", "memories", "documents") if key in found), [found]
            )
        return [_record(one) for one in (found if isinstance(found, list) else [found])]
    return None


def _record(one: Any) -> RecalledRecord:
    if not isinstance(one, dict):
        return RecalledRecord("", content_of(one))
    inner = fields(one.get("document")) or one  # of OpenInference
    known = next((inner[key] for key in ("id", "key", "memory_id") if inner.get(key) is not None), "")
    told = next((inner[key] for key in _SCORES if key in inner), None)
    score = (
        float(told) if isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told) else None
    )
    whole = {key: value for key, value in inner.items() if key not in ("id", "key", "memory_id", "metadata", *_SCORES)}
    return RecalledRecord(str(known), content_of(inner.get("content", whole)), score)


def content_of(value: Any) -> str:
    """Return the content of a record as a text: that of an object which holds one text, else as JSON."""
    if isinstance(value, str):
        inner = parsed(value)
        if not isinstance(inner, dict):
            return text(value)
        value = inner
    if isinstance(value, dict):
        if isinstance(value.get("parts"), list):  # of Gemini
            return "\n".join(text(fields(one).get("text")) for one in value["parts"])
        for name in _TEXTS:
            if isinstance(value.get(name), str):
                return text(value[name])
    return text(json.dumps(value, ensure_ascii=False, default=str)) if value not in (None, {}) else ""


def of_store(memory: ForeignMemory, store: str) -> ForeignMemory:
    """Return what is told of one store alone; all of it for "". Answers stay."""
    if not store:
        return memory
    return ForeignMemory(
        [one for one in memory.operations if one.store == store],
        [one for one in memory.records if one.store == store],
        memory.answers,
    )


def as_mem0(records: Sequence[ForeignRecord]) -> dict[str, Any]:
    """Records as mem0 lists its own, with the texts that they had before, which an import reads: each text from when on
    it held.
    """
    listed = []
    for place, one in enumerate(records, 1):
        id = one.id or f"record-{place}"
        texts = [None, *(told for _, told in one.versions)]
        history = [
            {"memory_id": id, "old_memory": before, "new_memory": told, "created_at": at.isoformat()}
            for before, (at, told) in zip(texts, one.versions, strict=False)
        ]
        told = {"id": id, "memory": one.content, "created_at": one.versions[-1][0].isoformat()}
        if one.content.strip():
            listed.append({**told, "agent_id": one.store, "history": history if len(history) > 1 else []})
    return {"results": listed}
