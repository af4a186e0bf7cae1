"""The event-sourced trace: what came in, what was decided and what was decoded, one JSON object a line.

Every line carries its number and a running checksum, so that a missing or edited line is named on reading,
and every step the hash of the state after it, so that a replay that strays is named too. Floats keep 6
significant digits.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TextIO, Union, get_args, get_origin, get_type_hints

from amgs_focus.base_model import ModelCard
from amgs_focus.errors import TraceError
from amgs_focus.gist_tree import Segment
from amgs_focus.records import Measurement, NodeRef, Override, Refocus, StepRecord
from amgs_focus.runtime import FocusRuntime

FORMAT = "amgs-focus-trace-1"


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """What a replay needs to begin alike. lifetime: tokens that were there before; created: ISO 8601 or
    empty.
    """

    model: ModelCard
    gist: str
    gist_version: int
    scorer: str
    settings: Mapping[str, Any]
    lifetime: int = 0
    created: str = ""
    format: str = FORMAT


@dataclass(frozen=True, slots=True)
class Ingested:
    """Segments that came in, and the state after them."""

    segments: tuple[Segment, ...]
    state_hash: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the state after it."""

    question: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class SteppedBack:
    """Steps taken back, and the state after that."""

    steps: int
    state_hash: str


@dataclass(frozen=True, slots=True)
class Overridden:
    """The operator's word on a node; None took it back."""

    node: NodeRef
    word: Override | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The trace was closed in order. events: lines between the header and this one."""

    events: int


Record = Ingested | Asked | Refocus | StepRecord | SteppedBack | Overridden | Measurement | Ended

_KINDS: dict[str, type[Any]] = {
    "ingest": Ingested,
    "question": Asked,
    "refocus": Refocus,
    "decode": StepRecord,
    "back": SteppedBack,
    "override": Overridden,
    "measure": Measurement,
    "end": Ended,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """A record and the line it stands on, from 1."""

    line: int
    record: Record


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as read. complete: it was closed in order and not cut off between two lines."""

    header: TraceHeader
    events: tuple[TraceEvent, ...]
    complete: bool

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        return tuple(event.record for event in self.events if isinstance(event.record, StepRecord))


class TraceWriter:
    """Writes events as they happen; hand it to the runtime. Each line is on its way to the disk when it
    returns.
    """

    def __init__(self, path: Path, header: TraceHeader) -> None:
        """Begin a trace, replacing a file of that name. Raises TraceError when it cannot be written."""
        self._path = path
        self._line = 0
        self._sum = 0
        try:
            self._file: TextIO = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise _unusable(path, error) from error
        self._write("header", asdict(header))

    @property
    def path(self) -> Path:
        return self._path

    def ingested(self, segments: Sequence[Segment], state_hash: str) -> None:
        plain = [{**asdict(segment), "meta": dict(segment.meta)} for segment in segments]
        self._write("ingest", {"segments": plain, "state_hash": state_hash})

    def asked(self, question: str, state_hash: str) -> None:
        self._record(Asked(question, state_hash))

    def refocused(self, refocus: Refocus) -> None:
        self._record(refocus)

    def stepped(self, record: StepRecord) -> None:
        if record.refocus is not None:
            self._record(record.refocus)
        self._record(dataclasses.replace(record, refocus=None))

    def stepped_back(self, steps: int, state_hash: str) -> None:
        self._record(SteppedBack(steps, state_hash))

    def overridden(self, node: NodeRef, word: Override | None) -> None:
        self._record(Overridden(node, word))

    def measured(self, measurement: Measurement) -> None:
        self._record(measurement)

    def close(self) -> None:
        """Mark the end; a trace without this mark was cut off."""
        if not self._file.closed:
            self._record(Ended(self._line - 1))
            self._file.close()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _record(self, record: Any) -> None:
        self._write(_NAMES[type(record)], asdict(record))

    def _write(self, kind: str, data: Mapping[str, Any]) -> None:
        self._line += 1
        body = _dump({"line": self._line, "kind": kind, "data": rounded(data)})
        self._sum = zlib.crc32(body.encode("utf-8"), self._sum)
        try:
            self._file.write(f"{self._sum:08x} {body}\n")
            self._file.flush()
        except OSError as error:
            raise _unusable(self._path, error) from error


def header_of(runtime: FocusRuntime, *, created: str = "") -> TraceHeader:
    """The header for a trace of this runtime, before anything happened in it."""
    gist = runtime.tree.gist
    return TraceHeader(
        model=runtime.model.card,
        gist=gist.name,
        gist_version=gist.version,
        scorer=runtime.scorer.name,
        settings=runtime.settings.model_dump(),
        lifetime=runtime.tree.length,
        created=created,
    )


def read(path: Path, *, allow_incomplete: bool = False) -> Trace:
    """Read and check a trace. Raises TraceError naming the line that is cut off, edited, missing or
    unknown.

    allow_incomplete: accept one that ends between two lines without its end mark, as a killed process
    leaves it.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error) from error
    lines = raw.split(b"\n")
    if lines and lines[-1]:
        raise _faulty(len(lines), "it is cut off")
    header: TraceHeader | None = None
    events: list[TraceEvent] = []
    waiting: Refocus | None = None
    running = 0
    for number, line in enumerate(lines[:-1], start=1):
        running, kind, data = _parse(line, number, running)
        if number == 1:
            header = _header(kind, data)
            continue
        record = _build_record(kind, data, number)
        if isinstance(record, StepRecord):
            record = dataclasses.replace(record, refocus=waiting)
        waiting = record if isinstance(record, Refocus) and not record.forced else None
        events.append(TraceEvent(number, record))
    if header is None:
        raise _faulty(1, "the file is empty")
    complete = bool(events) and isinstance(events[-1].record, Ended)
    if not complete and not allow_incomplete:
        raise _faulty(len(lines), "it is missing: the trace ends without its end mark")
    return Trace(header, tuple(events), complete)


def replay(trace: Trace, runtime: FocusRuntime) -> int:
    """Do again what the trace tells, on a fresh runtime, and compare; the number of steps that agreed.

    Raises TraceError for another model, gist, scorer or settings, and for the first line whose outcome
    differs.
    """
    ours = rounded(asdict(header_of(runtime)))
    theirs = rounded(asdict(trace.header))
    for name in ("model", "gist", "gist_version", "scorer", "settings", "lifetime"):
        if ours[name] != theirs[name]:
            raise TraceError(
                f"The trace was made with {name} {theirs[name]}, not {ours[name]}.",
                way_out="Replay it with what its header names.",
            )
    for event in trace.events:
        _replay_one(event, runtime)
    return len(trace.steps)


def rounded(value: Any) -> Any:
    """The same data with every float at 6 significant digits and every tuple a list."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return value


def _replay_one(event: TraceEvent, runtime: FocusRuntime) -> None:
    record = event.record
    if isinstance(record, Ingested):
        runtime.ingest(record.segments)
        _same(event, "state", runtime.state_hash(), record.state_hash)
    elif isinstance(record, Asked):
        runtime.question(record.question)
        _same(event, "state", runtime.state_hash(), record.state_hash)
    elif isinstance(record, SteppedBack):
        runtime.back(record.steps)
        _same(event, "state", runtime.state_hash(), record.state_hash)
    elif isinstance(record, Overridden):
        runtime.override(record.node, record.word)
    elif isinstance(record, Refocus) and record.forced:
        _same(event, "refocus", _outcome(runtime.refocus()), _outcome(record))
    elif isinstance(record, StepRecord):
        found = runtime.step()
        _same(event, "token", found.token, record.token)
        _same(event, "refocus", _outcome(found.refocus), _outcome(record.refocus))
        _same(event, "state", found.state_hash, record.state_hash)


def _outcome(refocus: Refocus | None) -> Any:
    """What was decided, without how long it took and with scores left to the decisions that they led to."""
    if refocus is None:
        return None
    decided = [(one.level, one.index, one.kind, one.reason, one.rank) for one in refocus.decisions]
    return decided, refocus.bands


def _same(event: TraceEvent, what: str, found: Any, expected: Any) -> None:
    if found != expected:
        shown = f" ({found} instead of {expected})" if what != "refocus" else ""
        raise _faulty(event.line, f"the replay gives another {what}{shown}")


def _parse(line: bytes, number: int, running: int) -> tuple[int, str, Mapping[str, Any]]:
    """Checksum, kind and data of one line."""
    given, _, body = line.partition(b" ")
    running = zlib.crc32(body, running)
    if given != f"{running:08x}".encode():
        raise _faulty(number, "it, or a line before it, was changed")
    try:
        entry = json.loads(body)
        kind, data = entry["kind"], entry["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise _faulty(number, "it is not an event") from error
    return running, kind, data


def _header(kind: str, data: Mapping[str, Any]) -> TraceHeader:
    if kind != "header" or data.get("format") != FORMAT:
        found = data.get("format", kind)
        raise _faulty(1, f"this program reads {FORMAT}, not {found}")
    try:
        header: TraceHeader = _build(TraceHeader, data)
    except (KeyError, TypeError, ValueError) as error:
        raise _faulty(1, "it is not a header") from error
    return header


def _build_record(kind: str, data: Mapping[str, Any], number: int) -> Record:
    if kind not in _KINDS:
        raise _faulty(number, f"{kind!r} is no event that this program knows")
    try:
        record: Record = _build(_KINDS[kind], data)
    except (KeyError, TypeError, ValueError) as error:
        raise _faulty(number, f"it is not a whole {kind} event ({error})") from error
    return record


def _build(kind: Any, value: Any) -> Any:
    """A value of an annotated type from plain data; TypeError, KeyError or ValueError if it does not fit."""
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(
            **{one.name: _build(hints[one.name], value[one.name]) for one in dataclasses.fields(kind)}
        )
    if origin is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_build(inner[0], one) for one in value)
        return tuple(_build(part, one) for part, one in zip(inner, value, strict=True))
    if origin in (Union, types.UnionType):
        return (
            None if value is None else _build(next(a for a in get_args(kind) if a is not type(None)), value)
        )
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{value!r} is not one of {get_args(kind)}")
        return value
    if isinstance(kind, type) and issubclass(kind, tuple):
        return kind(*value)
    if kind is float:
        return float(value)
    if kind in (int, str, bool) and not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


@functools.cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _dump(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _faulty(line: int, why: str) -> TraceError:
    return TraceError(f"Line {line}: {why}.", way_out="Use a copy of the trace that is whole.")


def _unusable(path: Path, error: OSError) -> TraceError:
    return TraceError(f"{path}: {error.strerror}.", way_out="Check the path and its permissions.")
