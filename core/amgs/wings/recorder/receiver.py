"""OTLP over HTTP on this machine: bodies are checked and stored before they are acknowledged."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from amgs.errors import AmgsError, MissingExtraError, UsageError
from amgs.sessions.foreign_spans import single_calls
from amgs.sessions.span_messages import ANSWERS, operation_of
from amgs.sessions.spans import OtlpContent
from amgs.wings.recorder.bodies import LARGEST, BodyError, Form, SpanWriter, decompress, read_body
from amgs.wings.recorder.foreign_memory import act_of

PORT: Final = 4318
"""Standard port of OTLP over HTTP."""
HOST: Final = "127.0.0.1"
_OURS: Final = ("127.0.0.1", "localhost", "[::1]")
_PATIENCE: Final = 30.0
"""Seconds that a program may take to send a body."""
_DRAINED: Final = 1024 * 1024
"""Most bytes of a refused body that are still read."""
_AT_ONCE: Final = 64
"""Most simultaneous connections."""
_FORMS: Final[dict[tuple[str, str], Form]] = {
    ("/v1/traces", "application/json"): "otlp-json",
    ("/v1/logs", "application/json"): "otlp-json",
    ("/v1/traces", "application/x-protobuf"): "otlp-protobuf",
    ("/v1/logs", "application/x-protobuf"): "otlp-logs-protobuf",
}


@dataclass
class Received:
    """Counts of what arrived. last: latest memory operation or answer, in words."""

    bodies: int = 0
    refused: int = 0
    spans: int = 0
    memory: int = 0
    answers: int = 0
    last: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def count(self, content: OtlpContent) -> None:
        """Count an accepted body."""
        with self._lock:
            self.bodies += 1
            self.spans += len(content.spans)
            for span in single_calls(content.spans):
                name, act = operation_of(span), act_of(span)
                self.memory += act is not None
                self.answers += name in ANSWERS
                if act is not None or name in ANSWERS:
                    subject = span.attributes.get("gen_ai.memory.query.text") or span.name
                    self.last = f"{name}: {subject}" if subject != name else name

    def refuse(self) -> None:
        """Count a refused body."""
        with self._lock:
            self.refused += 1

    def __str__(self) -> str:
        summary = f"{self.spans:,} spans: {self.memory:,} of memory, {self.answers:,} answers"
        return f"{summary}; {' '.join(self.last.split())[:60]}" if self.last else summary


class SpanReceiver(ThreadingHTTPServer):
    """Listens on a port of this machine only. Raises UsageError if it is in use."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, writer: SpanWriter, now: Callable[[], datetime], port: int = PORT) -> None:
        """writer: stores the bodies. now: the clock. port: 0 for any free port."""
        self.writer, self.now, self.received = writer, now, Received()
        self.room = threading.BoundedSemaphore(_AT_ONCE)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"Port {port} cannot be listened on: {error.strerror}.",
                way_out="Another recorder or collector may listen there; choose another port.",
            ) from error

    @property
    def address(self) -> str:
        """Address to which programs send."""
        return f"http://{HOST}:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its own thread; close it if there are too many, since programs retry."""
        if not self.room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self.room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore programs that disconnect."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: SpanReceiver
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE
    disable_nagle_algorithm = True
    unread = 0
    """Bytes of the body not read yet."""

    def do_POST(self) -> None:
        try:
            self._answer(200, self._accept())
        except BodyError as error:
            self.server.received.refuse()
            self._refuse(error.status, error)
        except MissingExtraError as error:
            self.server.received.refuse()
            self._refuse(415, error)
        except OSError as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            self._refuse(503, BodyError(f"The disk did not take it: {error.strerror}."))

    def do_GET(self) -> None:
        self._refuse(405, BodyError("Spans are sent here by POST, to /v1/traces."))

    def _accept(self) -> bytes:
        """Check, store and count a body; return the response. Raises BodyError, MissingExtraError and OSError."""
        length = self.headers.get("Content-Length", "")
        self.unread = int(length[:20]) if length.isascii() and length.isdigit() else 0
        self._check_sender()
        path = urlsplit(self.path).path
        kind = self.headers.get_content_type()
        ending = next((suffix for suffix in ("/v1/traces", "/v1/logs") if path.endswith(suffix)), "")
        if not ending:
            raise BodyError(
                f"Nothing is taken at {path[:80]!r}; traces and logs are.",
                status=404,
                way_out="Set OTEL_METRICS_EXPORTER=none.",
            )
        if kind not in ("application/json", "application/x-protobuf"):
            raise BodyError(f"{kind!r} is not taken.", status=415, way_out="Send JSON or protobuf.")
        form = _FORMS[ending, kind]
        body = decompress(self._body(), self.headers.get("Content-Encoding", "").strip().lower())
        content = read_body(form, body)
        self.server.writer.add(form, body, self.server.now())
        self.server.received.count(content)
        if kind == "application/json":
            return json.dumps(_json_answer(content)).encode()
        return _protobuf_answer(content)

    def _check_sender(self) -> None:
        """Refuse other machines and pages in a browser."""
        hosts = self.headers.get_all("Host") or [""]
        name = hosts[0].lower().rsplit(":", 1)[0] if re.search(r":\d+$", hosts[0]) else hosts[0].lower()
        if len(hosts) > 1 or name not in _OURS or self.headers.get("Origin") is not None:
            raise BodyError("Only programs on this machine may send here.", status=403)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not length.isascii() or not length.isdigit():
            raise BodyError("The length of the body is not told.", status=411)
        if self.unread > LARGEST:
            self.unread = 0  # too much to drain
            raise BodyError(f"A body has at most {LARGEST >> 20} MiB.", status=413)
        body = self.rfile.read(self.unread)
        if len(body) < self.unread:
            raise ConnectionResetError
        self.unread = 0
        return body

    def _refuse(self, status: int, error: AmgsError) -> None:
        message = " ".join(filter(None, (error.message, error.way_out)))
        self.rfile.read(min(self.unread, _DRAINED))  # else a client that is still sending may not see the response
        self.close_connection = True
        self._answer(status, json.dumps({"code": 3, "message": message}).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str = "") -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", kind or self.headers.get_content_type())
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", "5")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        if self.close_connection:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log single requests."""


def _json_answer(content: OtlpContent) -> dict[str, Any]:
    """Return the body of an answer: empty where all was taken, else OTLP's partial success."""
    if not content.rejected:
        return {}
    return {
        "partialSuccess": {
            "rejectedSpans": str(content.rejected),
            "errorMessage": f"{content.rejected} spans have no valid id.",
        }
    }


def _protobuf_answer(content: OtlpContent) -> bytes:
    """Return the same as a message of protobuf."""
    if not content.rejected:
        return b""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = content.rejected
    response.partial_success.error_message = f"{content.rejected} spans have no valid id."
    return bytes(response.SerializeToString())
