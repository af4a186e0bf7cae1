"""What goes wrong around the gateway, and what it does not understand: the agent loses nothing by it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from backports import zstd

from amgs_app.gateway import forwarding
from amgs_app.gateway import upstream as upstreams
from tests.gateway.recorder import Recorder, gateway, operated, recorded
from tests.service.serving import client

Asked = list[dict[str, Any]]


@pytest.fixture
def world(fresh: Recorder, limited: str) -> tuple[Recorder, str]:
    return fresh, limited


def ended(address: str, number: str) -> dict[str, Any]:
    """A request through the gateway, once it is recorded."""
    recorded(address, int(number))
    return operated(address, "conversation_exchanges", number=int(number))


def held(address: str, conversation: str) -> list[str]:
    return [one["text"] for one in operated(address, "conversation_show", conversation=conversation)["messages"]]


def ask(address: str, messages: Asked, path: str = "/v1/chat/completions", **more: Any) -> httpx2.Response:
    with client(address) as asking:
        return asking.post(path, json={"model": "m", "messages": messages, **more})


def said(text: str) -> str:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


def long() -> Asked:
    made: Asked = []
    for n in range(30):
        made.append({"role": "user", "content": f"What does the motor of dome {n} draw, and since when?"})
        made.append({"role": "assistant", "content": f"Dome {n} draws {n + 10} ampere since the {n}th of May."})
    return [*made, {"role": "user", "content": "What did dome 3 draw?"}]


def test_a_stream_that_is_cut_breaks_off_for_the_agent_and_is_not_kept(world: tuple[Recorder, str]) -> None:
    upstream, address = world
    upstream.pieces, upstream.cut = [said("Half a ")], True
    with client(address) as asking:
        given = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Cut?"}]}
        with asking.stream("POST", "/v1/chat/completions", json=given) as answer:
            with pytest.raises(httpx2.RemoteProtocolError):
                for _ in answer.iter_raw():
                    pass
            number = answer.headers["amgs-exchange"]
    seen = ended(address, number)
    assert (seen["outcome"], seen["said"], seen["answered"]) == ("broken off", "Half a ", 0)
    assert held(address, seen["conversation"]) == ["Cut?"]


def test_an_agent_that_goes_away_leaves_the_gateway_as_it_was(world: tuple[Recorder, str]) -> None:
    upstream, address = world
    upstream.pieces, upstream.pause = [said(f"{n} ") for n in range(400)], 0.02
    with client(address) as asking:
        given = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Away?"}]}
        with asking.stream("POST", "/v1/chat/completions", json=given) as answer:
            next(answer.iter_raw())
            number = answer.headers["amgs-exchange"]
    assert ended(address, number)["outcome"] == "broken off"
    upstream.pieces = []
    again = ask(address, [{"role": "user", "content": "Away?"}])
    seen = ended(address, again.headers["amgs-exchange"])
    assert seen["outcome"] == "answered" and held(address, seen["conversation"]) == ["Away?", "Sunny."]


def test_a_server_that_is_too_slow_is_a_502_and_what_is_no_event_is_passed_over(
    world: tuple[Recorder, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream, address = world
    upstream.seconds = 3.0
    monkeypatch.setattr(upstreams, "ANSWER_SECONDS", 0.2)
    with gateway(upstream.address, 0, tmp_path / "a.duckdb") as impatient:
        late = ask(impatient, [{"role": "user", "content": "Slow?"}])
        assert late.status_code == 502 and "does not answer" in late.json()["error"]["message"]
        assert ended(impatient, late.headers["amgs-exchange"])["outcome"] == "unreachable"
    upstream.seconds = 0.0
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 77}}\n\n'
    odd_ones = ["data: {oops\n\n", ": hello\n\n", "data: [1]\n\nevent: x\n\n"]
    upstream.pieces = [*odd_ones, said("Fine."), usage, "data: [DONE]\n\n"]
    odd = ask(address, [{"role": "user", "content": "Odd?"}], stream=True, stream_options={"include_usage": True})
    assert odd.content.decode() == "".join(upstream.pieces), "the agent gets every byte"
    assert upstream.last["stream_options"] == {"include_usage": True}
    seen = ended(address, odd.headers["amgs-exchange"])
    assert (seen["said"], seen["outcome"], seen["counted"]) == ("Fine.", "answered", 77)


def test_what_is_no_text_goes_on_whole(world: tuple[Recorder, str]) -> None:
    upstream, address = world
    asked = long()
    picture = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "never_heard_of", "x": [1]},
    ]
    asked[6] = {"role": "user", "content": picture}
    asked.insert(20, {"role": "system", "content": "From now on in French."})
    answer = ask(address, asked)
    sent = upstream.last["messages"]
    assert "shortened or left out" in answer.headers["amgs-context"] and len(sent) < len(asked) / 2
    whole = next(one for one in sent if isinstance(one["content"], list) and len(one["content"]) >= 3)
    assert whole["content"][-3:] == picture
    assert {"role": "system", "content": "From now on in French."} in sent
    blocks = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    marked = {"type": "text", "text": "What did dome 3 draw?", "cache_control": {"type": "ephemeral"}}
    messages = [*long()[:-1], {"role": "user", "content": [marked]}]
    answer = ask(address, messages, "/v1/messages", system=blocks, max_tokens=20)
    assert "shortened" in answer.headers["amgs-context"] and upstream.last["system"] == blocks
    assert marked in upstream.last["messages"][-1]["content"]


@pytest.mark.parametrize("text", ["half a pair \ud800", "a bell \x07, a null \x00 and \u202e", "word " * 100_000])
def test_texts_of_any_kind_reach_the_model_as_they_are(world: tuple[Recorder, str], text: str) -> None:
    upstream, address = world
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    with client(address) as asking:
        answer = asking.post("/v1/chat/completions", content=body)
    assert answer.status_code == 200 and upstream.sent == [body]
    seen = ended(address, answer.headers["amgs-exchange"])
    assert seen["untouched"] and seen["outcome"] == "answered"
    if seen["conversation"]:
        assert held(address, seen["conversation"]) == [text, "Sunny."]


PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress, "deflate": zlib.compress}
PACKED["deflate "] = lambda body: zlib.compress(body, wbits=-zlib.MAX_WBITS)  # bare, as some clients write it
PACKED["gzip "] = lambda body: gzip.compress(body[:20]) + gzip.compress(body[20:])  # in parts
PACKED["gzip  "] = lambda body: gzip.compress(body) + bytes(8)  # filled up to a block
PACKED["gzip   "] = lambda body: gzip.compress(b"") * 50_000 + gzip.compress(body)  # in time that grows with its size


@pytest.mark.parametrize("encoding", PACKED)
def test_a_packed_body_is_read_cut_and_kept(world: tuple[Recorder, str], encoding: str) -> None:
    upstream, address = world
    asked = {"model": "m", "messages": [{"role": "system", "content": f"Packed by {encoding}."}, *long()]}
    with client(address) as asking:
        answer = asking.post(
            "/v1/chat/completions",
            content=PACKED[encoding](json.dumps(asked).encode()),
            headers={"Content-Encoding": encoding.strip()},
        )
    assert "shortened" in answer.headers["amgs-context"]
    assert len(upstream.last["messages"]) < len(asked["messages"])
    assert "content-encoding" not in upstream.headers[0]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", b"whatever"),
        ("gzip", b"no gzip"),
        ("gzip", gzip.compress(b'{"model": "m", "messages": []}')[:-12]),
        ("zstd", b"no zstd"),
        ("zstd", zstd.compress(bytes(80 * 1024 * 1024))),
        ("gzip, zstd", gzip.compress(b"{}")),
    ],
    ids=("another", "none", "cut", "no zstd", "too large", "in the wrong order"),  # a gzip body holds the time
)
def test_a_body_that_is_not_read_goes_on_as_it_is(world: tuple[Recorder, str], encoding: str, body: bytes) -> None:
    upstream, address = world
    with client(address) as asking:
        answer = asking.post("/v1/chat/completions", content=body, headers={"Content-Encoding": encoding})
    assert upstream.sent == [body] and upstream.headers[0]["content-encoding"] == encoding
    assert "packed in a way that is not read" in answer.headers["amgs-context"]


def test_a_memory_is_given_time_until_it_has_answered_once(
    world: tuple[Recorder, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream, _ = world
    with gateway(upstream.address, 400, tmp_path / "cold.duckdb") as address:
        monkeypatch.setattr(forwarding, "MEMORY_SECONDS", 0.0)
        told = [ask(address, [{"role": "user", "content": text}]).headers["AMGS-Context"] for text in ("a", "b")]
    assert "longer" not in told[0] and "longer than 0 seconds" in told[1]
