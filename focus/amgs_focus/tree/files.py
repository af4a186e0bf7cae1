"""Store a lifetime's rows: in memory, or in a folder of .ctx files with a journal of the spans' sources.

The journal is written after the rows. Rows that it does not record are dropped: opening a folder cuts them back to its
last whole line.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from amgs_focus.errors import CtxError
from amgs_focus.model.checkpoint_file import EmbeddingFingerprint, is_same_model
from amgs_focus.records import BLANK, SpanAbout, SpanSource
from amgs_focus.tree.ctx_file import (
    FP16,
    FRESH,
    HEADER_BYTES,
    UINT32,
    CtxFile,
    CtxHeader,
    Rows,
    clip_name,
    is_there,
    repair,
)
from amgs_focus.tree.journal import Journalled, SpanJournal, first_line
from amgs_focus.tree.side_files import GistUsage

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

LOCK = "lock"
VECTORS = "vectors.ctx"


class RowStore(Protocol):
    """Rows of a level: (n,) uint32 tokens, or (n, width) float16 gists."""

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> Rows: ...

    def append(self, rows: Rows) -> None: ...

    def overwrite(self, start: int, rows: Rows) -> None: ...

    def truncate(self, count: int) -> None: ...

    def close(self) -> None: ...


class MemoryRows:
    """Rows in one array that doubles when it is full; one-dimensional where width is 0."""

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

    def overwrite(self, start: int, rows: Rows) -> None:
        self._rows[start : start + len(rows)] = rows

    def truncate(self, count: int) -> None:
        self._count = min(self._count, max(0, count))

    def close(self) -> None:
        self._rows = self._rows[:0]
        self._count = 0


class LifetimeStore(Protocol):
    """All levels of a lifetime and its journal."""

    def level(self, number: int) -> RowStore: ...

    def levels(self) -> tuple[int, ...]:
        """Return the existing levels, lowest first."""
        ...

    @property
    def usage(self) -> GistUsage:
        """Usage of the lifetime's gists."""
        ...

    def load(self) -> Journalled:
        """Return the spans, the open block's tokens and the metadata as last recorded."""
        ...

    def record(self, span: SpanSource, open_tokens: list[int], about: SpanAbout = BLANK) -> None: ...

    def record_cut(self, length: int, open_tokens: list[int]) -> None: ...

    def note(self, line: Mapping[str, Any]) -> None:
        """Append a line to the journal."""
        ...

    def blank(self, level: int, ranges: Sequence[tuple[int, int]]) -> None:
        """Set rows of a level to zero, for good."""
        ...

    @property
    def vectors(self) -> RowStore | None:
        """Vectors of the whole blocks by a text encoder, (blocks, d) float16; None where none were computed."""
        ...

    def begin_vectors(self, encoder: str, dimension: int) -> RowStore:
        """Return the rows for this encoder's vectors; those of another encoder are dropped."""
        ...

    def blank_vectors(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Set the vectors of some blocks to zero, for good."""
        ...

    def gist_version(self, level: int) -> int:
        """Return the version of the encoder that computed this level's gists."""
        ...

    def say_version(self, level: int, gist_version: int) -> None:
        """Record that another version of the encoder computed this level's gists."""
        ...

    def close(self) -> None: ...


class MemoryStore:
    """A lifetime in memory, which ends with the process."""

    def __init__(self, width: int, gist_version: int = 0) -> None:
        self._width = width
        self._default = gist_version
        self._versions: dict[int, int] = {}
        self._levels: dict[int, MemoryRows] = {}
        self._encoder = ("", 0)
        self.vectors: MemoryRows | None = None
        self.usage = GistUsage()

    def level(self, number: int) -> RowStore:
        if number not in self._levels:
            self._levels[number] = MemoryRows(self._width, np.float16) if number else MemoryRows(0, np.uint32)
        return self._levels[number]

    def levels(self) -> tuple[int, ...]:
        return tuple(sorted(self._levels))

    def load(self) -> Journalled:
        return Journalled()

    def record(self, span: SpanSource, open_tokens: list[int], about: SpanAbout = BLANK) -> None:
        """Do nothing: the tree itself is the record."""

    def record_cut(self, length: int, open_tokens: list[int]) -> None:
        """Do nothing: the tree itself is the record."""

    def note(self, line: Mapping[str, Any]) -> None:
        """Do nothing: the tree itself is the record."""

    def blank(self, level: int, ranges: Sequence[tuple[int, int]]) -> None:
        _zero_rows(self.level(level), ranges)

    def begin_vectors(self, encoder: str, dimension: int) -> RowStore:
        if self.vectors is None or self._encoder != (encoder, dimension):
            self._encoder, self.vectors = (encoder, dimension), MemoryRows(dimension, np.float16)
        return self.vectors

    def blank_vectors(self, ranges: Sequence[tuple[int, int]]) -> None:
        if self.vectors is not None:
            _zero_rows(self.vectors, ranges)

    def gist_version(self, level: int) -> int:
        return self._versions.get(level, self._default)

    def say_version(self, level: int, gist_version: int) -> None:
        self._versions[level] = gist_version

    def close(self) -> None:
        self._levels.clear()


def _zero_rows(rows: RowStore, ranges: Sequence[tuple[int, int]]) -> None:
    for start, stop in ranges:
        rows.overwrite(start, np.zeros_like(rows.rows(start, stop)))


class FolderStore:
    """A lifetime in a folder: L0.ctx, L1.ctx, … and the journal. One writer at a time.

    Raises CtxError when this or another process has the folder open, when a file is damaged, or when it was written for
    another model, width or block size. A model is recognised by its embeddings, so a renamed model still opens its
    lifetime; the files keep the first name. `mend` first cuts damaged files back to their last whole block.
    """

    def __init__(
        self, folder: Path, base: BaseModel, *, block_size: int, gist_version: int, mend: bool = False
    ) -> None:
        self._folder = folder
        self._model = base.card.name
        self._width = base.card.width
        self._block_size = block_size
        self._gist_version = gist_version
        self._files: dict[int, CtxFile] = {}
        self._header(1)  # refuse what no file can hold before creating anything
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise CtxError(f"{folder} cannot be created ({why}).", way_out="Choose another folder.") from error
        self._lock = lock_folder(folder)
        self.usage = GistUsage(folder)
        self._vectors: CtxFile | None = None
        number = 0
        try:
            self._model = self._name_in_files(base)
            self._journal = SpanJournal(folder, self._model, block_size, EmbeddingFingerprint.of(base))
            for path in folder.glob("L*.use"):
                is_there(path)
            if not is_there(self._path(0)) and self._journal.is_there():
                raise CtxError(
                    f"{folder} has a journal but no L0.ctx: its tokens are gone.",
                    way_out="Restore L0.ctx from a copy, or rebuild the lifetime in another folder.",
                )
            while is_there(path := self._path(number)) or number == 0:
                unfinished = number and path.stat().st_size < HEADER_BYTES and not is_there(self._path(number + 1))
                if unfinished:
                    path.unlink()  # killed while creating this level; its gists are computed again
                    break
                if mend and is_there(path):
                    repair(path, self._header(number))
                self._open(number)
                number += 1
            for leftover in folder.glob(f"*.ctx{FRESH}"):
                leftover.unlink()  # killed before it replaced the old file
            self._vectors = self._reopen_vectors()
        except CtxError:
            self.close()
            raise

    def level(self, number: int) -> RowStore:
        return self._open(number)

    def levels(self) -> tuple[int, ...]:
        return tuple(sorted(self._files))

    def load(self) -> Journalled:
        return self._journal.load(len(self._open(0)))

    def record(self, span: SpanSource, open_tokens: list[int], about: SpanAbout = BLANK) -> None:
        self._journal.write_span(span, open_tokens, about)

    def record_cut(self, length: int, open_tokens: list[int]) -> None:
        self._journal.cut(length, open_tokens)

    def note(self, line: Mapping[str, Any]) -> None:
        self._journal.write(line)

    def gist_version(self, level: int) -> int:
        file = self._files.get(level)  # do not create a level here
        return file.header.gist_version if file is not None else self._gist_version

    def say_version(self, level: int, gist_version: int) -> None:
        self._gist_version = gist_version
        self._open(level).say_version(gist_version)

    def blank(self, level: int, ranges: Sequence[tuple[int, int]]) -> None:
        self._open(level).blank(ranges)

    @property
    def vectors(self) -> RowStore | None:
        return self._vectors

    def begin_vectors(self, encoder: str, dimension: int) -> RowStore:
        expected = CtxHeader(1, self._block_size, dimension, FP16, encoder, zlib.crc32(encoder.encode()))
        file = self._vectors
        if file is not None:
            header = file.header
            if header.same_layout(expected) and header.gist_version == expected.gist_version:
                return file
            file.close()
            file.path.unlink()
        self._vectors = CtxFile.create(self._folder / VECTORS, expected)
        return self._vectors

    def blank_vectors(self, ranges: Sequence[tuple[int, int]]) -> None:
        if self._vectors is not None:
            self._vectors.blank(ranges)

    def close(self) -> None:
        if self._vectors is not None:
            self._vectors.close()
        for file in self._files.values():
            file.close()
        self.usage.close()
        self._lock.close()

    def _name_in_files(self, base: BaseModel) -> str:
        """Return the model's name as the files have it. Raises CtxError where they belong to another model."""
        head = first_line(self._folder)
        name, fingerprint = (head.model, head.embeddings) if head is not None else ("", None)
        if not name and is_there(self._path(0)):
            with suppress(CtxError), CtxFile.open(self._path(0)) as file:  # the real opening reports what is wrong
                name = file.header.model
        if (
            not name
            or (fingerprint is None and name == clip_name(base.card.name))
            or is_same_model(base, name, fingerprint)
        ):
            return name or base.card.name
        why = "its embeddings are others" if fingerprint is not None else "only the name tells, in a lifetime this old"
        raise CtxError(
            f"{self._folder} was written for {name!r}; this is {base.card.name!r}, and {why}.",
            way_out="Open it with that model, or rebuild the lifetime.",
        )

    def _reopen_vectors(self) -> CtxFile | None:
        """Return the stored vectors; a damaged file is deleted, since vectors can be computed again."""
        path = self._folder / VECTORS
        if not is_there(path):
            return None
        try:
            file = CtxFile.open(path, writable=True)
            file.check_rows()
            return file
        except CtxError:
            path.unlink()
            return None

    def _open(self, number: int) -> CtxFile:
        if number in self._files:
            return self._files[number]
        path, expected = self._path(number), self._header(number)
        if is_there(path):
            file = CtxFile.open(path, writable=True)
            if not file.header.same_layout(expected):
                header = file.header
                file.close()
                raise CtxError(
                    f"{path.name} was written for {header.model!r}, width {header.width}, block "
                    f"{header.block_size}; this is {expected.model!r}, width {expected.width}, block "
                    f"{expected.block_size}.",
                    way_out="Open it with that model, or rebuild the lifetime.",
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


def lock_folder(folder: Path) -> IO[str]:
    """Lock a folder until the returned file is closed or the process ends. Raises CtxError that names the holder.

    Systems without such locks (Windows) exclude nobody.
    """
    try:
        if is_there(folder / LOCK) and (folder / LOCK).is_symlink():
            raise CtxError(f"{folder / LOCK} is a link.", way_out="Remove it: the lock must be a regular file.")
        file = (folder / LOCK).open("a+", encoding="ascii", errors="replace")
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
        way_out = f"Close it (or end {who}), or choose another folder."
        if holder == str(os.getpid()):
            who = "this session"
            way_out = "It is let go of when this session ends or opens another text; or choose another folder."
        raise CtxError(
            f"{folder} is in use by {who}, and a lifetime has a single writer at a time.",
            title="The lifetime is in use",
            way_out=way_out,
        ) from error
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file
