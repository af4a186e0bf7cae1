"""Routes of the gateway, under the same paths as at the model's provider."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import unquote

import httpx2
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from amgs.errors import NotFoundError
from amgs.types.conversation import ContextConfiguration
from amgs_app.gateway.conversing import Conversing
from amgs_app.gateway.formats.anthropic_messages import AnthropicMessages
from amgs_app.gateway.formats.openai import ChatCompletions, Responses
from amgs_app.gateway.formats.spoken import Format
from amgs_app.gateway.forwarding import ExchangeNumbers, Gateway, unreachable
from amgs_app.gateway.upstream import Upstream
from amgs_app.server.asking import NAMESPACE, Asked, Service, check_right, identify

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
log = logging.getLogger("amgs.gateway")

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
