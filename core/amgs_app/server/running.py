"""Run the service: `amgs serve`, until interrupted; and on the socket file beside a store, for other programs of
this machine that use a store which is open here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amgs import extras
from amgs.errors import UsageError
from amgs_app.gc_tuning import short_pauses
from amgs_app.places.folders import READS

if TYPE_CHECKING:
    import uvicorn
    from fastapi import APIRouter
    from starlette.types import ASGIApp, Receive, Scope, Send

    from amgs_app.engine import Engine, Options
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.server.asking import Service
    from amgs_app.server.limits import Limits


PORT: Final = 8420


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    root: Path | str | None = None,
    tokens: Path | None = None,
    upstream: str = "",
    limits: Limits | None = None,
    otlp: str = "",
    more: Callable[[Service], APIRouter] | None = None,
) -> int:
    """Serve until interrupted; return the exit code.

    port: 0 for any free port, which is printed on stderr. root: see Namespaces. upstream: the model API to which a
    gateway forwards. otlp: address of an OpenTelemetry collector for spans. more: returns further routes on the same
    memories. Raises UsageError for an address beyond this machine without tokens, or an address that is in use.
    """
    if tokens is None and not is_loopback(host):
        raise UsageError(
            f"Everybody who reaches {host} could read and change the memory.",
            way_out="Listen on 127.0.0.1, or give `--tokens FILE`; `amgs token new` writes a file.",
        )
    with extras.explain_missing():
        import uvicorn

        from amgs.text.bert import one_thread
        from amgs_app.server.front_page import Kind, to_paste
        from amgs_app.server.hosting import Namespaces
        from amgs_app.server.service import create_app
        from amgs_app.server.tokens import Tokens, read_tokens
    known = Tokens() if tokens is None else read_tokens(tokens)
    namespaces = Namespaces(options, root)
    if otlp:
        from amgs_app.server.span_export import SpanExport

        namespaces.spans = SpanExport(otlp)
    listening = listen(host, port)
    place = listening.getsockname()
    address = f"[{place[0]}]" if ":" in place[0] else place[0]
    near = "127.0.0.1" if address == "0.0.0.0" else "[::1]" if address == "[::]" else address
    namespaces.address = f"http://{near}:{place[1]}"
    if root is None:
        namespaces.open_shared()  # a store that cannot be opened is said before anybody asks
    kind: Kind = "gateway" if upstream else "service"
    app = create_app(namespaces, known, host, kind=kind, limits=limits, more=more)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    _log_requests()
    config = uvicorn.Config(
        app,
        log_config=None,
        lifespan="on",
        ws="none",  # who asks for a websocket is answered over HTTP
        timeout_graceful_shutdown=5,
        limit_concurrency=256,
        access_log=False,
    )
    lines = [
        f"Serving on http://{address}:{place[1]}; Ctrl-C ends it.",
        f"{'Stores' if namespaces.several else 'Store'}: {namespaces.place}",
    ]
    lines += [f"What agents ask goes on to {upstream}."] if upstream else []
    lines += to_paste(kind, namespaces.address, several=namespaces.several, tokens=tokens is not None)
    sys.stderr.write("\n".join([*lines, ""]))
    sys.stderr.flush()
    # A search takes the interpreter's lock back dozens of times; and the threads of readers share the cores already.
    with short_pauses(), one_thread():
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _log_requests() -> None:
    """Write a line of JSON to stderr for each request."""
    access = logging.getLogger("amgs.access")
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(logging.Formatter("%(message)s"))
    access.addHandler(lines)
    access.setLevel(logging.INFO)
    access.propagate = False


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; clients that connect before the server runs wait. Raises UsageError if the address
    cannot be used.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With its protocol named, asyncio turns Nagle's algorithm off; else each answer waits 40 ms for a client's ack.
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}.",
            way_out="Give another --port; 0 takes any that is free.",
        ) from error
    return listener


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

    The service's modules are imported when the first program connects.
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
