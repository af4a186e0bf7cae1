"""Files beside a lifetime's .ctx files: checksums, which reveal a changed byte when it is read, and the usage of every
gist (MegaContext, "Signals to collect").
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs_focus.errors import CtxError
from amgs_focus.records import NodeRef, Refocus, Use
from amgs_focus.tree.node_set import NodeSet

ENDING = ".sums"
_RUN = 1 << 14
_MAGIC = b"amgs-sums-1\0"
_ENTRY = struct.Struct("<III")
"""Number of bytes, their CRC-32, and the CRC-32 of both: a half-written entry is ignored."""
_NONE = (0, 0)


class RunSums:
    """The checksums of a file from byte `start` on. Nothing is written before `cover`.

    One CRC-32 for each run of 16 KiB, over the bytes of it that were written; each run is checked when it is first
    read. A checksum is written after its bytes, so a killed process leaves bytes without a checksum, never a wrong
    checksum. A file of an earlier version has none until the next append.
    """

    def __init__(self, of: Path, start: int = 0) -> None:
        self._of = of
        self._start = start
        self.path = of.with_name(of.name + ENDING)
        self._sums = self._read()
        self._covered = 0  # number of leading runs with a complete checksum
        self._checked: set[int] = set()

    @property
    def size(self) -> int:
        """Bytes up to the last one with a checksum."""
        last = next((run for run in reversed(range(len(self._sums))) if self._sums[run] != _NONE), None)
        return 0 if last is None else last * _RUN + self._sums[last][0]

    def check(self, start: int, stop: int) -> None:
        """Check bytes [start, stop) of the file against their checksums, each run once. Raises CtxError where they
        differ.
        """
        runs = range(start // _RUN, min(-(-stop // _RUN), len(self._sums)))
        if all(run in self._checked for run in runs):
            return
        with self._of.open("rb") as file:
            for run in runs:
                size, known = self._sums[run]
                if run not in self._checked and self._sum(file.fileno(), run, 0, size, 0) != known:
                    raise CtxError(
                        f"{self._of.name} is not what was written: something differs in the {size:,} bytes from "
                        f"{self._start + run * _RUN:,} on.",
                        way_out="Restore the file from a copy, or have it mended.",
                        about="damage",
                    )
                self._checked.add(run)

    def first_difference(self, stop: int) -> int | None:
        """Return the start of the first run before `stop` that differs from its checksum; None if there is none."""
        for start in range(0, stop, _RUN):
            try:
                self.check(start, min(start + _RUN, stop))
            except CtxError:
                return start
        return None

    def cover(self, size: int) -> None:
        """Write checksums for the first `size` bytes, which are on disk already. A full disk leaves some out."""
        with suppress(OSError), self._of.open("rb") as file:
            changed = []
            for run in range(self._covered, -(-size // _RUN)):
                if run == len(self._sums):
                    self._sums.append(_NONE)
                length, known = self._sums[run]
                wanted = min(_RUN, size - run * _RUN)
                if length < wanted:
                    self._sums[run] = wanted, self._sum(file.fileno(), run, length, wanted, known)
                    changed.append(run)
            self._covered = size // _RUN
            self._write(changed)

    def cut(self, size: int) -> None:
        """Keep only the checksums of the first `size` bytes; call it before the file is cut. Raises OSError."""
        if size < self.size:
            run = size // _RUN
            self._forget(run, len(self._sums))
            if size % _RUN:
                with self._of.open("rb") as file:
                    self._sums[run] = size % _RUN, self._sum(file.fileno(), run, 0, size % _RUN, 0)
                self._write([run], sync=True)

    def drop(self, start: int, stop: int) -> None:
        """Drop the checksums of bytes that are about to change. Raises OSError."""
        self._forget(start // _RUN, min(-(-stop // _RUN), len(self._sums)))

    def remove(self) -> None:
        """Drop all checksums and delete their file."""
        self.path.unlink(missing_ok=True)
        self._sums, self._covered = [], 0
        self._checked.clear()

    def _forget(self, first: int, stop: int) -> None:
        dropped = [run for run in range(first, stop) if self._sums[run] != _NONE]
        for run in dropped:
            self._sums[run] = _NONE
        self._checked.difference_update(dropped)
        self._covered = min(self._covered, first)
        self._write(dropped, sync=True)

    def _sum(self, file: int, run: int, start: int, stop: int, so_far: int) -> int:
        return zlib.crc32(os.pread(file, stop - start, self._start + run * _RUN + start), so_far)

    def _read(self) -> list[tuple[int, int]]:
        """Return the entries; [] where there is no file of checksums."""
        try:
            raw = self.path.read_bytes() if self.path.is_file() else b""
        except OSError:
            raw = b""
        entries: list[tuple[int, int]] = []
        if raw.startswith(_MAGIC):
            body = raw[len(_MAGIC) :]
            whole = len(body) - len(body) % _ENTRY.size
            for size, known, entry_crc in _ENTRY.iter_unpack(body[:whole]):
                sound = size <= _RUN and zlib.crc32(_ENTRY.pack(size, known, 0)) == entry_crc
                entries.append((size, known) if sound and size else _NONE)
        return entries

    def _write(self, runs: list[int], *, sync: bool = False) -> None:
        if not runs:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # do not block on a pipe
        file = os.open(self.path, flags, 0o644)
        try:
            os.pwrite(file, _MAGIC, 0)
            for run in runs:
                size, known = self._sums[run]
                entry_crc = zlib.crc32(_ENTRY.pack(size, known, 0))
                os.pwrite(file, _ENTRY.pack(size, known, entry_crc), len(_MAGIC) + run * _ENTRY.size)
            if sync:
                os.fsync(file)
        finally:
            os.close(file)


ROW = np.dtype(
    [
        ("opened", "<u4"),  # expansions
        ("dwell", "<u4"),  # refocuses after which its detail was in the window
        ("last", "<u8"),  # lifetime tokens at the last use
        ("wanted", "<u4"),  # refocuses that wanted its detail after it was forgotten
        ("measured", "<u4"),
        ("gain", "<f4"),  # mean of the measurements, nats a token
        ("spare", "<u4"),
    ]
)
PAGE = 1024  # rows

Rows = NDArray[Any]


class UseTable:
    """The usage rows of a level, in pages of 1,024, mapped from a file if `path` is given, else in memory. Pages never
    written take no room and read as zeros.

    A page is written to disk before it is mapped: writing to a mapped page on a full disk would kill the process. If
    there is no room, the page stays in memory and is lost with the process, so that no work is held up. An update
    touches only the rows of the window and survives a kill at any point.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._pages: dict[int, Rows] = {}

    def row(self, index: int) -> Use:
        """Return the usage of a node."""
        row = self.rows(index, index + 1)[0]
        measured = int(row["measured"])
        return Use(
            opened=int(row["opened"]),
            dwell=int(row["dwell"]),
            last=int(row["last"]),
            wanted=int(row["wanted"]),
            measured=measured,
            gain=float(row["gain"]) if measured else None,
        )

    def rows(self, start: int, stop: int) -> Rows:
        """Return a copy of rows [start, stop) as a structured array."""
        records = np.zeros(max(0, stop - start), ROW)
        if self._path is not None and self._path.exists():
            disk_rows = np.fromfile(self._path, ROW, max(0, stop - start), offset=start * ROW.itemsize)
            records[: len(disk_rows)] = disk_rows
        for number, page in self._pages.items():
            low, high = max(start, number * PAGE), min(stop, (number + 1) * PAGE)
            if low < high:
                records[low - start : high - start] = page[low - number * PAGE : high - number * PAGE]
        return records

    def add(self, indexes: Iterable[int], name: str, last: int | None = None) -> None:
        """Increment a count of each node. last: the lifetime's length if this is a use, else None."""
        for index in indexes:
            row = self._at(index)
            row[name] += 1
            if last is not None:
                row["last"] = last

    def look(self, first: int, stop: int, last: int) -> None:
        """Record that nodes [first, stop) were used at lifetime length `last`, and reset their requests."""
        for index in range(first, stop):
            row = self._at(index)
            row["last"], row["wanted"] = last, 0

    def measure(self, index: int, gain: float) -> None:
        """Add a measured gain to a node's mean."""
        row = self._at(index)
        row["measured"] += 1
        row["gain"] += (gain - row["gain"]) / row["measured"]

    def forget(self, start: int) -> None:
        """Drop the rows from `start` on."""
        last = start // PAGE
        self._pages = {number: page for number, page in self._pages.items() if number <= last}
        if self._path is not None and self._path.exists():
            size = self._path.stat().st_size
            if size > last * PAGE * ROW.itemsize:
                self._page(last)
            os.truncate(self._path, min(size, (last + 1) * PAGE * ROW.itemsize))
        if last in self._pages:
            self._pages[last][start % PAGE :] = np.zeros((), ROW)

    def close(self) -> None:
        """Release the file."""
        self._pages.clear()

    def _at(self, index: int) -> Any:
        """Return a writable view of a node's row."""
        return self._page(index // PAGE)[index % PAGE : index % PAGE + 1]

    def _page(self, number: int) -> Rows:
        if number not in self._pages:
            self._pages[number] = np.zeros(PAGE, ROW) if self._path is None else self._map_page(self._path, number)
        return self._pages[number]

    def _map_page(self, path: Path, number: int) -> Rows:
        """Return a page mapped from the file, written before it is mapped; in memory if the disk is full."""
        offset = number * PAGE * ROW.itemsize
        try:
            with path.open("r+b" if path.exists() else "w+b", buffering=0) as file:
                file.seek(offset)
                content = file.read(PAGE * ROW.itemsize)
                whole = content.ljust(PAGE * ROW.itemsize, b"\0")
                file.seek(offset)
                if file.write(whole) != len(whole):
                    raise OSError("the disk is full")
                os.fsync(file.fileno())
            return np.memmap(path, ROW, "r+", offset, (PAGE,))
        except OSError:
            return np.zeros(PAGE, ROW)


class GistUsage:
    """The usage tables of all levels, in `folder` if given.

    For every gist: the number of openings, the time its detail was in the window, its last use, the requests for more
    of it, and the measured value of its detail (MegaContext, "Signals to collect"). Being in the tail is no use: every
    block passes through it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._tables: dict[int, UseTable] = {}

    def of(self, node: NodeRef) -> Use:
        """Return the usage of a gist; for a block of tokens, of the gist above it."""
        return self.table(max(1, node.level)).row(node.index)

    def table(self, level: int) -> UseTable:
        if level not in self._tables:
            path = None if self._folder is None else self._folder / f"L{level}.use"
            self._tables[level] = UseTable(path)
        return self._tables[level]

    def record_refocus(self, refocus: Refocus, standing: Iterable[NodeRef], tau: float) -> None:
        """Record a refocus: the gists that it opened, forgotten ones with a score above τ, and `standing`, those whose
        detail is now in the window.
        """
        opened = [decision.node for decision in refocus.applied if decision.kind != "collapse"]
        refused = [decision for decision in refocus.decisions if decision.reason == "illegal_level" and decision.level]
        wanted = [decision.node for decision in refused if decision.kind != "collapse" and decision.score > tau]
        for name, nodes in (("opened", opened), ("wanted", wanted), ("dwell", set(standing))):
            for level in {node.level for node in nodes}:
                indices = [node.index for node in nodes if node.level == level]
                self.table(level).add(indices, name, None if name == "wanted" else refocus.lifetime)

    def record_restored(self, nodes: NodeSet, lifetime: int) -> None:
        """Count restored nodes as used, so that they are not forgotten again at once."""
        for run in nodes.runs:
            self.table(run.level).look(run.first, run.stop, lifetime)

    def record_gain(self, node: NodeRef, gain: float) -> None:
        """Record a measured ΔNLL of a gist's detail, in nats a token."""
        self.table(node.level).measure(node.index, gain)

    def cut(self, length: int, block_size: int) -> None:
        """Drop nodes that reach beyond `length` tokens."""
        for level, table in self._tables.items():
            table.forget(length // block_size**level)

    def close(self) -> None:
        for table in self._tables.values():
            table.close()
