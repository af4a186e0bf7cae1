"""System prompts and definitions of tools are kept once each, and it is told what of a request broke the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.conversation.exchanges import compare
from amgs.conversation.material import MessageCounter
from amgs.errors import InputError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.storage.opening import open_storage
from amgs.types.conversation import ContextMessage
from amgs.types.gateway import GatewayExchange, GatewayPrompt, Usage
from amgs_app.conversation.exchange_rows import exchange_list, gateway_exchange
from amgs_app.gateway.conversing import prompts_in
from amgs_app.gateway.formats import AnthropicMessages, ChatCompletions, Format, Responses
from amgs_app.results.memory import ExchangeList
from tests.gateway.recorder import gateway, recorder
from tests.gateway.test_gateway_faults import ask, ended
from tests.service.serving import NOW

SYSTEM = "You keep the observatory's books.\nBe brief.\n\nNever guess.\nFourth line."
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}, {"name": "write", "input_schema": {}}]


def exchange(number: int, *said: str, **more: Any) -> GatewayExchange:
    """A request that went on as it came, with these messages of the user."""
    told = tuple(ContextMessage((n, n), "user", text, "kept", 10) for n, text in enumerate(said, 1))
    plain = GatewayExchange(
        *(number, NOW, "talk", "/v1/messages", "m", said[-1], len(said), None, "", "", "answered"),
        *(200, 0, 1.0, 1.0, 1.0),
        whole=told,
        until=len(told),
        prompts=(GatewayPrompt("system prompt", SYSTEM),),
    )
    return replace(plain, **more)


@contextmanager
def memory(store: Path | str, keep: int = 200) -> Iterator[Memory]:
    settings = amgs.Settings.model_validate({"conversation": {"exchanges": keep}})
    with amgs.open(store, clock=FixedClock(NOW), settings=settings) as opened:
        yield opened


def rows(store: Path | str, table: str) -> int:
    with open_storage(store, read_only=True) as storage:
        return storage.tables.count(table)


def test_the_system_prompt_and_the_tools_come_with_the_request_that_had_them_and_lie_in_the_store_once(
    tmp_path: Path,
) -> None:
    store = tmp_path / "a.duckdb"
    secret = {"type": "mcp", "server_label": "s", "authorization": "sk-tool", "headers": {"X": "sk-tool"}}
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 400, "output_tokens": 7}
    with recorder() as upstream, gateway(upstream.address, store=store) as address:
        upstream.answer = {"content": [{"type": "text", "text": "Thirteen."}], "usage": usage}

        def request(*said: str, **more: Any) -> dict[str, Any]:
            items = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(said)]
            given = {"system": SYSTEM, "tools": [*TOOLS, secret], "max_tokens": 9, **more}
            answer = ask(address, items, "/v1/messages", **given)
            assert upstream.last["tools"][2] == secret, "what goes on is what came"
            return ended(address, answer.headers["amgs-exchange"])

        first = request("What does dome 3 draw?")
        again = request("What does dome 3 draw?", "Thirteen.", "Since when?")
        other = request("What does dome 3 draw?", "Thirteen.", "Since when?", system=f"{SYSTEM} It is noon.")
    assert [one["kind"] for one in first["prompts"]] == ["tools", "system prompt"]
    assert first["prompts"][1]["text"] == SYSTEM and first["prompts"][1]["tokens"] > 10
    tools = json.loads(first["prompts"][0]["text"])
    assert tools[:2] == TOOLS and tools[2]["server_label"] == "s" and "sk-" not in json.dumps(first)
    assert first["usage"] == {"fresh": 3, "written": 50, "cached": 400, "output": 7}
    assert first["counted"] == 453 and first["prefix"] is None
    assert again["changed"] == [] and again["prefix"]["changed"] is None and again["prefix"]["again"] == 0
    assert again["prefix"]["same"] > sum(one["tokens"] for one in first["prompts"])
    assert other["changed"] == ["system prompt"] and other["prefix"]["changed"] == "system prompt"
    assert other["prefix"]["same"] == other["prompts"][0]["tokens"], "tools are read before the system prompt"
    assert other["prefix"]["again"] > 0
    assert rows(store, "prompts") == 3 and rows(store, "exchange_prompts") == 6
    assert b"sk-tool" not in store.read_bytes()
    with memory(store) as opened:
        assert [one.changed for one in opened.gateway.exchanges()] == [("system prompt",), (), ()]
        assert opened.gateway.exchanges()[0].prompts is None, "a list does not tell them"
        assert opened.gateway.exchange(3).usage == Usage(3, 50, 400, 7)


def test_a_setting_keeps_prompts_out_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMGS_GATEWAY__KEEP_PROMPTS", "false")
    store = tmp_path / "a.duckdb"
    with recorder() as upstream, gateway(upstream.address, store=store) as address:
        upstream.says("Sunny.")
        answer = ask(address, [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Hi"}])
        shown = ended(address, answer.headers["amgs-exchange"])
    assert shown["prompts"] is None and shown["outcome"] == "answered"
    assert rows(store, "prompts") == 0 and b"observatory" not in store.read_bytes()


CHAT = {
    "functions": TOOLS,
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": " "},
        {"role": "system", "content": "It is \ud800 noon."},
        {"role": "user", "content": "Bye"},
    ],
}


@pytest.mark.parametrize(
    ("form", "request_", "found"),
    [
        (ChatCompletions(), CHAT, [("tools", 0), ("Be brief.", 0), ("It is \ufffd noon.", 4)]),
        (
            AnthropicMessages(),
            {"system": [{"type": "text", "text": "Brief"}], "messages": [{"role": "user", "content": "Hi"}]},
            [("Brief", 0)],
        ),
        (Responses(), {"instructions": "Brief", "input": "Hi", "tools": []}, [("Brief", 0)]),
        (Responses(), {"instructions": "Brief", "previous_response_id": "r", "input": []}, [("Brief", 0)]),
        (ChatCompletions(), {"messages": [], "tools": "none"}, [("tools", 0)]),
    ],
)
def test_prompts_stand_where_the_interface_has_them(
    form: Format, request_: dict[str, Any], found: list[tuple[str, int]]
) -> None:
    """numbers: of what a conversation holds of these messages, which has others before."""
    read = prompts_in(request_, form.read(request_) or (), (4, 5))
    assert [(one.text if one.kind == "system prompt" else "tools", one.after) for one in read] == found


def test_prompts_go_with_the_last_request_that_had_them(tmp_path: Path) -> None:
    store = tmp_path / "a.duckdb"
    with memory(store, keep=2) as opened:
        opened.conversation.add("talk", [{"role": "user", "content": "What does the zenith dome draw?"}])
        for number, text in enumerate(("One.", SYSTEM, "Three."), 1):
            prompts = (GatewayPrompt("system prompt", text), GatewayPrompt("tools", "[]"))
            opened.gateway.note(exchange(number, "What does the zenith dome draw?", prompts=prompts))
        assert [one.number for one in opened.gateway.exchanges()] == [3, 2]
    assert rows(store, "prompts") == 3, "the first system prompt is gone, the tools are shared"
    with memory(store) as opened:
        (hit, *_) = opened.search("zenith", top_k=1).hits
        opened.erasure.erase([hit.block.id])
        assert not opened.gateway.exchanges()
    assert rows(store, "prompts") == rows(store, "exchange_prompts") == 0
    assert b"observatory" not in store.read_bytes()


def test_erasing_a_text_erases_the_prompts_that_repeat_it(tmp_path: Path) -> None:
    store = tmp_path / "a.duckdb"
    with memory(store) as opened:
        kept = RawBlock("The gardener keeps the key of the shed.")
        opened.ingest_many([RawBlock("Dorothea keeps the key of the vault."), kept])
        prompts = (GatewayPrompt("system prompt", "Remember: Dorothea keeps the key of the vault."),)
        opened.gateway.note(exchange(1, "Hello", prompts=prompts, until=0))
        opened.gateway.note(exchange(2, "Hello", until=0))
        (hit, *_) = opened.search("Dorothea", top_k=1).hits
        opened.erasure.erase([hit.block.id])
        assert [one.number for one in opened.gateway.exchanges()] == [2]
    assert rows(store, "prompts") == 1 and b"Dorothea" not in store.read_bytes()


def test_an_export_holds_the_prompts_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    with memory(tmp_path / "a.duckdb") as opened:
        opened.conversation.add("talk", [{"role": "user", "content": "Hi"}])
        opened.gateway.note(exchange(1, "Hi", usage=Usage(1, 2, 3, 4)))
        opened.exchange.export(path)
        kept = opened.gateway.exchange(1)
    with memory(tmp_path / "b.duckdb") as opened:
        opened.exchange.load(path)
        assert opened.gateway.exchange(1) == kept and kept.usage == Usage(1, 2, 3, 4)
        assert kept.prompts and kept.prompts[0].text == SYSTEM
    path.write_text(path.read_text(encoding="utf-8").replace("Never guess", "Always guess"), encoding="utf-8")
    with memory(tmp_path / "c.duckdb") as opened, pytest.raises(InputError, match="does not hash"):
        opened.exchange.load(path)


COUNTER = MessageCounter()
PROMPT = COUNTER.count(SYSTEM) + 4


def test_what_breaks_a_cache_is_the_first_thing_that_differs() -> None:
    before = exchange(1, "a", "b", "c")

    def told(after: GatewayExchange) -> tuple[object, ...]:
        found = compare(before, after, COUNTER)
        assert found is not None and found.before == 1
        return found.changed, found.message, found.same, found.again

    assert told(exchange(2, "a", "b", "c", "d")) == (None, None, PROMPT + 30, 0)
    assert told(exchange(2, "a", "b")) == (None, None, PROMPT + 20, 0), "an earlier point is a beginning too"
    assert told(exchange(2, "a", "x", "c", "d")) == ("message", (2, 2), PROMPT + 10, 10)
    assert told(exchange(2, "a", "c", "d")) == ("message", (2, 2), PROMPT + 10, 10)
    assert told(exchange(2, "a", "b", "c", model="n")) == ("model", None, 0, PROMPT + 30)
    assert told(exchange(2, "a", "b", "c", prompts=())) == ("system prompt", None, 0, 30)
    tools = (*(before.prompts or ()), GatewayPrompt("tools", "[]"))
    assert told(exchange(2, "a", "b", "c", prompts=tools)) == ("tools", None, 0, PROMPT + 30)
    late = (*(before.prompts or ()), GatewayPrompt("system prompt", "Noon.", 2))
    assert told(exchange(2, "a", "b", "c", prompts=late)) == ("system prompt", None, PROMPT + 20, 10)


def test_nothing_is_said_of_a_cache_where_the_request_before_is_not_known() -> None:
    known = exchange(2, "a", "b")
    for lost in ({"prompts": None}, {"missing": "cleared"}, {"whole": ()}):
        before = replace(exchange(1, "a"), **lost)
        assert compare(before, known, COUNTER) is None and compare(known, before, COUNTER) is None


def test_the_table_of_a_request_names_its_tools_and_says_what_had_to_be_read_again(tmp_path: Path) -> None:
    tools = GatewayPrompt("tools", json.dumps([{"type": "function", "function": {"name": "look"}}, *TOOLS]))
    with memory(tmp_path / "a.duckdb") as opened:
        opened.conversation.add("talk", [{"role": "user", "content": "Hi"}])
        opened.gateway.note(exchange(1, "Hi", prompts=()))
        used = Usage(1, 20, 300, 4)
        prompts = (tools, GatewayPrompt("system prompt", SYSTEM))
        opened.gateway.note(exchange(2, "Hi", prompts=prompts, usage=used, counted=used.window))
        notes = "\n".join(gateway_exchange.table(opened.gateway.exchange(2)).notes)
        listed = exchange_list.table(ExchangeList(opened.gateway.exchanges(), served=True))
    assert "look, read, write" in notes and "Be brief. Never guess. …" in notes and "Fourth" not in notes
    assert "321 tokens in all: 1 fresh, 20 written to its cache, 300 read from it" in notes
    assert "departs from request 1: the tools changed. The 0 tokens in front" in notes
    names = [column.name for column in listed.columns]
    assert [dict(zip(names, row, strict=True))["changed"] for row in listed.rows] == ["tools, system prompt", None]
    assert dict(zip(names, listed.rows[0], strict=True))["cached"] == 300
