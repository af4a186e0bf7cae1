"""`service`: what the service promises, measured on a real server over loopback.

How soon the workstation is there when it is opened on a served memory.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import httpx2

from amgs.errors import AmgsError
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import prepare
from benchmarks.measures import quantile
from benchmarks.service import hostile
from benchmarks.service.day import DayEffort, live_a_day
from benchmarks.service.kills import kill_beside_readers
from benchmarks.service.load import CLIENTS, Load, at_most, at_rate
from benchmarks.service.process import ServerProcess
from benchmarks.service.stages import stage_table
from benchmarks.stores import open_memory
from benchmarks.terminal import Terminal

BARE: Final = "benchmarks.service.bare_server"
STARTS: Final = 5
PATIENCE: Final = 120.0


def first_paint(address: str, starts: int = STARTS) -> dict[str, float]:
    """Milliseconds from the start of the process, medians: until the screen is drawn whole, and until the served
    memory's own figures stand in it.
    """
    painted, ready = list[float](), list[float]()
    for _ in range(starts):
        with Terminal(["--connect", address], 120, 40) as terminal:
            for sign, times in (("quit", painted), (r"[\d,]+ blocks?\b", ready)):
                if terminal.wait(sign, PATIENCE) is None:
                    raise AmgsError("The attached workstation did not draw the served memory.")
                times.append((perf_counter() - terminal.began) * 1000)
    return {"attach_first_paint_ms": statistics.median(painted), "attach_ready_ms": statistics.median(ready)}


BENCH = Bench(
    "service",
    {
        "rate_held": (">=", 100.0),
        "assemble_p95_ms": ("<=", 150.0),
        "answer_kb": ("<=", 20.0),
        "of_bare": (">=", 0.8),
        "search_p95_ms": ("<=", 120.0),
        "errors": ("<=", 0.0),
        "lost": ("<=", 0.0),
        "read_p95_ms_while_consolidating": ("<=", 150.0),
        "lost_after_kill": ("<=", 0.0),
        "stale_reads": ("<=", 0.0),
        "day_errors": ("<=", 0.0),
        "day_memory_growth": ("<=", 0.1),
        "day_left_blocks": ("<=", 0.0),
        "server_errors": ("<=", 0.0),
        "escaped": ("<=", 0.0),
        "sdk_overhead": ("<=", 0.20),
        "mcp_definition_tokens": ("<=", 1200.0),
        "event_lag_p95_ms": ("<=", 250.0),
        "attach_first_paint_ms": ("<=", 1000.0),
    },
)
SEED = 7
RATES = (100.0, 80.0, 60.0, 50.0, 40.0, 30.0, 20.0, 15.0, 10.0, 5.0)
"""Requests a second that are tried, the goal's first, until the machine holds one."""
QUESTIONS = 6000
"""More than are asked: none comes twice, so that no answer is remembered."""
HELD_P95 = 120.0
"""A rate is held when all is answered without an error and 95 % of the searches within so many milliseconds."""


@dataclass(frozen=True, slots=True)
class ServiceEffort:
    """How much is done: blocks of the store under load, seconds at each rate, kills, examples of the schema, attempts
    to escape, calls by which the SDK is compared, raw blocks that are consolidated while searches go on, a day's work.
    """

    blocks: int = 100_000
    seconds: float = 20.0
    kills: int = 200
    examples: int = 2000
    escapes: int = 500
    calls: int = 300
    raw: int = 500
    sample: int = 3000
    day: DayEffort = field(default_factory=DayEffort)


def run(
    rig: MemoryRig, data: Path, work: Path, *, effort: ServiceEffort = ServiceEffort(), model: str = "smollm2"
) -> BenchResult:
    """Measure a server on a store made from the books in `data`; every server is ended before it returns."""
    books = Books(data)
    work.mkdir(parents=True, exist_ok=True)
    shared = ("--model", model)
    metrics: dict[str, float] = {}
    rig.progress(0, 7, "filling a store")
    store = prepare(books, effort.blocks, work, rig.embedder, sample=effort.sample, seed=SEED, progress=rig.progress)
    copy = work / "served.duckdb"
    _copied(store.path, copy)
    questions = books.queries(QUESTIONS, SEED)
    tables = []
    with open_memory(rig, copy, NOW) as memory:
        tables.append(stage_table(memory, questions[-120:]))
    with ServerProcess.start([str(copy), str(work / "bm25s")], work / "bare.log", BARE) as bare:
        at_most(bare.address, 2.0, questions[-220:-120])
        metrics["bare_a_second"] = at_most(bare.address, effort.seconds, questions)
    asked_for = work / "load.toml"
    asked_for.write_text("[memory.consolidation]\nautomatic_served = false\n", encoding="utf-8")
    with _server(work, "--settings", str(asked_for), "--store", str(copy), *shared) as server:
        # Nothing is consolidated but where that is what is measured.
        rig.progress(1, 7, "asking from 32 clients")
        at_most(server.address, 2.0, questions[-220:-120])
        metrics["searches_a_second"] = at_most(server.address, effort.seconds, questions)
        metrics["of_bare"] = metrics["searches_a_second"] / metrics["bare_a_second"]
        found, table = _under_load(server, questions, effort, rig)
        metrics |= found
        tables.append(table)
        rig.progress(2, 7, "asking while a consolidation runs")
        metrics["read_p95_ms_while_consolidating"] = _while_consolidating(server, questions, effort)
        metrics["event_lag_p95_ms"] = _event_lag(server)
        metrics |= first_paint(server.address)
        metrics["sdk_overhead"] = _sdk_overhead(server, questions, effort.calls)
        metrics["mcp_definition_tokens"] = float(_definition_tokens(server, rig.count_tokens))
    small = work / "small.duckdb"
    rig.progress(3, 7, "killing it beside readers")
    _removed(small)
    killed = kill_beside_readers(
        lambda: _server(work, "--store", str(small), *shared),
        effort.kills,
        lambda number: rig.progress(number, effort.kills, "killing it beside readers"),
        seed=SEED,
    )
    metrics |= {
        "lost_after_kill": float(len(killed.missing)),
        "acknowledged_before_kills": float(len(killed.acknowledged)),
        "stale_reads": float(len(killed.stale)),
        "reads_beside_kills": float(killed.reads),
        "verified_after_kills": float(killed.sound),
    }
    rig.progress(4, 7, "trying to escape from a namespace")
    metrics["escaped"] = float(len(_escaped(work, shared, effort.escapes)))
    rig.progress(5, 7, "asking all that the schema allows")
    _removed(small)
    with _tokened(work, shared) as server:
        report = hostile.probe_schema(server.address, _KEYS["own"], effort.examples, SEED, work)
    metrics |= {"schema_cases": float(report.cases), "server_errors": float(report.server_errors)}
    rig.progress(6, 7, "living a day")
    day_store = work / "day.duckdb"
    _removed(day_store)
    hours = effort.day.hours
    day = live_a_day(day_store, model, questions, effort.day, lambda hour: rig.progress(hour, hours, "living a day"))
    metrics |= day.metrics()
    tables.append(day.table())
    settings = {
        "blocks": effort.blocks,
        "clients": CLIENTS,
        "seconds": effort.seconds,
        "kills": effort.kills,
        "escapes": effort.escapes,
        "books": data.name,
    }
    return BENCH.result(settings, metrics, tuple(tables))


def _server(work: Path, *words: str) -> ServerProcess:
    return ServerProcess.start([*words, "serve", "--port", "0"], work / "server.log")


def _removed(store: Path) -> None:
    for each in store.parent.glob(f"{store.name}*"):
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def _copied(store: Path, to: Path) -> None:
    """The store with all that is derived from it, so that the kept one stays as it is."""
    _removed(to)
    for each in store.parent.glob(f"{store.name}*"):
        target = to.with_name(to.name + each.name.removeprefix(store.name))
        shutil.copytree(each, target) if each.is_dir() else shutil.copy2(each, target)


def _under_load(
    server: ServerProcess, questions: Sequence[str], effort: ServiceEffort, rig: MemoryRig
) -> tuple[dict[str, float], BenchTable]:
    """The highest rate that is held, and what each rate that was tried gave."""
    with server.client(timeout=300) as http:
        sizes = [0]
        for question in questions[-20:]:
            http.post("/v1/memory/search", json={"query": question})
            answer = http.post("/v1/frame/assemble", json={"name": "ATTENTION", "query": question})
            sizes.append(len(answer.content))
    rows: list[tuple[str | float, ...]] = []
    best: Load | None = None
    held = False
    acknowledged: list[str] = []
    asked = 0
    for number, rate in enumerate(RATES):
        rig.progress(1, 7, f"asking {rate:.0f} times a second")
        fresh = [*questions[asked:], *questions[:asked]]
        load = at_rate(server.address, rate, effort.seconds, fresh, seed=SEED + number)
        asked = (asked + int(rate * effort.seconds)) % len(questions)
        acknowledged += load.acknowledged
        searches = load.milliseconds.get("search", [])
        p95 = quantile(searches, 0.95)
        rows.append(
            (
                f"{rate:.0f}",
                load.answered,
                quantile(searches, 0.5),
                p95,
                quantile(load.milliseconds.get("assemble", []), 0.95),
                quantile(load.milliseconds.get("ingest", []), 0.95),
                float(len(load.errors)),
            )
        )
        best = load
        held = not load.errors and p95 <= HELD_P95
        if held:
            break
    assert best is not None
    with server.client() as http:
        missing = sum(http.get(f"/v1/memory/{each}").status_code != 200 for each in acknowledged)
    searches = best.milliseconds.get("search", [])
    metrics = {
        "rate_held": best.rate if held else 0.0,
        "assemble_p95_ms": quantile(best.milliseconds.get("assemble", []), 0.95),
        "answer_kb": quantile(sizes, 0.95) / 1000.0,
        "search_p50_ms": quantile(searches, 0.5),
        "search_p95_ms": quantile(searches, 0.95),
        "errors": float(len(best.errors)),
        "lost": float(missing),
        "acknowledged": float(len(acknowledged)),
    }
    columns = ("a second", "answered", "search p50 ms", "search p95 ms", "assemble p95 ms", "ingest p95 ms", "errors")
    return metrics, BenchTable("Mixed load by rate", columns, tuple(rows))


def _while_consolidating(server: ServerProcess, questions: Sequence[str], effort: ServiceEffort) -> float:
    """The 95th percentile of searches, one client, while the inbox is worked off; not a number where it ended first."""
    with server.client(timeout=600) as http:
        texts = [f"Entry {n} of the log: {questions[n % len(questions)]}" for n in range(effort.raw)]
        http.post("/v1/memory/ingest", json={"content": texts})
    ended = threading.Event()

    def consolidate() -> None:
        with server.client(timeout=900) as other:
            other.post("/v1/lifecycle/consolidate", json={})
        ended.set()

    worker = threading.Thread(target=consolidate)
    worker.start()
    took = []
    with server.client(timeout=120) as http:
        for question in questions:
            if ended.is_set():
                break
            begun = time.perf_counter()
            http.post("/v1/memory/search", json={"query": question})
            took.append(1000 * (time.perf_counter() - begun))
            time.sleep(0.05)
    worker.join(timeout=900)
    return quantile(took, 0.95)


def _event_lag(server: ServerProcess, changes: int = 60) -> float:
    """From the acknowledgement of an ingest to its event at another client, the 95th percentile in milliseconds."""
    seen: dict[int, float] = {}
    ready = threading.Event()

    def listen() -> None:
        with (
            httpx2.Client(base_url=server.address, timeout=60, trust_env=False) as http,
            http.stream("GET", "/v1/events") as stream,
        ):
            ready.set()
            for line in stream.iter_lines():
                if line.startswith("id:"):
                    seen[int(line[3:])] = time.perf_counter()
                if len(seen) >= changes:
                    return

    worker = threading.Thread(target=listen, daemon=True)
    worker.start()
    ready.wait(30)
    time.sleep(0.3)
    acknowledged = {}
    with server.client() as http:
        for number in range(changes):
            answer = http.post("/v1/memory/ingest", json={"content": f"Signal {number} from the pier."})
            acknowledged[int(answer.headers["AMGS-Change"])] = time.perf_counter()
            time.sleep(0.02)
    worker.join(timeout=30)
    lags = [1000 * max(0.0, seen[change] - at) for change, at in acknowledged.items() if change in seen]
    return quantile(lags, 0.95) if len(lags) == changes else float("nan")


def _sdk_overhead(server: ServerProcess, questions: Sequence[str], calls: int) -> float:
    """How much longer a search takes by MemoryClient than by the HTTP client below it, as a share; the same questions
    in turn, medians.
    """
    from amgs import MemoryClient

    raw: list[float] = []
    own: list[float] = []
    with server.client() as http, MemoryClient(base_url=server.address) as client:
        for number in range(calls):
            question = questions[number % len(questions)]
            client.search(question, top_k=5)  # the server remembers what a question means: both find it so
            begun = time.perf_counter()
            http.post("/v1/memory/search", json={"query": question, "top_k": 5}).json()
            between = time.perf_counter()
            client.search(question, top_k=5)
            raw.append(between - begun)
            own.append(time.perf_counter() - between)
    return statistics.median(own) / statistics.median(raw) - 1.0


def _definition_tokens(server: ServerProcess, count: Callable[[str], int]) -> int:
    """Tokens of the MCP tools' definitions as an agent gets them."""
    from mcp import Client

    async def ask() -> list[dict[str, Any]]:
        async with Client(f"{server.address}/mcp") as client:
            found = await client.list_tools()
            return [each.model_dump(exclude_none=True, by_alias=True) for each in found.tools]

    return count(json.dumps(asyncio.run(ask())))


_KEYS = {"own": "amgs_own", "other": "amgs_other"}
"""The tokens of two callers, each of whom may read and write the namespace of that name."""


def _tokened(work: Path, shared: Sequence[str]) -> ServerProcess:
    """A server with two empty namespaces and a token for each."""
    root, tokens = work / "namespaces", work / "tokens.toml"
    shutil.rmtree(root, ignore_errors=True)
    tokens.write_text(hostile.token_file(_KEYS), encoding="utf-8")
    words = [*shared, "serve", "--port", "0", "--root", str(root), "--tokens", str(tokens)]
    return ServerProcess.start(words, work / "server.log")


def _escaped(work: Path, shared: Sequence[str], count: int) -> list[str]:
    """What a caller of the namespace `own` saw of the namespace `other`, or of the machine."""
    secret = work / "secret.md"
    secret.write_text(hostile.SECRET, encoding="utf-8")
    with _tokened(work, shared) as server:
        with server.client(_KEYS["other"]) as other:
            block = other.post("/v1/memory/ingest", json={"content": hostile.SECRET}).json()["added"][0]
            if hostile.SECRET not in other.get(f"/v1/memory/{block}").text:
                raise RuntimeError("The owner does not see its own text: nothing would be measured.")
        with server.client(_KEYS["own"]) as own:
            own.post("/v1/memory/ingest", json={"content": "The lighthouse is open on Sundays."})
            return hostile.escapes(own, "other", block, secret, count, SEED)
