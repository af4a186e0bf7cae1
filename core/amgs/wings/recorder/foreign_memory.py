"""Another program's memory, reconstructed from its spans: what was stored, changed, deleted and recalled, and when.

By the GenAI semantic conventions of OpenTelemetry: memory operations as merged in May 2026 (`gen_ai.memory.*`), and
`retrieval` with its documents. What a program does not report (texts of records are opt-in) is unknown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from amgs.sessions.foreign_spans import single_calls
from amgs.sessions.lines import fields, text
from amgs.sessions.span_messages import (
    ANSWERS,
    collect_list,
    conversation_ids,
    messages_of,
    operation_of,
    parse_value,
    read_attributes,
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
"""Tools that recall: ADK's, whose memory writes no spans of its own."""
_TEXTS: Final = ("text", "memory", "content", "fact", "value", "page_content", "data")
"""Fields with the text of a record whose content is an object."""
_RECORDS: Final = ("gen_ai.memory.records", "gen_ai.retrieval.documents", "retrieval.documents")
_GIVEN: Final = ("gen_ai.completion", "output.value", "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response")
"""Attributes with the result of a retriever or tool, as LangSmith, OpenInference and ADK write them."""
_ASKED: Final = ("gen_ai.prompt", "input.value", "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args")
_SCORES: Final = ("score", "similarity", "relevance", "relevance_score")


@dataclass(frozen=True, slots=True)
class RecalledRecord:
    """A record as an operation reports it. id: "" if it has none. score: None if not reported."""

    id: str
    content: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryOperation:
    """An operation on a memory.

    number: from 1, in order. count: records concerned, None if not reported. told: the records themselves are reported.
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
    """One finding of a record by a search. rank: from 1."""

    operation: int
    at: datetime
    rank: int
    score: float | None


@dataclass
class ForeignRecord:
    """A record of another memory.

    versions: its texts, each with the time from which it held. written: it was seen being stored, not only recalled.
    deleted: when, None if it is present.
    """

    store: str
    id: str
    versions: list[tuple[datetime, str]]
    written: bool
    recalls: list[Recall] = field(default_factory=list)
    deleted: datetime | None = None

    @property
    def content(self) -> str:
        """Current text."""
        return self.versions[-1][1]

    @property
    def since(self) -> datetime:
        """When it was first seen."""
        return self.versions[0][0]

    def content_at(self, at: datetime) -> str | None:
        """Return its text at a time; None if it was deleted or not there yet."""
        if self.deleted is not None and self.deleted <= at:
            return None
        return next((content for since, content in reversed(self.versions) if since <= at), None)


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """A model's answer."""

    at: datetime
    conversation: str
    words: str


@dataclass
class ForeignMemory:
    """All that spans report of memories. records: present and deleted ones."""

    operations: list[MemoryOperation] = field(default_factory=list)
    records: list[ForeignRecord] = field(default_factory=list)
    answers: list[ForeignAnswer] = field(default_factory=list)
    _by_id: dict[tuple[str, str], ForeignRecord] = field(default_factory=dict)
    _by_text: dict[tuple[str, str], ForeignRecord] = field(default_factory=dict)

    @property
    def present(self) -> list[ForeignRecord]:
        """Records that are not deleted."""
        return [record for record in self.records if record.deleted is None]

    def searches(self) -> list[MemoryOperation]:
        """Return the searches that succeeded, in order."""
        return [operation for operation in self.operations if operation.act == "search" and not operation.failed]

    def apply(self, operation: MemoryOperation) -> None:
        """Add an operation, and apply it to the records."""
        self.operations.append(operation)
        if operation.failed:
            return
        match operation.act:
            case "delete" | "delete store":
                self._delete(operation)
            case "search":
                for rank, entry in enumerate(operation.records, 1):
                    record = self._put(operation, entry, written=False)
                    record.recalls.append(Recall(operation.number, operation.at, rank, entry.score))
            case "create" | "update" | "upsert":
                for entry in operation.records:
                    self._put(operation, entry, written=True)

    def _put(self, operation: MemoryOperation, entry: RecalledRecord, *, written: bool) -> ForeignRecord:
        """Return the reported record, updated to its present text; a new record if it is unknown."""
        id = entry.id or (operation.record if len(operation.records) == 1 else "")
        record = self._by_id.get((operation.store, id)) if id else None
        if record is None:
            record = self._by_text.get((operation.store, entry.content))
            if record is not None and id and record.id not in ("", id):
                record = None
        if record is None or record.deleted is not None:
            record = ForeignRecord(operation.store, id, [(operation.at, entry.content)], written)
            self.records.append(record)
        elif entry.content and record.content != entry.content:
            record.versions.append((operation.at, entry.content))
        record.id = record.id or id
        record.written = record.written or written
        if record.id:
            self._by_id[operation.store, record.id] = record
        self._by_text[operation.store, record.content] = record
        return record

    def _delete(self, operation: MemoryOperation) -> None:
        """Mark the named records as deleted; all of the store if none is named."""
        ids = {id for id in (operation.record, *(entry.id for entry in operation.records)) if id}
        named = [known_record for id in ids if (known_record := self._by_id.get((operation.store, id))) is not None]
        for record in named if ids else self.records:
            if record.store == operation.store and record.deleted is None:
                record.deleted = operation.at


def act_of(span: RecordedSpan) -> Act | None:
    """Return the kind of memory operation of a span; None if it is none."""
    operation = operation_of(span)
    if operation == "execute_tool" and span.attributes.get("gen_ai.tool.name") in _RECALLING:
        return "search"
    return ACTS.get(operation)


def memory_of(spans: Sequence[RecordedSpan]) -> ForeignMemory:
    """Reconstruct memories and answers from spans in order of their beginnings."""
    memory, names = ForeignMemory(), conversation_ids(spans)
    for span in single_calls(spans):
        if operation_of(span) in ANSWERS:
            if words := words_of(messages_of(span).written).strip():
                memory.answers.append(ForeignAnswer(span.at, names[span.trace], words))
        elif (act := act_of(span)) is not None:
            memory.apply(_operation(len(memory.operations) + 1, act, span, names[span.trace]))
    return memory


def _operation(place: int, act: Act, span: RecordedSpan, conversation: str) -> MemoryOperation:
    attributes = read_attributes(span)
    records = _records(attributes, (*_RECORDS, *_GIVEN) if act == "search" else _RECORDS)
    count = attributes.get("gen_ai.memory.record.count")
    store = attributes.get("gen_ai.memory.store.id", attributes.get("gen_ai.data_source.id"))
    query = attributes.get("gen_ai.memory.query.text", attributes.get("gen_ai.retrieval.query.text"))
    return MemoryOperation(
        place,
        span.at,
        act,
        text(store) or text(span.resource.get("service.name")),
        conversation,
        text(query) or (_query_of(attributes) if act == "search" else ""),
        tuple(records or ()),
        text(attributes.get("gen_ai.memory.record.id")),
        number(count) if count is not None else None if records is None else len(records),
        span.milliseconds,
        span.failed,
        records is not None,
        span.trace,
        span.id,
    )


def _query_of(attributes: Mapping[str, Any]) -> str:
    """Return the query of a retriever."""
    question = next((parse_value(attributes[name]) for name in _ASKED if name in attributes), "")
    return text(fields(question).get("query")) if isinstance(question, dict) else text(question)


def _records(attributes: Mapping[str, Any], names: Sequence[str]) -> list[RecalledRecord] | None:
    """Return the records under the first of these names that a span has; None if it has none."""
    for name in names:
        value = collect_list(attributes, name) or parse_value(attributes.get(name))
        if value is None or value == {}:
            continue
        if isinstance(value, dict):
            value = fields(value.get("result")) or value
            value = next(
                (value[key] for key in ("results", "records", "memories", "documents") if key in value), [value]
            )
        return [_record(entry) for entry in (value if isinstance(value, list) else [value])]
    return None


def _record(entry: Any) -> RecalledRecord:
    if not isinstance(entry, dict):
        return RecalledRecord("", content_of(entry))
    inner = fields(entry.get("document")) or entry  # OpenInference
    known = next((inner[key] for key in ("id", "key", "memory_id") if inner.get(key) is not None), "")
    raw_score = next((inner[key] for key in _SCORES if key in inner), None)
    score = (
        float(raw_score)
        if isinstance(raw_score, int | float) and not isinstance(raw_score, bool) and math.isfinite(raw_score)
        else None
    )
    whole = {key: value for key, value in inner.items() if key not in ("id", "key", "memory_id", "metadata", *_SCORES)}
    return RecalledRecord(str(known), content_of(inner.get("content", whole)), score)


def content_of(value: Any) -> str:
    """Return the content of a record as text: the text inside an object that has text, else JSON."""
    if isinstance(value, str):
        inner = parse_value(value)
        if not isinstance(inner, dict):
            return text(value)
        value = inner
    if isinstance(value, dict):
        if isinstance(value.get("parts"), list):  # Gemini
            return "\n".join(text(fields(part).get("text")) for part in value["parts"])
        for name in _TEXTS:
            if isinstance(value.get(name), str):
                return text(value[name])
    return text(json.dumps(value, ensure_ascii=False, default=str)) if value not in (None, {}) else ""


def restrict_to_store(memory: ForeignMemory, store: str) -> ForeignMemory:
    """Return what concerns a store, and all answers; everything for ""."""
    if not store:
        return memory
    return ForeignMemory(
        [operation for operation in memory.operations if operation.store == store],
        [record for record in memory.records if record.store == store],
        memory.answers,
    )


def to_mem0(records: Sequence[ForeignRecord]) -> dict[str, Any]:
    """Return records as mem0 exports its own, with the history of their texts, which an import reads."""
    listed = []
    for place, record in enumerate(records, 1):
        id = record.id or f"record-{place}"
        texts = [None, *(content for _, content in record.versions)]
        history = [
            {"memory_id": id, "old_memory": before, "new_memory": content, "created_at": at.isoformat()}
            for before, (at, content) in zip(texts, record.versions, strict=False)
        ]
        row = {"id": id, "memory": record.content, "created_at": record.versions[-1][0].isoformat()}
        if record.content.strip():
            listed.append({**row, "agent_id": record.store, "history": history if len(history) > 1 else []})
    return {"results": listed}
