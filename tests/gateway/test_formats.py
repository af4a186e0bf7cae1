"""Where messages stand in the requests of providers: what stays is the same, what changes is well formed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amgs.clock import parse_instant
from amgs.conversation.messages import messages_in, read_messages
from amgs.types.conversation import ContextMessage
from amgs.types.gateway import Usage
from amgs_app.gateway.conversing import changes_of
from amgs_app.gateway.formats import (
    AnthropicMessages,
    ChatCompletions,
    Format,
    MessageChange,
    Responses,
    read_answer,
    usage_in,
)

CHAT: dict[str, Any] = {
    "model": "m",
    "temperature": 0,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}, {"type": "image_url", "image_url": {}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "Sunny. " * 50},
        {"role": "assistant", "content": "Sunny."},
        {"role": "user", "content": "And tomorrow?"},
    ],
}
ANTHROPIC: dict[str, Any] = {
    "model": "m",
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "look", "input": {"at": "sky"}},
                {"type": "tool_use", "id": "b", "name": "look", "input": {"at": "sea"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "Sunny. " * 50}]},
                {"type": "tool_result", "tool_use_id": "b", "content": "Calm."},
                {"type": "text", "text": "And tomorrow?"},
            ],
        },
    ],
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "Sunny. " * 50},
        {"role": "user", "content": "And tomorrow?"},
    ],
}


FORMS = (ChatCompletions(), AnthropicMessages(), Responses())
EACH_REQUEST = pytest.mark.parametrize(
    ("form", "request_"),
    list(zip(FORMS, (CHAT, ANTHROPIC, RESPONSES), strict=True)),
    ids=("chat", "messages", "responses"),
)


def roles(form: Format, request: dict[str, Any]) -> list[str]:
    return [each.role for each in form.read(request) or ()]


@EACH_REQUEST
def test_a_request_without_changes_is_the_same(form: Format, request_: dict[str, Any]) -> None:
    assert form.write(request_, {}, {}) == request_


@EACH_REQUEST
def test_a_memory_that_is_told_reads_what_the_gateway_reads(form: Format, request_: dict[str, Any]) -> None:
    told = read_messages(messages_in(request_), parse_instant("2026-03-02T09:00:00Z")).messages
    read = [each for each in form.read(request_) or () if each.text or each.calls]
    if form.__class__ is Responses:
        del read[0]  # `instructions` stand in no list
    assert [(m.role, m.text, m.calls, m.answers) for m in told] == [
        (each.role, each.text, each.calls, each.answers) for each in read
    ]


def test_what_a_provider_runs_itself_waits_for_no_result() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "search", "input": {"q": "sky"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    (said,) = read_messages(
        [{"role": "assistant", "content": [search, found]}], parse_instant("2026-03-02T09:00:00Z")
    ).messages
    assert not said.calls and said.text == 'search({"q": "sky"})\n\n[web_search_tool_result]'
    read = AnthropicMessages().read({"messages": [{"role": "assistant", "content": [search, found]}]})
    assert read is not None
    (sent,) = read
    assert sent.more and not sent.calls


def test_messages_of_anthropic_keep_results_in_front_and_thoughts_where_they_were() -> None:
    form = AnthropicMessages()
    read = form.read(ANTHROPIC)
    assert read is not None
    assert [each.role for each in read] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [call.id for call in read[2].calls] == ["a", "b"] and read[4].answers == "b"
    made = form.write(ANTHROPIC, {1: MessageChange(None), 3: MessageChange("[left out]")}, {2: "[#1]", 5: "[note]"})
    first, said, results = made["messages"]
    assert first == {"role": "user", "content": "[#1]"}
    assert said == ANTHROPIC["messages"][1]
    kinds = [part["type"] for part in results["content"]]
    assert kinds == ["tool_result", "tool_result", "text", "text"]
    assert results["content"][0] == {"type": "tool_result", "tool_use_id": "a", "content": "[left out]"}
    assert [part["text"] for part in results["content"][2:]] == ["[note]", "And tomorrow?"]


def test_items_of_responses() -> None:
    form = Responses()
    assert roles(form, RESPONSES) == ["system", "user", "assistant", "assistant", "tool", "user"]
    made = form.write(RESPONSES, {4: MessageChange("[left out]"), 1: MessageChange(None)}, {5: "[#1 left out]"})
    assert [one.get("type", "message") for one in made["input"]] == [
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert made["input"][2]["output"] == "[left out]"
    assert made["input"][3]["content"][0]["text"] == "[#1 left out]"
    assert form.read({**RESPONSES, "previous_response_id": "x"}) is None
    assert form.write({"input": "Hello"}, {}, {}) == {"input": "Hello"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("request_", [{}, {"messages": 3, "input": {}}, {"messages": ["x"], "input": [None]}])
def test_what_is_no_list_of_messages_is_left_alone(form: Format, request_: dict[str, Any]) -> None:
    assert form.read(request_) is None


def test_a_streamed_answer_is_put_together() -> None:
    chat = (
        'data: {"choices":[{"index":0,"delta":{"content":"Sun"}}]}\n\n'
        'data: {"choices":[{"index":0,"delta":{"content":"ny","tool_calls":[{"index":0,"id":"a","function":'
        '{"name":"look","arguments":"{\\"at\\""}}]}}]}\n\n'
        'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}\n\n'
        "data: [DONE]\n\n"
    )
    (said,) = read_answer(ChatCompletions(), chat.encode(), streamed=True)
    assert (said.text, said.calls[0].name, said.calls[0].arguments) == ("Sunny", "look", '{"at":1}')
    messages = (
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":'
        '{"type":"text","text":""}}\n\n'
        'data: {"index":0,"delta":{"type":"text_delta","text":"Sunny"}}\r\n\r\n'
        'data: {"index":1,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}\n\n'
        'data: {"index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"at\\":"}}\n\n'
        'data: {"index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}\n\n'
    )
    (said,) = read_answer(AnthropicMessages(), messages.encode(), streamed=True)
    assert (said.text, said.calls[0].id, said.calls[0].arguments) == ("Sunny", "a", '{"at":1}')
    item = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Sunny"}]}'
    done = f'data: {{"type":"response.output_item.done","item":{item}}}\n\n'
    (said,) = read_answer(Responses(), done.encode(), streamed=True)
    assert said.text == "Sunny"


def test_the_tokens_of_the_model_s_server_are_read_apart_in_every_interface() -> None:
    counts = {"input_tokens": 3, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 40}
    start = {"type": "message_start", "message": {"usage": {**counts, "output_tokens": 1}}}
    events = f"data: {json.dumps(start)}\n\ndata: {json.dumps({'usage': {'output_tokens': 7}})}\n\n"
    assert usage_in(events.encode(), streamed=True) == Usage(3, 5, 40, 7)
    used = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 1}
    done = {"type": "response.completed", "response": {"usage": used}}
    events = f"data: {json.dumps(done)}\n\ndata: [DONE]\n\n"
    assert usage_in(events.encode(), streamed=True) == Usage(1, 0, 8, 1)
    chat = {"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens": 99}
    assert usage_in(json.dumps({"usage": chat}).encode(), streamed=False) == Usage(2, 0, 10, 99)
    assert usage_in(b'{"usage": {"prompt_tokens": 12}}', streamed=False) == Usage(12)


@pytest.mark.parametrize(
    "content", [b"[", b"{}", b'{"usage": {"prompt_tokens": "many"}}', b'{"usage": 3, "message": 4}']
)
def test_an_answer_that_tells_no_tokens_has_no_usage(content: bytes) -> None:
    assert usage_in(content, streamed=False) is None
    assert usage_in(b"data: " + content + b"\n\n", streamed=True) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"choices": 3, "content": 4, "output": {}}'])
def test_an_answer_that_cannot_be_read_says_nothing(form: Format, content: bytes) -> None:
    assert not [each for each in read_answer(form, content, streamed=False) if each.text]
    assert not read_answer(form, b"data: " + content + b"\n\n", streamed=True)


def test_what_is_cited_of_several_stands_in_the_first_of_them() -> None:
    """In its own role, whatever stands before it; the others go."""
    first = ContextMessage((1, 1), "system", "[#1 left out]", "dropped", 5)
    cites = ContextMessage((2, 6), "user", "[#2-6 in part] …", "digested", 9, cited=(3, 5))
    last = ContextMessage((7, 7), "user", "And now?", "kept", 5)
    changes, notes = changes_of([first, cites, last], {n: n + 10 for n in range(1, 8)})
    assert changes == {n + 10: MessageChange(cites.text if n == 3 else None) for n in range(1, 7)}
    assert notes == {13: "[#1 left out]"}
