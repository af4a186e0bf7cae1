"""`amgs serve`: run the service until interrupted."""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amgs import extras
from amgs.errors import UsageError
from amgs_app.gc_tuning import short_pauses

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import APIRouter

    from amgs_app.engine import Options
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
    memories. Raises UsageError for an address beyond this machine without tokens, or one that is in use.
    """
    if tokens is None and not is_loopback(host):
        raise UsageError(
            f"Everybody who reaches {host} could read and change the memory.",
            way_out="Listen on 127.0.0.1, or give `--tokens FILE`; `amgs token new` writes one.",
        )
    with extras.explained():
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
