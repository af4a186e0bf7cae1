"""Read spans of other programs: rows that Langfuse, Phoenix, LangSmith (langchain-ai/langsmith-sdk, schemas.py) and
MLflow (mlflow/mlflow, entities/span.py, both layouts) export, and several spans of a model call as a single span.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal

from amgs.errors import InputError
from amgs.sessions.lines import Record, fields, instant, items, text
from amgs.sessions.messages import read_item_messages, text_of
from amgs.sessions.span_messages import (
    ANSWERS,
    SpanMessages,
    messages_of,
    model_of,
    operation_of,
    parse_value,
    read_attributes,
)
from amgs.sessions.spans import RecordedSpan, SpanEvent, number

ExportForm = Literal["langfuse", "openinference", "langsmith", "mlflow"]
"""The exporting program; Phoenix writes rows of OpenInference."""
READ: Final = "Give OTLP in JSON or protobuf, or what Langfuse, Phoenix, LangSmith or MLflow exported."
_DEEPEST: Final = 32
_LISTS: Final = ("data", "runs", "traces")
"""Fields of a document that contain its rows."""


def records_in(document: Any) -> list[Record]:
    """Return the records of a document: of a list, of a list in its fields, or the document itself."""
    listed = next((rows for key in _LISTS if isinstance(rows := fields(document).get(key), list)), None)
    return items(document if listed is None else listed) or ([document] if isinstance(document, dict) else [])


def span_of(form: ExportForm, row: Mapping[str, Any]) -> RecordedSpan:
    """Return a row as a span, with ids "" if it has none.

    Sources: langchain-ai/langsmith-sdk, schemas.py; mlflow/mlflow, entities/span.py, both layouts.
    """
    match form:
        case "langfuse":
            return _of_langfuse(row)
        case "langsmith":
            return _of_langsmith(row)
        case "mlflow":
            return _of_mlflow(row)
    return _of_phoenix(row)


def _of_langsmith(row: Mapping[str, Any]) -> RecordedSpan:
    """Return a LangSmith run as a span, with the attributes that LangSmith itself writes."""
    extra, read, written = fields(row.get("extra")), row.get("inputs"), row.get("outputs")
    about = fields(extra.get("metadata"))
    usage = fields(fields(written).get("usage_metadata"))
    usage = usage or fields(fields(fields(written).get("llm_output")).get("token_usage")) or row
    thread = next((thread_id for name in _THREADS if (thread_id := text(about.get(name)))), "")
    model = about.get("ls_model_name") or fields(extra.get("invocation_params")).get("model")
    attributes = {
        "langsmith.span.kind": text(row.get("run_type")),
        "langsmith.metadata.thread_id": thread or None,
        "gen_ai.prompt": read,
        "gen_ai.completion": written,
        "gen_ai.request.model": model,
        "gen_ai.tool.name": row.get("name") if row.get("run_type") == "tool" else None,
        "gen_ai.usage.input_tokens": usage.get("input_tokens", usage.get("prompt_tokens")),
        "gen_ai.usage.output_tokens": usage.get("output_tokens", usage.get("completion_tokens")),
    }
    return RecordedSpan(
        _make_hex_id(row.get("trace_id") or row.get("id"), 32),
        _make_hex_id(row.get("id"), 16),
        _make_hex_id(row.get("parent_run_id"), 16),
        text(row.get("name")),
        _nanoseconds(row.get("start_time")),
        _nanoseconds(row.get("end_time")),
        {key: value for key, value in attributes.items() if value is not None},
        status=2 if row.get("error") else 0,
        told=text(row.get("error")),
    )


_THREADS: Final = ("thread_id", "session_id", "conversation_id")


def _of_mlflow(row: Mapping[str, Any]) -> RecordedSpan:
    """Return an MLflow span, whose attributes are JSON values."""
    about = fields(row.get("context"))
    attributes = {key: _parse_quoted(value) for key, value in fields(row.get("attributes")).items()}
    for key, name in (("inputs", "mlflow.spanInputs"), ("outputs", "mlflow.spanOutputs")):
        if row.get(key) is not None:
            attributes.setdefault(name, row[key])
    status = text(fields(row.get("status")).get("code", row.get("status_code"))).upper()
    began, ended = (
        number(row.get(f"{name}_time_unix_nano")) or number(row.get(f"{name}_time")) for name in ("start", "end")
    )
    return RecordedSpan(
        _make_hex_id(row.get("trace_id") or about.get("trace_id"), 32),
        _make_hex_id(row.get("span_id") or about.get("span_id"), 16),
        _make_hex_id(row.get("parent_span_id") or row.get("parent_id"), 16),
        text(row.get("name")),
        began,
        ended,
        attributes,
        status=2 if "ERROR" in status else 0,
    )


def _parse_quoted(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _of_langfuse(row: Mapping[str, Any]) -> RecordedSpan:
    """Return a Langfuse observation as a span; fields as in its export or its API."""

    def get_field(*names: str) -> Any:
        return next((row[name] for name in names if row.get(name) not in (None, "")), None)

    kind = text(get_field("type")).lower()
    attributes: dict[str, Any] = {
        key.removeprefix("attributes."): value
        for key, value in fields(parse_value(fields(parse_value(row.get("metadata"))).get("attributes"))).items()
    }
    read, written = parse_value(get_field("input")), parse_value(get_field("output"))
    if session := get_field("session_id", "sessionId"):
        attributes["session.id"] = str(session)
    if kind == "generation":
        usage = fields(parse_value(get_field("usage_details", "usageDetails", "usage")))
        attributes |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": text(get_field("provided_model_name", "providedModelName", "model")),
            "gen_ai.usage.input_tokens": usage.get("input"),
            "gen_ai.usage.output_tokens": usage.get("output"),
            "gen_ai.input.messages": _wrap_message(read, "user"),
            "gen_ai.output.messages": _wrap_message(written, "assistant"),
        }
    elif kind == "retriever":
        documents = fields(written).get("documents", fields(written).get("results", written))
        attributes |= {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": _query(read),
            "gen_ai.retrieval.documents": documents,
        }
    elif "gen_ai.memory.query.text" not in attributes and "gen_ai.operation.name" in attributes:
        attributes |= {"gen_ai.memory.query.text": _query(read), "gen_ai.memory.records": written}
    return RecordedSpan(
        _make_hex_id(get_field("trace_id", "traceId"), 32),
        _make_hex_id(get_field("id"), 16),
        _make_hex_id(get_field("parent_observation_id", "parentObservationId"), 16),
        text(get_field("name")),
        _nanoseconds(get_field("start_time", "startTime")),
        _nanoseconds(get_field("end_time", "endTime")),
        {key: value for key, value in attributes.items() if value is not None},
        status=2 if text(get_field("level")) == "ERROR" else 0,
        told=text(get_field("status_message", "statusMessage")),
    )


def _wrap_message(value: Any, role: str) -> Any:
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    return [value] if isinstance(value, dict) and "role" in value else value


def _query(value: Any) -> str | None:
    if isinstance(value, dict):
        value = next((value[name] for name in ("query", "input", "question") if name in value), None)
    return value if isinstance(value, str) else None


def _of_phoenix(row: Mapping[str, Any]) -> RecordedSpan:
    """Return a Phoenix row as a span: nested as from its API, or flat as in its tables."""
    about = fields(row.get("context"))
    attributes = dict(_flat(row.get("attributes")))
    for key, value in row.items():
        if key.startswith("attributes.") and value is not None:
            attributes |= dict(_flat(value, key.removeprefix("attributes.")))
    if kind := text(row.get("span_kind")):
        attributes.setdefault("openinference.span.kind", kind)
    status = text(row.get("status_code")).upper()
    return RecordedSpan(
        _make_hex_id(about.get("trace_id", row.get("context.trace_id")), 32),
        _make_hex_id(about.get("span_id", row.get("context.span_id")), 16),
        _make_hex_id(row.get("parent_id"), 16),
        text(row.get("name")),
        _nanoseconds(row.get("start_time")),
        _nanoseconds(row.get("end_time")),
        attributes,
        status=2 if status == "ERROR" else 0,
        told=text(row.get("status_message")),
        events=tuple(
            SpanEvent(text(event.get("name")), _nanoseconds(event.get("timestamp")), fields(event.get("attributes")))
            for event in items(row.get("events"))
        ),
    )


def _flat(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the values of `{"llm": {"input_messages": [{…}]}}` as `llm.input_messages.0.…`; too deeply nested values
    stay as they are.
    """
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, list) and any(isinstance(element, dict) for element in value) and depth < _DEEPEST:
        for place, inner in enumerate(value):
            yield from _flat(inner, f"{name}.{place}", depth + 1)
    elif name:
        yield name, value


def _make_hex_id(raw_id: Any, size: int) -> str:
    """Return an id as `size` hexadecimal digits: itself if it fits, else a hash; "" for none."""
    digits = str(raw_id or "").lower().removeprefix("0x")
    if not digits or (len(digits) == size and all(sign in "0123456789abcdef" for sign in digits)):
        return digits
    return hashlib.sha256(digits.encode("utf-8", "replace")).hexdigest()[:size]


def _nanoseconds(timestamp: Any) -> int:
    at: datetime | None = instant(timestamp)
    return 0 if at is None else round(at.timestamp() * 1e6) * 1000


def rows_of(value: Record) -> list[Record]:
    """Return the rows in a record: a LangSmith run with its children, or the spans of an MLflow trace."""
    if "run_type" in value:
        below = [row for child in items(value.get("child_runs")) for row in rows_of(child)]
        return [value, *below]
    if listed := items(value.get("observations")):  # of a trace of Langfuse
        trace = fields(value.get("trace")) or value
        return [{"sessionId": trace.get("sessionId"), "traceId": trace.get("id"), **row} for row in listed]
    spans = items(fields(value.get("data")).get("spans", value.get("spans")))
    about = fields(value.get("info")) or value
    session = fields(about.get("trace_metadata")).get("mlflow.trace.session")
    return [
        {**span, "attributes": {"mlflow.trace.session": session, **fields(span.get("attributes"))}} if session else span
        for span in spans
    ] or [value]


def form_of(rows: Sequence[Mapping[str, Any]]) -> ExportForm:
    """Return the program that wrote the rows. Raises InputError for an unknown program."""
    keys = {key for row in rows for key in row} | {key for row in rows for key in fields(row.get("attributes"))}
    if "run_type" in keys:
        return "langsmith"
    if any(key.startswith("mlflow.") for key in keys):
        return "mlflow"
    if keys & {"context", "context.span_id", "span_kind"}:
        return "openinference"
    if keys & {"trace_id", "traceId"}:
        return "langfuse"
    listing = ", ".join(sorted(keys)[:8])
    raise InputError(f"Rows of a kind that is not understood: they have {listing}.", way_out=READ)


def rows_in(document: Any) -> list[Record]:
    """Return all rows of a document."""
    return [row for record in records_in(document) for row in rows_of(record)]


def is_export(first: Sequence[Record]) -> bool:
    """Return whether the first records of a file are certainly rows of spans."""
    rows = [row for record in first[:1] for row in rows_in(record)]
    keys = {key for row in rows for key in (*row, *fields(row.get("attributes")), *fields(row.get("context")))}
    began = keys & {"start_time", "startTime", "start_time_unix_nano"}
    named = {"run_type", "span_id", "context.span_id", "traceId"} | ({"trace_id"} & keys if "type" in keys else set())
    return bool(began and keys & named)


_APART: Final = ("execute_tool", "invoke_agent")
"""Operations inside which a model call is a new call."""


def single_calls(spans: Sequence[RecordedSpan]) -> list[RecordedSpan]:
    """Return the spans in order, with each model call once: its innermost span, with what only the others report.

    A span around several calls, such as a framework's loop, is dropped if the calls report what was said.
    """
    answers = {(span.trace, span.id): span for span in spans if operation_of(span) in ANSWERS}
    by_id = {(span.trace, span.id): span for span in spans}
    inner: dict[tuple[str, str], list[RecordedSpan]] = {}
    for span in answers.values():
        if (outer := _around(span, by_id)) is not None:
            inner.setdefault((outer.trace, outer.id), []).append(span)
    gone: set[tuple[str, str]] = set()
    for key, outer in sorted(answers.items(), key=lambda pair: -_depth(pair[1], by_id)):
        inner_spans = inner.get(key, [])
        if len(inner_spans) == 1:
            inner_key = inner_spans[0].trace, inner_spans[0].id
            while inner_key in gone:  # its own inner span reported more
                inner_key = next((inner_span.trace, inner_span.id) for inner_span in inner[inner_key])
            answers[inner_key] = _together(answers[inner_key], outer)
            gone.add(key)
        elif any(_tells(answers[inner_span.trace, inner_span.id]) for inner_span in inner_spans) or (
            inner_spans and not _tells(outer)
        ):
            gone.add(key)
        else:
            gone |= {(inner_span.trace, inner_span.id) for inner_span in inner_spans}
    left = [answers.get(key, span) for key, span in by_id.items() if key not in gone]
    return _without_twins(left)


def _around(span: RecordedSpan, by_id: Mapping[tuple[str, str], RecordedSpan]) -> RecordedSpan | None:
    """Return the nearest answer around a span; None if there is none, or if a tool or an agent is in between."""
    seen = {span.id}
    while (outer := by_id.get((span.trace, span.parent))) is not None and outer.id not in seen:
        operation = operation_of(outer)
        if operation in ANSWERS:
            return outer
        if operation in _APART:
            return None
        seen.add(outer.id)
        span = outer
    return None


def _depth(span: RecordedSpan, by_id: Mapping[tuple[str, str], RecordedSpan]) -> int:
    """Return the number of spans around this span, counting itself."""
    seen = {span.id}
    while (outer := by_id.get((span.trace, span.parent))) is not None and outer.id not in seen:
        seen.add(outer.id)
        span = outer
    return len(seen)


def _tells(span: RecordedSpan) -> bool:
    messages = messages_of(span)
    return bool(messages.read or messages.written)


def _together(span: RecordedSpan, other: RecordedSpan) -> RecordedSpan:
    """Return a span with what only the other span of its call reports."""
    return replace(span, attributes={**other.attributes, **span.attributes}, events=span.events or other.events)


def _without_twins(spans: Sequence[RecordedSpan]) -> list[RecordedSpan]:
    """Return the spans without duplicates that another library wrote for the same messages at the same time."""
    unique_spans: list[RecordedSpan] = []
    places: dict[str, list[int]] = {}
    for span in spans:
        messages = messages_of(span) if operation_of(span) in ANSWERS else SpanMessages((), ())
        items_said = (*messages.read, *messages.written)  # instructions are told apart, by some libraries
        signature = repr([_bare(item) for item in items_said if item["role"] != "system"])
        twins = places.setdefault(signature, []) if messages.written else []
        place = next((n for n in twins if _same_call(unique_spans[n], span)), None)
        if place is not None:
            unique_spans[place] = _together(unique_spans[place], span)
            continue
        twins.append(len(unique_spans))
        unique_spans.append(span)
    return unique_spans


def _bare(item: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return what an item says, without what libraries write in different ways."""
    return [
        (said.role, text_of(said.content).strip(), [(call.name, parse_value(call.arguments)) for call in said.calls])
        for said in read_item_messages(item)
    ]


_LETTERS: Final = re.compile(r"[a-z]{2,}")


def _same_call(span: RecordedSpan, other: RecordedSpan) -> bool:
    """Return whether two spans with the same messages are one call: by two libraries at the same time, of models whose
    names share a word ("openai/gpt-5", "gpt-5-2025-08-07").
    """
    words, others = (set(_LETTERS.findall(model_of(read_attributes(call)).lower())) for call in (span, other))
    if words and others and not words & others:
        return False
    return span.scope != other.scope and max(span.start, other.start) <= min(span.end, other.end)
