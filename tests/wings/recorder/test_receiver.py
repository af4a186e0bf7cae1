"""OTLP over HTTP: what is taken, what is refused, and that no body makes it stumble."""

from __future__ import annotations

import gzip
import http.client
import json
import sys
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from amgs.errors import UsageError
from amgs.sessions.formats.otlp import by_conversation, session_of
from amgs.sessions.span_messages import messages_of
from amgs.sessions.spans import as_otlp, join_contents
from amgs.wings.recorder import bodies
from amgs.wings.recorder.audit import audit
from amgs.wings.recorder.bodies import BodyError, Form, SpanReader, contents_of, read_body
from amgs.wings.recorder.foreign_memory import memory_of
from amgs.wings.recorder.receiver import SpanReceiver
from amgs.wings.recorder.uses import review_scores
from tests.wings.recorder.conftest import NOW
from tests.wings.recorder.spans_of import SpanWorld

JSON = "application/json"
PROTOBUF = "application/x-protobuf"


def send(
    receiver: SpanReceiver, body: bytes, kind: str = JSON, path: str = "/v1/traces", **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.server_address[1], timeout=30)
    try:
        given = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request("POST", path, body, given)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def world() -> SpanWorld:
    made = SpanWorld()
    made.store("m1", "The beds are watered every 9 hours.")
    made.search("when are the beds watered?", [("m1", "The beds are watered every 9 hours.", 0.8)])
    return made


def as_protobuf(one: SpanWorld) -> bytes:
    request = ExportTraceServiceRequest()
    for span in one.spans:
        group = request.resource_spans.add()
        group.resource.attributes.add(key="service.name").value.string_value = "garden"
        each = group.scope_spans.add()
        each.scope.name = "test"
        made = each.spans.add(
            trace_id=bytes.fromhex(span.trace),
            span_id=bytes.fromhex(span.id),
            name=span.name,
            start_time_unix_nano=span.start,
            end_time_unix_nano=span.end,
            kind=span.kind,
        )
        for key, value in span.attributes.items():
            made.attributes.add(key=key).value.string_value = value
    return bytes(request.SerializeToString())


def test_json_and_protobuf_packed_or_not_hold_the_same_and_are_kept_as_they_came(
    receiver: SpanReceiver, tmp_path: Path
) -> None:
    one = world()
    assert send(receiver, one.body) == (200, b"{}")
    assert send(receiver, gzip.compress(one.body), Content_Encoding="gzip") == (200, b"{}")
    assert send(receiver, as_protobuf(one), PROTOBUF) == (200, b"")
    deflated = zlib.compress(as_protobuf(one))
    assert send(receiver, deflated, PROTOBUF, Content_Encoding="deflate") == (200, b"")
    kept = list(SpanReader(tmp_path).new())
    assert [entry.body for entry in kept] == [one.body, one.body, as_protobuf(one), as_protobuf(one)]
    contents = list(contents_of(iter(kept)))
    assert [content.spans for content in contents] == [tuple(one.spans)] * 4
    assert join_contents(contents) == tuple(one.spans)  # each once
    assert (receiver.received.spans, receiver.received.memory, receiver.received.bodies) == (8, 8, 4)


def test_spans_without_an_id_are_told_and_the_rest_is_taken(receiver: SpanReceiver) -> None:
    whole = json.loads(world().body)
    whole["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "0" * 32
    status, body = send(receiver, json.dumps(whole).encode())
    assert status == 200 and json.loads(body)["partialSuccess"]["rejectedSpans"] == "1"
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(name="nothing")
    status, body = send(receiver, request.SerializeToString(), PROTOBUF)
    assert ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans == 1
    assert receiver.received.spans == 1


def test_log_records_join_the_span_that_they_belong_to(receiver: SpanReceiver, tmp_path: Path) -> None:
    one = SpanWorld()
    span = one.add("chat", request__model="m")
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "At 18:00."}]}]
    log = {
        "traceId": span.trace,
        "spanId": span.id,
        "eventName": "gen_ai.client.inference.operation.details",
        "timeUnixNano": str(span.start),
        "attributes": [{"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(said)}}],
    }
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]}).encode()
    assert send(receiver, one.body)[0] == send(receiver, body, path="/v1/logs")[0] == 200
    (found,) = join_contents(list(contents_of(SpanReader(tmp_path).new())))
    assert messages_of(found).written[0]["content"] == [{"type": "text", "text": "At 18:00."}]


@pytest.mark.parametrize("path", ["/api/public/otel/v1/traces", "/otel/v1/traces"])
def test_paths_of_clients_of_other_services_are_taken(receiver: SpanReceiver, path: str) -> None:
    assert send(receiver, world().body, path=path)[0] == 200


@pytest.mark.parametrize(
    ("body", "kind", "path", "headers", "status", "says"),
    [
        (b"{", JSON, "/v1/traces", {}, 400, "not JSON"),
        (b"[]", JSON, "/v1/traces", {}, 400, "no object"),
        (b'{"spans": 1}', JSON, "/v1/traces", {}, 400, "neither resourceSpans"),
        (b'{"resourceSpans": 3}', JSON, "/v1/traces", {}, 400, "no list of objects"),
        (b"[" * 100_000, JSON, "/v1/traces", {}, 400, "not JSON"),
        (b"\xff\xff\xff", PROTOBUF, "/v1/traces", {}, 400, "no OTLP in protobuf"),
        (b"{}", "text/plain", "/v1/traces", {}, 415, "Send JSON or protobuf"),
        (b"{}", JSON, "/v1/metrics", {}, 404, "OTEL_METRICS_EXPORTER"),
        (b"{}", JSON, "/v1/traces", {"Content_Encoding": "br"}, 415, "Use gzip"),
        (b"{}", JSON, "/v1/traces", {"Content_Encoding": "gzip"}, 400, "cannot be unpacked"),
        (gzip.compress(b"{}" * 999, mtime=0)[:-9], JSON, "/v1/traces", {"Content_Encoding": "gzip"}, 400, "not whole"),
        (b"{}", JSON, "/v1/traces", {"Host": "evil.example:4318"}, 403, "on this machine"),
        (b"{}", JSON, "/v1/traces", {"Host": "127.0.0.1.evil.example"}, 403, "on this machine"),
        (b"{}", JSON, "/v1/traces", {"Origin": "http://127.0.0.1:4318"}, 403, "on this machine"),
        (b"{}", JSON, "/v1/traces", {"Content_Length": "-5"}, 411, "length"),
        (b"{}", JSON, "/v1/traces", {"Content_Length": "99999999999"}, 413, "MiB"),
    ],
    ids=lambda value: "body" if isinstance(value, bytes) else None,
)
def test_what_cannot_be_taken_is_refused_in_a_sentence(
    receiver: SpanReceiver,
    tmp_path: Path,
    body: bytes,
    kind: str,
    path: str,
    headers: dict[str, str],
    status: int,
    says: str,
) -> None:
    got, told = send(receiver, body, kind, path, **headers)
    assert got == status and says in json.loads(told)["message"]
    assert list(SpanReader(tmp_path).new()) == [] and receiver.received.refused == 1


def test_a_bomb_is_not_unpacked(receiver: SpanReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "LARGEST_UNPACKED", 1_000_000)
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 100_000
    assert send(receiver, bomb, Content_Encoding="gzip")[0] == 413


def test_a_full_disk_is_told_and_nothing_is_acknowledged(
    receiver: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(receiver.writer, "add", full)
    status, told = send(receiver, world().body)
    assert status == 503 and "No space left" in json.loads(told)["message"]
    assert receiver.received.bodies == 0


def test_without_the_extra_json_is_taken_and_protobuf_refused_with_the_line_that_installs_it(
    receiver: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.protobuf.json_format", None)
    assert send(receiver, world().body)[0] == 200
    status, told = send(receiver, as_protobuf(world()), PROTOBUF)
    assert status == 415 and "amgs-workstation[recorder]" in json.loads(told)["message"]


def test_a_port_that_is_taken_is_said(receiver: SpanReceiver) -> None:
    with pytest.raises(UsageError, match="cannot be listened on"):
        SpanReceiver(receiver.writer, lambda: NOW, receiver.server_address[1])


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("resourceSpans", "scopeSpans", "spans", "resource", "scope", "attributes", "key", "value"),
                    *("traceId", "spanId", "startTimeUnixNano", "events", "status", "code", "kind", "values"),
                    *("stringValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "resourceLogs"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def read_through(form: Form, body: bytes) -> None:
    """Read a body, and all that can be told of it."""
    with suppress(BodyError):
        spans = join_contents([read_body(form, body)])
        found = memory_of(spans)
        review_scores(found)
        audit(found, NOW, 1)
        for id, told in by_conversation(spans).items():
            session_of(told, Path(), id)


@given(_ANY, _ANY)
def test_no_value_of_json_makes_the_reader_stumble(value: object, other: object) -> None:
    read_through("otlp-json", json.dumps({"resourceSpans": value}).encode())
    told = {f"gen_ai.{name}": other for name in ("memory.records", "input.messages", "output.messages")}
    for operation in ("search_memory", "upsert_memory", "delete_memory", "chat", "execute_tool"):
        one = SpanWorld()
        one.add(operation, tool__call__arguments=value, memory__record__id=other, memory__query__text=value)
        given = {**one.spans[0].attributes, **told}
        read_through("otlp-json", json.dumps(as_otlp([replace(one.spans[0], attributes=given)])).encode())
    row = {"id": "1", "trace_id": value, "input": value, "output": other, "attributes": value, "metadata": other}
    for kind in ("GENERATION", "RETRIEVER", value):
        read_through("langfuse", json.dumps([{**row, "type": kind}]).encode())
        read_through("openinference", json.dumps([{**row, "context": other, "span_kind": kind}]).encode())


@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_stumble(body: bytes) -> None:
    for form in get_args(Form):
        read_through(form, body)
