"""Results of `record` and `recorded`, and how they are built from recorded spans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amgs.sessions.spans import RecordedSpan
    from amgs.wings.recorder.foreign_memory import ForeignMemory, MemoryOperation
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
    """`recorded N`: an operation with the records that it found, and others that were present."""

    operation: MemoryOperation
    rows: tuple[RecalledRow, ...]


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record of the other memory. versions: texts that it had, including the present text."""

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


def show_traffic(
    memory: ForeignMemory, find: str, limit: int, spans: Sequence[RecordedSpan], torn: int, folder: Path
) -> MemoryTraffic:
    """Return the operations that contain the words."""
    words = find.lower().split()
    passing = [
        operation
        for operation in memory.operations
        if all(
            word
            in " ".join(
                [operation.act, operation.query, operation.record, *(record.content for record in operation.records)]
            ).lower()
            for word in words
        )
    ]
    stores: dict[str, int] = {}
    for operation in memory.operations:
        stores[operation.store] = stores.get(operation.store, 0) + 1
    return MemoryTraffic(
        tuple(reversed(passing[-limit:])),
        len(passing),
        tuple(stores.items()),
        len(memory.present),
        sum(operation.told for operation in memory.operations),
        len(memory.answers),
        len(spans),
        torn,
        str(folder),
    )


def show_recall(memory: ForeignMemory, search: MemoryOperation) -> RecallShown:
    """Return a search, with what it found and what else was present."""
    from amgs.wings.recorder.uses import records_not_recalled, uses_of

    used = {use.rank: use.used for use in uses_of(memory, search)}
    rows = [
        RecalledRow(rank, record.id, record.content, record.score, True, used.get(rank))
        for rank, record in enumerate(search.records, 1)
    ]
    rows += [
        RecalledRow(neighbour.place, neighbour.record.id, neighbour.content, None, False, None)
        for neighbour in records_not_recalled(memory, search)
    ]
    return RecallShown(search, tuple(rows))


def show_records(memory: ForeignMemory, find: str, limit: int, out: Path | None) -> MemoryRecords:
    """Return the present records that contain the words, also written to a file if wanted."""
    words = find.lower().split()
    records = [record for record in memory.present if all(word in record.content.lower() for word in words)]
    rows = [
        RecordRow(record.store, record.id, record.content, record.since, len(record.versions), len(record.recalls))
        for record in records
    ]
    if out is not None:
        import json

        from amgs.wings.recorder.foreign_memory import to_mem0

        _write(out, json.dumps(to_mem0(records), ensure_ascii=False, indent=1) + "\n")
    return MemoryRecords(tuple(reversed(rows))[:limit], len(rows), str(out or ""))


def show_audit(memory: ForeignMemory, now: datetime, days: int, limit: int, out: Path | None) -> MemoryAudit:
    """Return records that are useless or wrong.

    now: end of the last span. limit: records shown for each reason.
    """
    from amgs.wings.recorder import audit as auditing

    report = auditing.audit(memory, now, days)
    rows = [
        AuditRow(
            finding.reason,
            finding.record.store,
            finding.record.id,
            finding.record.content,
            finding.record.since,
            len(finding.record.recalls),
            finding.other.id if finding.other is not None else "",
            finding.because,
            finding.other.content if finding.other is not None else "",
        )
        for finding in report.findings
    ]
    if out is not None:
        from amgs_app.render.sheet import sheet, to_csv

        cells = [
            (audit_row.reason, audit_row.store, audit_row.id, audit_row.other, audit_row.because) for audit_row in rows
        ]
        _write(out, to_csv(sheet("", "reason store id other because", cells)))
    shown = [
        audit_row for reason in auditing.REASONS for audit_row in [row for row in rows if row.reason == reason][:limit]
    ]
    return MemoryAudit(
        tuple(shown),
        tuple((reason, len(report.of(reason))) for reason in auditing.REASONS),
        report.records,
        report.unread,
        report.recalls,
        days,
        str(out or ""),
    )


def show_why(memory: ForeignMemory, search: MemoryOperation, fact: str) -> MissedFact:
    """Return what happened to a fact at a search."""
    from amgs.wings.recorder.uses import MEANT, explain_miss

    miss = explain_miss(memory, search, fact)
    record, content = ("", "") if miss.record is None else (miss.record.id, miss.record.content)
    return MissedFact(
        search, fact, miss.cause, MEANT[miss.cause], record, content, miss.rank, miss.place, miss.recalled
    )


def show_conversations(spans: Sequence[RecordedSpan], find: str, limit: int, out: Path | None) -> RecordedConversations:
    """Return the conversations that contain the words, also written to a file if wanted."""
    from amgs.sessions.foreign_spans import single_calls
    from amgs.sessions.formats.otlp import by_conversation, session_of
    from amgs.sessions.span_messages import ANSWERS, kinds_unread, messages_of, operation_of
    from amgs.sessions.spans import instant_of
    from amgs.wings.recorder.foreign_memory import act_of

    rows: list[ConversationRow] = []
    chosen: list[RecordedSpan] = []
    words = find.lower().split()
    for id, conversation_spans in by_conversation(spans).items():
        if len(rows) == limit:
            break
        session = session_of(conversation_spans, Path(id), id)
        if not session.turns or not all(
            word in f"{id} {' '.join(turn.words for turn in session.turns)}".lower() for word in words
        ):
            continue
        ended = instant_of(max(span.end or span.start for span in conversation_spans))
        answers = sum(operation_of(span) in ANSWERS for span in single_calls(conversation_spans))
        recalls = sum(act_of(span) == "search" for span in conversation_spans)
        rows.append(ConversationRow(id, ended, len(session.turns), answers, recalls))
        chosen += conversation_spans
    if out is not None:
        import json

        from amgs.sessions.spans import as_otlp

        _write(out, json.dumps(as_otlp(chosen), ensure_ascii=False) + "\n")
    calls = single_calls(spans)
    answered = [messages_of(span) for span in calls if operation_of(span) in ANSWERS]
    silent = sum(not messages.read and not messages.written for messages in answered)
    return RecordedConversations(tuple(rows), str(out or ""), silent, tuple(kinds_unread(calls)))


def _write(path: Path, text: str) -> None:
    """Write a file; raises InputError if that fails."""
    from amgs_app.places.paths import write_whole

    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}.", title="Nothing was written", way_out="Choose another file."
        ) from error
