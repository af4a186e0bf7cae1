"""A language model behind OpenAI's interface: a scripted server with every fault, and this program's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amgs.errors import ModelError, UsageError
from amgs_app.engine import Engine, Options
from amgs_app.models import model_server
from amgs_app.models.model_server import ModelServer
from amgs_app.settings import every_setting
from tests.gateway.recorder import Recorder
from tests.service.serving import NOW

OPENED: list[ModelServer] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def opened(address: str, key: str = "", **more: Any) -> ModelServer:
    OPENED.append(ModelServer(address, key, **more))
    return OPENED[-1]


def test_a_prompt_goes_out_with_the_key_and_the_text_comes_back(fresh: Recorder) -> None:
    server = opened(f"{fresh.address}/v1#small", "sk-mine")
    assert server.write("Weather?", 7) == "Sunny."
    assert fresh.last == {
        "model": "small",
        "messages": [{"role": "user", "content": "Weather?"}],
        "max_tokens": 7,
        "temperature": 0,
    }
    assert fresh.headers[0]["authorization"] == "Bearer sk-mine"
    opened(f"{fresh.address}#small").write("Weather?", 7)
    assert "authorization" not in fresh.headers[1]


def test_without_a_name_the_first_model_that_is_listed_is_asked(fresh: Recorder) -> None:
    fresh.answer |= {"data": [{"id": "first"}, {"id": "second"}]}
    server = opened(fresh.address)
    assert server.write("Weather?", 7) == "Sunny."
    assert server.name == fresh.last["model"] == "first"


@pytest.mark.parametrize(
    "answer", ["{}", "[]", '{"choices": []}', '{"choices": [{"message": {"content": null}}]}', "no JSON", "[" * 100_000]
)
def test_an_answer_of_another_form_is_an_error(answer: str) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, text=answer))
    with pytest.raises(ModelError):
        opened("http://model#m", transport=transport).write("Weather?", 7)


def test_a_server_that_refuses_is_an_error_and_one_that_is_silent_is_left_alone(
    fresh: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.status = 500
    server = opened(f"{fresh.address}#m", seconds=0.3)
    with pytest.raises(ModelError, match="500"):
        server.write("Weather?", 7)
    fresh.status, fresh.seconds = 200, 2.0
    with pytest.raises(ModelError, match="does not answer"):
        server.write("Weather?", 7)
    asked = len(fresh.sent)
    with pytest.raises(ModelError, match="a moment ago"):
        server.write("Weather?", 7)
    assert len(fresh.sent) == asked
    fresh.seconds = 0.0
    monkeypatch.setattr(model_server, "REST", 0.0)
    server._rests_until = 0.0
    assert server.write("Weather?", 7) == "Sunny."


def test_an_answer_that_trickles_or_never_ends_is_given_up(fresh: Recorder) -> None:
    fresh.pieces, fresh.pause = ["x" * 10] * 100, 0.1
    with pytest.raises(ModelError):
        opened(f"{fresh.address}#m", seconds=0.5).write("Weather?", 7)
    fresh.pieces, fresh.pause = ["x" * 500_000] * 10, 0.0
    with pytest.raises(ModelError):
        opened(f"{fresh.address}#m").write("Weather?", 7)


@pytest.mark.parametrize(
    "address", ["own", "ftp://host", "http://", "https://me:secret@host/v1", "http://h?key=secret"]
)
def test_an_address_that_is_none_or_holds_a_key_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(UsageError) as refused:
        ModelServer(address)
    assert "secret" not in str(refused.value)


def test_the_key_stands_in_the_environment_alone(
    fresh: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(model_server.KEY, "sk-mine")
    monkeypatch.setenv("AMGS_MODEL__SERVER", f"{fresh.address}#small")
    assert "sk-mine" not in repr(every_setting())
    with Engine(Options(store=str(tmp_path / "a.duckdb"), model="tiny", now=NOW)) as engine:
        assert engine.memory.status().blocks == {}
        assert engine.model_server is not None and engine.model_server.write("?", 1) == "Sunny."
        assert fresh.headers[-1]["authorization"] == "Bearer sk-mine"
    assert not any(b"sk-mine" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
