"""A real server on loopback, in a thread of the test's process, with the tiny model."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import uvicorn
from fastapi import APIRouter, FastAPI

from amgs_app.engine import Options
from amgs_app.server.asking import Service
from amgs_app.server.front_page import Kind
from amgs_app.server.hosting import Namespaces
from amgs_app.server.limits import Limits
from amgs_app.server.service import create_app
from amgs_app.server.tokens import Tokens

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def options(store: Path | str | None = None) -> Options:
    """What the engines of a test's server are told: the tiny model, and a clock that stands."""
    return Options(store=None if store is None else str(store), model="tiny", now=NOW)


@contextmanager
def running(app: FastAPI, listening: socket.socket | None = None) -> Iterator[str]:
    """The address of an application that runs in a thread; it is ended on leaving."""
    listening = listening or socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not begin"
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=120)
        listening.close()
        assert not thread.is_alive(), "the server did not end"


@contextmanager
def served(
    store: Path | str | None = None,
    *,
    root: Path | str | None = None,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    more: Callable[[Service], APIRouter] | None = None,
) -> Iterator[str]:
    """The address of a running server; it is ended and its stores are closed on leaving."""
    namespaces = Namespaces(options(store), root)
    listening = socket.create_server(("127.0.0.1", 0))
    namespaces.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    kind: Kind = "gateway" if more else "service"
    with running(create_app(namespaces, tokens, kind=kind, limits=limits, more=more), listening) as address:
        yield address


def client(address: str, token: str = "", **headers: str) -> httpx2.Client:
    """A plain HTTP client of the server."""
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return httpx2.Client(base_url=address, headers=headers, timeout=120, trust_env=False)
