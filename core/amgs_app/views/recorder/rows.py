"""What the recorder tells, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.drawing import tabled
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.views.recorder import figure as figures
from amgs_app.views.recorder.figure import asked

if TYPE_CHECKING:
    from amgs_app.views.recorder.results import (
        MemoryAudit,
        MemoryRecords,
        MemoryTraffic,
        MissedFact,
        RecallScores,
        RecallShown,
        RecordedConversations,
        SpansRecorded,
    )

_OPT_IN = (
    "texts of records are told only where the program is asked to capture content, as by"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
)


HOW = "Run your program with OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 while amgs record listens."
_NO_MEMORY = "no span tells of a memory: `--view conversations` shows the rest"


def _recorded_told(result: SpansRecorded) -> str:
    return f"{plural(result.spans, 'span')}: {result.memory:,} of memory, {plural(result.answers, 'answer')}"


@entry(sentence=_recorded_told)
def spans_recorded(result: SpansRecorded) -> ResultTable:
    rows = [
        ("listened at", result.address),
        ("kept in", result.folder),
        ("spans", result.spans),
        ("of memory", result.memory),
        ("answers of models", result.answers),
        ("bodies refused", result.refused),
    ]
    notes = ("`recorded` shows what they tell" if result.spans else "",)
    return facts("Recorded", [row for row in rows if row[1] != ""], notes)


def _traffic_told(result: MemoryTraffic) -> str:
    return f"{plural(result.total, 'operation')} of {plural(len(result.stores), 'memory', 'memories')}"


@entry(figure=figures.drawn(figures.traffic_page), sentence=_traffic_told)
def memory_traffic(result: MemoryTraffic) -> ResultTable:
    rows = [
        (
            one.number,
            one.at,
            f"✗ {one.act}" if one.failed else one.act,
            one.store or None,
            one.count,
            round(one.milliseconds) if one.milliseconds else None,
            asked(one),
        )
        for one in result.operations
    ]
    stores = ", ".join(f"{name or 'unnamed'} ({count:,})" for name, count in result.stores)
    notes = [
        f"{plural(result.spans, 'span')}, {plural(result.answers, 'answer')} of models;"
        f" {plural(result.records, 'record')} there now",
        f"stores: {stores}" if stores else _NO_MEMORY if result.spans else f"nothing is recorded yet. {HOW}",
        f"{result.total - len(rows):,} earlier ones (--limit)" if result.total > len(rows) else "",
        _OPT_IN if result.operations and not result.told else "",
        f"{plural(result.torn, 'body was', 'bodies were')} not whole" if result.torn else "",
        "`recorded N` shows what a search brought, `--view audit` what is of no use" if result.spans else "",
    ]
    return sheet("What the memory was asked", "n:n at:at did store~ records:n ms:n? what*", rows, notes)


@entry(figure=figures.drawn(figures.recall_page))
def recall_shown(result: RecallShown) -> ResultTable:
    one = result.operation
    marks = {True: "used", False: "not used", None: "cannot be told"}
    rows = [
        (row.place, marks[row.used] if row.brought else "lay there", row.score, row.id or None, row.content)
        for row in result.rows
    ]
    beside = sum(not row.brought for row in result.rows)
    notes = (
        "" if one.told else f"the span does not tell its records; {_OPT_IN}",
        f"{beside:,} that lay there by a search for the words of the query alone" if beside else "",
        "used: an answer after it holds half of the words that the record brought along",
    )
    title = f"{one.act} {one.number}, {one.at:%Y-%m-%d %H:%M:%S}: {asked(one)}"
    return sheet(title, "place:n what score:score id~ content*", rows, notes)


@entry(figure=figures.drawn(figures.records_page))
def memory_records(result: MemoryRecords) -> ResultTable:
    rows = [
        (one.id or None, one.store or None, one.since, one.versions, one.recalls, one.content) for one in result.records
    ]
    notes = (
        f"{result.total - len(rows):,} earlier ones (--limit)" if result.total > len(rows) else "",
        f"`import {result.out}` makes a memory of them that every pane shows"
        if result.out
        else "`--out FILE` writes them for `import FILE`, and so for every pane",
    )
    return sheet("Records that are there", "id~ store~ since:at versions:n recalls:n content*", rows, notes)


def _audit_told(result: MemoryAudit) -> str:
    found = sum(count for _, count in result.counts)
    return f"{found:,} of {plural(result.records, 'record')} are of no use, or cannot be right"


@entry(figure=figures.drawn(figures.audit_page), sentence=_audit_told)
def memory_audit(result: MemoryAudit) -> ResultTable:
    rows = [(one.reason, one.id or None, one.since, one.recalls, one.content, one.because) for one in result.rows]
    counted = ", ".join(f"{count:,} {reason}" for reason, count in result.counts if count)
    notes = [
        f"of {plural(result.records, 'record')}: {counted or 'nothing was found'}",
        f"{plural(result.searches, 'search', 'searches')} looked for them"
        + (f"; not recalled lately: for {plural(result.days, 'day')}" if result.days else ""),
        f"{plural(result.unread, 'record has', 'records have')} no text here; {_OPT_IN}" if result.unread else "",
        f"every id with its reason stands in {result.out}"
        if result.out
        else "`--out FILE` writes every id with its reason",
        "never recalled is no proof of no use: look before deleting" if rows else "",
    ]
    return sheet("Audit", "reason id~ since:day recalls:n content* because*", rows, notes)


@entry(figure=figures.drawn(figures.scores_page))
def recall_scores(result: RecallScores) -> ResultTable:
    review = result.review
    rows: list[tuple[Any, ...]] = []
    if review.table is not None:
        rows = [
            (
                f"{each.low:.2f} to {each.high:.2f}",
                each.count,
                each.mean_predicted,
                each.rate,
                f"{each.rate_low:.2f} to {each.rate_high:.2f}",
            )
            for each in review.table.bins
            if each.count
        ]
    anyway = "" if review.elsewhere is None else f"; by chance, in answers elsewhere: {review.elsewhere:.0%}"
    notes = [
        f"{plural(review.judged, 'recalled record')}: {review.used:.0%} used{anyway}",
        f"{review.untold:,} more whose use cannot be told" if review.untold else "",
        f"a used one scored higher with a chance of {review.auroc:.2f}" if review.auroc is not None else "",
        "below .5: lower scores are better ones here, such as distances"
        if review.auroc is not None and review.auroc < 0.4
        else "",
        "scores lie outside [0, 1] and were stretched over it" if review.scaled else "",
        f"Brier {review.table.brier:.3f}, of the average alone {review.table.uncertainty:.3f}"
        if review.table is not None and review.table.brier is not None
        else f"{plural(review.scored, 'score')} with an outcome: too few for a table",
    ]
    return sheet("Scores as forecasts of use", "score count:n mean:score used:score 95_%", rows, notes)


@entry(figure=tabled)
def missed_fact(result: MissedFact) -> ResultTable:
    rows: list[tuple[str, Any]] = [
        ("missed", result.fact),
        ("asked", asked(result.operation)),
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


@entry(figure=tabled)
def recorded_conversations(result: RecordedConversations) -> ResultTable:
    rows = [(one.id, one.ended, one.turns, one.answers, one.recalls) for one in result.conversations]
    notes = (
        f"Spans of a kind that is not understood: {', '.join(result.unread)}." if result.unread else "",
        f"No span tells what was said; {_OPT_IN}." if result.silent and not rows and not result.unread else "",
        f"`session {result.out}` opens the first" if result.out else "`--out FILE` writes them for `session FILE`",
    )
    return sheet("Conversations", "id* ended:at turns:n answers:n recalls:n", rows, notes)
