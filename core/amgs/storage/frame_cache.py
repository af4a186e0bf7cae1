"""The latest assembly of a frame for a request, and what it was true to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CacheRow:
    """A kept assembly as JSON. structure: the structure counter it was made at; identity: JSON, see Frames."""

    name: str
    request: str
    assembly: str
    computed_at: datetime
    structure: int
    definition: str
    identity: str


class FrameCacheStorage(Protocol):
    """Assemblies kept by frame and request."""

    def put(self, row: CacheRow) -> None:
        """Keep an assembly, in place of the one before for the same request."""
        ...

    def get(self, name: str, request: str) -> CacheRow | None:
        """The kept assembly of a frame for a request."""
        ...

    def forget_like(self, name: str, prefix: str) -> None:
        """Drop what is kept of a frame for requests that begin so."""
        ...

    def forget(self, name: str) -> None:
        """Drop what is kept of a frame."""
        ...
