"""The event-sourced trace: input, decisions and decoded tokens, one JSON object per line.

Each line has a number and a running checksum, so that reading reports a missing or edited line; each step has the hash
of the state after it, so that a replay reports the first difference. Floats have 6 significant digits. Reading needs
neither a model nor torch.
"""

from __future__ import annotations

import dataclasses
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO, Union

from pydantic import Field, create_model

from amgs_focus.errors import TraceError
from amgs_focus.records import BranchView, Keyframe, Measurement, NodeRef, Override, Refocus, Segment, StepRecord
from amgs_focus.trace.events import (
    FORMAT,
    KINDS,
    NAMES,
    Acted,
    Branched,
    Configured,
    Ended,
    Ingested,
    Overridden,
    QuestionRecord,
    Record,
    SteppedBack,
    Switched,
    Trace,
    TraceEvent,
    TraceHeader,
)
from amgs_focus.tree.span_metadata import Act, compact, parse_value, plain, round_floats


@dataclass(frozen=True, slots=True)
class _AnyLine:
    """A line whose kind may be unknown."""

    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _HeaderLine:
    data: TraceHeader


@cache
def _line() -> Any:
    """Return the union of all kinds of lines with their records, for the parser."""
    fields: dict[str, dict[str, Any]] = {
        name: {"kind": (Literal[name], ...), "data": (kind, ...)} for name, kind in KINDS.items()
    }
    models = [create_model(name, **definitions) for name, definitions in fields.items()]
    return Annotated[Union[tuple(models)], Field(discriminator="kind")]  # noqa: UP007 - a union of a tuple


class TraceWriter:
    """Writes events as they happen; pass it to the runtime. Each line is flushed before the call returns."""

    def __init__(self, path: Path | None, header: TraceHeader) -> None:
        """Begin a trace, in memory if `path` is None; an existing file is replaced. Raises TraceError if it cannot be
        written.
        """
        self._path = path
        self._line = 0
        self._sum = 0
        self._broken = False
        try:
            self._file: TextIO = io.StringIO() if path is None else path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise _unusable(path, error) from error
        self._write("header", plain(header))

    @property
    def path(self) -> Path | None:
        return self._path

    def raw(self) -> bytes:
        """Return everything written so far."""
        if isinstance(self._file, io.StringIO):
            return self._file.getvalue().encode("utf-8")
        return self._path.read_bytes() if self._path is not None else b""

    def follow_file(self, path: Path) -> None:
        """Record that the file was renamed."""
        self._path = path

    def record_segments(self, segments: Sequence[Segment], state_hash: str) -> None:
        copies = tuple(dataclasses.replace(segment, meta=dict(segment.meta)) for segment in segments)
        self._record(Ingested(copies, state_hash))

    def record_question(self, question: str, state_hash: str) -> None:
        self._record(QuestionRecord(question, state_hash))

    def record_refocus(self, refocus: Refocus) -> None:
        self._record(refocus)

    def record_step(self, record: StepRecord) -> None:
        if record.refocus is not None:
            self._record(record.refocus)
        self._record(dataclasses.replace(record, refocus=None))

    def record_step_back(self, steps: int, state_hash: str) -> None:
        self._record(SteppedBack(steps, state_hash))

    def overridden(self, node: NodeRef, override: Override | None) -> None:
        self._record(Overridden(node, override))

    def record_setting(self, key: str, value: str, state_hash: str) -> None:
        self._record(Configured(key, value, state_hash))

    def record_measurement(self, measurement: Measurement) -> None:
        self._record(measurement)

    def record_branch(self, branch: BranchView, chosen: bool, state_hash: str) -> None:
        self._record(Branched(branch.name, branch.parent, branch.at, chosen, state_hash))

    def record_switch(self, name: str, state_hash: str) -> None:
        self._record(Switched(name, state_hash))

    def record_act(self, act: Act, state_hash: str) -> None:
        """Record that spans were forgotten, restored or purged, with the hash of the state afterwards."""
        fields = act.id, act.kind, act.nodes.runs, act.at, act.by, act.why
        self._record(Acted(*fields, state_hash))

    def record_keyframe(self, keyframe: Keyframe) -> None:
        self._record(keyframe)

    def close(self) -> None:
        """Write the end mark and close the file; a trace without this mark was cut off."""
        if not self._file.closed and not isinstance(self._file, io.StringIO):
            self._record(Ended(self._line - 1))
            self._file.close()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _record(self, record: Any) -> None:
        self._write(NAMES[type(record)], plain(record))

    def _write(self, kind: str, data: Mapping[str, Any]) -> None:
        """Append a line. Raises TraceError on a failure, such as a full disk; nothing is written after it."""
        if self._broken:
            return
        body = compact({"line": self._line + 1, "kind": kind, "data": round_floats(data)})
        total = zlib.crc32(body.encode("utf-8"), self._sum)
        try:
            self._file.write(f"{total:08x} {body}\n")
            self._file.flush()
        except OSError as error:
            self._broken = True
            raise TraceError(
                f"{self._path}: {error.strerror}. The run goes on, but its trace ends at line {self._line}.",
                title="The trace cannot be written",
                way_out="Free some space, then reopen the lifetime to begin another trace.",
            ) from error
        self._line += 1
        self._sum = total


def read(source: Path | bytes, *, allow_incomplete: bool = False) -> Trace:
    """Read and check a trace. Raises TraceError that names the first line cut off, edited, missing or unknown.

    allow_incomplete: accept a trace without its end mark or cut off within its last line, as a killed process or a full
    disk leaves it.
    """
    try:
        raw = source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        raise _unusable(source, error) from error
    lines = raw.split(b"\n")
    if lines and lines[-1] and not (allow_incomplete and len(lines) > 1):
        raise faulty(len(lines), "it is cut off")
    header: TraceHeader | None = None
    events: list[TraceEvent] = []
    waiting: Refocus | None = None
    running = 0
    for number, line in enumerate(lines[:-1], start=1):
        running, body = _check_line(line, number, running)
        if number == 1:
            header = _header(body)
            continue
        record = _record(body, number)
        if isinstance(record, StepRecord):
            record = dataclasses.replace(record, refocus=waiting)
        waiting = record if isinstance(record, Refocus) and not record.forced else None
        events.append(TraceEvent(number, record))
    if header is None:
        raise faulty(1, "the file is empty")
    complete = bool(events) and isinstance(events[-1].record, Ended)
    if not complete and not allow_incomplete:
        raise faulty(len(lines), "it is missing: the trace ends without its end mark")
    return Trace(header, tuple(events), complete)


def _check_line(line: bytes, number: int, running: int) -> tuple[int, bytes]:
    """Return the running checksum and the JSON of a line. Raises TraceError if the line was changed."""
    checksum, _, body = line.partition(b" ")
    running = zlib.crc32(body, running)
    if checksum != f"{running:08x}".encode():
        raise faulty(number, "it, or a line before it, was changed")
    return running, body


def _header(body: bytes) -> TraceHeader:
    try:
        record = parse_value(_AnyLine, body)
        form = record.data.get("format", record.kind)
        if record.kind != "header" or form != FORMAT:
            raise faulty(1, f"this program reads {FORMAT}, not {form}")
        header: TraceHeader = parse_value(_HeaderLine, body).data
    except ValueError as error:
        raise faulty(1, "it is not a header") from error
    return header


def _record(body: bytes, number: int) -> Record:
    try:
        record: Record = parse_value(_line(), body).data
    except ValueError as error:
        raise faulty(number, _what_is_wrong(body)) from error
    return record


def _what_is_wrong(body: bytes) -> str:
    """Return why a line cannot be read as an event."""
    try:
        kind = parse_value(_AnyLine, body).kind
    except ValueError:
        return "it is not an event"
    if kind not in KINDS:
        return f"{kind!r} is no event that this program knows"
    return f"it is not a whole {kind} event"


def faulty(line: int, why: str) -> TraceError:
    return TraceError(f"Line {line}: {why}.", way_out="Use an intact copy of the trace.")


def _unusable(path: Any, error: OSError) -> TraceError:
    return TraceError(f"{path}: {error.strerror}.", way_out="Check the path and its permissions.")
