"""Where the datasets of the search tier lie, which version of them was built, and from which state of the store.

A store has a folder of its own: `blocks` with one row a block, `terms` with the stems and how many blocks hold each,
`moments` with the sums of the vectors. A version of `blocks` is looked at once a tag points to it, and says itself
which versions of the other two belong to it, so that a build that dies leaves the version before.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amgs.errors import AmgsError, StoreError, UsageError
from amgs.extras import explained

if TYPE_CHECKING:
    from lance import LanceDataset


FORMAT = 3
"""Rises when the columns or how a text is cut into words changes; a dataset of another format is built anew."""

BLOCKS, TERMS, MOMENTS = "blocks", "terms", "moments"
TAG = "built"
NOTE = "amgs"
"""The entry of a version's configuration that says what it was built from, as JSON."""

_FRAGMENT = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)
"""An address is a fragment and a row in it, 32 bits each."""
_S3 = "s3://"
_S3_SAYS = re.compile(r"<Message>(.*?)</Message>")


def lance() -> Any:
    """The package; raises MissingExtraError where it is not installed."""
    os.environ.setdefault("LANCE_LOG", "error")  # it warns of each dataset that it makes
    with explained():
        import lance as package

        return package


def place(where: str) -> str:
    """The address of a folder of datasets: s3://bucket/prefix as it is, a folder of this machine in full.

    Raises UsageError for any other address, and for one that holds a password, which is not repeated.
    """
    if "://" not in where:
        return str(Path(where).expanduser().resolve())
    if "@" in where:
        raise UsageError(
            "The address of an index holds a password.",
            way_out="Leave it out; credentials are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        )
    if not where.startswith(_S3) or not where.removeprefix(_S3).strip("/"):
        raise UsageError(
            f"No index can lie at {where}.",
            way_out="Give a folder, or s3://bucket/prefix for an object store.",
        )
    return where.rstrip("/")


@contextlib.contextmanager
def told(where: str) -> Iterator[None]:
    """Whatever Lance raises, as a StoreError in a sentence."""
    try:
        yield
    except AmgsError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        found = _S3_SAYS.search(str(error))
        said = found[1] if found else str(error).split(", /", 1)[0].removeprefix("LanceError(IO): ")
        raise StoreError(
            f"The search index at {where} cannot be used: {said[:240].rstrip('.')}.",
            title="The index cannot be used",
            way_out="Check the address and the credentials in the environment; what is lost is built anew from the "
            "store.",
        ) from error


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """What a version was built from. structure: the store's structure counter. space: name and dimension of the
    embeddings, None without any. terms, moments: the versions that belong to it. nearby: whether its vectors have an
    index. at: when it was read, as text; "" where that was not noted.
    """

    store: str
    structure: int
    space: tuple[str, int] | None
    terms: int
    moments: int
    nearby: bool
    at: str = ""

    def note(self) -> str:
        """As a version's configuration keeps it."""
        return json.dumps({"format": FORMAT, **asdict(self)})

    @classmethod
    def read(cls, config: Mapping[str, str]) -> BuiltFrom | None:
        """What a configuration says; None for another format or for nothing."""
        try:
            said = json.loads(config[NOTE])
            if said["format"] != FORMAT:
                return None
            space = said["space"]
            return cls(
                str(said["store"]),
                int(said["structure"]),
                None if space is None else (str(space[0]), int(space[1])),
                int(said["terms"]),
                int(said["moments"]),
                bool(said["nearby"]),
                str(said.get("at", "")),
            )
        except (KeyError, TypeError, ValueError, IndexError):
            return None


class SearchDataset:
    """One built version: numbers (n,) ascending, addresses (n,) of their rows, searchable (n,) whether words find
    them, embedded (n,) whether they have a vector.
    """

    def __init__(self, folder: str, blocks: LanceDataset, built: BuiltFrom) -> None:
        self.folder, self.blocks, self.built = folder, blocks, built
        found = blocks.scanner(columns=["number", "searchable", "embedded"], with_row_id=True).to_table()
        numbers = found["number"].to_numpy().astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        self.numbers: NDArray[np.int64] = numbers[order]
        self.addresses: NDArray[np.uint64] = found["_rowid"].to_numpy().astype(np.uint64)[order]
        self.searchable: NDArray[np.bool_] = found["searchable"].to_numpy()[order]
        self.embedded: NDArray[np.bool_] = found["embedded"].to_numpy()[order]
        self._parts = _by_fragment(self.addresses, self.numbers)

    @classmethod
    def opened(cls, folder: str) -> SearchDataset | None:
        """The version that was built last; None where none was. Raises StoreError for what cannot be read."""
        with told(folder):
            blocks = built_version(folder)
            built = None if blocks is None else BuiltFrom.read(blocks.config())
            return None if blocks is None or built is None else cls(folder, blocks, built)

    @property
    def version(self) -> int:
        return int(self.blocks.version)

    def numbers_at(self, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The numbers of rows by their addresses, all of them there: (m,)."""
        parts, rows = addresses >> _FRAGMENT, (addresses & _ROW).astype(np.int64)
        numbers = np.zeros(addresses.size, dtype=np.int64)
        for part in np.unique(parts).tolist():
            here = parts == part
            numbers[here] = self._parts[part][rows[here]]
        return numbers

    @cached_property
    def terms(self) -> Mapping[str, int]:
        """Every stem with the number of blocks that hold it."""
        with told(self.folder):
            table = lance().dataset(f"{self.folder}/{TERMS}.lance", version=self.built.terms).to_table()
        return dict(zip(table["stem"].to_pylist(), table["blocks"].to_pylist(), strict=True))

    @cached_property
    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(d,) the sum of the unit vectors, and (d, d) that of their outer products."""
        with told(self.folder):
            table = lance().dataset(f"{self.folder}/{MOMENTS}.lance", version=self.built.moments).to_table()
        rows = np.array(table["sums"].to_pylist(), dtype=np.float64)
        return rows[0], rows[1:]

    def size(self) -> int:
        """Bytes of the version: its rows and their indexes."""
        data = sum(
            one.file_size_bytes or 0 for part in self.blocks.get_fragments() for one in part.data_files()
        )
        return int(data) + sum(int(one.total_size_bytes or 0) for one in self.blocks.describe_indices())


def _by_fragment(
    addresses: NDArray[np.uint64], numbers: NDArray[np.int64]
) -> Mapping[int, NDArray[np.int64]]:
    """The numbers of each fragment's rows by their places in it: an address is looked up without a search."""
    parts, rows = addresses >> _FRAGMENT, (addresses & _ROW).astype(np.int64)
    found = {}
    for part in np.unique(parts).tolist():
        here = parts == part
        found[part] = np.full(int(rows[here].max()) + 1, -1, dtype=np.int64)
        found[part][rows[here]] = numbers[here]
    return found


def built_version(folder: str) -> LanceDataset | None:
    """The version of the blocks that the tag points to; None where there is none."""
    try:
        found: LanceDataset = lance().dataset(f"{folder}/{BLOCKS}.lance", version=TAG)
    except ValueError as error:
        if "not found" in str(error).lower():
            return None
        raise
    return found


class StoredFiles:
    """The files under an address such as s3://bucket/prefix, by their names below it."""

    def __init__(self, where: str) -> None:
        self._where = where

    def names(self) -> list[str]:
        """The names of all files."""
        return [str(name) for name in self._session.list()]

    def fetch(self, name: str, to: Path) -> None:
        """Write a file to this machine; raises OSError where it cannot be read."""
        self._session.download_file(name, str(to))

    def put(self, file: Path, name: str) -> None:
        """Keep a file under a name; raises OSError where it cannot be written."""
        self._session.upload_file(str(file), name)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._session.delete_file(name)

    @cached_property
    def _session(self) -> Any:
        lance()
        from lance.file import LanceFileSession

        return LanceFileSession(self._where)
