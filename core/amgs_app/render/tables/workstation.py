"""The tables of the focus engine's and the workstation's results; importing it teaches them to `table_of`."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import replace
from itertools import groupby
from typing import Any

from amgs_app.benches.frame import BenchResult, BenchTable, cell
from amgs_app.operations import results
from amgs_app.render.sentences_of_focus import NOTHING_ALIKE, UNTRAINED
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.render.tables import calibration, focus_control, frames, lifetime, training
from amgs_app.render.tables.lifetime import kept_rows
from amgs_app.render.tables.memory import table_of
from amgs_app.row_filter import said
from amgs_focus import records, views

TEACHERS = (focus_control, frames, calibration, lifetime, training)
"""Modules that register more types with `table_of`; importing them is all it takes."""

__all__ = ["TEACHERS", "table_of"]

_ENTRIES_SHOWN = 40
"""Entries of the working context that its table shows; CSV and JSON hold them all."""

# --- focus ------------------------------------------------------------------------------------------------


@table_of.register
def _(result: views.FocusView) -> ResultTable:
    where = [span.start for span in result.sources]

    def origin(entry: views.EntryView) -> str | None:
        """The block that an entry came from, else the file or whatever its first tokens came from."""
        at = bisect_right(where, entry.start) - 1
        named = result.sources[at] if 0 <= at < len(where) else None
        return entry.source or (None if named is None else named.label or named.kind)

    rows = [
        (e.position, f"L{e.level}", e.start, e.end, e.cost, e.score, e.last_action, e.reason, origin(e))
        for e in result.entries
    ]
    title = (
        f"{result.branch}: {result.lifetime:,}-token lifetime held in {result.used:,} of {result.window:,} slots"
        f" ({result.model}); step {result.step:,}, {result.refocuses} refocuses, swap {result.swap_rate:.2f}"
    )
    columns = "#:n lod start:n end:n cost:n score:score last reason source:id"
    notes = (
        f"“{result.text}”" if result.text else "",
        f"! {NOTHING_ALIKE}." if result.unanswered else "",
    )
    made = sheet(title, columns, rows, notes)
    return replace(made, digest=sheet("", columns, _judgements(result, rows)).rows[:_ENTRIES_SHOWN])


def _judgements(view: views.FocusView, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows with neighbours that share a score handed down to them as one: it was one judgement."""
    told: list[tuple[Any, ...]] = []
    for _, run in groupby(
        zip(view.entries, rows, strict=True),
        key=lambda pair: (pair[0].level, pair[0].score) if pair[0].inherited else pair[0].position,
    ):
        group = list(run)
        (first, row), (last, _) = group[0], group[-1]
        if len(group) > 1:
            cost = sum(entry.cost for entry, _ in group)
            row = (
                f"{first.position}–{last.position}",
                f"{len(group)} × L{first.level}",
                first.start,
                last.end,
                cost,
                *row[5:],
            )
        told.append(row)
    return told


@table_of.register
def _(result: records.TokenSpan) -> ResultTable:
    rows = [
        (place, text, next((s.source for s in result.sources if s.start <= place < s.end), None))
        for place, text in enumerate(result.texts, start=result.start)
    ]
    return sheet(f"Tokens {result.start:,} to {result.end:,}", "token:n text source:id", rows)


@table_of.register
def _(result: results.Opened) -> ResultTable:
    view = result.view
    pairs = [
        ("from", result.source),
        ("question", result.question or None),
        ("segments", result.segments),
        ("lifetime tokens", view.lifetime),
        ("working context", f"{view.used} of {view.window} in {len(view.entries)} entries"),
        ("levels", view.levels),
        ("model", f"{view.model} {view.precision}"),
        ("gist / scorer", f"{view.gist} / {view.scorer}"),
    ]
    warning = (
        f"! {UNTRAINED}: spans are held by pointer gists, which lose nearly everything but their last token."
    )
    return facts("Opened", pairs, (warning,) if view.untrained else ())


@table_of.register
def _(result: results.Stepped) -> ResultTable:
    rows = []
    for record in result.records:
        done = (
            ""
            if record.refocus is None
            else " ".join(f"{'▲' if d.kind == 'expand' else '▽'}{d.node}" for d in record.refocus.applied)
        )
        rows.append(
            (record.step, record.text, record.nll, record.used, record.dirty, record.milliseconds, done)
        )
    view = result.view
    title = f"{len(rows)} tokens, {view.used} of {view.window} used"
    notes = [f"“{view.text}”" if view.text else ""]
    if result.refocus is not None:
        decided = result.refocus
        proposed = f"{len(decided.applied)} of {len(decided.decisions)} proposals applied"
        notes.insert(0, f"Refocus {decided.number}: {proposed}, swap {decided.swap_rate:.2f}")
    if view.unanswered:
        notes.insert(0, f"! {NOTHING_ALIKE}.")
    return sheet(title, "step:n token nll:score used:n dirty:n time:ms refocus*", rows, notes)


@table_of.register
def _(result: views.EntryExplanation) -> ResultTable:
    entry, decision = result.entry, result.decision
    pairs: list[tuple[str, Any]] = [
        ("entry", f"#{entry.position}, {entry.node}, tokens {entry.start:,} to {entry.end:,}"),
        ("text", result.text),
        ("from", ", ".join(dict.fromkeys(s.label or s.source or s.kind for s in result.sources))),
        (
            "score",
            f"{result.score:+.3f}" + (" (handed down, not scored by itself yet)" if entry.inherited else ""),
        ),
        *((f"  {name}", f"{value:+.3f}") for name, value in result.parts),
        (
            "decision",
            result.reason_text
            if decision is None
            else f"{decision.kind} {decision.node}: {result.reason_text}",
        ),
        ("legal", result.legality),
        ("expand / collapse", f"{result.expand_cost} / {result.collapse_cost} tokens"),
        ("cooldown", result.cooldown),
        ("would", result.would),
        *(kept_rows(result.keeping) if result.keeping is not None else ()),
    ]
    return facts("Why", pairs)


# --- the workstation --------------------------------------------------------------------------------------


@table_of.register
def _(result: results.Overview) -> ResultTable:
    store = result.store
    pairs: list[tuple[str, Any]] = [
        ("store", store.path),
        ("now (sample time)" if result.sample_time else "now", store.now),
        *((f"blocks {status}", count) for status, count in store.blocks.items()),
        ("edges", store.edges),
        ("frames", store.frames),
        ("mean relevance", store.mean_relevance),
        ("last consolidation", store.last_consolidation),
        ("Brier", store.brier),
        ("outcomes", store.outcomes),
        ("schema / changes", f"{store.schema_version} / {store.change_counter}"),
        ("corpus", result.corpus or None),
        ("model", result.model + (" (loaded)" if result.model_loaded else "")),
        ("seed", result.seed),
    ]
    return facts("", pairs)


@table_of.register
def _(result: results.Shown) -> ResultTable:
    return table_of(result.result)


@table_of.register
def _(result: results.ThemeSet) -> ResultTable:
    return sheet("", "theme in_use", [(name, "●" if name == result.name else "") for name in result.known])


@table_of.register
def _(result: results.Bookmark) -> ResultTable:
    said = "Bookmarked" if result.kept else "Removed the bookmark from"
    return sheet(f"{said} {result.title}", "id:id title* note*", [(result.block, result.title, result.note)])


@table_of.register
def _(result: results.BookmarkList) -> ResultTable:
    rows = [(each.block, each.title, each.note) for each in result.rows]
    return sheet("Bookmarks" if rows else "No bookmarks", "id:id title* note*", rows)


@table_of.register
def _(result: results.Sifted) -> ResultTable:
    sift = result.sift
    rows = [(result.pane, sift.words, sift.order, "●" if sift.reverse else "")]
    return sheet(f"{result.pane}: {said(sift)}", "pane filter* order reverse", rows)


@table_of.register
def _(result: results.Layout) -> ResultTable:
    return sheet(f"Layout: {result.pane}", "pane beside* large", [_layout(result)])


@table_of.register
def _(result: results.LayoutList) -> ResultTable:
    rows = [(name, *_layout(layout)) for name, layout in result.rows]
    return sheet("Layouts" if rows else "No layouts", "name pane beside* large", rows)


def _layout(layout: results.Layout) -> tuple[str, str, str]:
    return layout.pane, ", ".join(layout.beside) or "default", "●" if layout.large else ""


@table_of.register
def _(result: results.Recording) -> ResultTable:
    notes = ("`save FILE` writes what is done from here on as a script.",)
    return sheet("Recording", "since:n", [(result.since,)], notes)


@table_of.register
def _(result: results.SettingsList) -> ResultTable:
    rows = [
        (each.key, _told(each.value), _told(each.default), each.place or "default", each.description)
        for each in result.settings
    ]
    return sheet(f"Settings ({result.file})", "key value default from what_it_is*", rows)


def _told(value: object) -> str:
    """A setting as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


@table_of.register
def _(result: results.SnapshotFiles) -> ResultTable:
    return sheet("", "pane file*", [(result.pane, name) for name in result.files])


@table_of.register
def _(result: results.Saved) -> ResultTable:
    return sheet(f"Saved {result.lines:,} lines", "file*", [(result.file,)])


@table_of.register
def _(result: BenchResult) -> ResultTable:
    rows = []
    for name, value in result.metrics.items():
        goal = result.goals.get(name)
        said = "" if goal is None else f"{goal.op} {goal.value:g}: {'met' if goal.met else 'missed'}"
        rows.append((name, f"{value:.4g}", said))
    notes = [line for table in result.tables for line in ("", table.title, *_aligned(table))]
    at = f", commit {result.commit}" if result.commit else ""
    title = f"bench {result.bench} on {result.machine}{at}"
    return replace(sheet(title, "metric found:n goal*", rows), notes=tuple(notes))


def _aligned(table: BenchTable) -> list[str]:
    """A bench's further table as lines: the first column to the left, the others to the right."""
    lines = [list(table.columns), *([cell(value) for value in row] for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


@table_of.register
def _(result: results.Expectation) -> ResultTable:
    return sheet(
        "", "metric found:n op wanted:n", [(result.metric, result.found, result.operator, result.wanted)]
    )


@table_of.register
def _(result: results.HelpList) -> ResultTable:
    if len(result.verbs) != 1:
        return sheet(
            "", "command what_it_does*", [(each.usage.split(" [")[0], each.summary) for each in result.verbs]
        )
    only = result.verbs[0]
    return sheet(only.usage, "argument meaning*", only.parameters, ("", only.text))
