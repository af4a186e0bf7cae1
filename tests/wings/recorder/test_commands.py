"""`record` and `recorded` on the command line: what is told, what is refused, and what is written."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize("name", ["langfuse", "phoenix"])
@pytest.mark.parametrize("lines", [True, False], ids=["lines", "document"])
def test_exports_of_others_tell_the_same(
    name: str, lines: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads((Path(__file__).parent / "exports" / f"{name}.json").read_text())
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


def test_a_file_of_something_else_and_a_search_that_was_none_are_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "words").write_text("These are words.")
    for name in ("empty.json", "words"):
        assert "Give OTLP" in told(capsys, "record", str(tmp_path / name), code=3)
    told(capsys, "record", str(file))
    assert "Operation 1 is no search" in told(capsys, "recorded", "1", code=2)
