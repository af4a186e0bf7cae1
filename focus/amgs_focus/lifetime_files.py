"""Where a lifetime's rows live: in memory, or in a folder of .ctx files beside a journal of where each span
came from.

The journal (`spans.jsonl`) holds one line an append, with the source and the tokens of the open block, and
is written after the rows. What it does not know did not happen: opening a folder cuts the rows back to its
last whole line.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from amgs_focus.ctx_file import FP16, HEADER_BYTES, UINT32, CtxFile, CtxHeader, Rows, repair, unwritten
from amgs_focus.errors import CtxError
from amgs_focus.records import SpanSource

JOURNAL = "spans.jsonl"
LOCK = "lock"
JOURNAL_FORMAT = "amgs-spans-1"


class RowStore(Protocol):
    """Rows of one level: (n,) uint32 tokens, or (n, width) float16 gists."""

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> Rows: ...

    def append(self, rows: Rows) -> None: ...

    def truncate(self, count: int) -> None: ...

    def close(self) -> None: ...


class MemoryRows:
    """Rows in one array that doubles when it is full. width 0 makes it one-dimensional."""

    def __init__(self, width: int, dtype: DTypeLike) -> None:
        self._rows: Rows = np.empty((0, width) if width else 0, dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def rows(self, start: int, stop: int) -> Rows:
        return self._rows[max(0, start) : min(stop, self._count)]

    def append(self, rows: Rows) -> None:
        needed = self._count + len(rows)
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * len(self._rows)), *self._rows.shape[1:]), self._rows.dtype)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        self._rows[self._count : needed] = rows
        self._count = needed

    def truncate(self, count: int) -> None:
        self._count = min(self._count, max(0, count))

    def close(self) -> None:
        self._rows = self._rows[:0]
        self._count = 0


class LifetimeStore(Protocol):
    """All levels of a lifetime and its journal."""

    def level(self, number: int) -> RowStore: ...

    def levels(self) -> tuple[int, ...]:
        """The levels that are there, lowest first."""
        ...

    def load(self) -> tuple[list[SpanSource], list[int]]:
        """The spans and the open block's tokens as last recorded."""
        ...

    def record(self, span: SpanSource, open_tokens: list[int]) -> None: ...

    def record_cut(self, length: int, open_tokens: list[int]) -> None: ...

    def gist_version(self, level: int) -> int:
        """Version of the encoder that made this level's gists."""
        ...

    def reset_level(self, number: int, gist_version: int) -> None:
        """Empty a gist level; what follows is made by another encoder."""
        ...

    def close(self) -> None: ...


class MemoryStore:
    """A lifetime that ends with the process."""

    def __init__(self, width: int, gist_version: int = 0) -> None:
        self._width = width
        self._default = gist_version
        self._versions: dict[int, int] = {}
        self._levels: dict[int, MemoryRows] = {}

    def level(self, number: int) -> RowStore:
        if number not in self._levels:
            self._levels[number] = MemoryRows(self._width, np.float16) if number else MemoryRows(0, np.uint32)
        return self._levels[number]

    def levels(self) -> tuple[int, ...]:
        return tuple(sorted(self._levels))

    def load(self) -> tuple[list[SpanSource], list[int]]:
        return [], []

    def record(self, span: SpanSource, open_tokens: list[int]) -> None:
        """Nothing to do: the tree itself is the record."""

    def record_cut(self, length: int, open_tokens: list[int]) -> None:
        """Nothing to do: the tree itself is the record."""

    def gist_version(self, level: int) -> int:
        return self._versions.get(level, self._default)

    def reset_level(self, number: int, gist_version: int) -> None:
        self.level(number).truncate(0)
        self._versions[number] = gist_version

    def close(self) -> None:
        self._levels.clear()


class FolderStore:
    """A lifetime in a folder: L0.ctx, L1.ctx, … and the journal. One writer at a time.

    Raises CtxError when another process (or this one) has the folder open, when a file is damaged, or was
    written for another model, width or block size. With `mend`, damaged files are first cut back to their last
    whole block.
    """

    def __init__(
        self, folder: Path, *, model: str, width: int, block_size: int, gist_version: int, mend: bool = False
    ) -> None:
        self._folder = folder
        self._model = model
        self._width = width
        self._block_size = block_size
        self._gist_version = gist_version
        self._files: dict[int, CtxFile] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CtxError(
                f"{folder} cannot be made ({error.strerror}).", way_out="Choose another folder."
            ) from error
        self._lock = _locked(folder)
        self._journal = folder / JOURNAL
        number = 0
        try:
            while (path := self._path(number)).exists() or number == 0:
                if number and path.stat().st_size < HEADER_BYTES and not self._path(number + 1).exists():
                    path.unlink()  # the process was killed while it began this level; its gists are made anew
                    break
                if mend and path.exists():
                    repair(path, self._header(number))
                self._open(number)
                number += 1
        except CtxError:
            self.close()
            raise

    def level(self, number: int) -> RowStore:
        return self._open(number)

    def levels(self) -> tuple[int, ...]:
        return tuple(sorted(self._files))

    def load(self) -> tuple[list[SpanSource], list[int]]:
        """Read the journal; a last line without its end is dropped, any other fault is a CtxError."""
        if not self._journal.exists():
            return self._begin_journal()
        raw = self._journal.read_bytes()
        if not raw.endswith(b"\n"):
            raw = raw[: raw.rfind(b"\n") + 1]
            with self._journal.open("r+b") as handle:
                handle.truncate(len(raw))
        spans: list[SpanSource] = []
        open_tokens: list[int] = []
        for number, line in enumerate(raw.splitlines(), start=1):
            try:
                entry = json.loads(line)
                if number == 1:
                    self._check_format(entry)
                elif "cut" in entry:
                    spans = clip(spans, int(entry["cut"]))
                    open_tokens = [int(token) for token in entry["open"]]
                else:
                    open_tokens = [int(token) for token in entry.pop("open")]
                    add_span(spans, SpanSource(**entry))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise CtxError(
                    f"Line {number} of {JOURNAL} cannot be read.",
                    way_out="Restore the folder from a copy, or build the lifetime anew.",
                ) from error
        return (spans, open_tokens) if raw else self._begin_journal()

    def record(self, span: SpanSource, open_tokens: list[int]) -> None:
        self._append({**asdict(span), "open": open_tokens})

    def record_cut(self, length: int, open_tokens: list[int]) -> None:
        self._append({"cut": length, "open": open_tokens})

    def gist_version(self, level: int) -> int:
        return self._open(level).header.gist_version

    def reset_level(self, number: int, gist_version: int) -> None:
        self._open(number).close()
        path = self._path(number)
        path.unlink()
        self._gist_version = gist_version
        self._files[number] = CtxFile.create(path, self._header(number))

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._lock.close()

    def _open(self, number: int) -> CtxFile:
        if number in self._files:
            return self._files[number]
        path, expected = self._path(number), self._header(number)
        if path.exists():
            file = CtxFile.open(path, writable=True)
            if not file.header.same_layout(expected):
                found = file.header
                file.close()
                raise CtxError(
                    f"{path.name} was written for {found.model!r}, width {found.width}, block "
                    f"{found.block_size}; this is {expected.model!r}, width {expected.width}, block "
                    f"{expected.block_size}.",
                    way_out="Open it with that model, or build the lifetime anew.",
                )
        else:
            file = CtxFile.create(path, expected)
        self._files[number] = file
        return file

    def _path(self, number: int) -> Path:
        return self._folder / f"L{number}.ctx"

    def _header(self, number: int) -> CtxHeader:
        return CtxHeader(
            level=number,
            block_size=self._block_size,
            width=self._width if number else 0,
            dtype=FP16 if number else UINT32,
            model=self._model,
            gist_version=self._gist_version if number else 0,
        )

    def _begin_journal(self) -> tuple[list[SpanSource], list[int]]:
        """A new journal; tokens that are there without one (it was deleted) stay, from no known source."""
        self._append({"format": JOURNAL_FORMAT, "model": self._model, "block_size": self._block_size})
        spans: list[SpanSource] = []
        add_span(spans, SpanSource(0, len(self._open(0)), None))
        for span in spans:
            self.record(span, [])
        return spans, []

    def _check_format(self, entry: dict[str, Any]) -> None:
        if entry["format"] != JOURNAL_FORMAT or entry["block_size"] != self._block_size:
            raise ValueError(entry["format"])

    def _append(self, entry: dict[str, Any]) -> None:
        """Add a line. Raises CtxError when the disk is full; the journal then holds what it held."""
        held = self._journal.stat().st_size if self._journal.exists() else 0
        try:
            with self._journal.open("ab") as handle:
                handle.write(json.dumps(entry, ensure_ascii=False).encode("utf-8") + b"\n")
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            if self._journal.exists():
                os.truncate(self._journal, held)
            raise unwritten(self._journal, error) from error


def _locked(folder: Path) -> IO[str]:
    """The lock of a folder, held until it is closed or its holder dies; raises CtxError that names the holder.

    Where the system has no such locks (Windows) nobody is kept out.
    """
    try:
        file = (folder / LOCK).open("a+", encoding="ascii")
    except OSError as error:
        raise CtxError(
            f"{folder} cannot be written to ({error.strerror}).", way_out="Choose another folder."
        ) from error
    if importlib.util.find_spec("fcntl") is None:
        return file
    fcntl = importlib.import_module("fcntl")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        holder = file.read(20).strip()
        file.close()
        who = f"process {holder}" if holder.isdigit() else "another process"
        raise CtxError(
            f"{folder} is held by {who}, and a lifetime has one writer at a time.",
            title="The lifetime is in use",
            way_out=f"Close it (or end {who}), or choose another folder.",
        ) from error
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def add_span(spans: list[SpanSource], span: SpanSource) -> None:
    """Append a span in place; one that only continues the last one lengthens it."""
    if span.end <= span.start:
        return
    if spans:
        last = spans[-1]
        if (last.source, last.kind, last.label) == (span.source, span.kind, span.label) and (
            span.kind == "generated"
        ):
            spans[-1] = SpanSource(last.start, span.end, span.source, span.kind, span.label)
            return
    spans.append(span)


def clip(spans: list[SpanSource], length: int) -> list[SpanSource]:
    """The spans of the first `length` tokens."""
    kept = [span for span in spans if span.start < length]
    if kept and kept[-1].end > length:
        last = kept[-1]
        kept[-1] = SpanSource(last.start, length, last.source, last.kind, last.label)
    return kept
