"""Where texts came from: which source holds which block at which place, from when to when.

A source is a folder and a path below it, or a name that was given. Equal texts of two sources are one block that both
hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceName:
    """What a source is called, and where it lies: root is the folder, "" for a text without a file."""

    name: str
    root: str
    path: str

    @property
    def place(self) -> str:
        """The file, "" for a text without one."""
        return f"{self.root}/{self.path}" if self.root else ""


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A block at a place of a source, from 1. locator: its name there, `file` or `file#part`.

    until: None while held.
    """

    source: str
    position: int
    locator: str
    block_id: str
    since: datetime
    until: datetime | None = None


class SourceStorage(Protocol):
    """Sources and what they hold. A piece counts while the operation that added it stands, and its end while the one
    that ended it does.
    """

    def names(self) -> tuple[SourceName, ...]:
        """Every source that was ever named, by name."""
        ...

    def put_names(self, names: Iterable[SourceName]) -> None:
        """Name sources, or say anew where they lie."""
        ...

    def add(self, pieces: Sequence[SourcePiece], operation: int | None) -> None:
        """Note that sources hold blocks."""
        ...

    def end(self, pieces: Sequence[SourcePiece], operation: int) -> None:
        """Note that sources no longer hold blocks that they held: `until`, which each piece gives."""
        ...

    def held(self, sources: Sequence[str] | None = None) -> tuple[SourcePiece, ...]:
        """What sources (all without any) hold now, by source and position."""
        ...

    def holding(self, ids: Sequence[str]) -> tuple[SourcePiece, ...]:
        """Where blocks are held now, by source and position."""
        ...

    def history(self, source: str) -> tuple[SourcePiece, ...]:
        """What a source ever held, the earliest first."""
        ...

    def adopt(self) -> None:
        """Read the sources of blocks off their metadata: for blocks from before sources were kept."""
        ...
