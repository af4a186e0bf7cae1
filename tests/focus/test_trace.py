"""The trace: what it tells is what happened, a replay agrees, and any change to it is named by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import TraceError
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import NodeRef, Refocus, Segment, StepRecord
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.trace.trace import TraceWriter, read
from tests.focus.focus_world import MODEL, SMALL, Renamed, notes, small_runtime


def record(path: Path) -> list[StepRecord]:
    """A run with everything that can happen in it, traced; the steps as they were returned."""
    writer = TraceWriter(path, header_of(small_runtime(), created="2026-03-01T09:00:00Z"))
    runtime = small_runtime(trace=writer)
    runtime.ingest(notes())
    runtime.question("which lamp?")
    steps = list(runtime.decode(9))
    runtime.back(3)
    steps += runtime.decode(2)
    node = next(entry.node for entry in runtime.context.entries() if entry.level)
    runtime.override(node, "expand")
    runtime.refocus()
    runtime.override(NodeRef(1, 0), "pin")
    runtime.measure(0)
    steps += runtime.decode(6)
    runtime.question("ünd now?")
    steps += runtime.decode(3)
    writer.close()
    return steps


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[StepRecord]]:
    path = tmp_path_factory.mktemp("trace") / "run.jsonl"
    return path, record(path)


def test_a_trace_is_replayed_under_another_name_of_its_model(traced: tuple[Path, list[StepRecord]]) -> None:
    path, steps = traced
    assert replay(read(path), small_runtime(model=Renamed(7, "Somebody/copy"))) == len(steps)
    with pytest.raises(TraceError, match="fingerprint"):
        replay(read(path), small_runtime(model=Renamed(8, MODEL.card.name)))


def test_two_traces_of_one_run_are_equal_byte_for_byte(traced: tuple[Path, list[StepRecord]], tmp_path: Path) -> None:
    record(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == traced[0].read_bytes()


@given(st.data())
def test_a_trace_cut_anywhere_is_named_by_line(
    traced: tuple[Path, list[StepRecord]], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = traced[0].read_bytes()
    length = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path_factory.mktemp("cut") / "cut.jsonl"
    path.write_bytes(whole[:length])
    line = whole[:length].count(b"\n") + 1
    with pytest.raises(TraceError, match=f"Line {line}:"):
        read(path)


@given(st.data())
def test_any_changed_byte_is_named_by_line(
    traced: tuple[Path, list[StepRecord]], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(traced[0].read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1).filter(lambda at: whole[at] != ord("\n")))
    whole[place] = ord("7") if whole[place] != ord("7") else ord("8")
    path = tmp_path_factory.mktemp("edit") / "edited.jsonl"
    path.write_bytes(whole)
    with pytest.raises(TraceError, match=f"Line {whole[:place].count(10) + 1}:"):
        read(path)


def test_the_trace_of_a_killed_process_can_be_read_when_asked(
    traced: tuple[Path, list[StepRecord]], tmp_path: Path
) -> None:
    lines = traced[0].read_bytes().splitlines(keepends=True)
    path = tmp_path / "killed.jsonl"
    path.write_bytes(b"".join(lines[:-1]))
    trace = read(path, allow_incomplete=True)
    assert not trace.complete
    assert replay(trace, small_runtime()) == len(traced[1])


class Forger(TraceWriter):
    """Writes another token than was decoded, with a checksum that fits."""

    def record_step(self, record: StepRecord) -> None:
        if record.step == 4:
            record = StepRecord(
                **{name: getattr(record, name) for name in StepRecord.__dataclass_fields__} | {"token": 65}
            )
        super().record_step(record)


def test_a_replay_that_strays_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "forged.jsonl"
    with Forger(path, header_of(small_runtime())) as writer:
        runtime = small_runtime(trace=writer)
        runtime.ingest(notes())
        runtime.decode(6)
    lines = path.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"step":4,"token":65' in text)
    with pytest.raises(TraceError, match=f"Line {line}: the replay gives another token"):
        replay(read(path), small_runtime())


def test_a_replay_with_something_else_than_the_header_names_is_refused(traced: tuple[Path, list[StepRecord]]) -> None:
    trace = read(traced[0])
    with pytest.raises(TraceError, match="model"):
        replay(trace, small_runtime(model=TinyModel(8)))
    with pytest.raises(TraceError, match="settings"):
        replay(trace, small_runtime(settings=SMALL.model_copy(update={"cadence": 5})))
    used: FocusRuntime = small_runtime()
    used.ingest([Segment("before")])
    with pytest.raises(TraceError, match="lifetime"):
        replay(trace, used)


def test_another_format_an_empty_file_and_no_file_are_named(
    traced: tuple[Path, list[StepRecord]], tmp_path: Path
) -> None:
    with pytest.raises(TraceError, match="Line 1"):
        (tmp_path / "empty").write_bytes(b"")
        read(tmp_path / "empty")
    with pytest.raises(TraceError, match="nowhere"):
        read(tmp_path / "nowhere")
    with pytest.raises(TraceError, match="nofolder"):
        TraceWriter(tmp_path / "nofolder" / "run.jsonl", read(traced[0]).header)


def test_a_line_is_plain_json_after_its_checksum(traced: tuple[Path, list[StepRecord]]) -> None:
    header, *rest = traced[0].read_text(encoding="utf-8").splitlines()
    assert json.loads(header[9:])["data"]["format"] == "amgs-focus-trace-4"
    assert {json.loads(line[9:])["kind"] for line in rest} == {
        "ingest",
        "question",
        "refocus",
        "decode",
        "back",
        "override",
        "measure",
        "keyframe",
        "branch",
        "end",
    }
    assert any(isinstance(one.record, Refocus) and one.record.forced for one in read(traced[0]).events)


def test_a_line_that_is_missing_is_named(traced: tuple[Path, list[StepRecord]], tmp_path: Path) -> None:
    lines = traced[0].read_bytes().splitlines(keepends=True)
    path = tmp_path / "missing.jsonl"
    path.write_bytes(b"".join(lines[:4] + lines[5:]))
    with pytest.raises(TraceError, match="Line 5:"):
        read(path)
