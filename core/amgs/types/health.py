"""Status of the whole memory, faults found in it, and the parts of its database; Shannon entropy: how evenly
something is distributed (AMGS §7.5); progress and cancellation of a long action.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from amgs.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Entropy:
    """Entropy in bits, and the maximum for as many classes."""

    bits: float
    most: float

    @property
    def evenness(self) -> float:
        """bits / most (Pielou's evenness), in [0, 1]; 1 for at most one class."""
        return self.bits / self.most if self.most > 0 else 1.0


def bits_of(amounts: Iterable[float]) -> float:
    """Return -Σ p log₂ p in bits of amounts, which need not sum to 1; 0 for fewer than two."""
    positives = [amount for amount in amounts if amount > 0]
    total = sum(positives)
    return max(0.0, -sum(n / total * math.log2(n / total) for n in positives)) if total else 0.0


def entropy(amounts: Iterable[float]) -> Entropy:
    """Return the entropy of amounts by class; classes with 0 do not count."""
    positives = [amount for amount in amounts if amount > 0]
    return Entropy(bits_of(positives), math.log2(len(positives)) if positives else 0.0)


@dataclass(frozen=True, slots=True)
class NamespaceSize:
    """A namespace of a database.

    blocks: actual for the open namespace, else PostgreSQL's estimate, None if there is none. bytes: of tables and
    indexes. changes: change counter of the open namespace, else None.
    """

    name: str
    blocks: int | None
    bytes: int
    changes: int | None = None


@dataclass(frozen=True, slots=True)
class StoreTopology:
    """namespace: where the memory is in a database."""

    namespace: NamespaceSize


@dataclass(frozen=True, slots=True)
class StoreChange:
    """A change of a shared store.

    revision: change counter after it. program: process that wrote it, and its machine. operation, caller, client,
    server: what was done, by whom, the client's id for it, and the server; "" if unknown.
    """

    revision: int
    program: str
    operation: str = ""
    caller: str = ""
    client: str = ""
    server: str = ""


class Progress:
    """Passed to long actions, which report progress and check for cancellation by it.

    report(done, total, doing) is called in the working thread. A cancelled action raises Cancelled at its next report;
    only what it had committed by then, such as earlier batches, stays in the store.
    """

    def __init__(self, report: Callable[[int, int, str], None] | None = None) -> None:
        self._report = report
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def __call__(self, done: int, total: int, doing: str = "") -> None:
        """Report progress; raises Cancelled if the action was cancelled."""
        if self._cancelled:
            raise Cancelled("It was stopped before its end.", way_out="What was done by then is saved.")
        if self._report is not None:
            self._report(done, total, doing)


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
    diversity: Entropy = Entropy(0.0, 0.0)
    topology: StoreTopology | None = None


Standing = Literal["well", "watch", "act", "unknown"]


@dataclass(frozen=True, slots=True)
class HealthLine:
    """State of an area of the memory. told: in a few words. verb: command that shows more or repairs it."""

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
