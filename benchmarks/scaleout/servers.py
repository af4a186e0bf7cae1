"""Two API servers on one namespace, one of which is killed again and again: the other goes on, and nothing is lost.

Two callers of one service on one database: what either can see of the other's namespace.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from amgs.identity import block_id
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.measures import quantile
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import note
from benchmarks.service import hostile
from benchmarks.service.process import ServerProcess

MOST = 10
"""Acknowledgements before a kill, at most."""
CONTROLS = 10
"""Ids of texts that were never sent, which the check must miss."""


@dataclass
class ServerKills:
    """acknowledged: ids. refused: answers of the other server that were no success. waits: milliseconds until the
    other server had taken a text in, each begun at a kill.
    """

    acknowledged: list[str] = field(default_factory=list)
    refused: int = 0
    waits: list[float] = field(default_factory=list)
    lost: int = 0
    control: int = 0
    faults: int = 0


def measure_servers(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """`kill -9` of one of two servers in turn, each while it is given texts, after 1 to 10 acknowledgements."""
    kills = setup.effort.kills
    with setup.namespace("servers") as place:
        found = killed(
            place,
            setup.work,
            kills,
            random.Random(rig.seed),
            lambda number: rig.progress(number, kills, "killing a server"),
        )
    metrics = {
        "server_kills": float(kills),
        "server_acknowledged": float(len(found.acknowledged)),
        "server_acknowledged_lost": float(found.lost),
        "server_faults": float(found.faults),
        "server_other_refused": float(found.refused),
        "server_other_p95_ms": quantile(found.waits, 0.95),
        "server_lost_control": float(found.control),
    }
    table = BenchTable(
        "One of two servers killed",
        ("kills", "acknowledged", "of these lost", "the other: refused", "p50 ms", "p95 ms", "never sent", "missed"),
        (
            (
                kills,
                len(found.acknowledged),
                found.lost,
                found.refused,
                quantile(found.waits, 0.5),
                quantile(found.waits, 0.95),
                CONTROLS,
                found.control,
            ),
        ),
    )
    goals: dict[str, tuple[Comparator, float]] = {
        "server_acknowledged_lost": ("<=", 0.0),
        "server_faults": ("<=", 0.0),
        "server_other_refused": ("<=", 0.0),
        "server_lost_control": (">=", float(CONTROLS)),
    }
    return SubjectResult(metrics, goals, (table,))


def killed(place: str, work: Path, kills: int, chance: random.Random, progress: Callable[[int], None]) -> ServerKills:
    """Kill one of two servers `kills` times, and look through the other whether all that was acknowledged is there."""
    found = ServerKills()

    def start(number: int) -> ServerProcess:
        words = ["--store", place, "--model", "tiny", "serve", "--port", "0"]
        return ServerProcess.start(words, work / f"server_{number}.log")

    servers = [start(0), start(1)]
    try:
        for number in range(kills):
            progress(number)
            victim, other = number % 2, 1 - number % 2
            _kill_at_work(servers[victim], f"{number}", chance.randint(1, MOST), found)
            begun = time.perf_counter()
            with servers[other].client() as http:
                answer = http.post("/v1/memory/ingest", json={"content": note(f"other {number}", 0)})
            found.waits.append(1000 * (time.perf_counter() - begun))
            if answer.status_code == 201:
                found.acknowledged += answer.json()["added"]
            else:
                found.refused += 1
            if number + 1 < kills:
                servers[victim] = start(victim)
        with servers[other].client(timeout=300) as http:
            found.lost = sum(not _holds(http, each) for each in found.acknowledged)
            never = [block_id(note("nobody", number)) for number in range(CONTROLS)]
            found.control = sum(not _holds(http, each) for each in never)
            found.faults = len(http.post("/v1/operations/verify", json={}).json()["faults"])
    finally:
        for each in servers:
            each.stop()
    return found


def _kill_at_work(server: ServerProcess, name: str, after: int, found: ServerKills) -> None:
    """Give a server texts one after the other, and kill it once so many were acknowledged: amid the next."""
    enough = threading.Event()

    def write() -> None:
        with server.client() as http:
            number = 0
            while True:
                try:
                    answer = http.post("/v1/memory/ingest", json={"content": note(name, number)})
                except httpx2.HTTPError:
                    enough.set()
                    return
                if answer.status_code == 201:
                    found.acknowledged.extend(answer.json()["added"])
                number += 1
                if number >= after:
                    enough.set()

    writing = threading.Thread(target=write, name="amgs-bench-write")
    writing.start()
    enough.wait(120)
    server.kill()
    writing.join(120)


def _holds(http: httpx2.Client, block: str) -> bool:
    return http.get(f"/v1/memory/{block}").status_code == 200


OWN, HIDDEN = "bench_tenant_own", "bench_tenant_hidden"
_KEYS = {OWN: "amgs_own", HIDDEN: "amgs_hidden"}
"""The tokens of two callers, each of whom may read and write the namespace of that name."""


def measure_tenants(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """Requests by the caller of one namespace that look for a secret of another: by its name in all disguises, by ids,
    searches, frames, packs, the journal, events, files. The control: the same requests by the secret's owner.
    """
    count = setup.effort.probes
    secret = setup.work / "secret.md"
    secret.write_text(hostile.SECRET, encoding="utf-8")
    tokens = setup.work / "tenants.toml"
    tokens.write_text(hostile.token_file(_KEYS), encoding="utf-8")
    with ExitStack() as stack:
        for name in _KEYS:
            stack.enter_context(setup.namespace(name.removeprefix("bench_")))
        words = ["--model", "tiny", "serve", "--port", "0", "--root", setup.server, "--tokens", str(tokens)]
        server = stack.enter_context(ServerProcess.start(words, setup.work / "tenants.log"))
        with server.client(_KEYS[HIDDEN]) as owner, server.client(_KEYS[OWN]) as other:
            block = owner.post("/v1/memory/ingest", json={"content": hostile.SECRET}).json()["added"][0]
            other.post("/v1/memory/ingest", json={"content": "The lighthouse is open on Sundays."})
            rig.progress(0, 2, "looking into another namespace")
            seen = hostile.escapes(other, HIDDEN, block, secret, count, rig.seed)
            rig.progress(1, 2, "the same by its owner")
            control = hostile.escapes(owner, HIDDEN, block, secret, count, rig.seed)
    metrics = {
        "tenant_probes": float(count),
        "tenant_seen": float(len(seen)),
        "tenant_seen_control": float(len(control)),
    }
    rows = (
        ("another's token", count, len(seen), "; ".join(seen[:3])),
        ("control: the owner's token", count, len(control), ""),
    )
    table = BenchTable("Looks into another namespace", ("who", "requests", "saw the secret", "which"), rows)
    return SubjectResult(metrics, {"tenant_seen": ("<=", 0.0), "tenant_seen_control": (">=", 1.0)}, (table,))
