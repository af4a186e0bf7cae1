"""The {L0,L1,…}.ctx files: a 64-byte header and fixed-width rows, so the offset of a row can be computed.

MegaContext, "Binary storage layout". L0 holds uint32 token ids in whole blocks; each row of a higher level is a gist.
The reserved bytes hold the row count, the gist version and a checksum of the header. The count is updated only after
the rows are on disk, so a crash leaves the file as it was.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from amgs_focus.errors import CtxError
from amgs_focus.tree.side_files import RunSums

MAGIC = 0x4D434354  # "MCCT"
VERSION = 1
HEADER_BYTES = 64
UINT32, FP16, BF16 = 0, 1, 2
FRESH = ".new"
"""Suffix of a rewritten file until it replaces the old file."""
COPIED = 1 << 16  # rows copied at a time
WIDEST = 0xFFFF  # 16 bits each for level, block size and width

# magic, version, level, block, width, dtype, model; then the reserved bytes: count, gist version, CRC
_LAYOUT = struct.Struct("<IHHHHH32sQII2x")
_STORED: dict[int, str] = {UINT32: "<u4", FP16: "<f2", BF16: "<u2"}
_CRC = slice(58, 62)

Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class CtxHeader:
    """Header of a .ctx file.

    width: values a row, 0 at level 0. count: rows, at level 0 tokens.
    """

    level: int
    block_size: int
    width: int
    dtype: int
    model: str
    gist_version: int = 0
    count: int = 0

    def __post_init__(self) -> None:
        if self.dtype not in _STORED or (self.level == 0) != (self.dtype == UINT32):
            raise CtxError(f"Level {self.level} cannot hold values of type code {self.dtype}.")
        if self.block_size < 1 or (self.level > 0 and self.width < 1):
            raise CtxError(f"A block of {self.block_size} and a width of {self.width} make no rows.")
        if max(self.level, self.block_size, self.width) > WIDEST:
            raise CtxError(
                f"A .ctx file takes rows of at most {WIDEST:,} values and blocks of at most {WIDEST:,} tokens; these "
                f"would be {self.width:,} and {self.block_size:,}.",
                way_out="Keep this lifetime in memory.",
            )

    @property
    def row_bytes(self) -> int:
        return max(1, self.width) * np.dtype(_STORED[self.dtype]).itemsize

    @property
    def payload_bytes(self) -> int:
        return self.count * self.row_bytes

    def pack(self) -> bytes:
        """Return the 64 bytes with their checksum. The model's name is cut to 31 bytes of UTF-8 and ends with a zero
        byte.
        """
        name = clip_name(self.model).encode("utf-8")
        fields = (MAGIC, VERSION, self.level, self.block_size, self.width, self.dtype, name, self.count)
        bare = _LAYOUT.pack(*fields, self.gist_version, 0)
        return _LAYOUT.pack(*fields, self.gist_version, zlib.crc32(bare))

    @classmethod
    def unpack(cls, raw: bytes, name: str = "The file") -> CtxHeader:
        """Return the header in 64 bytes. Raises CtxError that says what is wrong with them."""
        if len(raw) < HEADER_BYTES:
            raise _build_damage_error(f"{name} has {len(raw)} of the header's {HEADER_BYTES} bytes.")
        magic, version, level, block, width, dtype, model, count, gist, crc = _LAYOUT.unpack(raw[:64])
        if magic != MAGIC:
            raise CtxError(f"{name} is not a .ctx file.", way_out="Choose another file, or move it away.")
        if version != VERSION:
            raise CtxError(
                f"{name} has format version {version}; this program reads {VERSION}.",
                way_out="Open it with the version that wrote it, or rebuild the lifetime.",
            )
        bare = bytearray(raw[:HEADER_BYTES])
        bare[_CRC] = bytes(4)
        if zlib.crc32(bytes(bare)) != crc:
            raise _build_damage_error(f"The header of {name} does not match its checksum.")
        text = model.split(b"\0", 1)[0].decode("utf-8", errors="replace")
        return cls(level, block, width, dtype, text, gist, count)

    def same_layout(self, other: CtxHeader) -> bool:
        """Return whether both headers describe the same kind of rows for the same model."""
        ours, theirs = replace(self, count=0, gist_version=0), replace(other, count=0, gist_version=0)
        return ours.pack() == theirs.pack()


class CtxFile:
    """An open .ctx file with memory-mapped rows and crash-safe appends. One writer at a time."""

    def __init__(self, path: Path, handle: BinaryIO, header: CtxHeader, *, writable: bool) -> None:
        self._path = path
        self._handle = handle
        self._header = header
        self._writable = writable
        self._map: Rows | None = None
        self._sums = RunSums(path, HEADER_BYTES)

    @classmethod
    def create(cls, path: Path, header: CtxHeader) -> CtxFile:
        """Create an empty file. Raises CtxError if it exists."""
        try:
            handle = path.open("x+b", buffering=0)
        except FileExistsError as error:
            raise CtxError(f"{path.name} exists already.", way_out="Open it, or move it away.") from error
        except OSError as error:
            raise _unusable(path, error) from error
        empty = replace(header, count=0)
        try:
            handle.write(empty.pack())
            os.fsync(handle.fileno())
        except OSError as error:  # half a header would be a damaged file at the next open
            handle.close()
            path.unlink(missing_ok=True)
            raise unwritten(path, error) from error
        file = cls(path, handle, empty, writable=True)
        file._sums.remove()  # left by an earlier file of this name
        return file

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> CtxFile:
        """Open a file and check its header and its length.

        Raises CtxError for a missing, truncated or damaged file; `repair` may save it.
        """
        is_there(path)
        try:
            handle = path.open("r+b" if writable else "rb", buffering=0)
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            header = CtxHeader.unpack(handle.read(HEADER_BYTES), path.name)
            size = path.stat().st_size - HEADER_BYTES
            if size < header.payload_bytes:
                raise _build_damage_error(
                    f"{path.name} is truncated: it says {header.count} entries and holds {size // header.row_bytes}."
                )
            if header.level == 0 and header.count % header.block_size:
                raise _build_damage_error(f"{path.name} ends inside a block.")
            opened = cls(path, handle, header, writable=writable)
            if opened._sums.size > header.payload_bytes:
                raise _build_damage_error(f"{path.name} has fewer rows than were written to it.")
        except CtxError:
            handle.close()
            raise
        return opened

    @property
    def header(self) -> CtxHeader:
        return self._header

    @property
    def path(self) -> Path:
        return self._path

    def __len__(self) -> int:
        return self._header.count

    def rows(self, start: int, stop: int) -> Rows:
        """Return rows [start, stop): (n,) uint32 at level 0, else (n, width) float16, or float32 from bf16.

        The result is a view of the mapped file unless it had to be converted; do not keep it across `truncate`. Raises
        CtxError where the rows do not match their checksum.
        """
        start, stop = max(0, start), min(stop, len(self))
        if start < stop:
            self._sums.check(start * self._header.row_bytes, stop * self._header.row_bytes)
        mapped = self._map_rows()[start : max(start, stop)]
        if self._header.dtype == BF16:
            return (mapped.astype(np.uint32) << 16).view(np.float32)
        return mapped

    def check_rows(self) -> int:
        """Check every row against its checksum; return how many bytes have none. Raises CtxError for damage."""
        self._sums.check(0, self._header.payload_bytes)
        return self._header.payload_bytes - self._sums.size

    def append(self, rows: Rows) -> None:
        """Append rows; the count is updated once they are on disk.

        Raises CtxError when the disk is full; the file is then unchanged.
        """
        self._require_writable()
        stored = self._encode_rows(rows)
        if self._header.level == 0 and len(stored) % self._header.block_size:
            raise CtxError(f"{self._path.name} accepts whole blocks, not {len(stored)} tokens.")
        if not len(stored):
            return
        before = self._header
        try:
            self._write(HEADER_BYTES + before.payload_bytes, stored.tobytes())
            self._set_count(before.count + len(stored))
        except OSError as error:
            self._header = before
            raise unwritten(self._path, error) from error
        self._sums.cover(self._header.payload_bytes)

    def overwrite(self, start: int, rows: Rows) -> None:
        """Replace existing rows from `start` on. After a crash each of them is either old or new."""
        self._require_writable()
        stored = self._encode_rows(rows)
        if start < 0 or start + len(stored) > len(self):
            raise CtxError(f"{self._path.name} has {len(self)} rows, and none at {start + len(stored)}.")
        at, raw = start * self._header.row_bytes, stored.tobytes()
        try:
            self._sums.drop(at, at + len(raw))
            self._write(HEADER_BYTES + at, raw)
        except OSError as error:
            raise unwritten(self._path, error) from error
        self._sums.cover(self._header.payload_bytes)

    def say_version(self, gist_version: int) -> None:
        """Record that another version of the encoder computed the rows."""
        self._require_writable()
        self._header = replace(self._header, gist_version=gist_version)
        try:
            self._write(0, self._header.pack())
        except OSError as error:
            raise unwritten(self._path, error) from error

    def blank(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Set rows [start, stop) of each range to zero, for good; a file system with sparse files frees their space.

        The file is written anew under another name and renamed: a crash leaves the old file or the new one.
        """
        self._require_writable()
        fresh = self._path.with_name(self._path.name + FRESH)
        size = self._header.row_bytes
        try:
            with fresh.open("wb") as out:
                out.write(self._header.pack())
                at = 0
                for start, stop in (*ranges, (len(self), len(self))):
                    while at < start:
                        piece = self._map_rows()[at : min(start, at + COPIED)]
                        out.seek(HEADER_BYTES + at * size)
                        out.write(piece.tobytes())
                        at += len(piece)
                    at = max(at, stop)
                out.truncate(HEADER_BYTES + self._header.payload_bytes)
                out.flush()
                os.fsync(out.fileno())
            self._map = None
            self._handle.close()
            for start, stop in ranges:
                self._sums.drop(start * size, stop * size)
            fresh.replace(self._path)
            self._handle = self._path.open("r+b", buffering=0)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            if self._handle.closed:
                self._handle = self._path.open("r+b", buffering=0)
            raise unwritten(self._path, error) from error
        self._sums.cover(self._header.payload_bytes)

    def truncate(self, count: int) -> None:
        """Drop every row from `count` on. The count is written first, so a crash leaves a valid file."""
        self._require_writable()
        if self._header.level == 0 and count % self._header.block_size:
            raise CtxError(f"{self._path.name} can only be cut at whole blocks, not at {count} tokens.")
        if count >= self._header.count:
            return
        try:
            self._sums.cut(max(0, count) * self._header.row_bytes)
        except OSError as error:
            raise unwritten(self._sums.path, error) from error
        self._set_count(max(0, count))
        self._map = None
        os.ftruncate(self._handle.fileno(), HEADER_BYTES + self._header.payload_bytes)

    def close(self) -> None:
        self._map = None
        self._handle.close()

    def __enter__(self) -> CtxFile:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _map_rows(self) -> Rows:
        """Return the counted rows as stored; map the file again after it has grown."""
        count, width = self._header.count, self._header.width
        if self._map is None or len(self._map) < count:
            stored = np.dtype(_STORED[self._header.dtype])
            shape = (count,) if self._header.level == 0 else (count, width)
            if count == 0:
                return np.empty(shape, stored)
            self._map = np.memmap(self._path, stored, "r", HEADER_BYTES, shape)
        return self._map[:count]

    def _encode_rows(self, rows: Rows) -> Rows:
        header = self._header
        expected = () if header.level == 0 else (header.width,)
        if rows.shape[1:] != expected:
            raise CtxError(f"{self._path.name} takes rows of shape {expected}, not {rows.shape[1:]}.")
        if header.dtype == BF16:
            bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
            rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
            return (rounded >> 16).astype("<u2")
        return np.ascontiguousarray(rows, _STORED[header.dtype])

    def _set_count(self, count: int) -> None:
        self._header = replace(self._header, count=count)
        self._write(0, self._header.pack())

    def _write(self, offset: int, data: bytes) -> None:
        self._handle.seek(offset)
        left = memoryview(data)
        while left:
            left = left[self._handle.write(left) :]
        os.fsync(self._handle.fileno())

    def _require_writable(self) -> None:
        if not self._writable:
            raise CtxError(f"{self._path.name} is open for reading only.", way_out="Open it for writing.")


def repair(path: Path, expected: CtxHeader | None = None) -> CtxHeader:
    """Repair a truncated or half-written file by cutting it to its last whole block; return its header.

    A damaged header is rebuilt from `expected` (level, layout and model), with the count from the file's length. Raises
    CtxError when the header is unreadable and `expected` is None, or when the file belongs to another level or model.
    """
    is_there(path)
    try:
        with path.open("rb") as file:
            raw = file.read(HEADER_BYTES)
        size = max(0, path.stat().st_size - HEADER_BYTES)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        header = CtxHeader.unpack(raw, path.name)
        count = min(header.count, size // header.row_bytes)
    except CtxError:
        if expected is None:
            raise
        if raw[:4] != struct.pack("<I", MAGIC)[: len(raw)]:
            raise
        header, count = expected, size // expected.row_bytes
    if expected is not None and not header.same_layout(expected):
        raise CtxError(
            f"{path.name} holds level {header.level} of {header.model!r}, not level {expected.level} of "
            f"{expected.model!r}.",
            way_out="Open it with that model, or rebuild the lifetime.",
        )
    if header.level == 0:
        count -= count % header.block_size
    header = replace(header, count=count)
    try:
        with path.open("r+b", buffering=0) as handle:
            handle.truncate(HEADER_BYTES + header.payload_bytes)
            handle.write(header.pack())
            os.fsync(handle.fileno())
        RunSums(path, HEADER_BYTES).cut(header.payload_bytes)
    except OSError as error:
        raise _unusable(path, error) from error
    return header


def clip_name(name: str) -> str:
    """Return the part of a model's name that fits in a header: 31 bytes of UTF-8."""
    return name.encode("utf-8")[:31].decode("utf-8", errors="ignore")


def is_there(path: Path) -> bool:
    """Return whether a file of a lifetime exists.

    Raises CtxError where its path is something else: a folder, a pipe (reading it would block) or a broken link.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.is_symlink():
            return False
        mode = 0
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error
    if not stat.S_ISREG(mode):
        raise CtxError(
            f"{path.name} is not a file: a folder, a pipe or a broken link is in its place.",
            way_out="Move it away and restore the file from a copy, or rebuild the lifetime.",
        )
    return True


def _build_damage_error(message: str) -> CtxError:
    return CtxError(message, way_out="Repair it: everything up to the last complete block is retained.")


def unwritten(path: Path, error: OSError) -> CtxError:
    """Return the error for a file that cannot be written."""
    why = error.strerror or str(error)
    return CtxError(f"{path} cannot be written ({why}).", way_out="Free some disk space; what the file held is intact.")


def _unusable(path: Path, error: OSError | ValueError) -> CtxError:
    why = getattr(error, "strerror", None) or str(error)
    return CtxError(f"{path} cannot be used ({why}).", way_out="Check the path and its permissions.")
