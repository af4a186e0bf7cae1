"""Serve other programs of this machine on the socket file beside the store, so that they can use a store that this
process has open.

The service's modules are imported when the first program connects. See `attached/` for the other side.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from amgs_app.places.store_socket import READS

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

    from amgs_app.engine import Engine
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.server.asking import Service

NEEDED: Final = ("fastapi", "uvicorn")
"""Packages without which no other program can connect."""
LEAVING_SECONDS: Final = 2
"""Seconds that running requests may still take when this process ends."""


class Joined:
    """Middleware that replaces the sender's token by that of the store's owner, or of a reader.

    Only the owner of the files can open the socket, so no further check is needed.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._tokens = {caller.may: token for token, caller in service.joined.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"")
            token = self._tokens["read" if sent == f"Bearer {READS}".encode() else "operate"]
            headers = [header for header in scope["headers"] if header[0] != b"authorization"]
            scope = {**scope, "headers": [*headers, (b"authorization", f"Bearer {token}".encode())]}
        await self._app(scope, receive, send)


def server_of(app: Any, *, lifespan: bool) -> uvicorn.Server:
    """Return the server for the socket. lifespan: start and end the application with the server."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Leave signals to the program that lets others in."""
            yield

    config = uvicorn.Config(
        Joined(app, app.state.service),
        log_config=None,
        lifespan="on" if lifespan else "off",
        timeout_graceful_shutdown=LEAVING_SECONDS,
        access_log=False,
    )
    return Server(config)


@asynccontextmanager
async def letting_in(listening: socket.socket | None, make_server: Callable[[], uvicorn.Server]) -> AsyncIterator[None]:
    """Accept programs on the socket while the block runs; do nothing without a socket.

    make_server: called in a thread at the first connection.
    """
    servers: list[uvicorn.Server] = []

    async def serve(listening: socket.socket) -> None:
        loop, comes = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(listening, comes.set)
        try:
            await comes.wait()
        finally:
            loop.remove_reader(listening)
        servers.append(await asyncio.to_thread(make_server))
        await servers[0].serve(sockets=[listening])

    task = None if listening is None else asyncio.create_task(serve(listening))
    try:
        yield
    finally:
        if task is not None:
            for server in servers:
                server.should_exit = True
            if not servers:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def share_in_thread(
    engine: Engine, on_event: Callable[[ServiceEvent], object]
) -> Callable[[socket.socket], Callable[[], None]]:
    """Return the function for `Engine.share`: it accepts programs in its own thread.

    heard: called in that thread with an event for each of their requests.
    """

    def share(listening: socket.socket) -> Callable[[], None]:
        loop, ended, spaces = asyncio.new_event_loop(), asyncio.Event(), []

        def make_server() -> uvicorn.Server:
            from amgs_app.server.hosting import Namespaces
            from amgs_app.server.service import create_app

            for name in ("uvicorn", "amgs.server"):  # what they say would land in the screen's picture
                logging.getLogger(name).addHandler(logging.NullHandler())
            namespaces = Namespaces(engine.options)
            space = namespaces.adopt(engine)
            space.events.on_event = on_event
            spaces.append(space)
            return server_of(create_app(namespaces, owns=False), lifespan=True)

        async def serve() -> None:
            async with letting_in(listening, make_server):
                await ended.wait()

        def work() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(serve())

        def end() -> None:
            loop.call_soon_threadsafe(ended.set)
            thread.join()
            for space in spaces:
                space.end_lanes()

        thread = threading.Thread(target=work, name="amgs-joined", daemon=True)
        thread.start()
        return end

    return share
