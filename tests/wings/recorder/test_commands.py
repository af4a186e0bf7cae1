"""`record` and `recorded` on the command line: what is told, what is refused, and what is written."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from amgs.sessions.spans import as_otlp
from amgs_tui.__main__ import run
from tests.wings.recorder.spans_of import SpanWorld

BEDS = "The beds are watered every 9 hours."


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    world = SpanWorld()
    world.store("m1", BEDS)
    world.store("m2", BEDS)
    world.store("m3", "The pump is broken.")
    world.search("when are the beds watered?", [("m1", BEDS, 0.8)], "c1")
    world.answer("when are the beds watered?", "Every 9 hours.", "c1")
    path = tmp_path / "spans.json"
    path.write_bytes(world.body)
    return path


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run([*words]) == code
    out, err = capsys.readouterr()
    return out + err


def test_a_file_is_taken_and_every_view_tells_of_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(told(capsys, "record", str(file), "--format", "json"))["memory"] == 4
    listed = told(capsys, "recorded")
    assert "when are the beds watered?" in listed and "5 spans, 1 answer of models" in listed
    assert "pump" not in told(capsys, "recorded", "--find", "watered search")
    assert "lay there" in told(capsys, "recorded", "4")
    assert "duplicate" in told(capsys, "recorded", "--view", "audit", "--days", "0")
    assert "too few for a table" in told(capsys, "recorded", "--view", "scores")
    assert "not recalled: It was there" in told(capsys, "recorded", "--view", "why", "--find", "pump broken")
    assert "c1" in told(capsys, "recorded", "--view", "conversations")


def test_ids_are_written_with_their_reasons(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "record", str(file))
    out = tmp_path / "retire.csv"
    told(capsys, "recorded", "--view", "audit", "--days", "0", "--out", str(out))
    assert out.read_text().splitlines()[:2] == ["reason,store,id,other,because", "duplicate,beds,m2,m1,the same words"]


def test_records_are_written_for_an_import_and_so_for_every_pane(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "record", str(file))
    assert "pump is broken" in told(capsys, "recorded", "--view", "records", "--find", "pump")
    world = SpanWorld(first=100)
    world.now += 10**12
    world.store("m3", "The pump was mended.", "update_memory")
    (tmp_path / "more.json").write_bytes(world.body)
    told(capsys, "record", str(tmp_path / "more.json"))
    out = tmp_path / "theirs.json"
    told(capsys, "recorded", "--view", "records", "--out", str(out))
    store = ["--store", str(tmp_path / "theirs.duckdb"), "--model", "tiny"]
    assert "mem0" in told(capsys, *store, "import", str(out))
    assert "The pump was mended." in told(capsys, *store, "search", "pump")
    assert "The pump is broken." in told(capsys, *store, "search", "broken", "--as-of", "2026-03-01T00:05:00Z")


def test_conversations_are_written_as_sessions(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "record", str(file))
    out = tmp_path / "said.jsonl"
    told(capsys, "recorded", "--view", "conversations", "--find", "hours", "--out", str(out))
    assert "Every 9 hours." in told(capsys, "session", str(out), "--view", "turns")


def test_why_nothing_was_said_is_told_by_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given, says in (
        ({"gen_ai.operation.name": "chat"}, "asked to capture content"),
        ({"llama.talk": "When does the kiln open?"}, "not understood: test turn"),
    ):
        world = SpanWorld()
        world.add("turn")
        only = replace(world.spans[0], attributes=given, name="turn")
        (tmp_path / "o.json").write_text(json.dumps(as_otlp([only])))
        told(capsys, "record", str(tmp_path / "o.json"))
        assert says in " ".join(told(capsys, "recorded", "--view", "conversations").split())


LANGFUSE = [
    {
        "id": "o1",
        "trace_id": "t1",
        "type": "RETRIEVER",
        "name": "beds",
        "start_time": "2026-03-01 09:00:00.000000",
        "end_time": "2026-03-01 09:00:01.000000",
        "session_id": "s1",
        "input": {"query": "when are the beds watered?"},
        "output": [{"id": "m1", "page_content": BEDS, "score": 0.8}],
    },
    {
        "id": "o2",
        "traceId": "t1",
        "type": "GENERATION",
        "startTime": "2026-03-01T09:00:02Z",
        "endTime": "2026-03-01T09:00:03Z",
        "model": "m",
        "usage": {"input": 20, "output": 5},
        "input": [{"role": "user", "content": "when are the beds watered?"}],
        "output": {"role": "assistant", "content": "Every 9 hours."},
    },
]
PHOENIX = [
    {
        "name": "beds",
        "span_kind": "RETRIEVER",
        "context": {"trace_id": "ab" * 16, "span_id": "cd" * 8},
        "parent_id": None,
        "start_time": "2026-03-01T09:00:00+00:00",
        "end_time": "2026-03-01T09:00:01+00:00",
        "attributes": {
            "session": {"id": "s1"},
            "input": {"value": "when are the beds watered?"},
            "retrieval": {"documents": [{"document": {"id": "m1", "content": BEDS, "score": 0.8}}]},
        },
    },
    {
        "name": "llm",
        "context.trace_id": "ab" * 16,
        "context.span_id": "ef" * 8,
        "start_time": "2026-03-01T09:00:02+00:00",
        "end_time": "2026-03-01T09:00:03+00:00",
        "attributes.openinference.span.kind": "LLM",
        "attributes.llm.model_name": "m",
        "attributes.llm.token_count.prompt": 20,
        "attributes.llm.input_messages": [{"message.role": "user", "message.content": "when are the beds watered?"}],
        "attributes.llm.output_messages.0.message.role": "assistant",
        "attributes.llm.output_messages.0.message.content": "Every 9 hours.",
    },
]


@pytest.mark.parametrize("rows", [LANGFUSE, PHOENIX], ids=["langfuse", "phoenix"])
@pytest.mark.parametrize("lines", [True, False], ids=["lines", "document"])
def test_exports_of_others_tell_the_same(
    rows: list[object], lines: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export"
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps({"data": rows}))
    told(capsys, "record", str(path))
    found = json.loads(told(capsys, "recorded", "1", "--format", "json"))
    assert found["operation"]["query"] == "when are the beds watered?"
    assert [(row["id"], row["score"]) for row in found["rows"]] == [("m1", 0.8)]
    (said,) = json.loads(told(capsys, "recorded", "--view", "conversations", "--format", "json"))["conversations"]
    assert (said["id"], said["turns"], said["answers"], said["recalls"]) == ("s1", 2, 1, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("recorded", "--view", "audit"), "Nothing is recorded here"),
        (("recorded", "--view", "why"), "What was missed?"),
        (("recorded", "3", "--view", "audit"), "A number means nothing"),
        (("recorded", "--view", "scores", "--out", "x.csv"), "--out means nothing"),
        (("record", "missing.json"), "cannot be read"),
        (("record", "--most", "1"), "--most"),
    ],
)
def test_what_cannot_be_told_is_refused_in_a_sentence(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words]) != 0
    assert says in capsys.readouterr().err


def test_a_list_of_nothing_says_how_to_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in told(capsys, "recorded")


def test_a_file_of_something_else_and_a_search_that_was_none_are_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "words").write_text("These are words.")
    for name in ("empty.json", "words"):
        assert "Give OTLP" in told(capsys, "record", str(tmp_path / name), code=3)
    told(capsys, "record", str(file))
    assert "Operation 1 is no search" in told(capsys, "recorded", "1", code=2)


def test_it_listens_until_it_is_stopped_and_says_what_came(file: Path, data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "amgs_tui", "record", "--port", str(port), "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as listening:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/traces", file.read_bytes(), {"Content-Type": "application/json"}
        )
        for _ in range(600):
            try:
                urllib.request.urlopen(request, timeout=30).close()
                break
            except OSError:
                time.sleep(0.1)
        listening.send_signal(signal.SIGINT)
        out, err = listening.communicate(timeout=60)
    assert (listening.returncode, "Traceback" in err) == (0, False), err
    told = json.loads(out)
    assert (told["spans"], told["memory"], told["answers"], told["refused"]) == (5, 4, 1, 0)
    assert told["address"] == f"http://127.0.0.1:{port}" and Path(told["folder"]) == data / "recorded"
