"""The ASGI application: its routes, middleware and error answers, and the routes for events, health and metrics;
the protection of a server without tokens from web pages in the user's browser; and consolidation in the
background when it is due (AMGS §8.2).
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from amgs import wire
from amgs.errors import AmgsError, Cancelled, StaleError, StoreAwayError, StoreLockedError, TooMuchError
from amgs.lifecycle.consolidate import KIND
from amgs.problems import MEDIA_TYPE, fault, problem
from amgs.storage.signature import sign_commits
from amgs.types import Progress
from amgs_app import __version__
from amgs_app.calls.hints import way_out_of
from amgs_app.calls.registry import standard
from amgs_app.render.encode import plain
from amgs_app.results.memory import Consolidated, sum_batches
from amgs_app.server import front_page, memory_routes, table_routes
from amgs_app.server.asking import NAMESPACE, Asked, ByCaller, Service, identify
from amgs_app.server.front_page import Kind
from amgs_app.server.hosting import Namespaces
from amgs_app.server.limits import Limits, RequestLog
from amgs_app.server.mcp import Headers, Tools, make_server
from amgs_app.server.routes import Route, free_named_twice, routes
from amgs_app.server.running import letting_in, server_of
from amgs_app.server.table_routes import add_route
from amgs_app.server.tokens import Caller, Tokens
from amgs_app.shell.output import is_intended
from amgs_app.terminal.output import say_value

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from amgs.memory import Memory
    from amgs_app.server.hosting import Namespace


class ForeignPages:
    """Middleware that refuses requests whose Host or Origin header does not name this machine.

    It protects a server without tokens from cross-site requests, and from host names that an attacker points at this
    machine (DNS rebinding).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not (because := explain_refusal(scope)):
            await self._app(scope, receive, send)
            return
        problem = {
            "type": "urn:amgs:problem:forbidden",
            "title": "Not from another machine",
            "status": 403,
            "detail": because,
            "way_out": "Ask 127.0.0.1 or localhost, or serve with --tokens, which let others in.",
        }
        await JSONResponse(problem, 403, media_type=MEDIA_TYPE)(scope, receive, send)


def explain_refusal(scope: Scope) -> str:
    """Return why a request is refused; "" if it is allowed."""
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or not of_this_machine(f"//{hosts[0]}"):
        return "This server goes by no other names than those of its own machine."
    for name, value in scope["headers"]:
        if name == b"origin" and not of_this_machine(value.decode("latin-1")):
            return "A page of another machine may not use this memory."
    return ""


def of_this_machine(address: str) -> bool:
    """Return whether an address names this machine: localhost or a loopback IP."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


log = logging.getLogger("amgs.server")

LOOK_SECONDS: Final = 60.0
"""Seconds between two checks whether a consolidation is due."""
DRAFT_SECONDS: Final = 3600.0
"""After a draft, seconds without automatic consolidation, so that the operator can correct the draft first."""


async def consolidate_when_due(service: Service, every: float = LOOK_SECONDS) -> None:
    """Check every open memory, again and again until cancelled. every: seconds between two checks.

    It consolidates when the memory's settings say so (AMGS §8.2) and saves new vectors to disk, in the lane for long
    work, so that no request waits. The journal says that it was automatic, and a consolidation that a person has undone
    is not repeated.
    """
    while True:
        await asyncio.sleep(every)
        for space in service.namespaces.list_opened():
            try:
                await _consolidate_if_due(service, space)
                await _save_vectors(space)
            except Exception:
                log.exception("%s could not be looked after", space.name)


async def _consolidate_if_due(service: Service, space: Namespace) -> None:
    """Consolidate a memory if it is open, due, and no draft is being corrected."""
    engine, drafted = space.engine, space.drafted_at
    if not (engine.memory_is_open and engine.settings.memory.consolidation.automatic_served):
        return
    if drafted is not None and service.perf() - drafted < DRAFT_SECONDS:
        return
    if not await space.run("read", partial(_is_due, space.memory)):
        return
    by, progress = f"the {service.kind}", Progress()
    asked = Asked(service, Caller(by, None, "operate"), space)
    work = partial(_consolidate, space.memory, by, progress)
    try:
        await asked.run(KIND, "long", work, "as it was due", changes=True, quiet=True)
    finally:
        progress.cancel()  # where the server ends meanwhile


async def _save_vectors(space: Namespace) -> None:
    """Save the derived vectors of an open memory to its cache on disk."""
    if not space.engine.memory_is_open:
        return
    progress = Progress()
    try:
        await space.run("long", partial(_save_derived, space.memory, progress))
    finally:
        progress.cancel()


def _save_derived(memory: Memory, progress: Progress) -> None:
    # On a full disk, and while an erasure takes the files away, nothing is saved: the vectors are in memory as well.
    with suppress(Cancelled, OSError, RuntimeError):
        memory.lifecycle.keep_derived(progress)


def _is_due(memory: Memory) -> bool:
    """Return whether consolidation is due and was not just undone by a person."""
    # In this order, so that an undo between the two checks is seen by the second.
    if not memory.lifecycle.due().due:
        return False
    latest = next(iter(memory.operations(1)), None)
    return latest is None or not (latest.undone and latest.kind == KIND)


def _consolidate(memory: Memory, by: str, progress: Progress) -> Consolidated | None:
    """Consolidate in batches, signed by the server; None if another server is consolidating or this server stops."""
    with sign_commits(by=by):
        try:
            return sum_batches(memory.consolidate_in_batches(progress=progress))
        except (Cancelled, StoreLockedError):  # another server is at it
            return None


watching = APIRouter(tags=["watching"])


@watching.get("/v1/events", operation_id="get_events", response_class=EventSourceResponse)
async def events(
    asked: ByCaller,
    last_event_id: Annotated[str, Header(description="Go on after this value of the change counter.")] = "",
    after: Annotated[int | None, Query(ge=0, description="The same, for who cannot send the header.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream the events of the namespace: changes, whose id is the store's change counter, and questions.

    In a store that several servers share, changes come from all of them, and questions from this server.

    A listener that is too slow, or asks for changes that are no longer stored, gets an event `dropped` and is let go:
    it should look at everything anew.
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
    return {"status": "ok", "namespaces": len(service.namespaces.list_opened())}


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
    app.state.plans = memory_routes.Plans()
    if not service.tokens:
        app.add_middleware(ForeignPages)
    app.add_middleware(RequestLog, largest=limits.largest)
    answer_errors(app)
    app.router.routes.extend(over_http.routes)
    # An included router is built at the first request, beside whatever other threads do; these routes stand already.
    for router in (front_page.router, memory_routes.router, memory_routes.plan_router, watching, table_routes.router):
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


_KINDS = {404: "not-found", 413: "too-much"}


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
    folders = {str(namespace.folder) for namespace in service.namespaces.list_opened()} - {"", ".", "/"}
    for name in ("detail", "way_out"):
        for folder in folders:
            details[name] = details[name].replace(f"{folder}/", "")
    return details


def _problem(details: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return problem details as a response."""
    body = json.dumps(details, ensure_ascii=False).encode()
    return Response(body, details["status"], dict(headers or {}), MEDIA_TYPE)
