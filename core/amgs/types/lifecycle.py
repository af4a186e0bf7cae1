"""Reports and plans of ingestion, consolidation and review, the journal (AMGS §8), answers of a served memory
about them, and decay of relevance with its forecasts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from amgs.types.block import Block, Edge, Vector


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rejected input, with the reason."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Files in a folder that no reader accepts. ending: ".png", or "" for names without ending. names: their paths."""

    ending: str
    files: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LikelyReplacement:
    """A block that a new text may replace; nothing was changed. because: in words."""

    by: str
    block_id: str
    title: str
    because: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Ids of new blocks and of known ones, and rejected inputs.

    skipped: files that no reader accepts, by suffix. warnings: parts of accepted sources that could not be read.
    operation: journal entry, None if nothing changed. links_to_nowhere: links to files that are not in the memory.
    again: known ones that were deleted, pruned, archived or superseded and hold again, since they were said again.
    repeated: known ones that held and now count as said later. masked: kinds of masked secrets, each secret once.
    replaced: blocks that no longer hold, since a text was written to replace them. may_replace: what a text may
    correct, if its writer did not say so.
    """

    added: tuple[str, ...]
    known: tuple[str, ...]
    refused: tuple[Refusal, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[Refusal, ...] = ()
    operation: int | None = None
    links_to_nowhere: int = 0
    again: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    may_replace: tuple[LikelyReplacement, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReceipt(IngestReport):
    """Answer of a served memory to ingested texts: the report, and from when they are available.

    durable_at: when the journal was on disk. searchable: how they are found, and from when on.
    """

    durable_at: datetime | None = None
    searchable: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Blocks of the texts, new ones first."""
        return (*self.added, *self.known)

    @property
    def id(self) -> str:
        """Block of a text; the first if a long text became several."""
        return self.ids[0]


@dataclass(frozen=True, slots=True)
class ConsolidationItem:
    """Planned consolidation of a raw block."""

    block: Block
    category: str
    category_confidence: float
    category_because: str
    entities: tuple[str, ...]
    decay_lambda: float
    is_self_component: bool
    confidence: float
    edges: tuple[Edge, ...]
    embedding: Vector = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """A proposed consolidation, which can be applied while its blocks are raw. change_counter: of the store when it was
    stored. elsewhere: requested blocks that another program consolidated meanwhile.
    """

    items: tuple[ConsolidationItem, ...]
    made_at: datetime
    change_counter: int
    elsewhere: int = 0


MADE_BY: Final = ", made by "
"""In a summary, precedes the program that made a change without being asked."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An applied change, which can be undone while it is the latest on its blocks."""

    id: int
    kind: str
    at: datetime
    summary: str
    blocks: int
    edges: int
    undone: bool = False

    @property
    def unasked_by(self) -> str:
        """Program that made the change without being asked, such as `the gateway`; else ""."""
        by = self.summary.rpartition(MADE_BY)[2]
        return by if by in ("the gateway", "the service") else ""


@dataclass(frozen=True, slots=True)
class ConsolidationSummary:
    """Result of a consolidation: numbers of blocks and edges, and of blocks by category, largest first.

    operations: journal entries, for `undo`; one, unless other changes came between its batches; none if nothing was
    raw.
    """

    blocks: int
    edges: int
    categories: Mapping[str, int]
    operations: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True)
class BlockChange:
    """Effect of an operation on a block. title: the present title, "" if the block was removed."""

    id: str
    title: str
    told: str


@dataclass(frozen=True, slots=True)
class JournalEntryDetail:
    """Details of an operation: the first of its blocks, and the numbers of created, changed and removed edges.

    later: operations that depend on it and must be undone first.
    """

    operation: JournalEntry
    blocks: tuple[BlockChange, ...]
    edges_made: int
    edges_changed: int
    edges_taken: int
    later: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What undoing an operation would revert; nothing has been changed.

    corrected: number of manual corrections among it. later: operations that depend on it and must be undone first.
    """

    operation: JournalEntry
    corrected: int
    later: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """A finding for the operator: the newer block may supersede the older, contradict it, or be a duplicate to merge.

    operation: journal entry of the verdict; None while it is open.
    """

    id: int
    kind: Literal["supersedes", "contradicts", "merges"]
    older_id: str
    newer_id: str
    because: str
    confidence: float
    found_at: datetime
    state: Literal["open", "accepted", "rejected"] = "open"
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class ReinforcementEvent:
    """An entry of the reinforcement log."""

    block_id: str
    event_type: str
    at: datetime
    source: str


@dataclass(frozen=True, slots=True)
class JournalPage:
    """A page of the journal, newest first. more: whether another page follows."""

    operations: tuple[JournalEntry, ...]
    offset: int
    more: bool


@dataclass(frozen=True, slots=True)
class ServedPlan:
    """A plan that can be applied by its id. change_counter: of the memory for which it was computed."""

    id: str
    kind: str
    change_counter: int
    expires_at: datetime
    plan: Any


@dataclass(frozen=True, slots=True)
class PlanApplied:
    """A plan that was carried out, with its journal entry and result."""

    id: str
    kind: str
    operation: JournalEntry
    result: Any


@dataclass(frozen=True, slots=True)
class DecayCurve:
    """Relevance of a block over time, and when it was reinforced.

    hours: (n,) relative to now, negative in the past. relevance: (n,) in [0, 1].
    """

    block: Block
    hours: tuple[float, ...]
    relevance: tuple[float, ...]
    reinforced_hours: tuple[float, ...]
    falls_below_at: datetime | None
    threshold: float


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """A block that will drop below the threshold, when, and its relevance now and then.

    uses: reinforcements. useful: verdicts that it was useful. links: edges to it.
    """

    block: Block
    relevance_now: float
    relevance_then: float
    falls_at: datetime
    uses: int = 0
    useful: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True)
class CategoryOutlook:
    """A category now and then: number of its blocks at or above the threshold, and their mean relevance."""

    category: str
    blocks: int
    alive_now: int
    alive_then: int
    mean_now: float
    mean_then: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The memory at as_of + days if nothing is used until then.

    rows: blocks that drop below `threshold`, maybe only the first of `falling`: used ones first, then the others,
    soonest first in each group. already_below: number below it now. categories: largest first.
    """

    as_of: datetime
    days: float
    threshold: float
    rows: tuple[ForecastRow, ...]
    already_below: int
    histogram_now: tuple[int, ...]
    histogram_then: tuple[int, ...]
    falling: int = 0
    categories: tuple[CategoryOutlook, ...] = ()


@dataclass(frozen=True, slots=True)
class CategoryCurve:
    """Mean relevance of a category's blocks over time.

    hours: (n,) relative to now, from its first block on. relevance: (n,) in [0, 1].
    """

    category: str
    blocks: int
    hours: tuple[float, ...]
    relevance: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CategoryCurves:
    """Past and future decay of the categories, largest first."""

    as_of: datetime
    days: float
    threshold: float
    curves: tuple[CategoryCurve, ...]
