"""What `recorded` shows, by view, made of recorded spans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import InputError
from amgs_app.views.recorder.results import (
    AuditRow,
    ConversationRow,
    MemoryAudit,
    MemoryRecords,
    MemoryTraffic,
    MissedFact,
    RecalledRow,
    RecallShown,
    RecordedConversations,
    RecordRow,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amgs.sessions.spans import RecordedSpan
    from amgs.wings.recorder.foreign_memory import ForeignMemory, MemoryOperation


def show_traffic(
    memory: ForeignMemory, find: str, limit: int, spans: Sequence[RecordedSpan], torn: int, folder: Path
) -> MemoryTraffic:
    """Return what the memory was asked to do, that holds words."""
    words = find.lower().split()
    passing = [
        one
        for one in memory.operations
        if all(
            word in " ".join([one.act, one.query, one.record, *(each.content for each in one.records)]).lower()
            for word in words
        )
    ]
    stores: dict[str, int] = {}
    for one in memory.operations:
        stores[one.store] = stores.get(one.store, 0) + 1
    return MemoryTraffic(
        tuple(reversed(passing[-limit:])),
        len(passing),
        tuple(stores.items()),
        len(memory.present),
        sum(one.told for one in memory.operations),
        len(memory.answers),
        len(spans),
        torn,
        str(folder),
    )


def show_recall(memory: ForeignMemory, search: MemoryOperation) -> RecallShown:
    """Return one search, with what it brought and what else lay there."""
    from amgs.wings.recorder.causes import beside
    from amgs.wings.recorder.uses import uses_of

    used = {one.rank: one.used for one in uses_of(memory, search)}
    rows = [
        RecalledRow(rank, one.id, one.content, one.score, True, used.get(rank))
        for rank, one in enumerate(search.records, 1)
    ]
    rows += [RecalledRow(one.place, one.record.id, one.content, None, False, None) for one in beside(memory, search)]
    return RecallShown(search, tuple(rows))


def show_records(memory: ForeignMemory, find: str, limit: int, out: Path | None) -> MemoryRecords:
    """Return what is there now, that holds words; written to a file where that is asked."""
    words = find.lower().split()
    found = [one for one in memory.present if all(word in one.content.lower() for word in words)]
    rows = [RecordRow(one.store, one.id, one.content, one.since, len(one.versions), len(one.recalls)) for one in found]
    if out is not None:
        import json

        from amgs.wings.recorder.foreign_memory import as_mem0

        _write(out, json.dumps(as_mem0(found), ensure_ascii=False, indent=1) + "\n")
    return MemoryRecords(tuple(reversed(rows))[:limit], len(rows), str(out or ""))


def show_audit(memory: ForeignMemory, now: datetime, days: int, limit: int, out: Path | None) -> MemoryAudit:
    """Return what is of no use, or cannot be right. now: when the last span ended, whenever it is looked at. limit: how
    many records are shown of each reason.
    """
    from amgs.wings.recorder import audit as auditing

    found = auditing.audit(memory, now, days)
    rows = [
        AuditRow(
            one.reason,
            one.record.store,
            one.record.id,
            one.record.content,
            one.record.since,
            len(one.record.recalls),
            one.other.id if one.other is not None else "",
            one.because,
            one.other.content if one.other is not None else "",
        )
        for one in found.findings
    ]
    if out is not None:
        from amgs_app.render.sheet import sheet, to_csv

        told = [(one.reason, one.store, one.id, one.other, one.because) for one in rows]
        _write(out, to_csv(sheet("", "reason store id other because", told)))
    shown = [one for reason in auditing.REASONS for one in [row for row in rows if row.reason == reason][:limit]]
    return MemoryAudit(
        tuple(shown),
        tuple((reason, len(found.of(reason))) for reason in auditing.REASONS),
        found.records,
        found.unread,
        found.recalls,
        days,
        str(out or ""),
    )


def show_why(memory: ForeignMemory, search: MemoryOperation, fact: str) -> MissedFact:
    """Return what became of a fact at a search."""
    from amgs.wings.recorder.causes import MEANT, why_missed

    told = why_missed(memory, search, fact)
    record, content = ("", "") if told.record is None else (told.record.id, told.record.content)
    return MissedFact(
        search, fact, told.cause, MEANT[told.cause], record, content, told.rank, told.place, told.recalled
    )


def show_conversations(spans: Sequence[RecordedSpan], find: str, limit: int, out: Path | None) -> RecordedConversations:
    """Return what was said, that holds words; written to a file where that is asked."""
    from amgs.sessions.formats.otlp import by_conversation, session_of
    from amgs.sessions.span_calls import single_calls
    from amgs.sessions.span_messages import ANSWERS, kinds_unread, messages_of, operation_of
    from amgs.sessions.spans import instant_of
    from amgs.wings.recorder.foreign_memory import act_of

    rows: list[ConversationRow] = []
    chosen: list[RecordedSpan] = []
    words = find.lower().split()
    for id, told in by_conversation(spans).items():
        if len(rows) == limit:
            break
        session = session_of(told, Path(id), id)
        if not session.turns or not all(
            word in f"{id} {' '.join(turn.words for turn in session.turns)}".lower() for word in words
        ):
            continue
        ended = instant_of(max(span.end or span.start for span in told))
        answers = sum(operation_of(span) in ANSWERS for span in single_calls(told))
        recalls = sum(act_of(span) == "search" for span in told)
        rows.append(ConversationRow(id, ended, len(session.turns), answers, recalls))
        chosen += told
    if out is not None:
        import json

        from amgs.sessions.spans import as_otlp

        _write(out, json.dumps(as_otlp(chosen), ensure_ascii=False) + "\n")
    calls = single_calls(spans)
    answered = [messages_of(span) for span in calls if operation_of(span) in ANSWERS]
    silent = sum(not said.read and not said.written for said in answered)
    return RecordedConversations(tuple(rows), str(out or ""), silent, tuple(kinds_unread(calls)))


def _write(path: Path, text: str) -> None:
    """Raises InputError for a file that cannot be written."""
    from amgs_app.places.paths import write_whole

    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}.", title="Nothing was written", way_out="Choose another file."
        ) from error
