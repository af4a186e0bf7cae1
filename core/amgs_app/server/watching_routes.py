"""How the service itself is: its events as they happen, whether it lives, and its counters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from amgs_app.server.asking import ByCaller, Service

router = APIRouter(tags=["watching"])


@router.get("/v1/events", operation_id="get_events", response_class=EventSourceResponse)
async def events(
    asked: ByCaller,
    last_event_id: Annotated[str, Header(description="Go on after this value of the change counter.")] = "",
    after: Annotated[int | None, Query(ge=0, description="The same, for who cannot send the header.")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """What happens in the namespace as it happens: changes, whose id is the store's change counter, and questions. Of a
    store that several servers share, changes come from all of them, and questions from this one.

    A listener that is too slow, or asks for changes that are no longer kept, gets an event `dropped` and is let go: it
    should look at everything anew.
    """
    since = int(last_event_id) if last_event_id.isdecimal() else after
    await asked.namespace.follow()
    hub = asked.namespace.events
    async for event in hub.listen(since, asked.namespace.change):
        number = str(event.change) if event.kind == "changed" else None
        yield ServerSentEvent(data=event.as_json(), event=event.kind, id=number)


@router.get("/healthz", operation_id="get_health", summary="Whether the service answers.")
async def healthz(request: Request) -> dict[str, str | int]:
    """`ok` and how many namespaces are open; asks for no token and says nothing of what is in them."""
    service: Service = request.app.state.service
    return {"status": "ok", "namespaces": len(service.namespaces.opened())}


@router.get("/metrics", operation_id="get_metrics", summary="Counters for Prometheus.")
async def metrics(asked: ByCaller) -> Response:
    """Requests by operation and status, their seconds, and who listens, in Prometheus's text format."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(asked.service.counters.registry), media_type=CONTENT_TYPE_LATEST)
