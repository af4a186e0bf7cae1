"""Files kept beside the store: arrays that are derived from it and would take long to derive again.

A snapshot store is a folder of generations, one for each state of the store that was kept. A generation is written
under another name, sealed with a stamp, and renamed into place: whoever opens the store finds a whole one or none, and
a process that dies while it writes leaves the older one. A generation that lags behind the store is a beginning to
catch up from. Arrays are mapped into memory, so that opening reads nothing.

Where several programs share a place, each file is held against its checksum once before it is believed. An object store
is a place as well: a generation is fetched into a folder of this process, and put there file by file, its stamp last.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

_STAMP = "stamp.json"
_PART = ".part"


class RemoteFiles(Protocol):
    """Files outside this machine by their names, such as `7/stamp.json`; what fails raises OSError."""

    def names(self) -> list[str]: ...
    def fetch(self, name: str, to: Path) -> None: ...
    def put(self, file: Path, name: str) -> None: ...
    def remove(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Stamp:
    """What derived files were built from: which store, at which revision of it."""

    store: str
    revision: int


@dataclass(frozen=True, eq=False)
class Generation:
    """One sealed generation. said: what was noted beside the arrays. mapped: the arrays, where they were opened with
    it.
    """

    folder: Path
    stamp: Stamp
    said: Mapping[str, Any]
    mapped: Mapping[str, NDArray[Any]] | None = None

    def array(self, name: str) -> NDArray[Any]:
        """An array by its name, mapped and read-only."""
        if self.mapped is not None:
            return self.mapped[name]
        # As a plain array: numpy's own mapped class makes every small slice dear.
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


class SnapshotStore:
    """One kind of derived files. folder: None for a store that lives in memory, which keeps nothing.

    format: rises when what is written changes; generations of another format are left alone. shared: other programs
    write there as well. remote: where they lie instead of in a folder.
    """

    def __init__(
        self,
        folder: Path | None,
        format: int,
        *,
        read_only: bool = False,
        shared: bool = False,
        remote: RemoteFiles | None = None,
    ) -> None:
        self._fetched = None if remote is None else tempfile.TemporaryDirectory(prefix="amgs-kept-")
        self._folder = folder if self._fetched is None else Path(self._fetched.name)
        self._format = format
        self._remote = remote
        self._shared = shared or remote is not None
        self._looked: set[str] = set()
        self._checked: Generation | None = None
        self.writable = self._folder is not None and not read_only

    def close(self) -> None:
        """Leave nothing of what was fetched."""
        if self._fetched is not None:
            self._fetched.cleanup()

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all lies there, as far as can be told without a look elsewhere than on this machine."""
        return self._folder is None or (self._remote is None and not self._folder.is_dir())

    def latest(self, store: str) -> Generation | None:
        """The latest whole generation of a store; None when there is none."""
        if self._folder is None:
            return None
        if self._remote is not None and store not in self._looked:
            self._looked.add(store)
            self._fetch(self._remote, self._folder, store)
        if not self._folder.is_dir():
            return None
        found = [one for one in map(self._read, self._folder.iterdir()) if one is not None]
        own = [one for one in found if one.stamp.store == store]
        latest = max(own, key=lambda one: one.stamp.revision, default=None)
        return self._opened(latest) if latest is not None and self._shared else latest

    @contextmanager
    def writing(self, stamp: Stamp, said: Mapping[str, Any]) -> Iterator[Path]:
        """A folder to write a new generation into; sealed and in place when the block ends without an error.

        What an older process left half written is removed, and so are the generations before.
        """
        if self._folder is None or not self.writable:
            raise RuntimeError("this snapshot store keeps nothing")
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._folder / f"{stamp.revision}{_PART}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            yield part
            self._seal(part, stamp, said)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        self._checked = None
        final = self._folder / str(stamp.revision)
        shutil.rmtree(final, ignore_errors=True)
        part.rename(final)
        for other in self._folder.iterdir():
            if other != final:
                shutil.rmtree(other, ignore_errors=True)
        if self._remote is not None:
            self._send(self._remote, final)

    def forget(self) -> None:
        """Remove every generation."""
        self._checked = None
        if self._folder is not None and self.writable:
            shutil.rmtree(self._folder, ignore_errors=True)
            if self._remote is not None:
                for name in _stamps_first(self._remote.names()):
                    self._remote.remove(name)

    def damage(self, store: str) -> str:
        """What is wrong with the latest generation, read in full; empty when nothing is."""
        one = self.latest(store)
        if one is None:
            return ""
        bad = _differing(one.folder)
        return f"{', '.join(bad)} differ from what was written" if bad else ""

    def _opened(self, one: Generation) -> Generation | None:
        """A generation with its arrays, which stay though another program puts a later one in its place; None where a
        file is not what was written.
        """
        if self._checked is not None and self._checked.folder == one.folder:
            return self._checked
        try:
            if _differing(one.folder):
                return None
            arrays = {path.stem: one.array(path.stem) for path in one.folder.glob("*.npy")}
        except (OSError, ValueError):  # taken away meanwhile
            return None
        self._checked = Generation(one.folder, one.stamp, one.said, arrays)
        return self._checked

    def _fetch(self, remote: RemoteFiles, folder: Path, store: str) -> None:
        """Bring the latest generation of a store here; what cannot be had is not there."""
        try:
            names = remote.names()
            stamps = sorted((name for name in names if name.endswith(f"/{_STAMP}")), key=len)
            part = folder / f"fetched{_PART}"
            part.mkdir(parents=True, exist_ok=True)
            newest: tuple[int, str] | None = None
            for name in stamps:
                remote.fetch(name, part / _STAMP)
                sealed = json.loads((part / _STAMP).read_text(encoding="utf-8"))
                if sealed["store"] == store and (newest is None or sealed["revision"] > newest[0]):
                    newest = int(sealed["revision"]), name.removesuffix(_STAMP)
            if newest is not None:
                remote.fetch(newest[1] + _STAMP, part / _STAMP)
                for name in json.loads((part / _STAMP).read_text(encoding="utf-8"))["files"]:
                    remote.fetch(newest[1] + Path(name).name, part / Path(name).name)
                part.rename(folder / str(newest[0]))
        except (OSError, ValueError, KeyError, TypeError):
            return

    def _send(self, remote: RemoteFiles, final: Path) -> None:
        """Put a generation there, its stamp last, and remove the others."""
        before = remote.names()
        for path in sorted(final.iterdir(), key=lambda path: path.name == _STAMP):
            remote.put(path, f"{final.name}/{path.name}")
        for name in _stamps_first(before):
            if not name.startswith(f"{final.name}/"):
                remote.remove(name)

    def _read(self, folder: Path) -> Generation | None:
        """A generation whose stamp can be read and whose files have their sizes; their bytes are for `damage`."""
        if folder.suffix == _PART:
            return None
        try:
            sealed = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
            stamp = Stamp(str(sealed["store"]), int(sealed["revision"]))
            whole = all((folder / name).stat().st_size == size for name, (size, _) in sealed["files"].items())
            said: Mapping[str, Any] = sealed["said"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return Generation(folder, stamp, said) if whole and sealed["format"] == self._format else None

    def _seal(self, part: Path, stamp: Stamp, said: Mapping[str, Any]) -> None:
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
            "said": dict(said),
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
    """The files of a generation that are not what was written."""
    files = json.loads((folder / _STAMP).read_text(encoding="utf-8"))["files"]
    return sorted(name for name, (_, checksum) in files.items() if _checksum(folder / name) != checksum)


def _stamps_first(names: list[str]) -> list[str]:
    """Names in the order in which they are removed: what has no stamp is no generation any more."""
    return sorted(names, key=lambda name: not name.endswith(f"/{_STAMP}"))


def _checksum(path: Path) -> int:
    total = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                total = zlib.crc32(chunk, total)
    except OSError:
        return -1
    return total
