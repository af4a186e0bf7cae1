"""Results of `record` and `recorded`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs.wings.recorder.uses import ScoreReview


@dataclass(frozen=True, slots=True)
class SpansRecorded:
    """`record`: what arrived. address: where it listened; "" for files."""

    address: str
    folder: str
    spans: int
    memory: int
    answers: int
    refused: int


@dataclass(frozen=True, slots=True)
class MemoryTraffic:
    """`recorded`: operations, latest first.

    total: number that match. stores: operations by store. records: present now. told: operations that report their
    records. torn: damaged bodies.
    """

    operations: tuple[MemoryOperation, ...]
    total: int
    stores: tuple[tuple[str, int], ...]
    records: int
    told: int
    answers: int
    spans: int
    torn: int
    folder: str


@dataclass(frozen=True, slots=True)
class RecalledRow:
    """A record that a search found, or that was present.

    place: rank among those found, or in a search for its words alone. used: an answer used it; None if unknown or not
    found.
    """

    place: int
    id: str
    content: str
    score: float | None
    brought: bool
    used: bool | None


@dataclass(frozen=True, slots=True)
class RecallShown:
    """`recorded N`: one operation with the records that it found, and others that were present."""

    operation: MemoryOperation
    rows: tuple[RecalledRow, ...]


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record of the other memory. versions: texts that it had, including the present one."""

    store: str
    id: str
    content: str
    since: datetime
    versions: int
    recalls: int


@dataclass(frozen=True, slots=True)
class MemoryRecords:
    """`recorded --view records`: present records, latest first. total: number that match. out: file that was written,
    "" for none.
    """

    records: tuple[RecordRow, ...]
    total: int
    out: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A record that is useless or wrong. other: id of the record that equals or contradicts it; other_content: its
    text.
    """

    reason: str
    store: str
    id: str
    content: str
    since: datetime
    recalls: int
    other: str
    because: str
    other_content: str


@dataclass(frozen=True, slots=True)
class MemoryAudit:
    """`recorded --view audit`: the first `shown` rows of each reason, and the number of all. out: file that was
    written, "" for none.
    """

    rows: tuple[AuditRow, ...]
    counts: tuple[tuple[str, int], ...]
    records: int
    unread: int
    searches: int
    days: int
    out: str


@dataclass(frozen=True, slots=True)
class RecallScores:
    """`recorded --view scores`: how well a memory's scores predict use."""

    review: ScoreReview


@dataclass(frozen=True, slots=True)
class MissedFact:
    """`recorded N --view why`: what happened to a fact that the answer should contain."""

    operation: MemoryOperation
    fact: str
    cause: str
    meant: str
    record: str
    content: str
    rank: int
    place: int
    recalled: int


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation. turns: new in it; answers: of the model; recalls: searches of a memory."""

    id: str
    ended: datetime
    turns: int
    answers: int
    recalls: int


@dataclass(frozen=True, slots=True)
class RecordedConversations:
    """`recorded --view conversations`: conversations, latest end first.

    out: file that was written, "" for none. silent: answers whose text is not reported. unread: kinds of spans that are
    not understood.
    """

    conversations: tuple[ConversationRow, ...]
    out: str
    silent: int = 0
    unread: tuple[str, ...] = ()
