"""Forward a request through the gateway: record it, cut it to the budget, send it, stream the answer back. The
routes are under the same paths as at the model's provider.

A memory that fails or is slow must never keep an agent from its model: the request is then forwarded
unchanged.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import httpx2
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from amgs.errors import AmgsError, NotFoundError
from amgs.incoming import make_storable
from amgs.text.words import plural
from amgs.types.conversation import ContextConfiguration
from amgs.types.gateway import GatewayExchange, GatewayOutcome, Usage
from amgs_app.gateway.conversing import Conversing, Fitted
from amgs_app.gateway.formats import (
    AnthropicMessages,
    Body,
    ChatCompletions,
    Format,
    Responses,
    Spoken,
    body_of,
    read_answer,
    usage_in,
)
from amgs_app.gateway.upstream import Upstream, UpstreamAnswer, unpack
from amgs_app.results.service_event import ServiceEvent
from amgs_app.server.asking import NAMESPACE, Asked, Service, check_right, identify
from amgs_app.server.hosting import Namespace

if TYPE_CHECKING:
    from collections.abc import Callable


class ExchangeNumbers:
    """Numbers requests. Safe to use from any thread. last: returns the latest number in the store; called once."""

    def __init__(self, last: Callable[[], int]) -> None:
        self._last = last
        self._lock = threading.Lock()
        self._count: int | None = None

    def next(self) -> int:
        """Return the next number; raises what `last` raises."""
        with self._lock:
            if self._count is None:
                self._count = self._last()
            self._count += 1
            return self._count


log = logging.getLogger("amgs.gateway")

MEMORY_SECONDS: Final = 5.0
"""Seconds that a request waits for the memory before it is forwarded unchanged."""
FIRST_SECONDS: Final = 30.0
"""The same for the first request, which opens the store."""
LARGEST_ANSWER: Final = 16 * 1024 * 1024
"""Bytes of an answer that the memory reads; the agent gets all of it."""
_ENDS: Final = (b"[DONE]", b"message_stop", b"response.completed", b"response.incomplete")
"""Marks of a complete stream; an agent may disconnect after such a mark, before the connection ends."""
_TAIL: Final = 65_536
OPERATION: Final = "gateway"
NAMED: Final = "AMGS-Conversation"
"""Request header by which an agent may name its conversation."""
CONTEXT: Final = "AMGS-Context"
"""Response header that says what was sent."""
NUMBER: Final = "AMGS-Exchange"
"""Response header with the exchange's number, for `conversation exchanges`."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """State shared by all requests of a namespace.

    tasks: running background work. answered: set once the memory has answered.
    """

    upstream: Upstream
    namespace: Namespace
    conversing: Conversing
    numbers: ExchangeNumbers
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    async def forward(self, request: Request, form: Format) -> Response:
        """Forward a request in this API's format and return the streamed answer of the model's server."""
        begun, number = time.perf_counter(), await self._next_number()
        content = await request.body()
        headers: Mapping[str, str] = request.headers
        unpacked = await asyncio.to_thread(unpack, content, headers.get("content-encoding", ""))
        asked = None if unpacked is None else body_of(unpacked)
        fitted = Fitted(None, "it is packed in a way that is not read" if unpacked is None else "it is no JSON object")
        if asked is not None:
            fitted = await self._fit_request(form, asked, headers.get(NAMED, ""))
            fitted = replace(fitted, request=asked)
        if fitted.body is not None:
            content = json.dumps(fitted.body, ensure_ascii=False).encode()
            headers = {name: value for name, value in headers.items() if name != "content-encoding"}
        taken = time.perf_counter()
        context = fitted.context
        exchange = GatewayExchange(
            number,
            self.namespace.engine.clock.now(),
            fitted.conversation,
            request.url.path,
            make_storable(str((asked or {}).get("model", "")))[:200],
            make_storable(next((message.text for message in reversed(fitted.spoken) if message.role == "user"), "")),
            len(fitted.spoken),
            context if fitted.body is not None else None,
            fitted.untouched,
            "",
            "unreachable",
            0,
            fitted.added,
            _milliseconds(taken - begun),
            0.0,
            0.0,
            whole=fitted.whole if fitted.body is None else (),
            until=fitted.until,
            tokens=context.tokens if context is not None else 0,
            tokens_before=context.history if context is not None else 0,
            beside=fitted.beside,
            reserved=fitted.reserved,
        )
        try:
            answer = await self.upstream.ask(request.method, request.url.path, request.url.query, headers, content)
        except httpx2.HTTPError as error:
            exchange = replace(exchange, all_ms=_milliseconds(time.perf_counter() - taken))
            self._start_task(self._finish_exchange(exchange, fitted))
            return unreachable(self.upstream, error, number)
        exchange = replace(exchange, status=answer.status, first_byte_ms=_milliseconds(time.perf_counter() - taken))
        headers = {**answer.headers, CONTEXT: _summarise_context(fitted), **_build_number_header(number)}
        pieces = self._copy_answer(request, answer, form, exchange, fitted, taken)
        return StreamingResponse(pieces, answer.status, headers)

    @property
    def _patience(self) -> float:
        """Seconds that a request waits for the memory."""
        return MEMORY_SECONDS if self.answered.is_set() else FIRST_SECONDS

    async def _fit_request(self, form: Format, request: Body, named: str) -> Fitted:
        """Record a request and choose what is sent; on any failure return it unchanged with the reason."""

        fitted, patience = Fitted(None, ""), self._patience
        try:
            async with asyncio.timeout(patience):
                record = partial(self.conversing.record_request, form, request, named)
                fitted = await self.namespace.run("write", record)
                if not self.conversing.chooses or not fitted.numbers:
                    self.answered.set()
                    return fitted
                choose = partial(self.conversing.choose, form, request, fitted)
                chosen = await self.namespace.run("read", choose)
                self.answered.set()
                return chosen
        except TimeoutError:
            reason = f"the memory took longer than {patience:g} seconds"
        except AmgsError as error:
            reason = f"{error.title}: {error}"
        except Exception:
            log.exception("the memory failed; the request goes on as it came")
            reason = "the memory failed; the log says how"
        return replace(fitted, untouched=reason, spoken=fitted.spoken or tuple(form.read(request) or ()))

    async def _copy_answer(
        self,
        request: Request,
        answer: UpstreamAnswer,
        form: Format,
        exchange: GatewayExchange,
        fitted: Fitted,
        begun: float,
    ) -> AsyncIterator[bytes]:
        """Yield the answer as it comes, then record it in the background, since the agent may disconnect after the last
        piece.
        """
        read = bytearray()
        whole = False
        try:
            async with aclosing(answer.pieces) as pieces:
                async for piece in pieces:
                    if len(read) < LARGEST_ANSWER:
                        read += piece
                    yield piece
                    if await request.is_disconnected():
                        return  # nobody reads on, and the model's server need not go on
            whole = True
        finally:
            ended = replace(exchange, all_ms=_milliseconds(time.perf_counter() - begun))
            self._start_task(self._record_answer(ended, form, answer, fitted, bytes(read), whole=whole))

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in the background; the agent does not wait for it."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _record_answer(
        self,
        exchange: GatewayExchange,
        form: Format,
        answer: UpstreamAnswer,
        fitted: Fitted,
        read: bytes,
        *,
        whole: bool,
    ) -> None:
        """Store what the model said and log which blocks it used."""
        messages: Sequence[Spoken] = ()
        usage: Usage | None = None
        if answer.status < 400:
            try:
                usage = usage_in(read, streamed=answer.streams)
                messages = read_answer(form, read, streamed=answer.streams)
            except Exception:
                log.exception("the answer could not be read")
            whole = whole or any(mark in read[-_TAIL:] for mark in _ENDS)
        outcome: GatewayOutcome = "broken off" if not whole else "answered" if answer.status < 400 else "refused"
        text = make_storable("\n\n".join(message.text for message in messages if message.text))
        counted = usage.window if usage is not None else 0
        exchange = replace(exchange, outcome=outcome, said=text, characters=len(text), counted=counted, usage=usage)
        if outcome == "answered" and exchange.conversation:

            def take() -> tuple[int, int]:
                return self.conversing.record_answer(fitted, messages)

            try:
                added, last = await self.namespace.run("write", take)
                exchange = replace(exchange, remembered=exchange.remembered + added, answered=last)
            except Exception as error:
                log.exception("the answer could not be stored")
                reason = str(error) if isinstance(error, AmgsError) else "the log says why"
                exchange = replace(exchange, untouched=f"the answer was not stored: {reason}")
        if exchange.answered:
            try:
                await self.namespace.run("write", partial(self.conversing.log_uses, fitted, messages))
            except Exception:
                log.exception("what the answer used could not be noted")
        await self._finish_exchange(exchange, fitted)

    async def _next_number(self) -> int:
        """Return the number of a new request; 0 if the memory fails, and nothing is stored then."""
        try:
            async with asyncio.timeout(self._patience):
                return await self.namespace.run("read", self.numbers.next)
        except Exception:
            log.exception("the memory failed; the request has no number")
            return 0

    async def _finish_exchange(self, exchange: GatewayExchange, fitted: Fitted) -> None:
        """Store the outcome of a request, export it and publish an event."""
        if exchange.number:
            try:
                await self.namespace.run("write", partial(self.conversing.record_exchange, exchange, fitted))
            except Exception:
                log.exception("what the request came to could not be stored")
        if self.namespace.spans is not None:
            self.namespace.spans.export_exchange(exchange, fitted.spoken)
        sent = exchange.context
        got = exchange.outcome if sent is None else f"{sent.tokens:,} of {sent.history:,} tokens sent"
        self.namespace.events.publish(
            ServiceEvent(
                "changed" if exchange.remembered else "asked",
                self.namespace.change,
                exchange.at,
                OPERATION,
                exchange.conversation or exchange.interface,
                exchange.asked[:200],
                got,
                exchange.memory_ms + exchange.all_ms,
                "done" if exchange.outcome == "answered" else "failed",
            )
        )


def _summarise_context(fitted: Fitted) -> str:
    """Return what was sent, in a few words for a header."""
    context = fitted.context
    if fitted.body is None or context is None:
        return f"untouched; {fitted.untouched}".encode("ascii", "replace").decode()[:300]
    left = context.count("dropped") + context.count("masked") + context.count("digested")
    return f"{context.tokens} of {context.history} tokens; {plural(left, 'message')} shortened or left out"


def unreachable(upstream: Upstream, error: httpx2.HTTPError, number: int = 0) -> JSONResponse:
    """Return the error that the model's server does not answer, in the form of both providers. number: of the exchange,
    0 for none.
    """
    message = f"The model's server at {upstream.address} does not answer: {error or type(error).__name__}"
    return JSONResponse(
        {"type": "error", "error": {"type": "api_error", "message": message}}, 502, _build_number_header(number)
    )


def _build_number_header(number: int) -> dict[str, str]:
    return {NUMBER: str(number)} if number else {}


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


FORMS: Final[dict[str, Format]] = {
    "/v1/chat/completions": ChatCompletions(),
    "/v1/messages": AnthropicMessages(),
    "/v1/responses": Responses(),
}
PASSED: Final = (
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{name:path}"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/messages/count_tokens"),
)
"""Requests that are forwarded unchanged and not recorded."""
BESIDE: Final = "audio batches completions containers files images messages moderations responses uploads vector_stores"
"""First path segments of other requests, forwarded unchanged with a warning in the log."""

TOKEN: Final = "AMGS-Token"
"""Header with the service's token, since `Authorization` is for the model's provider."""


def leads_elsewhere(path: str) -> bool:
    """Return whether a path may resolve to another path at the provider, after decoding it as often as any server
    might.
    """
    while (decoded := unquote(path)) != path:
        path = decoded
    steps = path.replace("\\", "/").split("/")[1:]
    return any(step in ("", ".", "..") for step in steps) or not path.isprintable() or not set(path).isdisjoint("?#;")


def routes(
    service: Service, upstream: Upstream, budget: int, configuration: ContextConfiguration = "default"
) -> APIRouter:
    """Return the routes of a gateway to a model's server.

    budget: tokens of what is sent, 0 to send everything. The upstream is closed with the application.
    """

    @asynccontextmanager
    async def closing(app: FastAPI) -> AsyncIterator[None]:
        del app
        yield
        await upstream.close()

    router = APIRouter(tags=["gateway"], lifespan=closing)
    gateways: dict[str, Gateway] = {}

    def gateway_of(request: Request) -> Gateway:
        token, named = request.headers.get(TOKEN, ""), request.headers.get(NAMESPACE, "")
        caller, namespace = identify(service, f"Bearer {token}", named)
        request.state.caller, request.state.namespace = caller.name, namespace.name
        check_right(Asked(service, caller, namespace), "write", "the gateway")
        if namespace.name not in gateways:
            conversing = Conversing(namespace.engine, budget, configuration)
            numbers = ExchangeNumbers(conversing.last_number)
            gateways[namespace.name] = Gateway(upstream, namespace, conversing, numbers)
        return gateways[namespace.name]

    async def answer(request: Request) -> Response:
        return await gateway_of(request).forward(request, FORMS[request.url.path])

    async def pass_request(request: Request) -> Response:
        gateway_of(request)  # for its check of the token and the right
        content = await request.body()
        path, query = request.scope["path"], request.url.query
        if leads_elsewhere(path):
            raise NotFoundError(
                f"The gateway does not forward {path!r}.", way_out="Write the path without `.`, `..` and encoded signs."
            )
        try:
            upstream_answer = await upstream.ask(request.method, path, query, request.headers, content)
        except httpx2.HTTPError as error:
            return unreachable(upstream, error)
        return StreamingResponse(upstream_answer.pieces, upstream_answer.status, dict(upstream_answer.headers))

    async def beside(request: Request) -> Response:
        answer = await pass_request(request)
        log.warning("%s %s went on unread: nothing of it is remembered", request.method, request.scope["path"])
        return answer

    async def no_websocket() -> Response:
        return Response("This gateway answers over HTTP.", 426, {"Upgrade": "HTTP/1.1", "Connection": "Upgrade"})

    for path in FORMS:
        router.add_api_route(path, answer, methods=["POST"], operation_id=f"gateway {path}", include_in_schema=False)
        router.add_api_route(path, no_websocket, methods=["GET"], include_in_schema=False)
    for method, path in PASSED:
        router.add_api_route(
            path, pass_request, methods=[method], operation_id=f"gateway {path}", include_in_schema=False
        )
    for name in BESIDE.split():
        for path in (f"/v1/{name}", f"/v1/{name}/{{rest:path}}"):
            router.add_api_route(
                path, beside, methods=["GET", "POST", "DELETE"], operation_id=path, include_in_schema=False
            )
    return router
