"""A model's server that answers what it is told to and keeps what it was sent, byte for byte."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from amgs_app.gateway import forwarding
from amgs_app.gateway.forwarding import routes
from amgs_app.gateway.upstream import Upstream
from amgs_app.server.tokens import Tokens
from tests.service.serving import client, running, served


class Recorder:
    """What was sent, and what is answered. pieces: of a stream, sent one after the other. cut: whether the connection
    breaks after them. seconds: before an answer begins; pause: after each piece.
    """

    def __init__(self) -> None:
        self.address = ""
        self.clear()
        self.app = FastAPI()
        self.app.add_api_route("/{path:path}", self._respond, methods=["GET", "POST", "DELETE"])

    def clear(self) -> None:
        """Forget what was sent, and answer "Sunny." at once."""
        self.sent: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.status = 200
        self.pieces: list[str] = []
        self.more: dict[str, str] = {}
        self.cut = False
        self.seconds = self.pause = 0.0
        self.says("Sunny.")

    async def _respond(self, request: Request) -> Response:
        self.sent.append(await request.body())
        self.headers.append(dict(request.headers))
        self.paths.append(request.url.path)
        await asyncio.sleep(self.seconds)
        if self.pieces:
            return StreamingResponse(self._stream(), self.status, self.more, "text/event-stream")
        return Response(json.dumps(self.answer), self.status, self.more, "application/json")

    async def _stream(self) -> AsyncIterator[str]:
        for piece in self.pieces:
            yield piece
            await asyncio.sleep(self.pause)
        if self.cut:
            raise ConnectionError("cut")

    @property
    def last(self) -> dict[str, Any]:
        """The latest request."""
        read: dict[str, Any] = json.loads(self.sent[-1])
        return read

    def says(self, text: str) -> None:
        """Answer as a chat completion."""
        self.answer: dict[str, Any] = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        }


@contextmanager
def recorder() -> Iterator[Recorder]:
    """A recorder that runs."""
    made = Recorder()
    with running(made.app) as address:
        made.address = address
        yield made


@contextmanager
def gateway(upstream: str, budget: int = 0, store: Path | None = None, tokens: Tokens | None = None) -> Iterator[str]:
    """The address of a gateway to it, with a service beside. A busy machine gives its memory a minute."""
    more = partial(routes, upstream=Upstream(upstream), budget=budget)
    patient = patch.multiple(forwarding, MEMORY_SECONDS=60.0, FIRST_SECONDS=60.0)
    with patient, served(store, tokens=tokens, more=more) as address:
        yield address


def operated(address: str, name: str, **given: Any) -> dict[str, Any]:
    """What an operation of the service beside a gateway gives."""
    with client(address) as asking:
        answer = asking.post(f"/v1/operations/{name}", json=given)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


def recorded(address: str, number: int) -> list[dict[str, Any]]:
    """What went through a gateway, once this request is recorded: that follows its answer."""
    while True:
        found: list[dict[str, Any]] = operated(address, "conversation_exchanges")["exchanges"]
        if found and found[0]["number"] >= number:
            return found
        time.sleep(0.01)
