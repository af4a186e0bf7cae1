"""Save derived arrays beside the store, so that opening a memory does not compute them again.

A snapshot store is a folder with a generation: a folder of arrays for a state of the store. It is written under a
temporary name, sealed with a stamp and renamed, so that a reader finds a complete one or none, and a process that dies
while writing leaves the older one. A generation older than the store is where catching up starts. Arrays are mapped
into memory, so that opening reads nothing. Deleting the folder loses nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STAMP = "stamp.json"
_PART = ".part"


@dataclass(frozen=True, slots=True)
class Stamp:
    """State of the store that derived files were made from: its id and its change counter."""

    store: str
    revision: int


@dataclass(frozen=True, eq=False)
class Generation:
    """A sealed generation. facts: the JSON that was saved with the arrays."""

    folder: Path
    stamp: Stamp
    facts: Mapping[str, Any]

    def array(self, name: str) -> NDArray[Any]:
        """Return an array by its name, mapped and read-only."""
        # A plain array: slices of numpy's memmap class are slow.
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


class SnapshotStore:
    """Folder of generations of an index. folder: None for a store in memory, which saves nothing.

    format: version of the arrays; generations of another format are ignored.
    """

    def __init__(self, folder: Path | None, format: int, *, read_only: bool = False) -> None:
        self._folder = folder
        self._format = format
        self.writable = folder is not None and not read_only

    @property
    def is_empty(self) -> bool:
        """Whether the folder is missing or cannot be read."""
        return self._folder is None or not os.path.isdir(self._folder)  # noqa: PTH112 - never raises

    def latest(self, store: str) -> Generation | None:
        """Return the latest complete generation made from this store; None when there is none."""
        if self._folder is None:
            return None
        generations = []
        with suppress(OSError):
            generations = [
                generation for generation in map(self._read, self._folder.iterdir()) if generation is not None
            ]
        own = [generation for generation in generations if generation.stamp.store == store]
        return max(own, key=lambda generation: generation.stamp.revision, default=None)

    @contextmanager
    def writing(self, stamp: Stamp, facts: Mapping[str, Any]) -> Iterator[Path]:
        """Yield a folder to write a new generation into; when the block ends without an error it is sealed and renamed.

        facts: JSON to save with it. Older generations, and half-written ones, are removed.
        """
        if self._folder is None or not self.writable:
            raise RuntimeError("this snapshot store keeps nothing")
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._folder / f"{stamp.revision}{_PART}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            yield part
            self._seal(part, stamp, facts)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        final = self._folder / str(stamp.revision)
        shutil.rmtree(final, ignore_errors=True)
        part.rename(final)
        for other in self._folder.iterdir():
            if other != final:
                shutil.rmtree(other, ignore_errors=True)

    def forget(self) -> None:
        """Remove every generation."""
        if self._folder is not None and self.writable:
            shutil.rmtree(self._folder, ignore_errors=True)

    def damage(self, store: str) -> str:
        """Return what is wrong with the latest generation, after comparing every checksum; "" when nothing is."""
        generation = self.latest(store)
        if generation is None:
            return ""
        bad = _differing(generation.folder)
        return f"{', '.join(bad)} differ from what was written" if bad else ""

    def _read(self, folder: Path) -> Generation | None:
        """Return the generation in a folder; None where its stamp cannot be read or a file has another size. Checksums
        are for `damage`.
        """
        if folder.suffix == _PART:
            return None
        try:
            sealed = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
            stamp = Stamp(str(sealed["store"]), int(sealed["revision"]))
            whole = all((folder / name).stat().st_size == size for name, (size, _) in sealed["files"].items())
            facts: Mapping[str, Any] = sealed["said"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return Generation(folder, stamp, facts) if whole and sealed["format"] == self._format else None

    def _seal(self, part: Path, stamp: Stamp, facts: Mapping[str, Any]) -> None:
        """Flush the files of a generation to disk and write its stamp, with their sizes and checksums."""
        files = {}
        for path in sorted(part.iterdir()):
            with path.open("rb") as file:
                os.fsync(file.fileno())
            files[path.name] = (path.stat().st_size, _checksum(path))
        sealed = {
            "format": self._format,
            "store": stamp.store,
            "revision": stamp.revision,
            "files": files,
            "said": dict(facts),
        }
        with (part / _STAMP).open("w", encoding="utf-8") as file:
            file.write(json.dumps(sealed))
            file.flush()
            os.fsync(file.fileno())


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays under their names, as `Generation.array` reads them."""
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def _differing(folder: Path) -> list[str]:
    """Return the names of a generation's files whose checksum is not that of its stamp."""
    files = json.loads((folder / _STAMP).read_text(encoding="utf-8"))["files"]
    return sorted(name for name, (_, checksum) in files.items() if _checksum(folder / name) != checksum)


def _checksum(path: Path) -> int:
    """Return the CRC-32 of a file; -1 where it cannot be read."""
    total = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                total = zlib.crc32(chunk, total)
    except OSError:
        return -1
    return total
