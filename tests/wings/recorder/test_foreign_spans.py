"""Spans as other programs wrote them: each file is what the package of its name exported, of an agent with a made-up
model or of a client with a made-up answer, and nothing in it was written by hand.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from amgs.errors import InputError
from amgs.sessions.formats.otlp import session_of
from amgs.sessions.opening import open_session
from amgs.sessions.span_messages import conversation_ids
from amgs.sessions.spans import RecordedSpan, SpanEvent, joined
from amgs.sessions.turn import Session
from amgs.types.usage import Usage
from amgs.wings.recorder.bodies import import_file, read_body
from amgs.wings.recorder.foreign_memory import ForeignMemory, memory_of
from amgs.wings.recorder.receiver import Received
from amgs.wings.recorder.span_files import SpanReader, SpanWriter
from amgs.wings.recorder.uses import uses_of

SPANS = Path(__file__).parent / "foreign_spans"
WALNUTS = "Ilse is allergic to walnuts."


def told_by(name: str) -> ForeignMemory:
    content = read_body("otlp-json", (SPANS / f"{name}.json").read_bytes())
    received = Received()
    received.count(content)
    assert received.memory == 1, "the recorder counts it as memory too"
    return memory_of(joined([content]))


@pytest.mark.parametrize(
    ("name", "store", "query", "content", "score"),
    [
        ("google-adk-2.13.0", "garden", "Ilse allergic", WALNUTS, None),
        ("google-adk-2.13.0-schema-1", "garden", "Ilse allergic", WALNUTS, None),
        ("openinference-instrumentation-bedrock-0.1.61", "garden", "What is Ilse allergic to?", WALNUTS, 0.83),
        ("opentelemetry-util-genai-1.3b0", "notes", "What is Ilse allergic to?", "", 0.83),
    ],
)
def test_a_recall_is_told_as_it_was(name: str, store: str, query: str, content: str, score: float | None) -> None:
    (one,) = told_by(name).operations
    assert (one.act, one.store, one.query, one.told, one.failed) == ("search", store, query, True, False)
    (record,) = one.records
    assert record.id and (record.content, record.score) == (content, score)


def test_what_an_agent_of_adk_answered_made_use_of_its_recall() -> None:
    memory = told_by("google-adk-2.13.0")
    (use,) = uses_of(memory)
    assert use.used and memory.answers[-1].words == "She is allergic to walnuts."


def test_a_tool_that_keeps_its_result_to_itself_is_a_recall_that_is_not_told() -> None:
    """ADK writes `{}` where it may not write contents."""
    body = (SPANS / "google-adk-2.13.0-schema-1.json").read_text(encoding="utf-8")
    start = body.index('"gcp.vertex.agent.tool_response"')
    value = body.index('"stringValue": ', start) + len('"stringValue": ')
    blank = body[:value] + '"{}"' + body[body.index("\n", value) :]
    (one,) = memory_of(joined([read_body("otlp-json", blank.encode())])).operations
    assert one.act == "search" and not one.told and one.count is None


# --- one vocabulary each, in its own form and with invented words ------------------------------------------


SECOND = 10**9


def span(
    number: int, given: dict[str, Any], *events: tuple[str, dict[str, Any]], parent: int = 0, scope: str = "s"
) -> RecordedSpan:
    """A span of five seconds, which begins ten seconds after the one with the number before."""
    start = (1_787_000_000 + 10 * number) * SECOND
    told = {key: value if isinstance(value, str | int) else json.dumps(value, indent=1) for key, value in given.items()}
    return RecordedSpan(
        "a" * 32,
        f"{number:016x}",
        f"{parent:016x}" if parent else "",
        f"span {number}",
        start,
        start + 5 * SECOND,
        told,
        events=tuple(SpanEvent(name, start, attributes) for name, attributes in events),
        scope=scope,
    )


def session(*spans: RecordedSpan) -> Session:
    return session_of(spans, Path("o.json"), "o")


def told(found: Session) -> list[tuple[str, str, str]]:
    return [(turn.role, turn.kind, turn.words) for turn in found.turns]


ASKED, CALLED = ("user", "said", "When does the kiln open?"), ("assistant", "call", 'look({"day": 4})')
GIVEN, SAID = ("tool", "result", "at 340 degrees"), ("assistant", "said", "On Friday, below 60 degrees.")
SYSTEM = ("system", "said", "You fire pots.")
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai"}


def strands_events() -> list[tuple[str, dict[str, Any]]]:
    blocks = [
        ("system", "content", "You fire pots."),
        ("user", "content", [{"text": ASKED[2]}]),
        ("assistant", "content", [{"toolUse": {"toolUseId": "k1", "name": "look", "input": {"day": 4}}}]),
        ("tool", "content", [{"toolResult": {"toolUseId": "k1", "content": [{"text": GIVEN[2]}]}}]),
        ("", "message", [{"text": SAID[2]}]),
    ]
    return [
        (
            f"gen_ai.{role}.message" if role else "gen_ai.choice",
            {key: words if isinstance(words, str) else json.dumps(words)},
        )
        for role, key, words in blocks
    ]


def logged(**choice: Any) -> list[dict[str, Any]]:
    """The events of the conventions up to 1.36, as bodies."""
    call = {"id": "k1", "type": "function", "function": {"name": "look", "arguments": '{"day": 4}'}}
    return [
        {"event.name": "gen_ai.system.message", "content": "You fire pots.", "role": "system"},
        {"event.name": "gen_ai.user.message", "content": [{"kind": "text", "text": ASKED[2]}], "role": "user"},
        {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": [call]},
        {"event.name": "gen_ai.tool.message", "role": "tool", "content": GIVEN[2], "id": "k1", "name": "look"},
        {"event.name": "gen_ai.choice", "index": 0, **choice},
    ]


def vercel() -> tuple[RecordedSpan, ...]:
    """A loop of two steps with the call of a tool between them."""
    asked: list[Any] = [
        {"role": "system", "content": "You fire pots."},
        {"role": "user", "content": [{"type": "text", "text": ASKED[2]}]},
    ]
    call = {"type": "tool-call", "toolCallId": "k1", "toolName": "look", "input": {"day": 4}}
    result = {
        "type": "tool-result",
        "toolCallId": "k1",
        "toolName": "look",
        "output": {"type": "text", "value": GIVEN[2]},
    }
    more = [*asked, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
    step = {"ai.operationId": "ai.streamText.doStream", "ai.telemetry.metadata.chatId": "v-1"}
    first = {**step, "ai.prompt.messages": asked, "ai.usage.inputTokens": 30, "ai.usage.outputTokens": 5}
    tool = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "look", "ai.toolCall.id": "k1"}
    return (
        span(
            1,
            {
                "ai.operationId": "ai.streamText",
                "ai.prompt": {"prompt": ASKED[2]},
                "ai.response.text": SAID[2],
                "ai.usage.inputTokens": 80,
            },
        ),
        span(2, {**first, "ai.response.toolCalls": [{**call, "input": '{"day": 4}'}]}, parent=1),
        span(3, {**tool, "ai.toolCall.args": {"day": 4}, "ai.toolCall.result": '"at 340 degrees"'}, parent=1),
        span(4, {**step, "ai.prompt.messages": more, "ai.response.text": SAID[2]}, parent=1),
    )


def gemini() -> dict[str, Any]:
    request = {
        "model": "g",
        "config": {"system_instruction": "You fire pots."},
        "contents": [
            {"role": "user", "parts": [{"text": ASKED[2]}]},
            {"role": "model", "parts": [{"function_call": {"id": "k1", "name": "look", "args": {"day": 4}}}]},
            {"role": "user", "parts": [{"function_response": {"id": "k1", "name": "look", "response": GIVEN[2]}}]},
        ],
    }
    response = {"content": {"role": "model", "parts": [{"text": SAID[2]}]}}
    return {"gcp.vertex.agent.llm_request": request, "gcp.vertex.agent.llm_response": response}


def mlflow() -> dict[str, Any]:
    call = {"id": "k1", "type": "function", "function": {"name": "look", "arguments": '{"day": 4}'}}
    messages = [
        {"role": "system", "content": "You fire pots."},
        {"role": "user", "content": ASKED[2]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "k1", "content": GIVEN[2]},
    ]
    return {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanInputs": {"messages": messages},
        "mlflow.spanOutputs": {"choices": [{"message": {"role": "assistant", "content": SAID[2]}}]},
        "mlflow.chat.tokenUsage": {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35},
    }


@pytest.mark.parametrize(
    "spans",
    [
        (span(1, CHAT, *strands_events()),),
        (span(1, {**CHAT, "events": logged(message={"role": "assistant", "content": SAID[2]})}),),
        (span(1, CHAT, *((one["event.name"], one) for one in logged(message=SAID[2]))),),
        (span(1, CHAT, *((one["event.name"], {"body": one}) for one in logged(message={"content": SAID[2]}))),),
        vercel(),
        (span(1, gemini()),),
        (span(1, mlflow()),),
    ],
    ids=["Strands", "pydantic-ai", "events", "log bodies", "Vercel", "ADK", "MLflow"],
)
def test_each_vocabulary_tells_the_call_its_result_and_the_answer(spans: tuple[RecordedSpan, ...]) -> None:
    found = session(*spans)
    assert told(found) == [SYSTEM, ASKED, CALLED, GIVEN, SAID]
    (call,) = found.turns[2].calls
    assert found.turns[3].answers == call.id and not found.boundaries and not found.notes


def test_a_result_that_only_the_span_of_the_tool_tells_is_told() -> None:
    assert told(session(*vercel()[:3]))[-1] == GIVEN


def said(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": words}]}


def answer(number: int, *words: str, parent: int = 0, scope: str = "client", **more: Any) -> RecordedSpan:
    """A call of a model: what was said in turn, the answer last."""
    messages = [said(("user", "assistant")[n % 2], one) for n, one in enumerate(words)]
    given = {
        **CHAT,
        "gen_ai.input.messages": messages[:-1],
        "gen_ai.output.messages": messages[-1:],
        "gen_ai.usage.input_tokens": 10 * len(words),
        "gen_ai.usage.output_tokens": 3,
        **more,
    }
    return span(number, given, parent=parent, scope=scope)


WORDS = ("Is the glaze dry?", "Not yet.", "And the bowl?", "It is.")


@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("between", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_a_call_that_two_libraries_tell_of_is_one_turn(bare: bool, between: bool, beside: bool) -> None:
    spans: list[RecordedSpan] = []
    for number, words in ((1, WORDS[:2]), (4, WORDS)):
        outer = answer(number, *words, scope="framework")
        inner = answer(number, *words, parent=0 if beside else number)
        if bare and not beside:  # the client keeps words to itself
            inner = span(number, {**CHAT, "gen_ai.usage.input_tokens": 10 * len(words)}, parent=number)
        inner = RecordedSpan(
            inner.trace,
            f"{number + 1:016x}",
            inner.parent,
            "inner",
            outer.start + 1,
            outer.end - 1,
            inner.attributes,
            scope="client",
        )
        spans += [outer, inner]
        if between and not beside:
            step = span(number + 2, {}, parent=number)
            spans[-1] = RecordedSpan(
                inner.trace, inner.id, step.id, "inner", inner.start, inner.end, inner.attributes, scope="client"
            )
            spans.append(step)
    found = session(*spans)
    assert [turn.text for turn in found.turns] == [*WORDS] and not found.boundaries
    assert [turn.usage for turn in found.turns if turn.role == "assistant"] == [Usage(20, 0, 0, 3), Usage(40, 0, 0, 3)]
    assert [one.words for one in memory_of(spans).answers] == [WORDS[1], WORDS[3]]


def test_an_agent_within_a_tool_of_a_call_is_not_that_call() -> None:
    tool = span(2, {"gen_ai.operation.name": "execute_tool"}, parent=1)
    spans = [answer(1, *WORDS[:2]), tool, answer(3, "Ask the wheel.", "It turns.", parent=2)]
    assert [turn.text for turn in session(*spans).turns] == [*WORDS[:2], "Ask the wheel.", "It turns."]


@pytest.mark.parametrize(
    "between",
    [
        (WORDS[0], "A title: glazes."),  # a call aside, with the first words alone
        (WORDS[0], "Not yet, no."),  # asked again
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_a_request_that_leaves_out_what_comes_back_is_no_compaction(between: tuple[str, ...], last: bool) -> None:
    spans = [answer(1, *WORDS[:2]), answer(2, *between), *([] if last else [answer(3, *WORDS)])]
    assert not session(*spans).boundaries


def test_a_request_that_leaves_out_for_good_what_was_said_is_a_compaction() -> None:
    long = (*WORDS, "Then fire it.", "It burns.")
    kept = answer(3, "So far: a bowl.", "Yes.", "Then fire it.", "It burns.", "How hot?", "340.")
    found = session(answer(1, *WORDS), answer(2, *long), kept)
    assert len(found.boundaries) == 1


def test_what_is_not_understood_is_named() -> None:
    odd = span(1, {"llama.talk": {"turns": ["When does the kiln open again?"]}}, scope="llama")
    found = session(odd)
    assert found.notes == ("Spans of a kind that is not understood: llama span 1.",)
    quiet = session(span(1, CHAT), span(2, {"http.method": "GET"}))
    assert not quiet.notes and quiet.evidence["answer whose messages were not recorded"] == 1


def langsmith_runs() -> list[dict[str, Any]]:
    call = {"name": "look", "args": {"day": 4}, "id": "k1"}
    messages = [
        {"id": ["langchain", "SystemMessage"], "kwargs": {"type": "system", "content": "You fire pots."}},
        {"id": ["langchain", "HumanMessage"], "kwargs": {"type": "human", "content": ASKED[2]}},
        {"id": ["langchain", "AIMessage"], "kwargs": {"type": "ai", "content": "", "tool_calls": [call]}},
        {"id": ["langchain", "ToolMessage"], "kwargs": {"type": "tool", "content": GIVEN[2], "tool_call_id": "k1"}},
    ]
    last = {"text": SAID[2], "message": {"kwargs": {"type": "ai", "content": SAID[2]}}}
    times = {"start_time": "2026-08-20T10:00:00", "end_time": "2026-08-20T10:00:05", "trace_id": "t-1"}
    return [
        {"id": "r-1", "name": "loop", "run_type": "chain", "inputs": {}, "outputs": {}, **times},
        {
            "id": "r-2",
            "parent_run_id": "r-1",
            "name": "ChatModel",
            "run_type": "llm",
            **times,
            "inputs": {"messages": [messages]},
            "outputs": {
                "generations": [[last]],
                "llm_output": {"token_usage": {"prompt_tokens": 30, "completion_tokens": 5}},
            },
            "extra": {"metadata": {"thread_id": "pots", "ls_model_name": "m"}},
        },
    ]


def mlflow_trace(old: bool) -> dict[str, Any]:
    ids = {"context": {"span_id": "0x1f", "trace_id": "t-1"}} if old else {"span_id": "AAAAAAAAAB8=", "trace_id": "t-1"}
    attributes = {key: value if isinstance(value, str) else json.dumps(value) for key, value in mlflow().items()}
    times = ("start_time", "end_time") if old else ("start_time_unix_nano", "end_time_unix_nano")
    one = {"name": "chat", **ids, **dict(zip(times, (10**18, 10**18 + 9), strict=True)), "attributes": attributes}
    return {"info": {"trace_metadata": {"mlflow.trace.session": "pots"}}, "data": {"spans": [one]}}


@pytest.mark.parametrize(
    "document",
    [
        langsmith_runs(),
        {"runs": langsmith_runs()},
        {**langsmith_runs()[0], "child_runs": langsmith_runs()[1:]},
        mlflow_trace(old=True),
        [mlflow_trace(old=False)],
        {"traces": [mlflow_trace(old=False)]},
    ],
)
def test_exports_of_langsmith_and_mlflow_are_read(document: Any, tmp_path: Path) -> None:
    file, folder = tmp_path / "export.json", tmp_path / "spans"
    file.write_text(json.dumps(document), encoding="utf-8")
    with SpanWriter(folder) as writer:
        import_file(file, writer, datetime(2026, 8, 20, tzinfo=UTC))
    spans = joined([read_body(entry.form, entry.body) for entry in SpanReader(folder).new()])
    assert set(conversation_ids(spans).values()) == {"pots"}
    found = session(*spans)
    assert told(found) == [SYSTEM, ASKED, CALLED, GIVEN, SAID]
    assert found.turns[-1].usage == Usage(30, 0, 0, 5)
    opened = open_session(file)
    assert (opened.id, told(opened)) == ("pots", told(found))
    file.write_text("".join(f"{json.dumps(one)}\n" for one in (document if isinstance(document, list) else [document])))
    assert told(open_session(file)) == told(found)


def test_rows_of_nobody_known_are_named(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps([{"ts": 1, "utterance": "Fire it."}]), encoding="utf-8")
    with (
        SpanWriter(tmp_path / "spans") as writer,
        pytest.raises(InputError, match="not understood: they have ts, utterance"),
    ):
        import_file(file, writer, datetime(2026, 8, 20, tzinfo=UTC))
