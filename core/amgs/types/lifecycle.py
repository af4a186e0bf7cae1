"""Reports and plans of ingestion, consolidation and review, and their journal (AMGS §8); and the answers of a served
memory about it.
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
    """An input that was not taken in, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Files of a folder that no reader takes. ending: ".png", or "" for names without one. names: their paths."""

    ending: str
    files: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LikelyReplacement:
    """A block that a new text may have been written in the place of; nothing was changed. because: in words."""

    by: str
    block_id: str
    title: str
    because: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Ids of the blocks that are new, of those already known, and what was refused.

    skipped: files that no reader takes, by the ending of their names. warnings: what of a source could not be read
    though it was taken in. operation: the journal entry, None where nothing changed. links_to_nowhere: links to files
    that the memory does not hold. again: those of the known that were deleted, pruned, archived or superseded, and hold
    again because they were said again. repeated: those of the known that held all the time and count as said later now.
    masked: the kinds of the secrets that were masked, each secret once. replaced: those that no longer hold, because a
    text was written in their place. may_replace: what a text may correct, where its writer did not say so.
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
    """Receipt of a served memory for ingested texts: the report, and the times from which they can be relied upon.

    durable_at: when the journal was on disk. searchable: by what they are found, and from when on.
    """

    durable_at: datetime | None = None
    searchable: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Blocks of the texts, the new ones first."""
        return (*self.added, *self.known)

    @property
    def id(self) -> str:
        """Block of a text; the first, where a long text became several."""
        return self.ids[0]


@dataclass(frozen=True, slots=True)
class ConsolidationItem:
    """Planned consolidation of one raw block."""

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
    """A proposal, bound to the store's change counter it was made at; nothing has happened yet. elsewhere: how many
    blocks more were asked for, that somebody else consolidated meanwhile.
    """

    items: tuple[ConsolidationItem, ...]
    made_at: datetime
    change_counter: int
    elsewhere: int = 0


MADE_BY: Final = ", made by "
"""Between what a change did and the program that made it unasked."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A journal entry: one applied lifecycle change, which can be undone while it is the latest on its blocks."""

    id: int
    kind: str
    at: datetime
    summary: str
    blocks: int
    edges: int
    undone: bool = False

    @property
    def unasked_by(self) -> str:
        """Program that made the change where nobody asked for it, such as `the gateway`; else empty."""
        by = self.summary.rpartition(MADE_BY)[2]
        return by if by in ("the gateway", "the service") else ""


@dataclass(frozen=True, slots=True)
class ConsolidationSummary:
    """Result of a consolidation: counts of blocks and edges, and of blocks by category, largest first.

    operations: its journal entries, which `undo` takes back; one, unless other changes came between its batches, and
    none where nothing was raw.
    """

    blocks: int
    edges: int
    categories: Mapping[str, int]
    operations: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True)
class BlockChange:
    """Effect of an operation on one block. title: the current one, empty where the block has left."""

    id: str
    title: str
    told: str


@dataclass(frozen=True, slots=True)
class JournalEntryDetail:
    """Details of an operation: the first of its blocks, and the numbers of edges that it created, changed and removed.

    later: operations that stand on it and have to be undone first.
    """

    operation: JournalEntry
    blocks: tuple[BlockChange, ...]
    edges_made: int
    edges_changed: int
    edges_taken: int
    later: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """Changes that undoing an operation would take back; nothing has happened yet.

    corrected: how many corrections made by hand would go with it. later: operations that stand on it and have to be
    undone first.
    """

    operation: JournalEntry
    corrected: int
    later: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """A finding that waits for the operator: the newer block may supersede the older one, contradict it, or say the
    same, so that both may be merged.

    operation: the journal entry of the verdict; None while it is open.
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
    """One entry of the reinforcement log."""

    block_id: str
    event_type: str
    at: datetime
    source: str


@dataclass(frozen=True, slots=True)
class JournalPage:
    """A page of the journal, the newest first. more: whether another page follows."""

    operations: tuple[JournalEntry, ...]
    offset: int
    more: bool


@dataclass(frozen=True, slots=True)
class ServedPlan:
    """A plan that waits to be applied under its id. change_counter: of the memory it was made from."""

    id: str
    kind: str
    change_counter: int
    expires_at: datetime
    plan: Any


@dataclass(frozen=True, slots=True)
class PlanApplied:
    """A plan that was carried out: its journal entry, and what came of it."""

    id: str
    kind: str
    operation: JournalEntry
    result: Any
