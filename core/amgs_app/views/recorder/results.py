"""Results of the recorder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs.wings.recorder.uses import ScoreReview


@dataclass(frozen=True, slots=True)
class SpansRecorded:
    """`record`: what came. address: where it was listened; "" for files."""

    address: str
    folder: str
    spans: int
    memory: int
    answers: int
    refused: int


@dataclass(frozen=True, slots=True)
class MemoryTraffic:
    """`recorded`: operations, the latest first. total: how many pass. stores: how many operations each has. records:
    that are there. told: how many of the operations tell their records. torn: bodies that are not what was written.
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
    """A record that a search brought, or that lay there. place: among what was brought, or by a search for its words
    alone. used: whether an answer made use of it; None where that cannot be told, or it was not brought.
    """

    place: int
    id: str
    content: str
    score: float | None
    brought: bool
    used: bool | None


@dataclass(frozen=True, slots=True)
class RecallShown:
    """`recorded N`: one operation, with what it brought and what else lay there."""

    operation: MemoryOperation
    rows: tuple[RecalledRow, ...]


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record of the other memory. versions: texts that it had, with the one that it has."""

    store: str
    id: str
    content: str
    since: datetime
    versions: int
    recalls: int


@dataclass(frozen=True, slots=True)
class MemoryRecords:
    """`recorded --view records`: what is there, the latest first. total: how many pass. out: the file that was written,
    "" for none.
    """

    records: tuple[RecordRow, ...]
    total: int
    out: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A record that is of no use or cannot be right. other: the id of the record that says as much, or otherwise, and
    other_content what that says.
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
    """`recorded --view audit`: rows of the first `shown` of each reason, and how many each has. out: the file that was
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
    """`recorded --view scores`: what the scores of a memory are worth."""

    review: ScoreReview


@dataclass(frozen=True, slots=True)
class MissedFact:
    """`recorded N --view why`: what became of something that the answer should have held."""

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
    """A conversation. turns: that are new in it; answers: of the model; recalls: searches of a memory."""

    id: str
    ended: datetime
    turns: int
    answers: int
    recalls: int


@dataclass(frozen=True, slots=True)
class RecordedConversations:
    """`recorded --view conversations`: the one that ended last first. out: the file that was written, "" for none.
    silent: how many answers keep to themselves what was said. unread: kinds of spans that are not understood.
    """

    conversations: tuple[ConversationRow, ...]
    out: str
    silent: int = 0
    unread: tuple[str, ...] = ()
