"""The SDK against a real server: the specification's own lines, the names of Memory, and what happens when it fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import amgs
from amgs import AsyncMemoryClient, BlockFilter, MemoryClient, Weights


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


def test_answers_are_the_engines_own_values_and_filters_mean_the_same(address: str) -> None:
    with MemoryClient(address) as client:
        (told,) = client.ingest("Anna keeps the key.", source="log", meta={"room": "3"}).added
        raw = BlockFilter(statuses=("raw",), meta={"room": "3"})
        assert [hit.block for hit in client.search("key", filter=raw).hits] == [client.block(told)]
        assert client.search("key", filter=BlockFilter(meta={"room": "3"})).hits == ()
        (hit,) = client.search("key", filter=raw, weights=Weights(1, 0, 0, 0, 0)).hits
        explained = client.why("key", told, weights=Weights(1, 0, 0, 0, 0), top_k=1)
        assert hit.score == pytest.approx(explained.score, abs=1e-3)
        assert client.find("keeps the key")[0].id == told
        assert client.reinforce([told])[0].id == told
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
            client.using(namespace="cats").lifecycle.status()
    with pytest.raises(amgs.UnreachableError, match="does not answer"):
        MemoryClient("http://127.0.0.1:1", retries=0).lifecycle.status()


async def test_both_clients_have_the_same_methods_and_a_conversation_goes_through_them(address: str) -> None:
    messages = [{"role": "user", "content": "The regatta begins at noon."}, {"role": "assistant", "content": "Noted."}]
    plain, awaited = ({n for n in dir(c) if not n.startswith("_")} for c in (MemoryClient, AsyncMemoryClient))
    assert plain ^ awaited == {"close", "aclose"}
    async with AsyncMemoryClient(address) as client:
        for part in ("frame", "graph", "lifecycle", "plans", "conversation", "diagnosis"):
            of_plain = {n for n in dir(getattr(MemoryClient("http://127.0.0.1:1"), part)) if not n.startswith("_")}
            assert {n for n in dir(getattr(client, part)) if not n.startswith("_")} == of_plain
        assert (await client.conversation.add("talk", messages)).last == 2
        shown = await client.conversation.show("talk")
        assert [message.text for message in shown] == [message["content"] for message in messages]
        chosen = await client.conversation.optimise("talk", "when does the regatta begin?")
        assert any("noon" in str(message) for message in chosen.messages)


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
        assert client.call("status", writes=False, exact=True) == {}
    assert waited == [0.1, 7.0, 0.4]
    assert len(asked) == 4


def test_what_changes_the_memory_is_repeated_only_under_one_key() -> None:
    waited: list[float] = []
    with failing(503, 200) as (where, asked), MemoryClient(where, sleep=waited.append) as client:
        client.call("block set", exact=True, note="x", block="a")
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
