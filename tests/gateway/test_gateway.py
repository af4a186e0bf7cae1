"""The gateway between OpenAI's own client and a server that keeps what it was sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import openai
import pytest

import amgs
from amgs import wire
from amgs.clock import FixedClock
from amgs.errors import StoreError
from amgs_app.gateway.conversing import Conversing
from amgs_app.gateway.served_model import model_app
from amgs_app.server.tokens import add_token, read_tokens
from amgs_focus.model.tiny import TinyModel
from amgs_tui.__main__ import run
from tests.gateway.recorder import Recorder, gateway, operated, recorded
from tests.service.serving import NOW, client, running

NUMBERS: dict[str, int] = {}
"""Of the latest answer from each address."""
CLIENTS: list[Any] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while CLIENTS:
        CLIENTS.pop().close()


def agent(address: str, **headers: str) -> openai.OpenAI:
    def numbered(response: Any) -> None:
        NUMBERS[address] = int(response.headers.get("amgs-exchange", 0))

    asking = openai.DefaultHttpxClient(event_hooks={"response": [numbered]})
    CLIENTS.append(asking)
    return openai.OpenAI(
        base_url=f"{address}/v1",
        api_key="sk-agent",
        max_retries=0,
        timeout=120,
        default_headers=headers,
        http_client=asking,
    )


def say(address: str, messages: list[Any], **more: Any) -> Any:
    """Ask for an answer to messages."""
    return agent(address).chat.completions.create(model="m", messages=messages, **more)


def kept(address: str, name: str) -> list[Any]:
    return list(operated(address, "conversation_show", conversation=name)["messages"])


def exchanges(address: str, number: int = 0) -> list[dict[str, Any]]:
    """What went through the gateway, once the latest answer is recorded."""
    return recorded(address, number or NUMBERS[address])


def whole(address: str, number: int) -> dict[str, Any]:
    """A request through the gateway with what was sent."""
    return operated(address, "conversation_exchanges", number=number)


def history(turns: int) -> list[Any]:
    """A long talk: each turn of the user names a number, every third has an output of a tool."""
    made: list[Any] = [{"role": "system", "content": "You keep the observatory's books."}]
    for n in range(turns):
        made.append({"role": "user", "content": f"What does the motor of dome {n} draw, and since when?"})
        if n % 3 == 0:
            call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            made.append({"role": "assistant", "content": None, "tool_calls": [call]})
            made.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"row {n}: " + "0 1 2 3 " * 60})
        made.append({"role": "assistant", "content": f"Dome {n} draws {n + 10} ampere since the {n + 1}th of May."})
    return [*made, {"role": "user", "content": "What did dome 3 draw?"}]


def test_who_only_observes_sends_the_very_bytes_on_and_keeps_what_was_said(fresh: Recorder, observing: str) -> None:
    body = b'{"model":"m",  "messages":[{"role":"user","content":"Weather in Troms\\u00f8?"}],"odd":[1,  2]}'
    with client(observing, Authorization="Bearer sk-agent") as asking:
        answer = asking.post("/v1/chat/completions?beta=1", content=body, headers={"X-Mine": "1"})
    assert answer.json()["choices"][0]["message"]["content"] == "Sunny."
    assert answer.headers["amgs-context"].startswith("untouched")
    assert fresh.sent == [body]
    assert fresh.headers[0]["authorization"] == "Bearer sk-agent" and fresh.headers[0]["x-mine"] == "1"
    seen = exchanges(observing, int(answer.headers["amgs-exchange"]))[0]
    assert (seen["asked"], seen["said"], seen["outcome"]) == ("Weather in Tromsø?", "Sunny.", "answered")
    assert [(one["role"], one["text"]) for one in kept(observing, seen["conversation"])] == [
        ("user", "Weather in Tromsø?"),
        ("assistant", "Sunny."),
    ]


def test_a_secret_goes_to_the_model_s_server_and_into_no_store(fresh: Recorder, observing: str, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    messages = [
        {"role": "system", "content": f"Use {secret} to push."},
        {"role": "user", "content": f"Push the ferry's branch with {secret}."},
    ]
    for _ in range(2):  # the second goes on from what is kept
        body = json.dumps({"model": "m", "messages": messages, "tools": [{"type": "function", "x": secret}]}).encode()
        with client(observing, Authorization="Bearer sk-agent") as asking:
            answer = asking.post("/v1/chat/completions", content=body)
        assert fresh.sent[-1] == body
        seen = exchanges(observing, int(answer.headers["amgs-exchange"]))[0]
        messages += [{"role": "assistant", "content": "Sunny."}, {"role": "user", "content": f"And now {secret}?"}]
    told = kept(observing, seen["conversation"])
    assert [one["role"] for one in told] == ["user", "assistant", "user", "assistant"]
    for text in map(json.dumps, (told, seen, whole(observing, seen["number"]))):
        assert secret not in text and "[masked: GitHub token #" in text


def test_a_stream_comes_through_and_its_calls_are_kept(fresh: Recorder, observing: str) -> None:
    deltas = [
        {"role": "assistant", "content": "I "},
        {"content": "look."},
        {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "look", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"at": "sky"}'}}]},
    ]
    told = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    fresh.pieces = [
        f"data: {json.dumps({**told, 'choices': [{'index': 0, 'delta': one, 'finish_reason': None}]})}\n\n"
        for one in deltas
    ] + ["data: [DONE]\n\n"]
    asked: list[Any] = [{"role": "user", "content": "Is it clear?"}]
    stream = say(observing, asked, stream=True)
    assert "".join(piece.choices[0].delta.content or "" for piece in stream) == "I look."
    seen = exchanges(observing)[0]
    said = kept(observing, seen["conversation"])[-1]
    assert said["text"] == "I look." and said["calls"][0]["arguments"] == '{"at": "sky"}'


def test_what_is_sent_keeps_the_budget_the_question_and_calls_with_their_results(fresh: Recorder, limited: str) -> None:
    asked = history(40)
    answer = agent(limited).chat.completions.with_raw_response.create(model="m", messages=asked)
    assert "shortened or left out" in answer.headers["amgs-context"]
    sent = fresh.last["messages"]
    assert len(sent) < len(asked) / 3 and sent[0] == asked[0]
    assert sent[-1]["content"] == asked[-1]["content"] or sent[-1]["content"][-1]["text"] == asked[-1]["content"]
    called = {call["id"] for one in sent for call in one.get("tool_calls", ())}
    assert called == {one["tool_call_id"] for one in sent if one["role"] == "tool"}
    seen = whole(limited, exchanges(limited)[0]["number"])
    context = seen["context"]
    assert context["tokens"] <= 400 < context["history"]
    assert sum(row["before"] - row["taken"] + row["added"] - row["after"] for row in context["ledger"]) == 0
    fates = {span["fate"] for span in context["spans"]}
    assert "dropped" in fates and "kept" in fates
    handle = next(span["handle"] for span in context["spans"] if span["fate"] == "dropped")
    back = operated(limited, "conversation_restore", conversation=seen["conversation"], handle=handle)
    size = len(kept(limited, seen["conversation"]))
    say(limited, asked)
    assert fresh.last["messages"] == sent and exchanges(limited)[0]["conversation"] == seen["conversation"]
    assert len(kept(limited, seen["conversation"])) == size, "asked again, the same is sent and nothing is kept"
    originals = [one for one in asked if one["role"] != "system"]
    first = back["messages"][0]
    assert first["text"] == (originals[first["number"] - 1]["content"] or "")
    say(limited, asked, max_tokens=9_999)
    assert exchanges(limited)[0]["reserved"] == 200, "half at most"


def test_what_a_model_read_outlives_the_gateway_byte_for_byte_or_it_is_said_that_it_does_not(
    fresh: Recorder, tmp_path: Path
) -> None:
    store = tmp_path / "a.duckdb"
    asked = history(40)
    asked[4]["content"] = asked[4]["content"].upper()  # not as it was said, once it is sent back
    with gateway(fresh.address, 400, store) as address:
        first = [*history(1)[:5]]
        say(address, first)
        exchanges(address)
        asked[4:5] = [{"role": "assistant", "content": "sunny"}, {"role": "user", "content": "Hm."}]
        say(address, asked)
        before, shown = exchanges(address), whole(address, 2)
    texts = [one["content"] for one in fresh.last["messages"][1:]]
    sent = "\n".join(t if isinstance(t, str) else "\n".join(p["text"] for p in t) for t in texts if t)
    assert sent == "\n".join(one["text"] for one in shown["context"]["messages"] if one["text"])
    assert shown["tokens"] == shown["context"]["tokens"] and shown["beside"] > 0 and not shown["missing"]

    with amgs.open(store, clock=FixedClock(NOW)) as memory:  # another tokenizer, and no gateway
        told = [wire.encode(one) for one in memory.gateway.exchanges()]
        assert [one["fields"]["number"] for one in told] == [2, 1]
        again = memory.gateway.exchange(2)
        assert again.context is not None and again.digest == shown["digest"] and not again.missing
        assert [one.text for one in again.messages] == [one["text"] for one in shown["context"]["messages"]]
        assert [row.after for row in again.context.ledger] == [row["after"] for row in shown["context"]["ledger"]]
        assert (again.asked, again.said, again.characters) == ("What did dome 3 draw?", "Sunny.", 6)
        assert [one.text for one in memory.gateway.exchange(1).whole] and memory.gateway.exchange(1).untouched
        counter = memory.change_counter
        memory.gateway.note(replace(again, number=7, whole=again.messages, context=None))
        assert memory.change_counter == counter and memory.gateway.exchange(7).whole == again.messages
        entry = memory.conversation.clear(again.conversation)
        assert "no longer held" in memory.gateway.exchange(2).missing
        memory.undo(entry.id)
        assert memory.gateway.exchange(2) == again

    with gateway(fresh.address, 400, store) as address:
        assert [one | {"digest": ""} for one in exchanges(address, 1)[1:]] == [one | {"digest": ""} for one in before]
        say(address, asked)
        seen = whole(address, exchanges(address)[0]["number"])
        assert seen["number"] == 8 and seen["context"]["plan"] == shown["context"]["plan"], "the plan is kept"

    with amgs.open(store, clock=FixedClock(NOW)) as memory:
        (secret,) = {hit.block.id for hit in memory.search("dome 3 ampere May", top_k=1).hits} or {""}
        assert secret
        memory.erasure.erase([secret])
        assert [one.number for one in memory.gateway.exchanges()] == [1], "of the others the text was a part"


def test_what_an_operator_keeps_is_in_the_next_request_of_the_agent(fresh: Recorder, tmp_path: Path) -> None:
    asked = history(40)
    told = asked[60]["content"] or asked[61]["content"]
    with gateway(fresh.address, 500, tmp_path / "a.duckdb") as address:

        def request() -> str:
            say(address, asked)
            return json.dumps(fresh.last["messages"])

        def keep(handle: str, **options: bool) -> dict[str, Any]:
            return operated(address, "conversation_keep", conversation=name, handle=handle, **options)

        assert told not in request()
        name = exchanges(address)[0]["conversation"]
        number = next(m["number"] for m in kept(address, name) if m["text"] == told)
        assert keep(f"#{number}")["kept"] == [f"#{number}"]
        assert told in request()
        assert whole(address, exchanges(address)[0]["number"])["tokens"] <= 500
        assert keep(f"#1-{number}")["kept"] == [f"#1-{number}"]
        assert len(json.loads(request())) < len(asked) / 2, "what no budget holds does not break the agent"
        assert "does not fit" in whole(address, exchanges(address)[0]["number"])["context"]["replanned"]
        assert keep("", drop=True)["kept"] == []


def test_a_conversation_goes_on_and_one_with_the_same_beginning_is_another(fresh: Recorder, observing: str) -> None:
    first = [{"role": "user", "content": "Hello there"}]
    say(observing, first)
    one = exchanges(observing)[0]["conversation"]
    on = [*first, {"role": "assistant", "content": "sunny"}, {"role": "user", "content": "And you?"}]
    say(observing, on)
    assert exchanges(observing)[0]["conversation"] == one
    assert [m["text"] for m in kept(observing, one)] == ["Hello there", "Sunny.", "And you?", "Sunny."]
    say(observing, on)
    assert len(kept(observing, one)) == 4, "asked again, nothing is kept twice"
    other = [*first, {"role": "assistant", "content": "Sunny."}, {"role": "user", "content": "Bye"}]
    say(observing, other)
    assert exchanges(observing)[0]["conversation"] != one
    named = agent(observing, **{"AMGS-Conversation": "mine"})
    named.chat.completions.create(model="m", messages=first)  # type: ignore[arg-type]
    assert exchanges(observing)[0]["conversation"] == "mine"
    named.chat.completions.create(model="m", messages=[{"role": "user", "content": "Something else"}])
    assert exchanges(observing)[0]["conversation"] == "mine-2"


def test_the_other_interfaces_keep_the_budget_too(fresh: Recorder, limited: str) -> None:
    fresh.answer = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [
            {
                "type": "message",
                "id": "o",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Thirteen.", "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    items: list[Any] = [
        {"role": one["role"], "content": one["content"]}
        for one in history(40)
        if one["role"] in ("user", "assistant") and one["content"]
    ]
    answer = agent(limited).responses.create(model="m", input=items, instructions="Be brief.")
    assert answer.output_text == "Thirteen." and exchanges(limited)[0]["said"] == "Thirteen."
    assert len(fresh.last["input"]) < len(items) / 2 and fresh.last["instructions"] == "Be brief."
    fresh.answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Thirteen!"}]}
    with client(limited) as asking:
        said = asking.post("/v1/messages", json={"model": "m", "max_tokens": 9, "messages": items})
    number = int(said.headers["amgs-exchange"])
    assert said.json() == fresh.answer and exchanges(limited, number)[0]["said"] == "Thirteen!"
    assert fresh.last["messages"][0]["role"] == "user" and len(fresh.last["messages"]) < len(items) / 2


def test_errors_of_the_model_s_server_come_through(fresh: Recorder, observing: str) -> None:
    fresh.status, fresh.answer, fresh.more = 429, {"error": {"message": "Slow down"}}, {"Retry-After": "7"}
    with pytest.raises(openai.RateLimitError) as caught:
        say(observing, [{"role": "user", "content": "Hi"}])
    assert caught.value.response.headers["retry-after"] == "7" and "Slow down" in str(caught.value)
    assert exchanges(observing)[0]["outcome"] == "refused"


def test_a_server_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    with (
        gateway("http://127.0.0.1:9", store=tmp_path / "a.duckdb") as address,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        say(address, [{"role": "user", "content": "Hi"}])
    assert caught.value.status_code == 502 and "does not answer" in str(caught.value)


@pytest.mark.parametrize("step", ["record_request", "choose"])
@pytest.mark.parametrize("fault", [StoreError("The store is gone."), RuntimeError("a fault")])
def test_a_broken_memory_keeps_no_agent_from_its_model(
    fresh: Recorder, limited: str, monkeypatch: pytest.MonkeyPatch, fault: Exception, step: str
) -> None:
    def broken(*given: Any) -> None:
        raise fault

    monkeypatch.setattr(Conversing, step, broken)
    asked = history(40)
    answer = agent(limited).chat.completions.with_raw_response.create(model="m", messages=asked)
    assert fresh.last["messages"] == asked
    assert answer.headers["amgs-context"].startswith("untouched;")
    assert exchanges(limited)[0]["untouched"]


def test_messages_that_are_no_conversation_go_on_as_they_came(fresh: Recorder, limited: str) -> None:
    orphan: list[Any] = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "gone", "content": "x"}]
    say(limited, orphan)
    assert fresh.last["messages"] == orphan
    with client(limited) as asking:
        answer = asking.post("/v1/chat/completions", content=b"no json")
    assert answer.status_code == 200 and fresh.sent[-1] == b"no json"


def test_beyond_this_machine_an_agent_needs_a_token_of_the_service_beside_its_provider_s_key(
    fresh: Recorder, tmp_path: Path
) -> None:
    token = add_token(tmp_path / "tokens.toml", "agent", ["default"], "write")
    reading = add_token(tmp_path / "tokens.toml", "reader", ["default"], "read")
    asked: list[Any] = [{"role": "user", "content": "Hi"}]
    known = read_tokens(tmp_path / "tokens.toml")
    with gateway(fresh.address, store=tmp_path / "a.duckdb", tokens=known) as address:
        for headers in ({}, {"AMGS-Token": "amgs_wrong"}, {"AMGS-Token": reading}):
            with pytest.raises(openai.APIStatusError) as caught:
                agent(address, **headers).chat.completions.create(model="m", messages=asked)
            assert caught.value.status_code in (401, 403) and not fresh.sent
        agent(address, **{"AMGS-Token": token}).chat.completions.create(model="m", messages=asked)
    assert fresh.headers[0]["authorization"] == "Bearer sk-agent" and "amgs-token" not in fresh.headers[0]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/completions"),
        ("GET", "/v1/files"),
        ("GET", "/v1/files/f-1/content"),
        ("POST", "/v1/messages/batches"),
        ("DELETE", "/v1/responses/r-1"),
    ],
)
def test_what_else_a_provider_has_goes_on_with_a_line_in_the_log(
    fresh: Recorder, observing: str, method: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with client(observing) as asking:
        answer = asking.request(method, path, content=b"any bytes" if method == "POST" else None)
    assert answer.status_code == 200 and len(fresh.sent) == 1 and fresh.paths == [path]
    assert f"{method} {path} went on unread" in caplog.text


ELSEWHERE = (
    "/v1/models/../../admin",
    "/v1/models/%2e%2e/%2e%2e/admin",
    "/v1/models/..%2f..%2fadmin",
    "/v1/models/%252e%252e/admin",
    "/v1/models//admin",
    "/v1/models/.",
    "/v1/models/..%5c..%5cadmin",
    "/v1/models/x%3fkey=1",
    "/v1/models/x%23y",
    "/v1/models/x%0d%0aHost:%20other",
    "/v1/models/..;/admin",
    "/v1/files/../../../admin",
    "//v1/models/x",
)


@pytest.mark.parametrize("path", ELSEWHERE)
def test_a_path_that_leads_elsewhere_does_not_go_on(fresh: Recorder, observing: str, path: str) -> None:
    """The request line is written as it stands: a client would tidy it up."""
    host, _, port = observing.removeprefix("http://").partition(":")
    asking = HTTPConnection(host, int(port))
    asking.putrequest("GET", path)
    asking.endheaders()
    assert asking.getresponse().status == 404 and not fresh.sent
    asking.close()


@pytest.mark.parametrize("name", ["llama3:8b", "org/model-1.5", "a b@2024"])
def test_a_name_of_a_model_goes_on_as_it_is(fresh: Recorder, observing: str, name: str) -> None:
    with client(observing) as asking:
        assert asking.get(f"/v1/models/{name}").status_code == 200
    assert fresh.paths == [f"/v1/models/{name}"]


def test_headers_about_one_connection_go_on_in_neither_direction(fresh: Recorder, observing: str) -> None:
    fresh.more = {"Connection": "close, X-Inner", "X-Inner": "1", "Keep-Alive": "timeout=5", "X-Outer": "2"}
    with client(observing) as asking:
        answer = asking.post(
            "/v1/embeddings",
            json={},
            headers={"Connection": "X-Hop, keep-alive", "X-Hop": "1", "TE": "trailers", "X-End": "2"},
        )
    sent = fresh.headers[-1]
    assert sent["x-end"] == "2" and not {"x-hop", "te", "keep-alive"} & set(sent)
    assert answer.headers["x-outer"] == "2" and not {"x-inner", "keep-alive"} & set(answer.headers)


@pytest.mark.parametrize(
    "address",
    [
        "http://user:PLANTED@127.0.0.1:1",
        "https://PLANTED@api.example.com",
        "http://user:PLAN/PLANTED@host",
        "http://host/v1?key=PLANTED",
        "ftp://user:PLANTED@host",
    ],
)
def test_an_upstream_with_a_key_is_refused_and_the_key_is_said_nowhere(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--store", str(tmp_path / "a.duckdb"), "gateway", "--port", "0", "--upstream", address]) == 2
    said = capsys.readouterr()
    assert "PLANTED" not in said.out + said.err and "holds no key" in said.err


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
def test_who_asks_for_a_websocket_is_told_to_use_http(fresh: Recorder, observing: str, path: str) -> None:
    host, _, port = observing.removeprefix("http://").partition(":")
    asking = HTTPConnection(host, int(port))
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    for headers in ({"Connection": "Upgrade", "Upgrade": "websocket", **key}, {}):
        asking.request("GET", path, headers=headers)
        answer = asking.getresponse()
        answer.read()
        assert answer.status == 426 and not fresh.sent
    asking.close()


def test_this_program_s_own_model_answers_and_the_gateway_keeps_what_it_is_asked_within_its_window(
    tmp_path: Path,
) -> None:
    asked = history(30)
    with running(model_app(TinyModel)) as model, gateway(model, 600, tmp_path / "a.duckdb") as address:
        with pytest.raises(openai.BadRequestError, match="the window holds"):
            agent(model).chat.completions.create(model="tiny", messages=asked, max_tokens=8_000)
        whole = agent(model).chat.completions.create(model="tiny", messages=asked[-1:], max_tokens=12)
        pieces = agent(model).chat.completions.create(model="tiny", messages=asked[-1:], max_tokens=12, stream=True)
        streamed = "".join(piece.choices[0].delta.content or "" for piece in pieces)
        assert streamed == whole.choices[0].message.content
        answer = agent(address).chat.completions.create(model="tiny", messages=asked, max_tokens=12)
        assert answer.usage is not None and answer.usage.prompt_tokens > 100
        seen = exchanges(address)[0]
        assert seen["counted"] == answer.usage.prompt_tokens and seen["reserved"] == 12
        assert seen["tokens"] + seen["beside"] <= 600 - 12 and seen["said"] == answer.choices[0].message.content


def test_the_page_of_the_gateway_runs_as_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    with running(model_app(TinyModel)) as model, gateway(model, 1200, tmp_path / "a.duckdb") as address:
        exec(example.replace("http://127.0.0.1:8420", address), {})
    assert "messages shortened or left out" in capsys.readouterr().out
