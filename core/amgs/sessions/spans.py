"""Spans of OpenTelemetry, and their JSON encoding in OTLP.

By the OTLP specification 1.x; ids are hexadecimal there, and 64-bit numbers may be texts.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from amgs.sessions.lines import Record, fields, items, text

_DEEPEST: Final = 32
"""Deepest nesting of values that is read."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HEX: Final = re.compile(r"[0-9a-f]+")
_LATEST: Final = 253_402_300_799_000_000_000
"""Latest time of a datetime, in nanoseconds."""


class SpanFormatError(ValueError):
    """A body that is not OTLP; the message is for its sender."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event within a span, or a log record of a span. at: nanoseconds since 1970."""

    name: str
    at: int
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A span.

    trace, id, parent: hexadecimal, parent "" for a root. start, end: nanoseconds since 1970, 0 if missing. kind,
    status: numbers in OTLP. resource: attributes of the program. scope: library that wrote the span.
    """

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    kind: int = 0
    status: int = 0
    told: str = ""
    events: tuple[SpanEvent, ...] = ()
    resource: Mapping[str, Any] = field(default_factory=dict)
    scope: str = ""

    @property
    def at(self) -> datetime:
        """Start time of the span."""
        return instant_of(self.start or self.end)

    @property
    def milliseconds(self) -> float:
        """Duration; 0 if missing."""
        return max(0, self.end - self.start) / 1e6 if self.start and self.end else 0.0

    @property
    def failed(self) -> bool:
        """Return whether the span reports a failure."""
        return self.status == 2 or "error.type" in self.attributes


@dataclass(frozen=True, slots=True)
class RecordedLog:
    """A log record. trace, span: to which it belongs, "" for none."""

    trace: str
    span: str
    event: SpanEvent


@dataclass(frozen=True, slots=True)
class OtlpContent:
    """Content of an OTLP body. rejected: number of spans left out because they have no valid id."""

    spans: tuple[RecordedSpan, ...] = ()
    logs: tuple[RecordedLog, ...] = ()
    rejected: int = 0


def instant_of(nanoseconds: int) -> datetime:
    """Return the time for nanoseconds since 1970, to the microsecond; the earliest or latest possible time if it is out
    of range.
    """
    return _EPOCH + timedelta(microseconds=min(max(nanoseconds, 0), _LATEST) // 1000)


# --- reading -----------------------------------------------------------------------------------------------


def read_json(body: bytes) -> OtlpContent:
    """Return the content of an OTLP request in JSON, of traces or logs. Raises SpanFormatError for anything else."""
    try:
        whole = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SpanFormatError("The body is not JSON.") from error
    if not isinstance(whole, dict):
        raise SpanFormatError("The body is no object of OTLP.")
    return parse_otlp(whole)


def as_request(record: Record) -> Record:
    """Return a record as an OTLP request: what Tempo answers, and a group of spans or a span by itself, as one; others
    as they are.
    """
    inner = record.get("trace", record)
    record = inner if isinstance(inner, dict) else record
    if isinstance(record.get("batches"), list):
        return {"resourceSpans": record["batches"]}
    if isinstance(record.get("scopeSpans"), list):
        return {"resourceSpans": [record]}
    if {"traceId", "spanId", "startTimeUnixNano"} <= {*record}:
        return {"resourceSpans": [{"scopeSpans": [{"spans": [record]}]}]}
    return record


def parse_otlp(whole: Record) -> OtlpContent:
    """Return the content of an OTLP object. Raises SpanFormatError if it has fields but neither `resourceSpans` nor
    `resourceLogs`, or if these are no lists of objects.
    """
    whole = as_request(whole)
    known = [name for name in ("resourceSpans", "resourceLogs") if name in whole]
    if not known and whole:
        raise SpanFormatError("The body has neither resourceSpans nor resourceLogs.")
    spans: list[RecordedSpan] = []
    logs: list[RecordedLog] = []
    rejected = 0
    for about, scope, record in _within(whole, "resourceSpans", "scopeSpans", "spans"):
        span = _span(record, about, scope)
        if span is None:
            rejected += 1
        else:
            spans.append(span)
    for _, _, record in _within(whole, "resourceLogs", "scopeLogs", "logRecords"):
        logs.append(_log(record))
    return OtlpContent(tuple(spans), tuple(logs), rejected)


def _within(whole: Record, outer: str, middle: str, inner: str) -> Iterator[tuple[Record, str, Record]]:
    """Yield (resource, scope, record) of each record."""
    for group in _objects(whole, outer):
        about = attributes_of(fields(group.get("resource")).get("attributes"))
        for scope_group in _objects(group, middle):
            scope = text(fields(scope_group.get("scope")).get("name"))
            for record in _objects(scope_group, inner):
                yield about, scope, record


def _objects(whole: Record, name: str) -> Sequence[Record]:
    objects = whole.get(name)
    if objects is None:
        return ()
    if not isinstance(objects, list) or not all(isinstance(element, dict) for element in objects):
        raise SpanFormatError(f"{name} is no list of objects.")
    return objects


def _span(record: Record, about: Record, scope: str) -> RecordedSpan | None:
    trace, id = _id(record.get("traceId"), 16), _id(record.get("spanId"), 8)
    if not trace or not id:
        return None
    status = fields(record.get("status"))
    return RecordedSpan(
        trace,
        id,
        _id(record.get("parentSpanId"), 8),
        text(record.get("name")),
        number(record.get("startTimeUnixNano")),
        number(record.get("endTimeUnixNano")),
        attributes_of(record.get("attributes")),
        _read_enumeration(record.get("kind"), _KINDS),
        _read_enumeration(status.get("code"), _STATUSES),
        text(status.get("message")),
        tuple(
            SpanEvent(
                text(event.get("name")), number(event.get("timeUnixNano")), attributes_of(event.get("attributes"))
            )
            for event in items(record.get("events"))
        ),
        about,
        scope,
    )


def _log(record: Record) -> RecordedLog:
    attributes = attributes_of(record.get("attributes"))
    name = text(record.get("eventName")) or text(attributes.get("event.name"))
    body = value_of(record.get("body"))
    at = number(record.get("timeUnixNano")) or number(record.get("observedTimeUnixNano"))
    event = SpanEvent(name, at, attributes if body is None else {**attributes, "body": body})
    return RecordedLog(_id(record.get("traceId"), 16), _id(record.get("spanId"), 8), event)


def attributes_of(pairs: Any) -> dict[str, Any]:
    """Return OTLP's list of keys and values as a mapping; for a repeated key, the last value."""
    return {key: value_of(pair.get("value")) for pair in items(pairs) if (key := text(pair.get("key")))}


def value_of(any_value: Any, depth: int = 0) -> Any:
    """Return an OTLP value as a Python value; None for anything else. Bytes stay in base64."""
    if not isinstance(any_value, dict) or depth > _DEEPEST:
        return None
    for name, value in any_value.items():
        match name:
            case "stringValue":
                return text(value)
            case "boolValue":
                return value is True
            case "intValue":
                return number(value, signed=True)
            case "doubleValue":
                return _double(value)
            case "bytesValue":
                return text(value)
            case "arrayValue":
                return [value_of(element, depth + 1) for element in items(fields(value).get("values"))]
            case "kvlistValue":
                return {
                    key: value_of(pair.get("value"), depth + 1)
                    for pair in items(fields(value).get("values"))
                    if (key := text(pair.get("key")))
                }
    return None


def _double(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def number(value: Any, *, signed: bool = False) -> int:
    """Return a 64-bit integer from a number or text; 0 for anything else. signed: negative ones too."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer() and math.isfinite(value):
        value = int(value)
    if not isinstance(value, int):
        return 0
    return value if (-(2**63) if signed else 0) <= value < 2**64 else 0


def _id(raw_id: Any, size: int) -> str:
    """Return an id in hexadecimal, also from base64, which some programs write; "" for none or all zeros."""
    digits = text(raw_id).strip().lower()
    if len(digits) != 2 * size or not _HEX.fullmatch(digits):
        try:
            raw = base64.b64decode(text(raw_id), validate=True)
        except (binascii.Error, ValueError):
            return ""
        digits = raw.hex() if len(raw) == size else ""
    return digits if digits.strip("0") else ""


_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")


def _read_enumeration(code: Any, names: Sequence[str]) -> int:
    """Return the number of an enumeration value, also from its name, such as `SPAN_KIND_CLIENT`."""
    if isinstance(code, str):
        return next((n for n, name in enumerate(names) if code.upper().endswith(name)), 0)
    return number(code)


# --- writing -----------------------------------------------------------------------------------------------


def as_otlp(spans: Sequence[RecordedSpan]) -> dict[str, Any]:
    """Return spans as an OTLP object, as `read_json` reads it; successive spans of the same resource and scope share
    them.
    """
    groups: list[dict[str, Any]] = []
    last: tuple[Mapping[str, Any], str] | None = None
    for span in spans:
        if (span.resource, span.scope) != last:
            last = (span.resource, span.scope)
            groups.append(
                {
                    "resource": {"attributes": _list_attributes(span.resource)},
                    "scopeSpans": [{"scope": {"name": span.scope}, "spans": []}],
                }
            )
        groups[-1]["scopeSpans"][0]["spans"].append(_as_span(span))
    return {"resourceSpans": groups}


def _as_span(span: RecordedSpan) -> dict[str, Any]:
    record: dict[str, Any] = {
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _list_attributes(span.attributes),
    }
    if span.parent:
        record["parentSpanId"] = span.parent
    if span.status or span.told:
        record["status"] = {"code": span.status, "message": span.told}
    if span.events:
        record["events"] = [
            {"name": event.name, "timeUnixNano": str(event.at), "attributes": _list_attributes(event.attributes)}
            for event in span.events
        ]
    return record


def _list_attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _as_value(value)} for key, value in attributes.items()]


def _as_value(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value if math.isfinite(value) else str(value)}
        case Mapping():
            return {"kvlistValue": {"values": _list_attributes({str(key): inner for key, inner in value.items()})}}
        case list() | tuple():
            return {"arrayValue": {"values": [_as_value(element) for element in value]}}
    return {"stringValue": str(value)}


# --- together ----------------------------------------------------------------------------------------------


def join_contents(contents: Sequence[OtlpContent]) -> tuple[RecordedSpan, ...]:
    """Return the spans of several bodies in order of their beginnings, each once, with log records as events. If a span
    arrived twice, the last counts.
    """
    spans = {(span.trace, span.id): span for content in contents for span in content.spans}
    logs: dict[tuple[str, str], list[SpanEvent]] = {}
    for content in contents:
        for log in content.logs:
            logs.setdefault((log.trace, log.span), []).append(log.event)
    for key, events in logs.items():
        if key in spans:
            spans[key] = replace(spans[key], events=(*spans[key].events, *events))
    return tuple(sorted(spans.values(), key=lambda span: (span.start, span.end)))
