"""Status of the whole memory, and faults found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from amgs.types.entropy import Entropy

if TYPE_CHECKING:
    from amgs.types.topology import StoreTopology


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Status of the whole memory.

    diversity: entropy of the consolidated blocks' categories. topology: parts of the store; None if it is a single
    file.
    """

    path: str
    schema_version: int
    change_counter: int
    blocks: Mapping[str, int] = field(hash=False)
    categories: Mapping[str, int] = field(hash=False)
    edges: int
    frames: int
    mean_relevance: float
    last_consolidation: datetime | None
    brier: float | None
    outcomes: int
    now: datetime
    diversity: Entropy = Entropy(0.0, 0.0)  # noqa: RUF009 (frozen)
    topology: StoreTopology | None = None


Standing = Literal["well", "watch", "act", "unknown"]


@dataclass(frozen=True, slots=True)
class HealthLine:
    """State of one area of the memory. told: in a few words. verb: command that shows more or repairs it."""

    side: str
    standing: Standing
    told: str
    verb: str


@dataclass(frozen=True, slots=True)
class Health:
    """State of the memory by area, at a time."""

    as_of: datetime
    lines: tuple[HealthLine, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault found by `verify`: where, what, and whether the program can repair it."""

    where: str
    what: str
    repairable: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of `amgs verify`; ok if there are no faults. mended: what was repaired when the store was opened, in
    words.
    """

    blocks: int
    edges: int
    faults: tuple[Fault, ...]
    mended: str = ""

    @property
    def ok(self) -> bool:
        return not self.faults
