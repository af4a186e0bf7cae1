"""Bodies as programs send them, OTLP in JSON and protobuf or exported rows: read them, and keep them in
append-only files with secrets masked, each with its hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from amgs.errors import AmgsError, InputError
from amgs.incoming import check_ends
from amgs.masking import mask_body
from amgs.sessions.foreign_spans import READ, form_of, records_in, rows_of, span_of
from amgs.sessions.lines import fields, instant, items, lines_of, open_unpacked, parse_document, parse_object
from amgs.sessions.spans import OtlpContent, SpanFormatError, as_request, parse_otlp, read_json


class BodyError(AmgsError):
    """A body that cannot be accepted. status: HTTP status of the response."""

    title = "The body was not taken"
    exit_code = 3

    def __init__(self, message: str, *, status: int = 400, way_out: str = "") -> None:
        super().__init__(message, way_out=way_out)
        self.status = status


Form = Literal["otlp-json", "otlp-protobuf", "otlp-logs-protobuf", "langfuse", "openinference", "langsmith", "mlflow"]
"""Form of a body: OTLP traces or logs in JSON, traces or logs in protobuf, or JSON rows exported by Langfuse, Phoenix,
LangSmith or MLflow.
"""
ENDING: Final = ".spans"
KEPT: Final = 256 * 1024 * 1024
"""Most bytes of all files; reports read all of them."""
_FILE: Final = 64 * 1024 * 1024
"""Bytes after which a new file begins."""
_LONGEST_HEAD: Final = 1_000


@dataclass(frozen=True, slots=True)
class SpanBody:
    """A body as it arrived, with secrets masked."""

    at: datetime
    form: Form
    body: bytes


class SpanWriter:
    """Appends bodies to files in a folder. Threads may share it, and then share an fsync.

    An entry is a line of JSON (time of arrival, form, size, SHA-256), the body, and a line break. Every writing program
    starts its own file, so an entry torn by a crash is at the end of a file, and was never acknowledged. If the files
    become too large, the oldest is deleted.
    """

    def __init__(self, folder: Path, capacity: int = KEPT, file: int = _FILE, *, masks: bool = True) -> None:
        """capacity: most bytes of all files. file: bytes after which a file is full. masks: whether to mask secrets.

        Raises InputError if the folder cannot be written.
        """
        self._masks = masks
        self._folder, self._kept, self._size = folder, capacity, min(file, max(1, capacity // 4))
        self._writing, self._syncing = threading.Lock(), threading.Lock()
        self._written = self._synced = self._length = 0
        self._path = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._begin_file()
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written: {error.strerror}.", way_out="Choose another folder."
            ) from error

    def add(self, form: Form, body: bytes, at: datetime) -> None:
        """Append a body; return when it is on disk. Raises OSError if it cannot be written."""
        body = mask_body(body) if self._masks else body
        digest = hashlib.sha256(body).hexdigest()
        head = {"at": at.isoformat(), "form": form, "bytes": len(body), "sha256": digest}
        entry = json.dumps(head).encode() + b"\n" + body + b"\n"
        with self._writing:
            if self._length and self._length + len(entry) > self._size:
                self._next_file()
            try:
                _write(self._file, entry)
            except OSError:
                os.ftruncate(self._file, self._length)
                raise
            self._length += len(entry)
            self._written += 1
            mine = self._written
        with self._syncing:
            if self._synced < mine:
                with self._writing:  # earlier files were synced when they became full
                    upto, file = self._written, os.dup(self._file)
                try:
                    os.fsync(file)
                finally:
                    os.close(file)
                self._synced = upto

    def _next_file(self) -> None:
        os.fsync(self._file)
        os.close(self._file)
        self._file = self._begin_file()

    def _begin_file(self) -> int:
        """Begin the next file, and delete the oldest ones if there is too much."""
        names = files_in(self._folder)
        sizes = {path: path.stat().st_size for path in names}
        while names and sum(sizes[path] for path in names) > self._kept - self._size:
            with suppress(FileNotFoundError):
                names[0].unlink()
            names = names[1:]
        number = int(max(sizes, default=Path("0")).stem) + 1
        while True:
            path = self._folder / f"{number:08}{ENDING}"
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            except FileExistsError:  # another program created it at the same time
                number += 1
                continue
            self._length, self._path = 0, path
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            return descriptor

    def close(self) -> None:
        """Close the file, and delete it if it is empty."""
        with self._writing:
            os.close(self._file)
            if not self._length:
                self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def files_in(folder: Path) -> list[Path]:
    """Return the files of a folder, oldest first; none if the folder does not exist."""
    return sorted(path for path in folder.glob(f"*{ENDING}") if path.stem.isdecimal())


def sizes_in(folder: Path) -> dict[Path, int]:
    """Return the files of a folder with their sizes, which change when anything was recorded."""
    sizes = {}
    for path in files_in(folder):
        with suppress(FileNotFoundError):  # deleted meanwhile by a writer
            sizes[path] = path.stat().st_size
    return sizes


@dataclass
class SpanReader:
    """Reads the entries of a folder, and later those added since.

    torn: number of damaged entries left out by the last call; an entry at the end of a growing file may be complete
    next time.
    """

    folder: Path
    torn: int = 0

    def __post_init__(self) -> None:
        self._places: dict[Path, int] = {}

    def new(self) -> Iterator[SpanBody]:
        """Yield the entries added since the last call."""
        self.torn = 0
        for path in files_in(self.folder):
            with suppress(FileNotFoundError), path.open("rb") as file:
                file.seek(self._places.get(path, 0))
                while head := file.readline(_LONGEST_HEAD):
                    about = parse_object(head.decode("utf-8", "replace"))
                    size = _size(about, os.fstat(file.fileno()).st_size - file.tell())
                    body = b"" if size is None else file.read(size + 1)
                    if about is None or size is None or len(body) != size + 1:
                        self.torn += 1
                        break
                    self._places[path] = file.tell()
                    entry = _entry(about, body[:-1])
                    if entry is None:
                        self.torn += 1
                    else:
                        yield entry


def _size(about: Any, left: int) -> int | None:
    """Return the size of a body by its head; None if the file is too short for it. left: bytes after the head."""
    size = fields(about).get("bytes")
    return size if isinstance(size, int) and 0 <= size < left else None


def _entry(about: Any, body: bytes) -> SpanBody | None:
    at, form = instant(about.get("at")), about.get("form")
    if hashlib.sha256(body).hexdigest() != about.get("sha256") or at is None or form not in get_args(Form):
        return None
    return SpanBody(at, form, body)


LARGEST: Final = 16 * 1024 * 1024
"""Most bytes of a body as sent, and of a part of an imported file."""
LARGEST_UNPACKED: Final = 64 * 1024 * 1024
"""Most bytes of a decompressed body."""
_ROWS: Final = 500
"""Rows of an export per entry."""
_DEEPEST: Final = 32


def decompress(body: bytes, encoding: str) -> bytes:
    """Return a body as it was before compression.

    Raises BodyError if it is too large, incomplete, or compressed by another method.
    """
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise BodyError(f"The encoding {encoding[:40]!r} is not known here.", status=415, way_out="Use gzip.")
    reading = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        data = reading.decompress(body, LARGEST_UNPACKED + 1)
    except zlib.error as error:
        raise BodyError("The body cannot be unpacked.") from error
    if len(data) > LARGEST_UNPACKED:
        raise BodyError(f"Unpacked, a body has at most {LARGEST_UNPACKED >> 20} MiB.", status=413)
    if not reading.eof:
        raise BodyError("The packed body is not whole.")
    return data


def read_body(form: Form, body: bytes) -> OtlpContent:
    """Parse a body. Raises BodyError if it does not have that form, MissingExtraError if the package for protobuf is
    not installed.
    """
    try:
        match form:
            case "otlp-json":
                return read_json(body)
            case "otlp-protobuf" | "otlp-logs-protobuf":
                return _read_protobuf(body, logs=form == "otlp-logs-protobuf")
        rows = [span_of(form, row) for row in items(json.loads(body))]
        spans = tuple(span for span in rows if span.trace and span.id)
        return OtlpContent(spans, (), len(rows) - len(spans))
    except SpanFormatError as error:
        raise BodyError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise BodyError("The body cannot be read.") from error


def contents_of(entries: Iterator[SpanBody]) -> Iterator[OtlpContent]:
    """Yield the parsed entries, without those that can no longer be read."""
    for entry in entries:
        try:
            yield read_body(entry.form, entry.body)
        except BodyError:
            continue


def _read_protobuf(body: bytes, *, logs: bool) -> OtlpContent:
    """Convert to OTLP's JSON, so that both are read by the same rules."""
    from amgs import extras

    with extras.explain_missing("recorder"):
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    request: Any = ExportLogsServiceRequest() if logs else ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        raise BodyError("The body is no OTLP in protobuf.") from error
    return parse_otlp(MessageToDict(request))


# --- files -------------------------------------------------------------------------------------------------


def import_file(
    path: Path, writer: SpanWriter, at: datetime, count: Callable[[OtlpContent], object] = lambda _: None
) -> int:
    """Import the spans of a file and return their number.

    path: OTLP in JSON or protobuf, or rows that other programs exported, as JSON lines or one document. count: called
    for each part. Raises InputError for a file that cannot be read or contains no spans.
    """
    taken = 0
    for form, body in _pieces(path):
        try:
            content = read_body(form, body)
        except BodyError as error:
            raise InputError(f"{path}: {error.message}", way_out=READ) from error
        writer.add(form, body, at)
        count(content)
        taken += len(content.spans)
    if not taken:
        raise InputError(f"{path} holds no span.", way_out=READ)
    return taken


def _pieces(path: Path) -> Iterator[tuple[Form, bytes]]:
    """Yield the bodies in a file: OTLP requests as they are, rows in groups."""
    check_ends(path)
    try:
        with open_unpacked(path) as file:
            whole = file.read(LARGEST_UNPACKED + 1).removeprefix(BOM_UTF8)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", way_out="Choose another file."
        ) from error
    whole = whole if len(whole) <= LARGEST_UNPACKED else b""
    if whole and whole.lstrip()[:1] not in (b"{", b"["):
        yield "otlp-protobuf", whole
        return
    try:
        first = whole.split(b"\n", 1)[0].decode(errors="replace")
        document = parse_document(whole.decode()) if parse_object(first) is None else None
    except (ValueError, RecursionError):
        document = None
    documents = [document] if document is not None else (line.value for line in lines_of(path))
    rows: list[Any] = []
    for record in (record for document in documents for record in records_in(document)):
        value = as_request(record)
        if "resourceSpans" in value or "resourceLogs" in value:
            yield "otlp-json", json.dumps(value).encode()
            continue
        rows += rows_of(value)
        while len(rows) >= _ROWS:
            yield form_of(rows), json.dumps(rows[:_ROWS]).encode()
            rows = rows[_ROWS:]
    if rows:
        yield form_of(rows), json.dumps(rows).encode()
