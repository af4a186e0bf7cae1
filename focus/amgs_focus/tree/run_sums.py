"""Checksums of a file that grows, kept beside it: a byte that changed since it was written is noticed when it is read.

One CRC-32 for each run of 16 KiB, over as many of its bytes as were there. It is written after what it is of, so that a
process killed in between leaves bytes without a checksum, and never a checksum that does not hold. A file of an earlier
version has none until the next append.
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

from amgs_focus.errors import CtxError

ENDING = ".sums"
_RUN = 1 << 14
_MAGIC = b"amgs-sums-1\0"
_ENTRY = struct.Struct("<III")
"""Bytes, their CRC-32, and the CRC-32 of both: an entry that was half written counts as none."""
_NONE = (0, 0)


class RunSums:
    """The checksums of one file, from the byte `start` on. Nothing is written before `cover`."""

    def __init__(self, of: Path, start: int = 0) -> None:
        self._of = of
        self._start = start
        self.path = of.with_name(of.name + ENDING)
        self._sums = self._read()
        self._covered = 0  # runs from the first on that have their checksums
        self._checked: set[int] = set()

    @property
    def size(self) -> int:
        """Bytes up to the last one that has a checksum."""
        last = next((run for run in reversed(range(len(self._sums))) if self._sums[run] != _NONE), None)
        return 0 if last is None else last * _RUN + self._sums[last][0]

    def check(self, start: int, stop: int) -> None:
        """Hold bytes [start, stop) of the file against their checksums. Raises CtxError where they differ; each run is
        read once.
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
        """Return where the first run begins that is not what was written, of the bytes up to `stop`; None for none."""
        for start in range(0, stop, _RUN):
            try:
                self.check(start, min(start + _RUN, stop))
            except CtxError:
                return start
        return None

    def cover(self, size: int) -> None:
        """Have checksums of the first `size` bytes, which are on the disk. Without room for them there are fewer."""
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
        """Keep checksums of the first `size` bytes alone, before the others go. Raises OSError."""
        if size < self.size:
            run = size // _RUN
            self._forget(run, len(self._sums))
            if size % _RUN:
                with self._of.open("rb") as file:
                    self._sums[run] = size % _RUN, self._sum(file.fileno(), run, 0, size % _RUN, 0)
                self._write([run], sync=True)

    def drop(self, start: int, stop: int) -> None:
        """Forget the checksums of bytes that are about to change. Raises OSError."""
        self._forget(start // _RUN, min(-(-stop // _RUN), len(self._sums)))

    def remove(self) -> None:
        """Forget all of them, with their file."""
        self.path.unlink(missing_ok=True)
        self._sums, self._covered = [], 0
        self._checked.clear()

    def _forget(self, first: int, stop: int) -> None:
        gone = [run for run in range(first, stop) if self._sums[run] != _NONE]
        for run in gone:
            self._sums[run] = _NONE
        self._checked.difference_update(gone)
        self._covered = min(self._covered, first)
        self._write(gone, sync=True)

    def _sum(self, file: int, run: int, start: int, stop: int, so_far: int) -> int:
        return zlib.crc32(os.pread(file, stop - start, self._start + run * _RUN + start), so_far)

    def _read(self) -> list[tuple[int, int]]:
        """Return the entries; none where there is no such file, or another one."""
        try:
            raw = self.path.read_bytes() if self.path.is_file() else b""
        except OSError:
            raw = b""
        entries: list[tuple[int, int]] = []
        if raw.startswith(_MAGIC):
            body = raw[len(_MAGIC) :]
            whole = len(body) - len(body) % _ENTRY.size
            for size, known, both in _ENTRY.iter_unpack(body[:whole]):
                sound = size <= _RUN and zlib.crc32(_ENTRY.pack(size, known, 0)) == both
                entries.append((size, known) if sound and size else _NONE)
        return entries

    def _write(self, runs: list[int], *, sync: bool = False) -> None:
        if not runs:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe has no reader
        file = os.open(self.path, flags, 0o644)
        try:
            os.pwrite(file, _MAGIC, 0)
            for run in runs:
                size, known = self._sums[run]
                both = zlib.crc32(_ENTRY.pack(size, known, 0))
                os.pwrite(file, _ENTRY.pack(size, known, both), len(_MAGIC) + run * _ENTRY.size)
            if sync:
                os.fsync(file)
        finally:
            os.close(file)
