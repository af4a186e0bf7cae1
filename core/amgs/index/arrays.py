"""Arrays derived from the store: sets of ascending block numbers, the id of each number, features of all blocks;
and arrays saved beside the store, so that opening a memory does not compute them again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.storage.block_columns import FeatureColumns
from amgs.text.words import COMMON_WORDS

# Ascending and without repetition: the functions below rely on it, so that they need no sorting.
Numbers = NDArray[np.int64]


def places(ascending: Numbers, values: Numbers) -> Numbers:
    """Return the index of each value in an ascending array, -1 where it is missing: (m,)."""
    if not ascending.size:
        return np.full(values.size, -1, dtype=np.int64)
    # Block numbers have few gaps, so most values are where they would be without any: check that before searching.
    at = np.minimum(np.maximum(values - ascending[0], 0), ascending.size - 1)
    off = ascending[at] != values
    if off.any():
        some = values[off]
        positions = np.minimum(np.searchsorted(ascending, some), ascending.size - 1)
        at[off] = np.where(ascending[positions] == some, positions, -1)
    return np.asarray(at, dtype=np.int64)


def contains(ascending: Numbers, values: Numbers) -> NDArray[np.bool_]:
    """Return which values are in an ascending array: (m,)."""
    return places(ascending, values) >= 0


def difference(numbers: Numbers, other: Numbers) -> Numbers:
    """Return the numbers that are not in `other`, ascending; a common beginning is skipped at once."""
    same = _common_prefix(numbers, other)
    rest = numbers[same:]
    return rest[~contains(other[same:], rest)]


def union(numbers: Numbers, other: Numbers) -> Numbers:
    """Return the numbers in either array, ascending."""
    new = difference(other, numbers)
    if not new.size:
        return numbers
    if not numbers.size or numbers[-1] < new[0]:
        return np.concatenate([numbers, new])
    return np.insert(numbers, np.searchsorted(numbers, new), new)


def replace_values(numbers: Numbers, column: NDArray[Any], changed: Numbers, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column (n,) with new values for the `changed` numbers, ascending: replaced where a number is known, else
    inserted in order.
    """
    at = places(numbers, changed)
    known = at >= 0
    new_column = column.copy()
    new_column[at[known]] = values[known]
    new = changed[~known]
    if not new.size:
        return new_column
    if not numbers.size or numbers[-1] < new[0]:
        return np.concatenate([new_column, values[~known]])
    return np.insert(new_column, np.searchsorted(numbers, new), values[~known])


def _common_prefix(numbers: Numbers, other: Numbers) -> int:
    """Return how many leading values the arrays share."""
    size = min(numbers.size, other.size)
    differs = numbers[:size] != other[:size]
    first = int(np.argmax(differs)) if size else 0
    return first if size and differs[first] else size


_BYTES = 32


@dataclass(frozen=True, eq=False)
class IdMap:
    """numbers (n,) ascending, ids (n, 32): SHA-256 as bytes."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.uint8]

    @classmethod
    def none(cls) -> IdMap:
        return cls(np.zeros(0, np.int64), np.zeros((0, _BYTES), np.uint8))

    @property
    def last(self) -> int:
        """Highest number in the map, 0 when it is empty."""
        return int(self.numbers[-1]) if self.numbers.size else 0

    def with_(self, numbers: NDArray[np.int64], ids: Sequence[str]) -> IdMap:
        """Return the map with more blocks, all with higher numbers."""
        if not numbers.size:
            return self
        fresh = np.frombuffer(bytes.fromhex("".join(ids)), dtype=np.uint8).reshape(-1, _BYTES)
        return IdMap(np.concatenate([self.numbers, numbers]), np.concatenate([self.ids, fresh]))

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return the id of each number (m,), in hexadecimal; all must be in the map."""
        rows = self.ids[places(self.numbers, numbers)]
        return np.array([row.tobytes().hex() for row in rows], dtype=object)


NOBODY = -1
_COLUMNS = ("numbers", "episode", "name", "length", "asking", "asks")
_WORD = re.compile(r"\w+")
_SHORTEST_NAME = 3
_COMMON = frozenset(COMMON_WORDS)


@dataclass(frozen=True, eq=False)
class BlockFeatures:
    """Arrays (n,) over all blocks, in order of their numbers.

    episode: hash of the block's source or dialogue; 0 where it has none. name: who says it, an index into `names`, or
    NOBODY. length: log(1 + characters). asking: share of questions among its sentences. asks: whether it ends with a
    question.

    A search uses them for all its candidates without reading a block.
    """

    numbers: NDArray[np.int64]
    episode: NDArray[np.uint64]
    name: NDArray[np.int32]
    length: NDArray[np.float32]
    asking: NDArray[np.float32]
    asks: NDArray[np.bool_]
    names: tuple[str, ...]

    @classmethod
    def none(cls) -> BlockFeatures:
        return cls(
            np.zeros(0, np.int64),
            np.zeros(0, np.uint64),
            np.zeros(0, np.int32),
            np.zeros(0, np.float32),
            np.zeros(0, np.float32),
            np.zeros(0, np.bool_),
            (),
        )

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each block, -1 for an unknown block: (m,)."""
        return places(self.numbers, numbers)

    def find_names(self, text: str) -> tuple[int, ...]:
        """Return the names that a text mentions, by their first word or any longer beginning, as indexes into `names`.

        A name that is also a common word ("Will") counts only capitalised, and not as the first word.
        """
        written = _WORD.findall(text)
        later = {word.lower() for word in written[1:] if word[:1].isupper()}
        words = {word.lower() for word in written if word.lower() not in _COMMON} | later
        called = _index_name_words(self.names)
        return tuple(sorted({place for word in words for place in called.get(word, ())}))

    def without(self, numbers: NDArray[np.int64]) -> BlockFeatures:
        """Return the features without the blocks of these numbers."""
        return self._select_rows(~np.isin(self.numbers, numbers)) if numbers.size else self

    def merge_changed(self, changed: FeatureColumns) -> BlockFeatures:
        """Return the features with changed blocks replaced and new ones added."""
        if not changed.numbers.size:
            return self
        places = {name: place for place, name in enumerate(self.names)}
        name = np.array(
            [places.setdefault(person, len(places)) if person else NOBODY for person in changed.name], dtype=np.int32
        )
        sentences = np.maximum(changed.sentences, 1)
        fresh = BlockFeatures(
            changed.numbers,
            changed.episode,
            name,
            np.log1p(changed.characters).astype(np.float32),
            (changed.questions / sentences).astype(np.float32),
            changed.asks,
            tuple(places),
        )
        columns = {
            column: replace_values(self.numbers, getattr(self, column), fresh.numbers, getattr(fresh, column))
            for column in _COLUMNS
        }
        return BlockFeatures(**columns, names=fresh.names)

    def _select_rows(self, rows: NDArray[np.bool_]) -> BlockFeatures:
        return BlockFeatures(
            self.numbers[rows],
            self.episode[rows],
            self.name[rows],
            self.length[rows],
            self.asking[rows],
            self.asks[rows],
            self.names,
        )


@lru_cache(maxsize=16)
def _index_name_words(names: tuple[str, ...]) -> dict[str, list[int]]:
    """Return for each word the names it may mean, as indexes. Cached by the names, which seldom change."""
    called: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for word in name_words(name):
            called.setdefault(word, []).append(place)
    return called


def name_words(name: str) -> set[str]:
    """Return the words by which a person may be mentioned: the first of the name, and any other of 3
    letters or more.
    """
    words = _WORD.findall(name)
    return {word for i, word in enumerate(words) if i == 0 or len(word) >= _SHORTEST_NAME}


_STAMP = "stamp.json"
_PART = ".part"


@dataclass(frozen=True, slots=True)
class Stamp:
    """State of the store that derived files were computed from: its id and its change counter."""

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

    A generation is a folder of arrays for a state of the store. It is written under a temporary name, sealed with a
    stamp and renamed, so that a reader finds a complete generation or none, and a process that dies while writing
    leaves the older generation, from which the next catches up. Arrays are mapped into memory, so that opening reads
    nothing. Deleting the folder loses nothing.
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
        """Return the latest complete generation computed from this store; None when there is none."""
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
