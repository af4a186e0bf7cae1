"""Many clients at once: requests at a fixed rate, whether or not the last was answered, and how long each took.

A request's time counts from when it was due, so that a server which falls behind cannot hide it by slowing its
clients down.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

CLIENTS: Final = 32
MIX: Final = (("search", 0.8), ("assemble", 0.08), ("ingest", 0.08), ("status", 0.04))
"""What is asked, by share."""


@dataclass
class Load:
    """What came of a run at one rate. milliseconds by kind of request; acknowledged: ids that the server took in."""

    rate: float
    seconds: float
    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)

    @property
    def answered(self) -> float:
        """Requests answered a second."""
        return sum(map(len, self.milliseconds.values())) / self.seconds


def at_rate(
    address: str, rate: float, seconds: float, questions: Sequence[str], *, seed: int, clients: int = CLIENTS
) -> Load:
    """Ask at `rate` requests a second in total, from so many clients, for so long; bounded in number."""
    return asyncio.run(_drive(address, rate, seconds, questions, seed, clients))


async def _drive(address: str, rate: float, seconds: float, questions: Sequence[str], seed: int, clients: int) -> Load:
    chance = random.Random(seed)
    kinds = chance.choices([k for k, _ in MIX], [w for _, w in MIX], k=max(1, int(rate * seconds)))
    load = Load(rate, seconds)
    limits = httpx2.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx2.AsyncClient(base_url=address, limits=limits, timeout=60, trust_env=False) as http:
        begun = time.perf_counter()
        waiting: set[asyncio.Task[None]] = set()
        for number, kind in enumerate(kinds):
            due = begun + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            request = _request(kind, questions[number % len(questions)], f"{seed}-{number}")
            task = asyncio.create_task(_ask(http, kind, request, due, load))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
        if waiting:
            await asyncio.wait(waiting, timeout=120)
        load.seconds = time.perf_counter() - begun
    return load


def at_most(address: str, seconds: float, questions: Sequence[str], *, clients: int = 8) -> float:
    """Searches answered a second where so many clients each ask again as soon as they are answered."""
    return asyncio.run(_ask_on(address, seconds, questions, clients))


async def _ask_on(address: str, seconds: float, questions: Sequence[str], clients: int) -> float:
    left = iter(questions)
    answered = 0

    async def client(http: httpx2.AsyncClient, until: float) -> None:
        nonlocal answered
        while time.perf_counter() < until and (question := next(left, None)) is not None:
            body = {"query": question, "top_k": 10}
            answer = await http.post("/v1/memory/search", json=body)
            answered += answer.status_code == 200

    async with httpx2.AsyncClient(base_url=address, timeout=60, trust_env=False) as http:
        begun = time.perf_counter()
        await asyncio.gather(*(client(http, begun + seconds) for _ in range(clients)))
        return answered / (time.perf_counter() - begun)


Request = tuple[str, str, dict[str, Any] | None]


def _request(kind: str, question: str, mark: str) -> Request:
    match kind:
        case "assemble":
            return "POST", "/v1/frame/assemble", {"name": "ATTENTION", "query": question}
        case "ingest":
            return "POST", "/v1/memory/ingest", {"content": f"{question} (noted as {mark})"}
        case "status":
            return "GET", "/v1/graph/stats", None
    return "POST", "/v1/memory/search", {"query": question, "top_k": 10}


async def _ask(http: httpx2.AsyncClient, kind: str, request: Request, due: float, load: Load) -> None:
    method, path, body = request
    try:
        answer = await http.request(method, path, json=body)
    except httpx2.HTTPError as error:
        load.errors.append(f"{kind}: {type(error).__name__}")
        return
    load.milliseconds.setdefault(kind, []).append(1000 * (time.perf_counter() - due))
    if answer.status_code >= 400:
        load.errors.append(f"{kind}: {answer.status_code} {answer.text[:200]}")
    elif kind == "ingest":
        told = answer.json()
        load.acknowledged += [*told["added"], *told["known"]]
