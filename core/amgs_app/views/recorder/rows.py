"""How the recorder's results are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs_app.render.catalogue import draw_table, entry
from amgs_app.render.rows import Line, RowList, Rows, join
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs_app.render.canvas import Canvas
    from amgs_app.session import Operator
    from amgs_app.views.recorder.results import (
        AuditRow,
        MemoryAudit,
        MemoryRecords,
        MemoryTraffic,
        MissedFact,
        RecalledRow,
        RecallScores,
        RecallShown,
        RecordedConversations,
        RecordRow,
        SpansRecorded,
    )

_OPT_IN = (
    "texts of records arrive only where the program is asked to capture content, as by"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
)


HOW = "Run your program with OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 while amgs record listens."
TERMS: Final = (
    ("search", "What the memory was asked; the bar is the score of the first record that it brought."),
    ("used", "An answer after the recall holds half of the words that the record brought along."),
    ("not used", "No answer after the recall holds half of the words that the record brought along."),
    ("untold", "There is no answer, or the query held every word of the record: it cannot be told."),
    ("lay there", "Was not brought; its place is that in a search for the words of the query alone."),
    ("duplicate", "Says what another record of the same store says."),
    ("superseded, contradicted", "A later record of the same store says otherwise, by rules that know English."),
    ("never recalled, not recalled lately", "No search brought it since it was stored, or for so many days."),
)
"""Terms in the tables, and what they mean."""
_NO_MEMORY = "no span tells of a memory: `--view conversations` shows the rest"


def _describe_recording(result: SpansRecorded) -> str:
    return f"{plural(result.spans, 'span')}: {result.memory:,} of memory, {plural(result.answers, 'answer')}"


@entry(sentence=_describe_recording)
def tabulate_recorded_spans(result: SpansRecorded) -> ResultTable:
    rows = [
        ("listened at", result.address),
        ("stored in", result.folder),
        ("spans", result.spans),
        ("of memory", result.memory),
        ("answers of models", result.answers),
        ("bodies refused", result.refused),
    ]
    notes = ("`recorded` shows what they tell" if result.spans else "",)
    return facts("Recorded", [row for row in rows if row[1] != ""], notes)


def _summarise_traffic(result: MemoryTraffic) -> str:
    return f"{plural(result.total, 'operation')} of {plural(len(result.stores), 'memory', 'memories')}"


def describe_operation(operation: MemoryOperation) -> str:
    """Return what an operation concerned: its query, else its records, else the id of a record."""
    subject = (
        operation.query
        or " · ".join(record.content or record.id for record in operation.records[:3])
        or operation.record
    )
    return " ".join(subject.split())


def _label_record(id: str, score: float | None) -> str:
    return id if score is None else f"{id} {score:.2f}"


def _tell_operation(operation: MemoryOperation) -> list[Line]:
    where = filter(None, (operation.store, operation.conversation, f"{operation.milliseconds:,.0f} ms"))
    return [
        (operation.act, " · ".join(where)),
        *([("asked", operation.query)] if operation.query else []),
        *((_label_record(record.id, record.score), record.content) for record in operation.records),
    ]


TRAFFIC: Final = Rows["MemoryOperation"](
    "n:n- at:at did! store~ records:n score:score~= ms:n?- what*!",
    lambda operation: (
        operation.number,
        operation.at,
        f"✗ {operation.act}" if operation.failed else operation.act,
        operation.store or None,
        operation.count,
        operation.records[0].score if operation.records else None,
        round(operation.milliseconds) if operation.milliseconds else None,
        describe_operation(operation),
    ),
    _tell_operation,
    tones={"search": "accent", "✗": "bad"},
    empty=(HOW, ":record  listen here; amgs record does so in another terminal"),
    pane="recorder",
)
RECALL: Final = Rows["RecalledRow"](
    "place:n what! score:score= id:id~ content*!",
    lambda row: (row.place, _use_of(row), row.score, row.id or None, row.content),
    lambda row: [(_use_of(row), dict(TERMS)[_use_of(row)]), (_label_record(row.id, row.score), row.content)],
    tones={"used": "good", "not used": "warn"},
    empty=("The span does not tell what the search brought.",),
    pane="recorder",
)
RECORDS: Final = Rows["RecordRow"](
    "id:id~? store~ since:at versions:n? recalls:n content*!",
    lambda row: (row.id or None, row.store or None, row.since, row.versions, row.recalls, row.content),
    lambda row: [(row.id, row.store), ("", row.content)],
    empty=("No record is there.",),
    pane="recorder",
)
AUDIT: Final = Rows["AuditRow"](
    "reason! id:id~? since:day recalls:n content*! because*?",
    lambda row: (row.reason, row.id or None, row.since, row.recalls, row.content, row.because),
    lambda row: [
        (row.reason, row.store),
        (row.id, row.content),
        ("because", row.because),
        *([(row.other or "other", row.other_content)] if row.other_content else []),
    ],
    tones={"superseded": "bad", "contradicted": "bad", "delete": "warn", "duplicate": "warn"},
    empty=("Nothing is of no use.",),
    pane="recorder",
)
LISTING: Final = join(TRAFFIC, RECALL, RECORDS, AUDIT)


def _use_of(row: RecalledRow) -> str:
    return {True: "used", False: "not used", None: "untold"}[row.used] if row.brought else "lay there"


@entry(sentence=_summarise_traffic)
def memory_traffic(result: MemoryTraffic) -> RowList[MemoryOperation]:
    if not result.spans:
        return TRAFFIC.of("Nothing is recorded yet", ())
    stores = ", ".join(f"{name or 'unnamed'} ({count:,})" for name, count in result.stores)
    notes = [
        f"{plural(result.spans, 'span')}, {plural(result.answers, 'answer')} of models;"
        f" {plural(result.records, 'record')} there now",
        f"stores: {stores}" if stores else _NO_MEMORY,
        f"{result.total - len(result.operations):,} earlier ones (--limit)"
        if result.total > len(result.operations)
        else "",
        _OPT_IN if result.operations and not result.told else "",
        f"{plural(result.torn, 'body was', 'bodies were')} not whole" if result.torn else "",
        "`recorded N` shows what a search brought, `--view audit` what is of no use",
    ]
    return TRAFFIC.of("What the memory was asked", result.operations, notes)


@entry()
def tabulate_recall(result: RecallShown) -> RowList[RecalledRow]:
    operation = result.operation
    beside = sum(not row.brought for row in result.rows)
    notes = (
        "" if operation.told else f"the span does not list its records; {_OPT_IN}",
        f"{beside:,} that lay there by a search for the words of the query alone" if beside else "",
        "used: an answer after it holds half of the words that the record brought along",
    )
    return RECALL.of(
        f"{operation.act} {operation.number}, {operation.at:%Y-%m-%d %H:%M:%S}: {describe_operation(operation)}",
        result.rows,
        notes,
    )


@entry()
def memory_records(result: MemoryRecords) -> RowList[RecordRow]:
    notes = (
        f"{result.total - len(result.records):,} earlier ones (--limit)" if result.total > len(result.records) else "",
        f"`import {result.out}` makes a memory of them that every pane shows"
        if result.out
        else "`--out FILE` writes them for `import FILE`, and so for every pane",
    )
    return RECORDS.of("Records that are there", result.records, notes)


def _summarise_audit(result: MemoryAudit) -> str:
    total = sum(count for _, count in result.counts)
    return f"{total:,} of {plural(result.records, 'record')} are of no use, or cannot be right"


@entry(sentence=_summarise_audit)
def memory_audit(result: MemoryAudit) -> RowList[AuditRow]:
    counted = ", ".join(f"{count:,} {reason}" for reason, count in result.counts if count)
    notes = [
        f"of {plural(result.records, 'record')}: {counted or 'nothing was found'}",
        f"{plural(result.searches, 'search', 'searches')} looked for them"
        + (f"; not recalled lately: for {plural(result.days, 'day')}" if result.days else ""),
        f"{plural(result.unread, 'record has', 'records have')} no text here; {_OPT_IN}" if result.unread else "",
        f"every id with its reason stands in {result.out}"
        if result.out
        else "`--out FILE` writes every id with its reason",
        "never recalled is no proof of no use: look before deleting" if result.rows else "",
    ]
    return AUDIT.of("Audit", result.rows, notes)


def draw_scores(operator: Operator | None, result: RecallScores, canvas: Canvas) -> Text:
    """Return a diagram of scores below the notes; only the notes without a table."""
    from amgs_app.calibration.figure import draw_diagram
    from amgs_app.render.canvas import Figure, clean, ink
    from amgs_app.render.glyphs import wrap

    del operator
    score_table, sheet = recall_scores.table(result), Figure(canvas)
    table = result.review.table
    sheet.put(1, 0, clean(score_table.title), ink(sheet.palette.text, bold=True), width=sheet.width - 2)
    most = sheet.height if table is None else 1 if sheet.height < 16 else 4
    notes = wrap(" · ".join(score_table.notes), max(8, sheet.width - 2), most)
    for y, note in enumerate(notes, 1):
        sheet.put(1, y, note, ink(sheet.palette.muted))
    if table is not None:
        body = sheet.part(0, len(notes) + 2)
        draw_diagram(body.part(0, 0, body.height * 3 + 8), table.bins)
    return sheet.render()


@entry(figure=draw_scores)
def recall_scores(result: RecallScores) -> ResultTable:
    review = result.review
    rows: list[tuple[Any, ...]] = []
    if review.table is not None:
        rows = [
            (
                f"{score_bin.low:.2f} to {score_bin.high:.2f}",
                score_bin.count,
                score_bin.mean_predicted,
                score_bin.rate,
                f"{score_bin.rate_low:.2f} to {score_bin.rate_high:.2f}",
            )
            for score_bin in review.table.bins
            if score_bin.count
        ]
    anyway = "" if review.elsewhere is None else f"; by chance, in answers elsewhere: {review.elsewhere:.0%}"
    notes = [
        f"{plural(review.judged, 'recalled record')}: {review.used:.0%} used{anyway}",
        f"{review.untold:,} more whose use cannot be told" if review.untold else "",
        f"a used record scored above an unused record with a chance of {review.auroc:.2f}"
        if review.auroc is not None
        else "",
        "well below .5: lower scores seem to mean better records here, as distances do"
        if review.auroc is not None and review.auroc < 0.4
        else "",
        "scores lie outside [0, 1] and were stretched over it" if review.scaled else "",
        f"Brier {review.table.brier:.3f}, of the average alone {review.table.uncertainty:.3f}"
        if review.table is not None and review.table.brier is not None
        else f"{plural(review.scored, 'score')} with an outcome: too few for a table",
    ]
    return sheet("Scores as forecasts of use", "score count:n mean:score used:score 95_%", rows, notes)


@entry(figure=draw_table)
def tabulate_missed_fact(result: MissedFact) -> ResultTable:
    rows: list[tuple[str, Any]] = [
        ("missed", result.fact),
        ("asked", describe_operation(result.operation)),
        ("cause", f"{result.cause}: {result.meant}"),
    ]
    if result.record or result.content:
        rows.append(("record", " ".join(filter(None, (result.record, result.content)))))
    if result.rank:
        rows.append(("recalled", f"at {result.rank} of {result.recalled}"))
    elif result.cause == "not recalled":
        where = f"at {result.place} of all that lay there" if result.place else "nowhere"
        rows += [("it brought", plural(result.recalled, "record")), ("by its query's words alone", where)]
    return facts("Why it was missed", rows)


@entry(figure=draw_table)
def tabulate_recorded_conversations(result: RecordedConversations) -> ResultTable:
    rows = [
        (conversation.id, conversation.ended, conversation.turns, conversation.answers, conversation.recalls)
        for conversation in result.conversations
    ]
    notes = (
        f"Spans of a kind that is not understood: {', '.join(result.unread)}." if result.unread else "",
        f"No span holds what was said; {_OPT_IN}." if result.silent and not rows and not result.unread else "",
        f"`session {result.out}` opens the first" if result.out else "`--out FILE` writes them for `session FILE`",
    )
    return sheet("Conversations", "id* ended:at turns:n answers:n recalls:n", rows, notes)
