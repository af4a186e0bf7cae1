"""The ASGI application: its routes, middleware and error answers, and the routes for events, health and metrics."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from amgs import wire
from amgs.errors import AmgsError, StaleError, StoreAwayError, TooMuchError
from amgs.problems import MEDIA_TYPE, fault, problem
from amgs_app import __version__
from amgs_app.calls.hints import way_out_of
from amgs_app.calls.standard import standard
from amgs_app.render.encode import plain
from amgs_app.server import exact_routes, front_page, memory_routes, plans
from amgs_app.server.asking import NAMESPACE, Asked, ByCaller, Service, identify
from amgs_app.server.automatic_consolidation import consolidate_when_due
from amgs_app.server.foreign_pages import ForeignPages
from amgs_app.server.front_page import Kind
from amgs_app.server.hosting import Namespaces
from amgs_app.server.joining import letting_in, server_of
from amgs_app.server.limits import Limits, RequestLog
from amgs_app.server.mcp.tools import Headers, Tools, make_server
from amgs_app.server.request_model import free_named_twice
from amgs_app.server.routes import Route, routes
from amgs_app.server.table_routes import add_route
from amgs_app.server.tokens import Tokens
from amgs_app.shell.output import is_intended
from amgs_app.terminal.plain_refusals import say_value

watching = APIRouter(tags=["watching"])


@watching.get("/v1/events", operation_id="get_events", response_class=EventSourceResponse)
async def events(
    asked: ByCaller,
    last_event_id: Annotated[str, Header(description="Go on after this value of the change counter.")] = "",
    after: Annotated[int | None, Query(ge=0, description="The same, for who cannot send the header.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream the events of the namespace: changes, whose id is the store's change counter, and questions.

    In a store that several servers share, changes come from all of them, and questions from this one.

    A listener that is too slow, or asks for changes that are no longer kept, gets an event `dropped` and is let go: it
    should look at everything anew.
    """
    since = int(last_event_id) if last_event_id.isdecimal() else after
    await asked.namespace.follow()
    hub = asked.namespace.events
    async for event in hub.listen(since, asked.namespace.change):
        number = str(event.change) if event.kind == "changed" else None
        yield ServerSentEvent(data=event.as_json(), event=event.kind, id=number)


@watching.get("/healthz", operation_id="get_health", summary="Whether the service answers.")
async def healthz(request: Request) -> dict[str, str | int]:
    """`ok` and how many namespaces are open; asks for no token and says nothing of what is in them."""
    service: Service = request.app.state.service
    return {"status": "ok", "namespaces": len(service.namespaces.opened())}


@watching.get("/metrics", operation_id="get_metrics", summary="Counters for Prometheus.")
async def metrics(asked: ByCaller) -> Response:
    """Requests by operation and status, their seconds, and who listens, in Prometheus's text format."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(asked.service.counters.registry), media_type=CONTENT_TYPE_LATEST)


def create_app(
    namespaces: Namespaces,
    tokens: Tokens | None = None,
    host: str = "127.0.0.1",
    *,
    kind: Kind = "service",
    limits: Limits | None = None,
    more: Callable[[Service], APIRouter] | None = None,
    owns: bool = True,
) -> FastAPI:
    """Return the application that serves these namespaces.

    host: the address it listens on. more: returns further routes on the same memories. owns: consolidate automatically,
    accept programs on the socket, and close the namespaces at the end; False if another owner does.
    """
    limits = limits or Limits()
    service = Service(namespaces, tokens or Tokens(), kind, limits=limits)
    namespaces.gateway = kind == "gateway"

    async def who_asks(headers: Headers) -> Asked:
        caller, namespace = identify(service, headers.get("authorization", ""), headers.get(NAMESPACE.lower(), ""))
        return Asked(service, caller, namespace)

    mcp = make_server(Tools(who_asks))
    over_http = mcp.streamable_http_app(stateless_http=True, json_response=True, host=host)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with mcp.session_manager.run():
            if not owns:
                yield
                return
            consolidating = asyncio.create_task(consolidate_when_due(service))
            async with letting_in(namespaces.listening, lambda: server_of(app, lifespan=False)):
                yield
            consolidating.cancel()
        await asyncio.to_thread(namespaces.close)

    app = FastAPI(
        title="AMGS",
        version=__version__,
        summary="A memory that agents share while an operator watches it.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.service = service
    app.state.plans = plans.Plans()
    if not service.tokens:
        app.add_middleware(ForeignPages)
    app.add_middleware(RequestLog, largest=limits.largest)
    answer_errors(app)
    app.router.routes.extend(over_http.routes)
    # An included router is built at the first request, beside whatever other threads do; these routes stand already.
    for router in (front_page.router, memory_routes.router, plans.router, watching, exact_routes.router):
        app.router.routes.extend(router.routes)
    table = routes(standard())
    for route in table:
        add_route(app, route)
    _describe(app, table)
    if more is not None:
        app.router.routes.extend(more(service).routes)
    return app


def _describe(app: FastAPI, table: Sequence[Route]) -> None:
    """Add the route of the OpenAPI document, which is built on first request, in a thread: that takes a
    second or two.
    """
    lock = threading.Lock()

    def document() -> JSONResponse:
        from amgs_app.server.answer_schema import describe_answers

        with lock:
            if app.openapi_schema is None:
                schema = app.openapi()
                free_named_twice(schema, table)
                describe_answers(schema, {route.identifier: route.operation for route in table})
        return JSONResponse(app.openapi())

    app.add_api_route("/v1/openapi.json", document, include_in_schema=False)


# Every error of the service as a problem: those raised on purpose with their own words, a fault without any.


_KINDS = {404: "not-found", 413: "too-much"}
log = logging.getLogger("amgs.server")


def answer_errors(app: FastAPI) -> None:
    """Make the application answer every error as problem details (RFC 9457)."""

    async def answer_error(request: Request, error: Exception) -> Response:
        lossless = wire.MEDIA_TYPE in request.headers.get("Accept", "")
        form = wire.encode if lossless else plain
        more = {"changed": form(list(error.changed))} if isinstance(error, StaleError) else {}
        details = _without_paths(request, problem(error, way_out=way_out_of(error), **more))
        headers = {"WWW-Authenticate": "Bearer"} if details["status"] == 401 else {}
        if isinstance(error, TooMuchError | StoreAwayError) and error.retry_after:
            headers["Retry-After"] = str(error.retry_after)
        return _problem(details, headers)

    async def invalid(request: Request, error: Exception) -> Response:
        del request
        failures = error.errors() if isinstance(error, RequestValidationError) else []
        return _problem(
            {
                "type": "urn:amgs:problem:usage",
                "title": "The request cannot be read",
                "status": 422,
                "detail": "; ".join(dict.fromkeys(map(_say_failure, failures))) + ".",
                "way_out": "/v1/openapi.json says what each path takes.",
            }
        )

    async def unknown(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        reason = str(error.detail) if isinstance(error, HTTPException) else ""
        if reason == _UNPARSED:
            reason = "The body is no JSON"
        details = {
            "type": f"urn:amgs:problem:{_KINDS.get(code, 'usage')}",
            "title": reason or "Can't do that",
            "status": code,
            "detail": f"{request.method} {request.url.path}: {reason.lower() or 'refused'}.",
            "way_out": "/v1/openapi.json lists every path.",
        }
        return _problem(details, dict(error.headers or {}) if isinstance(error, HTTPException) else None)

    async def faulty(request: Request, error: Exception) -> Response:
        if is_intended(error):  # the focus engine's errors, known by their shape
            return await answer_error(request, error)
        log.error("fault in %s %s", request.method, request.url.path, exc_info=error)
        return _problem(fault())

    app.add_exception_handler(AmgsError, answer_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unknown)
    app.add_exception_handler(Exception, faulty)


_UNPARSED: Final = "There was an error parsing the body"
"""What the library says of a body that it cannot even decode."""


def _say_failure(failure: Any) -> str:
    """Return what is wrong with a part of a request, or with its body."""
    place = ".".join(str(step) for step in failure["loc"][1:])
    if failure["type"] == "json_invalid":
        return f"The body is no JSON from character {place} on"
    if failure["type"] in ("model_attributes_type", "model_type", "dict_type") and not place:
        return "The body is no object in JSON, sent as application/json"
    return say_value(place, failure["msg"]) if place else str(failure["msg"])


def _without_paths(request: Request, details: dict[str, Any]) -> dict[str, Any]:
    """Remove the server's folders from a problem's texts."""
    service: Service = request.app.state.service
    folders = {str(namespace.folder) for namespace in service.namespaces.opened()} - {"", ".", "/"}
    for name in ("detail", "way_out"):
        for folder in folders:
            details[name] = details[name].replace(f"{folder}/", "")
    return details


def _problem(details: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return problem details as a response."""
    body = json.dumps(details, ensure_ascii=False).encode()
    return Response(body, details["status"], dict(headers or {}), MEDIA_TYPE)
