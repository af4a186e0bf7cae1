"""Spans in every form that the conventions describe, written anew; and what a planted memory did."""

from __future__ import annotations

import json
import random
from typing import Any, Final

from amgs.sessions.spans import RecordedSpan, SpanEvent

BEGUN: Final = 1_772_323_200 * 10**9
SECOND: Final = 10**9
DAY: Final = 86_400 * SECOND
_RECORDS: Final = [
    {"id": "mem_123", "content": "User prefers dark mode", "score": 0.95, "metadata": {"source": "profile"}},
    {"content": {"preference": "vegetarian meals", "confidence": 0.9}},
]
_COMMON: Final = {
    "gen_ai.provider.name": "aws.bedrock",
    "gen_ai.memory.store.id": "ms_abc123",
    "server.address": "memory.example.com",
    "server.port": 443,
}


def _message(role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts), **more}


def _text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


_CALL: Final = {"type": "tool_call", "id": "call_1", "name": "get_weather", "arguments": {"location": "Paris"}}
_CHATS: Final[list[dict[str, Any]]] = [
    {  # as attributes
        "gen_ai.input.messages": [_message("user", _text("Weather in Paris?"))],
        "gen_ai.output.messages": [_message("assistant", _CALL, finish_reason="tool_call")],
    },
    {  # as JSON in a text, with reasoning, a result of a tool, a picture, and instructions
        "gen_ai.system_instructions": json.dumps([_text("You are a helpful bot")]),
        "gen_ai.input.messages": json.dumps(
            [
                _message("user", _text("Weather in Paris?"), {"type": "uri", "modality": "image", "uri": "s3://a"}),
                _message("assistant", {"type": "reasoning", "content": "I ask."}, _CALL),
                _message("tool", {"type": "tool_call_response", "id": "call_1", "response": "rainy, 57°F"}),
            ]
        ),
        "gen_ai.output.messages": json.dumps([_message("assistant", _text("Rainy."), finish_reason="stop")]),
    },
]


def conventional() -> list[RecordedSpan]:
    """A span of each operation that the conventions have for memories, of a retrieval, of answers with their messages
    as structures, as texts and in an event, and of a tool.
    """
    told: list[tuple[str, dict[str, Any], tuple[SpanEvent, ...]]] = [
        ("create_memory_store", {}, ()),
        ("create_memory", {"gen_ai.memory.records": _RECORDS, "gen_ai.memory.record.count": 2}, ()),
        ("update_memory", {"gen_ai.memory.record.id": "mem_123", "gen_ai.memory.records": json.dumps(_RECORDS)}, ()),
        ("upsert_memory", {"gen_ai.memory.records": _RECORDS, "error.type": "timeout"}, ()),
        (
            "search_memory",
            {
                "gen_ai.memory.query.text": "user dietary preferences",
                "gen_ai.memory.records": _RECORDS,
                "gen_ai.memory.record.count": 2,
            },
            (),
        ),
        ("delete_memory", {"gen_ai.memory.record.id": "mem_123", "gen_ai.memory.record.count": 1}, ()),
        ("delete_memory_store", {}, ()),
        (
            "retrieval",
            {
                "gen_ai.data_source.id": "H7STPQYOND",
                "gen_ai.retrieval.query.text": "capital of France",
                "gen_ai.retrieval.documents": [{"id": "d1", "score": 0.95}],
            },
            (),
        ),
        ("execute_tool", {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "call_1"}, ()),
    ]
    common: dict[str, Any] = {
        "gen_ai.request.model": "gpt-4",
        "gen_ai.request.max_tokens": 200,
        "gen_ai.request.top_p": 1.0,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 97,
        "gen_ai.usage.output_tokens": 52,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.conversation.id": "conv_1",
    }
    told += [("chat", {**common, **chat}, ()) for chat in _CHATS]
    event = SpanEvent("gen_ai.client.inference.operation.details", BEGUN, _CHATS[0])
    told.append(("chat", common, (event,)))
    return [
        RecordedSpan(
            f"{7:032x}",
            f"{number:016x}",
            "" if number == 1 else f"{1:016x}",
            name,
            BEGUN + number * SECOND,
            BEGUN + number * SECOND + 5_000_000,
            {"gen_ai.operation.name": name, **_COMMON, **given},
            3,
            2 if "error.type" in given else 0,
            "",
            events,
            {"service.name": "example", "service.version": "1.2"},
            "example.instrumentation",
        )
        for number, (name, given, events) in enumerate(told, 1)
    ]


def planted(seed: int, searches: int = 400) -> tuple[list[RecordedSpan], dict[str, str], int]:
    """Searches of a memory whose use is known; its records with the reason for which an audit should name each, "" for
    none; and how many recalled records were used. Of each search the record is used by the answer with the chance that
    its score says; what is not used is answered with something else.
    """
    drawn = random.Random(seed)
    spans: list[RecordedSpan] = []
    reasons: dict[str, str] = {}
    now = BEGUN

    def add(name: str, conversation: str, **given: Any) -> None:
        nonlocal now
        now += SECOND
        attributes = {"gen_ai.operation.name": name, "gen_ai.memory.store.id": "planted"}
        attributes |= {f"gen_ai.{key.replace('__', '.')}": value for key, value in given.items()}
        if conversation:
            attributes["gen_ai.conversation.id"] = conversation
        number = len(spans) + 1
        spans.append(RecordedSpan(f"{number:032x}", f"{number:016x}", "", name, now, now + 10**6, attributes, 3))

    def store(id: str, content: str, reason: str) -> None:
        reasons[id] = reason
        add("create_memory", "", memory__records=json.dumps([{"id": id, "content": content}]))

    for number in range(50):
        owner, thing, place = _name(drawn), _name(drawn).lower(), _name(drawn)
        store(f"fact-{number}", f"{owner} keeps the {thing} at {place}.", "")
        if number % 5 == 0:
            store(f"again-{number}", f"{owner} keeps the {thing} at {place}!", "duplicate")
        if number % 5 == 1:
            reasons[f"fact-{number}"] = "superseded"
            now += DAY
            store(f"moved-{number}", f"{owner} no longer keeps the {thing} at {place}, it moved to {_name(drawn)}.", "")
    texts = {
        one["id"]: one["content"] for span in spans for one in json.loads(span.attributes["gen_ai.memory.records"])
    }
    kept = [id for id, reason in reasons.items() if reason in ("", "superseded")]
    sound = [id for id in kept if not reasons[id] and id.replace("fact", "again") not in reasons]
    reasons |= dict.fromkeys(unused := drawn.sample(sound, len(sound) // 4), "never recalled")
    found = [id for id in kept if id not in unused]
    now += 40 * DAY
    used = 0
    for number in range(searches):
        conversation, id, score = f"talk-{number}", found[number % len(found)], drawn.random()
        asked, uses = f"question {number}", drawn.random() < score
        records = [{"id": id, "content": texts[id], "score": score}]
        add("search_memory", conversation, memory__query__text=asked, memory__records=json.dumps(records))
        said = texts[id] if uses else f"{_name(drawn)} asked {_name(drawn)} for a {_name(drawn)}."
        answer = [_message("assistant", _text(f"As far as I remember: {said}"))]
        add("chat", conversation, output__messages=json.dumps(answer))
        used += uses
    return spans, reasons, used


_SYLLABLES: Final = ("ka", "lo", "mi", "ru", "te", "vo", "sen", "dar", "pil", "gor", "nax", "bew")


def _name(drawn: random.Random) -> str:
    return "".join(drawn.choices(_SYLLABLES, k=4)).capitalize()
