"""What `amgs serve --otlp` and `amgs gateway --otlp` tell is what `amgs record` takes in."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs.errors import UsageError
from amgs.sessions.formats.otlp import session_of
from amgs.sessions.spans import RecordedSpan, join_contents
from amgs.types.conversation import ToolCall
from amgs.types.gateway import GatewayExchange, Usage
from amgs.wings.recorder.bodies import SpanReader, contents_of
from amgs.wings.recorder.foreign_memory import memory_of
from amgs.wings.recorder.receiver import SpanReceiver
from amgs_app.gateway.formats import Spoken
from amgs_app.server.hosting import Namespaces
from amgs_app.server.service import create_app
from amgs_app.server.span_export import SpanExport
from tests.service.serving import client, options, running
from tests.wings.recorder.conftest import NOW


def taken(tmp_path: Path) -> tuple[RecordedSpan, ...]:
    return join_contents(list(contents_of(SpanReader(tmp_path).new())))


@pytest.mark.parametrize("content", [True, False])
def test_a_served_memory_is_watched_like_any_other(receiver: SpanReceiver, tmp_path: Path, content: bool) -> None:
    import socket

    namespaces = Namespaces(options(tmp_path / "m.duckdb"))
    namespaces.spans = SpanExport(receiver.address, content=content)
    listening = socket.create_server(("127.0.0.1", 0))
    with running(create_app(namespaces), listening) as address, client(address) as asking:
        added = asking.post("/v1/memory/ingest", json={"content": "The beds are watered every 9 hours."}).json()
        found = asking.post("/v1/memory/search", json={"query": "when are the beds watered?"})
        assert found.status_code == 200, found.text
        asking.delete(f"/v1/memory/{added['added'][0]}")
    found_memory = memory_of(taken(tmp_path))
    assert [one.act for one in found_memory.operations] == ["create", "search", "delete"]
    search = found_memory.searches()[0]
    assert search.count == 1 and search.store == "default"
    if content:
        assert search.query == "when are the beds watered?"
        (one,) = search.records
        assert one.content == "The beds are watered every 9 hours." and one.score and one.id == added["added"][0]
        assert [one.deleted is not None for one in found_memory.records] == [True]
    else:
        assert not search.query and not search.records


def test_an_exchange_of_the_gateway_is_a_session(receiver: SpanReceiver, tmp_path: Path) -> None:
    export = SpanExport(f"{receiver.address}/v1/traces", content=True)
    exchange = GatewayExchange(
        1, NOW, "garden", "/v1/messages", "m", "beds?", 3, None, "", "At 18:00.", "answered", 200, 0, 1.0, 2.0, 3.0,
        usage=Usage(20, 0, 80, 5),
    )  # fmt: skip
    spoken = [
        Spoken("user", "When are the beds watered?", 0),
        Spoken("assistant", "", 1, calls=(ToolCall("call_1", "read", "{}"),)),
        Spoken("tool", "at 18:00", 2, answers="call_1"),
    ]
    export.export_exchange(exchange, spoken)
    export.close()
    session = session_of(taken(tmp_path), tmp_path, "garden")
    assert [(turn.role, turn.kind) for turn in session.turns] == [
        ("user", "said"),
        ("assistant", "call"),
        ("tool", "result"),
        ("assistant", "said"),
    ]
    assert session.turns[-1].usage == Usage(20, 0, 80, 5)
    assert memory_of(taken(tmp_path)).answers[0].words == "At 18:00."


def test_a_collector_that_is_away_keeps_nobody_waiting() -> None:
    export = SpanExport("http://127.0.0.1:1", content=False)
    export.export_result("default", "block delete", None, 0.1)
    export.close()
    assert export.dropped == 1
    with pytest.raises(UsageError, match="no address of a collector"):
        SpanExport("127.0.0.1:4318")
