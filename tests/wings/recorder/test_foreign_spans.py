"""Spans as other programs wrote them: each file is what the package of its name exported, of an agent with a made-up
model or of a client with a made-up answer, and nothing in it was written by hand.
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from amgs.errors import InputError
from amgs.sessions.formats.otlp import session_of
from amgs.sessions.opening import open_session
from amgs.sessions.span_messages import conversation_ids
from amgs.sessions.spans import join_contents
from amgs.wings.recorder.bodies import SpanReader, SpanWriter, import_file, read_body
from amgs.wings.recorder.foreign_memory import ForeignMemory, memory_of
from amgs.wings.recorder.receiver import Received
from amgs.wings.recorder.uses import uses_of

SPANS = Path(__file__).parent / "foreign_spans"
WALNUTS = "Ilse is allergic to walnuts."


def told_by(name: str) -> ForeignMemory:
    content = read_body("otlp-json", (SPANS / f"{name}.json").read_bytes())
    received = Received()
    received.count(content)
    assert received.memory == 1, "the recorder counts it as memory too"
    return memory_of(join_contents([content]))


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
    (one,) = memory_of(join_contents([read_body("otlp-json", blank.encode())])).operations
    assert one.act == "search" and not one.told and one.count is None


CASES = Path(__file__).parents[2] / "unit/sessions/fixtures/cases"


def test_an_answer_that_two_libraries_tell_of_is_one_answer() -> None:
    for path in CASES.glob("otlp-two-libraries-*/spans.json"):
        memory = memory_of(join_contents([read_body("otlp-json", path.read_bytes())]))
        assert [one.words for one in memory.answers] == ["Not yet.", "It is."]


@pytest.mark.parametrize("path", sorted(CASES.glob("exported-*/export.json")), ids=lambda path: path.parent.name)
def test_exports_of_other_programs_are_recorded_as_they_open(path: Path, tmp_path: Path) -> None:
    with SpanWriter(tmp_path) as writer:
        import_file(path, writer, datetime(2026, 8, 20, tzinfo=UTC))
    spans = join_contents([read_body(entry.form, entry.body) for entry in SpanReader(tmp_path).new()])
    assert set(conversation_ids(spans).values()) == {"pots"}
    assert [turn.words for turn in session_of(spans, path, "pots").turns] == [
        one.words for one in open_session(path).turns
    ]


def wrap_otlp(request: dict[str, Any]) -> dict[str, bytes]:
    """Return the same spans as files of several kinds."""
    groups = request["resourceSpans"]
    text = json.dumps(request)
    one = groups[0]["scopeSpans"][0]["spans"][0]
    return {
        "Tempo": json.dumps({"batches": groups}).encode(),
        "a list of spans": json.dumps([one]).encode(),
        "printed one behind the other": (json.dumps({"resourceSpans": groups}, indent=1) + "\n" + text).encode(),
        "marked": text.encode("utf-8-sig"),
        "UTF-16": text.encode("utf-16"),
        "packed": gzip.compress(text.encode()),
    }


@pytest.mark.parametrize(
    "kind", ["Tempo", "a list of spans", "printed one behind the other", "marked", "UTF-16", "packed"]
)
def test_spans_are_recorded_however_they_are_wrapped(kind: str, tmp_path: Path) -> None:
    source = CASES / "otlp-two-libraries-1" / "spans.json"
    file = tmp_path / "spans.json"
    file.write_bytes(wrap_otlp(json.loads(source.read_bytes()))[kind])
    with SpanWriter(tmp_path / "spans") as writer:
        assert import_file(file, writer, datetime(2026, 8, 20, tzinfo=UTC)) > 0


def test_rows_of_nobody_known_are_named(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps([{"ts": 1, "utterance": "Fire it."}]), encoding="utf-8")
    with (
        SpanWriter(tmp_path / "spans") as writer,
        pytest.raises(InputError, match="not understood: they have ts, utterance"),
    ):
        import_file(file, writer, datetime(2026, 8, 20, tzinfo=UTC))
