"""What every subject of `scaleout` is given: a running database, folders, and how much is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.bench_results import MemoryRig
    from benchmarks.large_corpus import Books
    from benchmarks.large_store import LargeStore

SEED = 7
"""Of what every subject draws from the books."""


def in_namespace(server: str, name: str) -> str:
    """The address of a namespace of a server."""
    return f"{server}{'&' if '?' in server else '?'}namespace={name}"


@dataclass(frozen=True, slots=True)
class ScaleoutEffort:
    """How much is done. blocks: sizes of the stores that are searched. questions, frames: how many are timed.
    sample: paragraphs that are really embedded. seconds, rounds: how long writers write, and how often. kills: how
    often a process is killed. probes: looks into another namespace.
    """

    blocks: tuple[int, ...] = (10_000, 100_000)
    questions: int = 200
    frames: int = 20
    sample: int = 3000
    seconds: float = 10.0
    rounds: int = 3
    kills: int = 100
    probes: int = 500


@dataclass(frozen=True, slots=True)
class ScaleoutSetup:
    """server: the address of a database, without a namespace. data: a folder with `books/` (or books themselves) and
    `locomo/`; a subject whose data is not there is left out. work: a folder for stores and logs.
    """

    server: str
    work: Path
    data: Path | None = None
    effort: ScaleoutEffort = field(default_factory=ScaleoutEffort)

    def place(self, name: str) -> str:
        """The address of a namespace of the bench."""
        return in_namespace(self.server, f"bench_{name}")

    @contextmanager
    def namespace(self, name: str) -> Iterator[str]:
        """The address of an empty namespace, which is gone afterwards."""
        from amgs.storage.opening import remove

        place = self.place(name)
        remove(place)
        try:
            yield place
        finally:
            remove(place)

    def folder(self, name: str, pattern: str) -> Path | None:
        """A folder of the data that holds files of this pattern: `data/name`, or `data` itself; None for neither."""
        if self.data is None:
            return None
        for folder in (self.data / name, self.data):
            if folder.is_dir() and any(folder.glob(pattern)):
                return folder
        return None

    def filled_file(self, rig: MemoryRig, books: Books, size: int) -> LargeStore:
        """A file of so many blocks of the books, kept from before or filled now."""
        from benchmarks.large_store import prepare

        return prepare(
            books, size, self.work, rig.embedder, sample=self.effort.sample, seed=SEED, progress=rig.progress
        )
