"""Export requests to a served memory and its gateway as OpenTelemetry spans to a collector (`--otlp`): GenAI semantic
conventions, OTLP over HTTP in JSON.

Texts are included only if OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT allows it, as the conventions say. A slow
or missing collector blocks nobody: spans that do not fit the queue are dropped and counted.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from amgs.bounds import check_address
from amgs.sessions.spans import RecordedSpan, as_otlp

if TYPE_CHECKING:
    from amgs.types.conversation import ToolCall
    from amgs.types.gateway import GatewayExchange
    from amgs.types.retrieval import Candidate

CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WAITING: Final = 4_096
"""Most spans that wait to be sent."""
_AT_ONCE: Final = 512
"""Most spans in a single request."""
_EVERY: Final = 1.0
"""Seconds over which spans are gathered into a request."""
_PATIENCE: Final = 10.0
"""Seconds to wait for the collector."""
_CLIENT: Final = 3
"""OTLP's number of the span kind "client"."""
_SEARCHES: Final = ("search", "frame assemble")


class MessageOfExchange(Protocol):
    """A message of a model request. answers: id of the tool call that a tool result answers, "" for other messages."""

    @property
    def role(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def calls(self) -> Sequence[ToolCall]: ...

    @property
    def answers(self) -> str: ...


class SpanExport:
    """Sends spans in its own thread. dropped: spans that were not sent. Raises UsageError for an address that is not
    HTTP.
    """

    def __init__(self, address: str, now: Callable[[], int] = time.time_ns, *, content: bool | None = None) -> None:
        """address: with or without `/v1/traces`. content: include texts; None to follow the environment variable."""
        check_address(address, "a collector", "For example http://127.0.0.1:4318.")
        base = address.rstrip("/")
        self._address = base if base.endswith("/v1/traces") else f"{base}/v1/traces"
        self._now = now
        capture = os.environ.get(CAPTURE, "").lower()
        self._content = capture not in ("", "false", "0", "no_content") if content is None else content
        self._waiting: queue.Queue[RecordedSpan | None] = queue.Queue(_WAITING)
        self.dropped = 0
        self._thread = threading.Thread(target=self._send_all, name="amgs-spans", daemon=True)
        self._thread.start()

    def export_result(self, store: str, operation: str, result: Any, seconds: float) -> None:
        """Export a finished search, frame, ingest or deletion; other operations are ignored."""
        attributes: dict[str, Any] = {"gen_ai.memory.store.id": store}
        added = getattr(result, "added", ())
        if operation in _SEARCHES:
            candidates = getattr(result, "hits", ()) or getattr(result, "selected", ())
            self._put_records(attributes, str(getattr(result, "query", "")), candidates)
            self._put("search_memory", attributes, seconds)
        elif operation == "ingest" and isinstance(added, tuple) and added:
            attributes["gen_ai.memory.record.count"] = len(added)
            attributes["gen_ai.memory.records"] = json.dumps([{"id": block_id} for block_id in added])
            self._put("create_memory", attributes, seconds)
        elif operation == "block delete":
            attributes["gen_ai.memory.record.id"] = getattr(result, "id", "")
            self._put("delete_memory", attributes, seconds)

    def _put_records(self, attributes: dict[str, Any], query: str, candidates: Sequence[Candidate]) -> None:
        """Add the number of found blocks to the attributes, and their texts if allowed."""
        attributes["gen_ai.memory.record.count"] = len(candidates)
        if self._content:
            attributes["gen_ai.memory.query.text"] = query
            records = [
                {"id": candidate.block.id, "content": candidate.block.content, "score": candidate.score}
                for candidate in candidates
            ]
            attributes["gen_ai.memory.records"] = json.dumps(records, ensure_ascii=False)

    def export_exchange(self, exchange: GatewayExchange, spoken: Sequence[MessageOfExchange]) -> None:
        """Export a request that went through the gateway. spoken: its messages as the agent sent them."""
        attributes: dict[str, Any] = {
            "gen_ai.provider.name": "anthropic" if exchange.interface.endswith("messages") else "openai",
            "gen_ai.request.model": exchange.model,
        }
        if exchange.conversation:
            attributes["gen_ai.conversation.id"] = exchange.conversation
        if exchange.usage is not None:
            attributes |= {
                "gen_ai.usage.input_tokens": exchange.usage.window,
                "gen_ai.usage.output_tokens": exchange.usage.output,
                "gen_ai.usage.cache_read.input_tokens": exchange.usage.cached,
                "gen_ai.usage.cache_creation.input_tokens": exchange.usage.written,
            }
        if self._content:
            replies = [{"role": "assistant", "parts": [{"type": "text", "content": exchange.said}]}]
            read = [{"role": message.role, "parts": _parts(message)} for message in spoken]
            attributes["gen_ai.input.messages"] = json.dumps(read, ensure_ascii=False)
            attributes["gen_ai.output.messages"] = json.dumps(replies, ensure_ascii=False)
        failed = exchange.outcome != "answered"
        self._put("chat", attributes, exchange.all_ms / 1000, exchange.outcome if failed else "")

    def _put(self, operation: str, details: dict[str, Any], seconds: float, error: str = "") -> None:
        """Queue a span that ends now; drop it if the queue is full."""
        end = self._now()
        attributes = {"gen_ai.operation.name": operation, **details}
        span = RecordedSpan(
            secrets.token_hex(16),
            secrets.token_hex(8),
            "",
            operation,
            end - round(seconds * 1e9),
            end,
            attributes,
            _CLIENT,
            resource={"service.name": "amgs"},
            scope="amgs",
        )
        if error:
            span = replace(span, status=2, attributes={**attributes, "error.type": error})
        try:
            self._waiting.put_nowait(span)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Send what is queued and end the thread; does not wait for a collector that does not answer."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=_EVERY)
        self._thread.join(timeout=_PATIENCE)

    def _send_all(self) -> None:
        """Send queued spans in batches until None is taken from the queue."""
        ended = False
        while not ended:
            next_span = self._waiting.get()
            batch, end = [next_span], time.monotonic() + _EVERY
            while next_span is not None and len(batch) < _AT_ONCE and (left := end - time.monotonic()) > 0:
                try:
                    next_span = self._waiting.get(timeout=left)
                except queue.Empty:
                    break
                batch.append(next_span)
            ended = batch[-1] is None
            spans = [span for span in batch if span is not None]
            if spans and not self._send(spans):
                self.dropped += len(spans)

    def _send(self, spans: Sequence[RecordedSpan]) -> bool:
        """Send a batch; return whether the collector accepted it."""
        body = json.dumps(as_otlp(spans), ensure_ascii=False).encode("utf-8", "replace")
        request = urllib.request.Request(self._address, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                return 200 <= int(answer.status) < 300
        except (urllib.error.URLError, OSError, ValueError):
            return False


def _parts(message: MessageOfExchange) -> list[dict[str, Any]]:
    """Return the parts of a message in the form of the conventions."""
    if message.answers:
        return [{"type": "tool_call_response", "id": message.answers, "response": message.text}]
    parts: list[dict[str, Any]] = [{"type": "text", "content": message.text}] if message.text else []
    return parts + [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls
    ]
