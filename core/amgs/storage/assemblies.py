"""What was assembled, compactly, so that it can be replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from amgs.storage.frames import encode

if TYPE_CHECKING:
    from amgs.types import EdgeKey, FrameDefinition, Weights


@dataclass(frozen=True, slots=True)
class AssemblyRecord:
    """One logged assembly. weights: those that were asked for, None for the definition's own.

    last_number, last_operation, undone: the newest block, the newest journal entry and how many entries were
    undone when it was made. walked: keys of the edges whose decay it began anew without a word in the journal, as only
    earlier versions did. kept: children whose candidates were taken over, with the serial of the assembly that scored
    them.
    """

    serial: int
    id: str
    name: str
    query: str
    as_of: datetime
    budget: int
    weights: Weights | None
    tokens: int
    entropy_bits: float
    selected: tuple[str, ...]
    walked: tuple[EdgeKey, ...]
    definition: str
    setup: str
    last_number: int
    last_operation: int
    undone: int
    kept: Mapping[str, int] = field(default_factory=dict, hash=False)


def version_text(definitions: Sequence[FrameDefinition]) -> str:
    """Definitions as the JSON text that is kept of them, in order of their names."""
    ordered = sorted(definitions, key=lambda definition: definition.name)
    return json.dumps([encode(one) for one in ordered], sort_keys=True)


def version_of(definitions: Sequence[FrameDefinition]) -> str:
    """The hash under which definitions are kept."""
    return hashlib.sha256(version_text(definitions).encode()).hexdigest()[:16]


class AssemblyStorage(Protocol):
    """The log of assemblies, and the definitions as they were."""

    def standing(self) -> tuple[int, int, int]:
        """(number of the newest block, id of the newest operation, how many operations are undone)."""
        ...

    def next_serial(self) -> int:
        """The serial that the next assembly will have, from 1."""
        ...

    def append(self, one: AssemblyRecord) -> None:
        """Log an assembly."""
        ...

    def latest(self, limit: int | None = None, *, name: str | None = None) -> tuple[AssemblyRecord, ...]:
        """The latest assemblies, of one frame when it is named, the newest first."""
        ...

    def count(self, *, name: str | None = None) -> int:
        """How many assemblies are logged, of one frame when it is named."""
        ...

    def by_serial(self, serials: Iterable[int]) -> dict[int, AssemblyRecord]:
        """The assemblies with these serials."""
        ...

    def matching(self, prefix: str) -> tuple[AssemblyRecord, ...]:
        """Assemblies whose id begins so, the newest first."""
        ...

    def keep_version(self, definitions: Sequence[FrameDefinition]) -> str:
        """Keep definitions under their hash, once; returns it. Inside a transaction."""
        ...

    def version(self, mark: str) -> tuple[FrameDefinition, ...]:
        """The definitions kept under a hash, () when there are none."""
        ...
