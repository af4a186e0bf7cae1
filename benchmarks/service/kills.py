"""A server that is killed while one client writes and two read: what was acknowledged and is lost, and what a reader
asked for after its acknowledgement and was not shown.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import httpx2

from benchmarks.service.process import ServerProcess

READERS: Final = 2
_TEXTS_A_ROUND: Final = 3
"""Acknowledged before a server is killed, at least, and as many answers as there are readers."""
_LATEST_KILL: Final = 0.5
"""Seconds after that within which it is killed."""
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A text that the server has taken in. mark: a word that stands in no other; change: its change counter then."""

    id: str
    mark: str
    change: int


@dataclass(slots=True)
class Kills:
    """What came of it. stale: answers to a question that was asked after an acknowledgement, and do not show it."""

    kills: int = 0
    acknowledged: list[Acknowledged] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    reads: int = 0
    stale: list[str] = field(default_factory=list)
    sound: bool = False


def kill_beside_readers(
    start: Callable[[], ServerProcess], rounds: int, progress: Callable[[int], None], *, seed: int = 0
) -> Kills:
    """Kill the server at a random instant of each round and start it anew on the same store; the store is verified at
    the end.
    """
    found, chance = Kills(), random.Random(seed)
    server = start()
    try:
        for number in range(rounds):
            progress(number)
            before, read = len(found.acknowledged), found.reads
            threads = [threading.Thread(target=_write, args=(server, number, found))]
            threads += [threading.Thread(target=_read, args=(server, kind, found)) for kind in range(READERS)]
            for each in threads:
                each.start()
            ends = time.monotonic() + _PATIENCE
            while time.monotonic() < ends and (
                len(found.acknowledged) - before < _TEXTS_A_ROUND or found.reads - read < READERS
            ):
                time.sleep(0.002)
            time.sleep(chance.uniform(0.0, _LATEST_KILL))
            server.kill()
            for each in threads:
                each.join()
            found.kills += 1
            if len(found.acknowledged) - before < _TEXTS_A_ROUND:
                raise RuntimeError("The server acknowledged nothing: nothing would be measured.")
            server = start()
            with server.client() as http:
                found.missing |= _missing(http, found.acknowledged[before:])
        with server.client() as http:
            found.missing |= _missing(http, found.acknowledged)
            told = http.post("/v1/operations/verify", json={}).json()
            found.sound = bool(told.get("ok", not told.get("faults")))
    finally:
        server.stop()
    return found


def _write(server: ServerProcess, number: int, found: Kills) -> None:
    """Add texts one after the other until the server is gone."""
    with server.client() as http:
        for part in range(1_000_000):
            mark = "m" + hashlib.sha256(f"{number}-{part}".encode()).hexdigest()[:12]
            try:
                answer = http.post("/v1/memory/ingest", json={"content": f"The tide was noted as {mark}."})
            except httpx2.TransportError:
                return
            if answer.status_code == 201:
                change = int(answer.headers["AMGS-Change"])
                found.acknowledged.append(Acknowledged(answer.json()["added"][0], mark, change))


def _read(server: ServerProcess, kind: int, found: Kills) -> None:
    """Ask for what was acknowledged last until the server is gone, by its words and by its id in turn.

    kind: a reader's number; so that the readers differ in what they begin with.
    """
    with server.client() as http:
        while True:
            if not found.acknowledged:
                time.sleep(0.002)
                if server.process.poll() is not None:
                    return
                continue
            latest = found.acknowledged[-1]
            kind += 1
            try:
                told = stale(http, latest, by_words=kind % 2 == 0)
            except httpx2.TransportError:
                return
            found.reads += 1
            if told:
                found.stale.append(told)


def stale(http: httpx2.Client, latest: Acknowledged, *, by_words: bool) -> str:
    """Why an answer is older than what was acknowledged before it was asked for; "" for one that is not."""
    if by_words:
        answer = http.post("/v1/memory/search", json={"query": latest.mark})
        hits = answer.json()["hits"] if answer.status_code == 200 else []
        shown = latest.id in {hit["block"]["id"] for hit in hits}
    else:
        answer = http.get(f"/v1/memory/{latest.id}")
        shown = answer.status_code == 200
    if not shown:
        return f"{latest}: not shown by {answer.request.url}, {answer.status_code}"
    if int(answer.headers["AMGS-Change"]) < latest.change:
        return f"{latest}: answered at change {answer.headers['AMGS-Change']}"
    return ""


def _missing(http: httpx2.Client, expected: list[Acknowledged]) -> set[str]:
    return {each.id for each in expected if http.get(f"/v1/memory/{each.id}").status_code != 200}
