"""The SDK against a real server: the specification's own lines, the names of Memory, and what happens when it fails."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import amgs
from amgs import AsyncMemoryClient, BlockFilter, MemoryClient, Weights
from amgs.api.entities import Entities
from amgs.api.sources import SourceLibrary
from amgs.client import async_memory_client, memory_client
from amgs.client.ask import Ask
from amgs.client.methods import ClientMethod
from amgs.wing_registry import loaded, wings
from tests.service.serving import served


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("sdk")
    with served(folder / "notes.duckdb") as given:
        yield given


def test_the_lines_of_the_specification_run_as_they_stand(address: str) -> None:
    with MemoryClient(base_url=address) as client:
        # Ingest
        block = client.ingest("Python's GIL prevents true thread parallelism")
        # Search
        results = client.search("concurrency in Python", top_k=5)
        assert [hit.block.id for hit in results.hits] == [block.id]
        # Assemble a frame
        client.frame.assemble("SELF")
        client.lifecycle.consolidate()
        session = client.frame.assemble("SESSION")  # composite
        assert block.id in [each.block.id for each in session.selected]
        # Graph inspection
        neighbours = client.graph.neighbours(block.id, hops=2)
        assert [each.id for each in neighbours.blocks] == [block.id]
        # Lifecycle
        done = client.lifecycle.consolidate()
        assert (done.blocks, done.operations) == (0, ())
        assert client.lifecycle.status().blocks == {"consolidated": 1}


async def test_the_same_calls_can_be_awaited(address: str) -> None:
    async with AsyncMemoryClient(address) as client:
        taken = await client.ingest(["The Heron has a new mast.", "The Gull has none."])
        assert (len(taken.added), taken.durable_at is not None) == (2, True)
        await client.lifecycle.consolidate()
        frame = await client.context("which boat has a mast?")
        verdict = await client.feedback(frame.selected[0].block.id, useful=True, assembly_id=frame.id)
        assert verdict.actual == 1


def test_answers_are_the_engines_own_values_and_filters_mean_the_same(address: str) -> None:
    with MemoryClient(address) as client:
        (told,) = client.ingest_text("Anna keeps the key.", meta={"source": "log", "room": "3"}).added
        raw = BlockFilter(statuses=("raw",), meta={"room": "3"})
        assert [hit.block for hit in client.search("key", filter=raw).hits] == [client.block(told)]
        assert client.search("key", filter=BlockFilter(meta={"room": "3"})).hits == ()
        (hit,) = client.search("key", filter=raw, weights=Weights(1, 0, 0, 0, 0)).hits
        explained = client.why("key", told, weights=Weights(1, 0, 0, 0, 0), top_k=1)
        assert hit.score == pytest.approx(explained.score, abs=1e-3)
        changed = client.set_metadata(told, category="person", meta={"room": "", "floor": "2"})
        assert (changed.category, changed.meta.get("room"), changed.meta["floor"]) == ("person", None, "2")
        assert client.undo(client.operations(1)[0].id).undone
        assert client.block(told).meta["room"] == "3"
        with pytest.raises(amgs.UsageError, match="conditions"):
            client.search("key", filter=BlockFilter(current=True))


def test_what_the_engine_raises_is_raised_here(address: str) -> None:
    with MemoryClient(address) as client:
        with pytest.raises(amgs.UnknownBlockError):
            client.block("../../ffff")
        with pytest.raises(amgs.UnknownFrameError) as refused:
            client.assemble("NOWHERE")
        assert refused.value.way_out
        with pytest.raises(amgs.UsageError):
            client.search("key", top_k=0)
        with pytest.raises(amgs.NotFoundError):
            client.using(namespace="cats").status()
    with pytest.raises(amgs.UnreachableError, match="does not answer"):
        MemoryClient("http://127.0.0.1:1", retries=0).status()


def test_a_plan_is_applied_only_to_the_memory_that_it_was_made_from(address: str) -> None:
    with MemoryClient(address) as client:
        client.ingest("The shed has a new lock.")
        stale = client.plans.consolidate()
        client.ingest("The key to the lock hangs in the hall.")
        with pytest.raises(amgs.StaleError, match="ingest") as refused:
            client.plans.apply(stale)
        assert refused.value.changed == client.operations(1)
        plan = client.plans.consolidate()
        done = client.plans.apply(plan)
        assert done.operation.blocks == len(plan.plan.items)
        assert client.plans.journal(limit=1).operations == (done.operation,)
        assert client.plans.undo(done.operation.id).undone


def test_sources_are_brought_up_to_date_and_futures_drawn(address: str) -> None:
    with MemoryClient(address) as client:
        client.ingest("The ferry leaves at nine.", source="ferry.md")
        (ferry,) = client.sources.list("ferry")
        assert client.sources.plan_text(ferry.name, "The ferry leaves at ten.").sources == 1
        client.sources.update(ferry.name, "The ferry leaves at ten.")
        assert [piece.until is None for piece in client.sources.history(ferry.name)].count(True) == 1
        assert client.simulation.insert("The ferry is late.", draws=4).draws == 4
        assert client.simulation.stability(draws=4).draws == 4


def test_a_missed_fact_is_diagnosed_and_mended_over_the_wire(address: str) -> None:
    fact, question = "The tide at Faro turns at seven", "When does the tide turn at Faro?"
    with MemoryClient(address) as client:
        client.ingest(f"{fact}.")
        found = client.diagnosis.diagnose("At nine", fact, question=question, frame="ATTENTION", questions=1)
        assert (found.cause, found.trial and found.trial.fix.kind) == ("not consolidated", "consolidate")
        done = client.diagnosis.fix("At nine", fact, question=question, frame="ATTENTION", questions=1)
        again = client.diagnosis.diagnose("", fact, question=question, frame="ATTENTION", questions=0)
        assert again.cause == "in the context"
        assert client.undo(done.operations[0].id).undone


# --- the names of Memory ---------------------------------------------------------------------------------

NOT_SERVED = {
    "where files lie, or what one process holds": {
        "clock", "close", "discard", "embed", "ingest_file", "ingest_folder", "keep", "kept", "load", "namespaces",
        "open", "path", "settings", "space", "transaction",
    },
    "needs rows of the store, not an answer": {
        "blocks", "change_counter", "committed_changes", "count", "earliest", "edges", "gather", "has_source",
        "ingest_many", "last_event", "nearest", "resolve_source", "titles", "entity_names",
    },
    "a value too large for a request, or in another form": {
        "apply_consolidation", "consolidate_in_batches", "define_frame",
    },
    "a part that is about files": {"exchange"},
    "a stream of its own, GET /v1/events": {"changes"},
}  # fmt: skip
OTHERWISE = {"reinforce"}
"""Memory is told there who reinforces; the service knows its caller."""


THERE = {"made", "central", "supposed", "related", "limit", "seed", "questions"}
"""Arguments of the engine's parts that the service chooses itself."""


def described(cls: type) -> dict[str, Callable[..., Ask[object]]]:
    found = {name: inspect.getattr_static(cls, name) for name in dir(cls)}
    return {name: each.described for name, each in found.items() if isinstance(each, ClientMethod)}


def parts(module: object) -> dict[str, dict[str, Callable[..., Ask[object]]]]:
    found = {name.removeprefix("Async"): cls for name, cls in vars(module).items() if name.endswith("Calls")}
    return {name: described(cls) for name, cls in found.items()}


def test_both_clients_are_made_of_the_same_requests() -> None:
    assert described(MemoryClient) == described(AsyncMemoryClient)
    assert parts(memory_client) == parts(async_memory_client)
    plain, later = ({n for n in dir(c) if not n.startswith("_")} for c in (MemoryClient, AsyncMemoryClient))
    assert plain ^ later == {"close", "aclose"}


@pytest.mark.parametrize("name", sorted(n for n in dir(amgs.Memory) if not n.startswith("_")))
def test_the_client_has_every_name_of_memory_with_the_same_arguments(name: str) -> None:
    left_out = set().union(*NOT_SERVED.values())
    if name in left_out:
        assert not hasattr(MemoryClient, name) or name == "close"
    elif isinstance(vars(amgs.Memory).get(name, inspect.getattr_static(amgs.Memory, name)), property):
        assert isinstance(inspect.getattr_static(MemoryClient, name), property)
    elif name not in OTHERWISE:
        # What is asked of a service is kept, so that an operator can ask why.
        same_arguments(getattr(amgs.Memory, name), described(MemoryClient)[name], missing={"keep"})


@pytest.mark.parametrize(
    ("engine", "client"),
    [
        (amgs.Frames, "FramesCalls"),
        (Entities, "EntitiesCalls"),
        (amgs.Conversations, "ConversationsCalls"),
        (amgs.GatewayLog, "GatewayLogCalls"),
        (amgs.Graph, "GraphCalls"),
        (amgs.Lifecycle, "LifecycleCalls"),
        (amgs.Calibration, "CalibrationCalls"),
        (amgs.Simulation, "SimulationCalls"),
        (SourceLibrary, "SourcesCalls"),
        (amgs.Diagnosing, "DiagnosisCalls"),
        *((loaded(wing.part), wing.calls) for wing in wings().values()),
    ],
)
def test_where_a_part_of_memory_has_a_name_its_arguments_are_the_same(engine: type, client: str) -> None:
    compared = 0
    for name, call in parts(memory_client)[client].items():
        if hasattr(engine, name) and name not in OTHERWISE:
            same_arguments(
                getattr(engine, name),
                call,
                missing={
                    "made",
                    "central",
                    "supposed",
                    "related",
                    "limit",
                    "seed",
                    "questions",
                    "log",
                    "read",
                    "model",
                    "shown",
                    "beside",
                },
            )
            compared += 1
    # Of calibration `Memory` itself says all but the plan, and is compared above.
    assert compared >= (1 if engine is amgs.Calibration else 2)


def same_arguments(
    engine: Callable[..., object],
    call: Callable[..., object],
    missing: set[str] = frozenset(),  # type: ignore[assignment]
) -> None:
    ours = list(inspect.signature(call).parameters.values())
    theirs = [
        each
        for name, each in inspect.signature(engine).parameters.items()
        if name not in ("self", "progress") and not (name in missing and name not in {p.name for p in ours})
    ]
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


# --- trying again ----------------------------------------------------------------------------------------


@contextmanager
def failing(*statuses: int, body: bytes = b"{}") -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server that answers with these status codes in turn, 0 for a connection cut short, and what it was asked."""
    asked: list[tuple[str, str]] = []
    left = list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append((self.path, self.headers.get("Idempotency-Key", "")))
            status = left.pop(0)
            if status == 0:
                self.connection.close()
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.amgs+json")
            if status == 429:
                self.send_header("Retry-After", "7")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        do_GET = do_POST  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


def test_a_question_is_asked_again_with_growing_waits_and_as_the_service_says() -> None:
    waited: list[float] = []
    with (
        failing(503, 429, 0, 200) as (where, asked),
        MemoryClient(where, sleep=waited.append, chance=lambda: 0.0) as client,
    ):
        assert client.call("health", writes=False, packages={"amgs"}) == {}
    assert waited == [0.1, 7.0, 0.4]
    assert len(asked) == 4


def test_what_changes_the_memory_is_repeated_only_under_one_key() -> None:
    waited: list[float] = []
    with failing(503, 200) as (where, asked), MemoryClient(where, sleep=waited.append) as client:
        client.call("block note", packages={"amgs"}, text="x", block="a")
    keys = {key for _, key in asked}
    assert (len(asked), len(keys), "" in keys) == (2, 1, False)


async def test_it_gives_up_and_says_what_happened() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    with failing(502, 502, 502, body=b"<html>") as (where, asked):
        async with AsyncMemoryClient(where, retries=2, sleep=sleep, chance=lambda: 1.0) as client:
            with pytest.raises(amgs.ServiceError, match="502"):
                await client.search("mast")
    assert (len(asked), waited) == (3, [0.2, 0.4])
