"""Bodies as programs send them, and how to read them: OTLP in JSON and protobuf, and rows that other
programs export.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.regular_file import check_ends
from amgs.sessions.exported_spans import READ, form_of, records_in, rows_of, span_of
from amgs.sessions.lines import items, lines_of
from amgs.sessions.spans import OtlpContent, SpanFormatError, content_of, read_json
from amgs.wings.recorder.errors import BodyError
from amgs.wings.recorder.span_files import Form, SpanBody, SpanWriter

LARGEST: Final = 16 * 1024 * 1024
"""Most bytes of a body as sent, and of a part of an imported file."""
LARGEST_UNPACKED: Final = 64 * 1024 * 1024
"""Most bytes of a decompressed body."""
_ROWS: Final = 500
"""Rows of an export per entry."""
_DEEPEST: Final = 32


def decompress(body: bytes, encoding: str) -> bytes:
    """Return a body as it was before compression.

    Raises BodyError if it is too large, incomplete, or compressed by another method.
    """
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise BodyError(f"The encoding {encoding[:40]!r} is not known here.", status=415, way_out="Use gzip.")
    reading = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        data = reading.decompress(body, LARGEST_UNPACKED + 1)
    except zlib.error as error:
        raise BodyError("The body cannot be unpacked.") from error
    if len(data) > LARGEST_UNPACKED:
        raise BodyError(f"Unpacked, a body has at most {LARGEST_UNPACKED >> 20} MiB.", status=413)
    if not reading.eof:
        raise BodyError("The packed body is not whole.")
    return data


def read_body(form: Form, body: bytes) -> OtlpContent:
    """Parse a body. Raises BodyError if it does not have that form, MissingExtraError if the package for protobuf is
    not installed.
    """
    try:
        match form:
            case "otlp-json":
                return read_json(body)
            case "otlp-protobuf" | "otlp-logs-protobuf":
                return _read_protobuf(body, logs=form == "otlp-logs-protobuf")
        rows = [span_of(form, row) for row in items(json.loads(body))]
        spans = tuple(span for span in rows if span.trace and span.id)
        return OtlpContent(spans, (), len(rows) - len(spans))
    except SpanFormatError as error:
        raise BodyError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise BodyError("The body cannot be read.") from error


def contents_of(entries: Iterator[SpanBody]) -> Iterator[OtlpContent]:
    """Yield the parsed entries, without those that can no longer be read."""
    for entry in entries:
        try:
            yield read_body(entry.form, entry.body)
        except BodyError:
            continue


def _read_protobuf(body: bytes, *, logs: bool) -> OtlpContent:
    """Convert to OTLP's JSON, so that both are read by the same rules."""
    from amgs import extras

    with extras.explained("recorder"):
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    request: Any = ExportLogsServiceRequest() if logs else ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        raise BodyError("The body is no OTLP in protobuf.") from error
    return content_of(MessageToDict(request))


# --- files -------------------------------------------------------------------------------------------------


def import_file(
    path: Path, writer: SpanWriter, at: datetime, count: Callable[[OtlpContent], object] = lambda _: None
) -> int:
    """Import the spans of a file and return their number.

    path: OTLP in JSON or protobuf, or rows that other programs exported, as JSON lines or one document. count: called
    for each part. Raises InputError for a file that cannot be read or contains no spans.
    """
    taken = 0
    for form, body in _pieces(path):
        try:
            content = read_body(form, body)
        except BodyError as error:
            raise InputError(f"{path}: {error.message}", way_out=READ) from error
        writer.add(form, body, at)
        count(content)
        taken += len(content.spans)
    if not taken:
        raise InputError(f"{path} holds no span.", way_out=READ)
    return taken


def _pieces(path: Path) -> Iterator[tuple[Form, bytes]]:
    """Yield the bodies in a file: OTLP requests as they are, rows in groups."""
    check_ends(path)
    try:
        whole = path.read_bytes() if path.stat().st_size <= LARGEST_UNPACKED else b""
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", way_out="Choose another file.") from error
    if whole and whole.lstrip()[:1] not in (b"{", b"["):
        yield "otlp-protobuf", whole
        return
    try:
        document = json.loads(whole) if whole else None
    except (ValueError, RecursionError):
        document = None
    values = records_in(document)
    rows: list[Any] = []
    for value in values or (line.value for line in lines_of(path)):
        if value is None:
            continue
        if "resourceSpans" in value or "resourceLogs" in value:
            yield "otlp-json", json.dumps(value).encode()
            continue
        rows += rows_of(value)
        while len(rows) >= _ROWS:
            yield form_of(rows), json.dumps(rows[:_ROWS]).encode()
            rows = rows[_ROWS:]
    if rows:
        yield form_of(rows), json.dumps(rows).encode()
