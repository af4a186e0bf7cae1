"""The journal: what each change found and left, so that it can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from amgs.types import JournalEntry, Vector

JournalTarget = Literal["block", "edge", "forecast", "clock"]
"""What a row is about: forecast, the outcome of one; clock, a reinforcement of a block."""


RECALIBRATION = "calibrate"
"""The kind of the operations that learn from every verdict there is."""
PROPOSAL = "propose"
"""The kind of the operations that only say what may be pruned; `blocks` counts what they name, no row belongs to them.
"""

ERASED = "erase"
"""The kind of the operations that cannot be undone: what they took is nowhere; no row belongs to them."""


@dataclass(frozen=True)
class JournalRow:
    """One thing that an operation changed: JSON before (None: it made it) and after (None: it took it away).

    key: the id of a block or of a forecast, or "source target relation" of an edge. embedding: a block's embedding
    before.
    """

    target: JournalTarget
    key: str
    before: str | None
    after: str | None
    embedding: Vector | None = field(default=None, compare=False)


class JournalStorage(Protocol):
    """Journal entries and their rows."""

    def append(
        self, kind: str, at: datetime, summary: str, rows: Sequence[JournalRow], *, blocks: int, edges: int
    ) -> JournalEntry:
        """Write a journal entry and its rows; returns it with its id, which rises from 1."""
        ...

    def extend(
        self, operation: JournalEntry, summary: str, rows: Sequence[JournalRow], *, blocks: int, edges: int
    ) -> JournalEntry:
        """Add rows to an entry, `blocks` and `edges` of them, and say anew what it did."""
        ...

    def latest(self, limit: int) -> tuple[JournalEntry, ...]:
        """The latest operations, the newest first."""
        ...

    def last_event(self) -> datetime | None:
        """When the latest operation, forecast or assembly was: the youngest of the three; None where none ever was."""
        ...

    def get(self, operation_id: int) -> JournalEntry | None:
        """One operation, None when there is none with this id."""
        ...

    def latest_standing(self) -> int | None:
        """The id of the latest operation that changed something and is not undone."""
        ...

    def latest_redoable(self) -> int | None:
        """What one redo puts back: the first of the undone operations that nothing came after, else the last undone."""
        ...

    def is_latest(self, operation_id: int) -> bool:
        """Whether the operation stands and no other came after it."""
        ...

    def last_of(self, kind: str) -> JournalEntry | None:
        """The operation of this kind that was last applied and not undone."""
        ...

    def pages(
        self, operation_id: int, target: JournalTarget, size: int = 10_000
    ) -> Iterator[tuple[JournalRow, ...]]:
        """What an operation changed of blocks or of edges, by key, some at a time: one may have changed them all."""
        ...

    def changed_anything(self, operation_id: int) -> bool:
        """Whether an operation changed blocks or edges, and not only what is known about them."""
        ...

    def edge_counts(self, operation_id: int) -> tuple[int, int, int]:
        """How many edges an operation made, changed and took out."""
        ...

    def rows_of_kind(self, kind: str) -> tuple[JournalRow, ...]:
        """What the operations of a kind changed that are not undone, in order of the operations; no embeddings."""
        ...

    def later_on_same(self, operation_id: int) -> tuple[int, ...]:
        """Later operations, not undone, that changed something this one changed, or learned from its verdicts."""
        ...

    def earlier_undone_on_same(self, operation_id: int) -> tuple[int, ...]:
        """Ids of earlier operations, undone, that changed something this one changed."""
        ...

    def mark(self, operation_id: int, *, undone: bool) -> None:
        """Note that an operation was taken back, or that it stands again."""
        ...

    def unowned(self) -> tuple[int, ...]:
        """Operation ids that rows name and no operation has; empty in a sound store."""
        ...

    def incomplete(self) -> tuple[tuple[int, int, int], ...]:
        """(operation, rows kept, rows told) where the two differ; empty in a sound store."""
        ...
