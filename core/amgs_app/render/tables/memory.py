"""What each result of the memory says as a table: one function a type, found by its type."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import singledispatch
from typing import Any

from amgs import types
from amgs.decay import profile_name
from amgs_app.operations import results
from amgs_app.render.figures.format import ingested, named, plural
from amgs_app.render.passage import passage
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.row_fields import fate_of, listed, reason_of


@singledispatch
def table_of(result: Any) -> ResultTable:
    """The sheet of a result; raises TypeError for a type that has none, which is a fault of the program."""
    # Its types live beside the store and the graph library: who shows none of them need not load those.
    importlib.import_module("amgs_app.render.tables.graph")
    importlib.import_module("amgs_app.render.tables.lifecycle")
    importlib.import_module("amgs_app.render.tables.simulation")
    known = table_of.dispatch(type(result))
    if known is not table_of.dispatch(object):
        return known(result)
    raise TypeError(f"{type(result).__name__} has no table.")


_REJECTED_SHOWN = 12
"""Rejected candidates that a frame's table shows; CSV and JSON hold them all."""

_POINTS_SHOWN = 16
"""Points of a decay curve that its table shows."""

# --- blocks -----------------------------------------------------------------------------------------------

_BLOCKS = "#:n id:id title* category status conf:score created:at"


def _block_rows(blocks: tuple[types.Block, ...]) -> list[tuple[Any, ...]]:
    return [
        (n, b.id, b.title, b.category, b.status, b.confidence, b.created_at) for n, b in enumerate(blocks, 1)
    ]


@table_of.register
def _(result: results.Inbox) -> ResultTable:
    rows = [
        (n, b.id, b.title, b.created_at, b.meta.get("source", "")) for n, b in enumerate(result.blocks, 1)
    ]
    hidden = result.total - len(result.blocks)
    notes = [f"{hidden:,} more" if hidden else "", "" if rows else "The inbox is empty."]
    return sheet(f"Inbox: {result.total:,} raw blocks", "#:n id:id title* created:at source", rows, notes)


@table_of.register
def _(result: results.BlockList) -> ResultTable:
    notes = () if result.blocks else (f"No block resembles {result.text!r}.",)
    return sheet(
        f"{len(result.blocks)} blocks like {result.text!r}", _BLOCKS, _block_rows(result.blocks), notes
    )


@table_of.register
def _(result: results.BlockDetail) -> ResultTable:
    block = result.block
    pairs: list[tuple[str, Any]] = [
        ("id", block.id),
        ("category", block.category),
        ("status", block.status),
        ("confidence", block.confidence),
        ("relevance", result.relevance),
        ("decay", f"{result.profile} (λ {block.decay_lambda:g} per hour)"),
        ("created", block.created_at),
        ("reinforced", block.last_reinforced_at),
        ("self", block.is_self_component),
        ("edges", f"{result.edges_out} out, {result.edges_in} in"),
    ]
    pairs += [(name, _said(value)) for name, value in block.meta.items() if name != "title"]
    return facts(block.title, pairs, ("", block.content))


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@table_of.register
def _(result: results.SelectedBlock) -> ResultTable:
    return sheet("Selected", _BLOCKS, _block_rows((result.block,)))


# --- lifecycle --------------------------------------------------------------------------------------------


@table_of.register
def _(result: types.IngestReport) -> ResultTable:
    rows = [("rejected", each.source, each.reason) for each in result.refused]
    rows += [("warning", each.source, each.reason) for each in result.warnings]
    rows += [
        ("skipped", f"{each.files:,} {each.ending or 'without an ending'}", _NO_NOTE)
        for each in result.skipped
    ]
    return sheet(ingested(result), "what source because*", rows)


_NO_NOTE = "not read as text"


@table_of.register
def _(result: types.ConsolidationPlan) -> ResultTable:
    rows = [
        (
            item.block.id,
            item.block.title,
            item.category,
            item.category_confidence,
            profile_name(item.decay_lambda),
            item.is_self_component,
            len(item.edges),
            len(item.entities),
        )
        for item in result.items
    ]
    edges = sum(len(item.edges) for item in result.items)
    title = f"Plan: {plural(len(rows), 'block')}, {plural(edges, 'edge')}; nothing has been changed yet"
    return sheet(title, "id:id title* category sure:score decay self edges:n entities:n", rows)


@table_of.register
def _(result: results.Consolidated) -> ResultTable:
    rows = sorted(result.categories.items(), key=lambda pair: (-pair[1], pair[0]))
    blocks, edges = (sum(done.blocks for done in result.operations), sum(d.edges for d in result.operations))
    ids = [str(done.id) for done in result.operations]
    title = (
        f"Consolidated {plural(blocks, 'block')} and {plural(edges, 'edge')} as operation {', '.join(ids)}"
    )
    back = " and ".join(f"`undo {i}`" for i in reversed(ids))
    return sheet(title, "category* blocks:n", rows, (f"{back} reverts it.",) if rows else ())


_OPERATIONS = "#:n what at:at summary* blocks:n edges:n undone"


def _operation_row(done: types.JournalEntry) -> tuple[Any, ...]:
    return (done.id, done.kind, done.at, done.summary, done.blocks, done.edges, done.undone)


@table_of.register
def _(result: results.OperationList) -> ResultTable:
    rows = [_operation_row(done) for done in result.operations]
    return sheet("Journal", _OPERATIONS, rows, () if rows else ("The journal is empty.",))


@table_of.register
def _(result: types.JournalEntry) -> ResultTable:
    done = f"Undid {named(result)}" if result.undone else f"Done {named(result)}"
    return sheet(done, _OPERATIONS, [_operation_row(result)])


@table_of.register
def _(result: results.Redone) -> ResultTable:
    return sheet(f"Redid {named(result.operation)}", _OPERATIONS, [_operation_row(result.operation)])


@table_of.register
def _(result: types.UndoPlan) -> ResultTable:
    notes = [
        f"{result.corrected} corrections made by hand will be lost" if result.corrected else "",
        f"Undo first: {', '.join(map(str, reversed(result.later)))}" if result.later else "",
        "Nothing has changed yet.",
    ]
    return sheet(
        f"Would undo {named(result.operation)}", _OPERATIONS, [_operation_row(result.operation)], notes
    )


@table_of.register
def _(result: types.JournalEntryDetail) -> ResultTable:
    done = result.operation
    rows = [(each.id, each.title, each.told) for each in result.blocks]
    edges = (result.edges_made, result.edges_changed, result.edges_taken)
    notes = ["{:,} edges made, {:,} changed, {:,} taken out".format(*edges)]
    if len(rows) < done.blocks:
        notes.append(f"{len(rows):,} of {done.blocks:,} blocks are listed")
    if result.later:
        notes.append(f"Undo first: {', '.join(map(str, result.later))}")
    title = f"Operation {done.id}, {done.kind}: {done.summary}{' (undone)' if done.undone else ''}"
    return sheet(title, "id:id title* what*", rows, notes)


@table_of.register
def _(result: types.Health) -> ResultTable:
    rows = [(line.side, line.standing, line.told, line.verb) for line in result.lines]
    return sheet("Health", "area status detail* command*", rows)


@table_of.register
def _(result: types.Verification) -> ResultTable:
    said = "no faults" if result.ok else f"{len(result.faults)} faults"
    rows = [(fault.where, fault.what, fault.repairable) for fault in result.faults]
    return sheet(
        f"{result.blocks:,} blocks and {result.edges:,} edges checked: {said}", "where what* repairable", rows
    )


# --- retrieval and frames ---------------------------------------------------------------------------------


def _layers(layers: tuple[types.LayerReport, ...]) -> str:
    said = [
        f"{each.layer} skipped ({each.skipped})"
        if each.skipped
        else f"{each.layer} {each.candidates_in}→{each.candidates_out} {each.milliseconds:.1f} ms"
        for each in layers
    ]
    return " │ ".join(said)


def _parts(candidate: types.Candidate) -> tuple[float, ...]:
    return tuple(getattr(candidate.parts, name) for name in types.COMPONENTS)


@table_of.register
def _(result: types.SearchResult) -> ResultTable:
    rows = [
        (
            n,
            hit.block.id,
            hit.block.title,
            str(hit.block.meta.get("source", "")),
            passage(hit.block.content, result.query),
            hit.score,
            *_parts(hit),
            "+".join(hit.layers),
        )
        for n, hit in enumerate(result.hits, 1)
    ]
    parts = "recency:score? centr:score? conf:score? simil:score? reinf:score?"
    columns = f"#:n id:id title* source* passage* score:score {parts} found_by?"
    notes = [_layers(result.layers)]
    notes += [f"{each.written!r} was read as {each.read_as!r}" for each in result.readings]
    if result.answerable is not None:
        notes.append(f"answer likely in memory: {result.answerable:.0%} (estimated)")
    return sheet(f"{plural(len(rows), 'hit')} for {result.query!r}", columns, rows, notes)


@table_of.register
def _(result: types.Explanation) -> ResultTable:
    asked = f"{result.query!r} in {result.frame}" if result.frame else repr(result.query)
    said = "admitted" if result.admitted else f"dropped out at {result.fell_at}"
    rows = [(each.layer, each.verdict, each.value, each.needed, each.because) for each in result.layers]
    notes = [f"rank {result.rank} of {result.of}, {result.places} admitted; {result.because}"]
    if result.candidate is not None and result.candidate.evidence:
        strongest = sorted(result.candidate.evidence, key=lambda part: -abs(part[1]))
        notes.append("evidence: " + ", ".join(f"{name} {value:+.2f}" for name, value in strongest if value))
    if result.change is not None:
        wanted = ",".join(f"{getattr(result.change.weights, name):.4f}" for name in types.COMPONENTS)
        notes.append(
            f"--weights {wanted} would admit it at rank {result.change.rank} (moved by "
            f"{result.change.distance:.3f})"
        )
    elif not result.admitted and result.fell_at in ("score", "selection"):
        notes.append("no change of weights was found that admits it")
    title = f"{result.block.title}: {said} for {asked}"
    return sheet(title, "layer verdict value:score needed:score because*", rows, notes)


_PLAIN = ("shipped", "yours")
_WEIGHTS = "recency:score centr:score conf:score simil:score reinf:score"


@table_of.register
def _(result: results.FrameList) -> ResultTable:
    rows = []
    kinds = {each.name: each.kind for each in result.origins}
    for each in result.definitions:
        weights = (getattr(each.weights, name) for name in types.COMPONENTS)
        children = (
            f" {each.merge}: ".join(["", ", ".join(c.name for c in each.children)]) if each.children else ""
        )
        rows.append(
            (each.name, each.purpose, each.budget, *weights, children.strip(), kinds.get(each.name, ""))
        )
    notes = [f"{each.name}: {each.told}" for each in result.origins if each.told not in _PLAIN]
    return sheet("Frames", f"name purpose* budget:n {_WEIGHTS} children origin", rows, notes)


@table_of.register
def _(result: types.Frame) -> ResultTable:
    numbered = [
        (n, each.block.id, each.block.title, each.score, each.tokens, each.child, _fate(each), each.fate)
        for n, each in enumerate(listed(result), 1)
    ]
    # What is in comes first; the numbers stay those of the whole list, which `@2` refers to.
    numbered.sort(key=lambda row: row[-1] != "selected")
    asked = f" for {result.query!r}" if result.query else ""
    chosen = f"{len(result.selected)} of {len(numbered)} blocks"
    title = f"{result.name}{asked}: {chosen}, {result.tokens:,} of {result.budget:,} tokens"
    ledger = "; ".join(f"{each.child} {each.used}/{each.budget} tokens" for each in result.ledger)
    notes = (
        f"{ledger}; entropy {result.entropy_bits:.2f} bit" if ledger else "",
        _layers(result.layers),
        *result.remarks,
        *((f"\n{result.text.rstrip()}",) if result.text.strip() else ()),
    )
    made = sheet(
        title,
        "#:n id:id title* score:score tokens:n frame fate*",
        [row[:-1] for row in numbered],
        notes,
    )
    return replace(made, digest=made.rows[: len(result.selected) + _REJECTED_SHOWN])


def _fate(each: types.Candidate) -> str:
    reason = reason_of(each)
    return f"{fate_of(each)} · {reason}" if reason else fate_of(each)


# --- graph and decay --------------------------------------------------------------------------------------


@table_of.register
def _(result: types.Neighbourhood) -> ResultTable:
    titles = {block.id: block.title for block in result.blocks} | {result.center.id: result.center.title}
    rows = [
        (
            titles.get(e.edge.source_id, e.edge.source_id),
            e.edge.relation_type,
            titles.get(e.edge.target_id, e.edge.target_id),
            e.strength,
        )
        for e in sorted(result.edges, key=lambda live: -live.strength)
    ]
    title = f"{result.center.title}: {len(result.blocks):,} blocks within {result.hops}"
    return sheet(title, "from* relation to* strength:score", rows)


@table_of.register
def _(result: results.Inspection) -> ResultTable:
    made = table_of(result.neighbourhood)
    c = result.centrality
    note = (
        f"degree {c.degree:.3f}, eigenvector {c.eigenvector:.3f}, PageRank {c.pagerank:.3f}, "
        f"betweenness {c.betweenness:.3f}"
    )
    return ResultTable(made.title, made.columns, made.rows, (note,))


@table_of.register
def _(result: types.GraphStats) -> ResultTable:
    counts = f"{result.nodes:,} nodes, {result.edges:,} edges, {result.components:,} components"
    title = f"{counts}, density {result.density:.4f}"
    return sheet(
        title, "relation* edges:n", sorted(result.by_relation.items(), key=lambda pair: (-pair[1], pair[0]))
    )


@table_of.register
def _(result: types.DecayCurve) -> ResultTable:
    falls = result.falls_below_at
    note = (
        "It never drops below the threshold."
        if falls is None
        else f"Below {result.threshold:g} from {falls:%Y-%m-%d %H:%M}."
    )
    points = zip(result.hours, result.relevance, strict=True)
    made = sheet(result.block.title, "hours:n relevance:score", points, (note,))
    return replace(made, digest=made.rows[:: max(1, len(made.rows) // _POINTS_SHOWN)])


@table_of.register
def _(result: types.Forecast) -> ResultTable:
    rows = [
        (
            row.block.id,
            row.block.title,
            row.falls_at,
            row.relevance_now,
            row.relevance_then,
            row.uses,
            row.links,
        )
        for row in result.rows
    ]
    drop = "block drops" if result.falling == 1 else "blocks drop"
    falling = f"{result.falling:,} {drop} below {result.threshold:g} within {result.days:g} days"
    if result.supposed is not None:
        falling += f" as previewed ({result.without:,} as it is)"
    title = f"{falling}; {result.already_below:,} already below; nothing is removed before prune"
    notes = [
        f"{each.category}: {each.alive_now:,} → {each.alive_then:,} of {each.blocks:,} above it, "
        f"mean {each.mean_now:.2f} → {each.mean_then:.2f}"
        for each in result.categories
    ]
    return sheet(title, "id:id title* drops:at now:score then:score uses:n links:n", rows, notes)


@table_of.register
def _(result: results.LastFrame) -> ResultTable:
    return table_of(result.frame) if result.frame is not None else sheet("No frame yet", "frame", ())


@table_of.register
def _(result: types.CategoryCurves) -> ResultTable:
    rows = [
        (each.category, each.blocks, hour, value)
        for each in result.curves
        for hour, value in zip(each.hours, each.relevance, strict=True)
    ]
    title = f"{len(result.curves)} categories, {result.days:g} days back and ahead"
    made = sheet(title, "category blocks:n hours:n relevance:score", rows)
    wanted = {
        (each.category, hour) for each in result.curves for hour in (*each.hours[:1], 0.0, *each.hours[-1:])
    }
    return replace(made, digest=tuple(row for row in made.rows if (row[0], row[2]) in wanted))


# --- calibration ------------------------------------------------------------------------------------------


@table_of.register
def _(result: types.Outcome) -> ResultTable:
    pairs = [
        ("forecast", result.predicted),
        ("outcome", result.actual),
        ("Brier", result.brier),
        ("block", result.block_id),
        ("frame", result.frame),
    ]
    return facts("Verdict", pairs)


@table_of.register
def _(result: types.Reliability) -> ResultTable:
    rows = [
        (
            f"{each.low:.2f} to {each.high:.2f}",
            each.count,
            each.mean_predicted,
            each.rate,
            f"{each.rate_low:.2f} to {each.rate_high:.2f}",
        )
        for each in result.bins
        if each.count
    ]
    said = "no outcomes yet" if result.brier is None else f"Brier {result.brier:.4f}"
    note = ""
    if result.brier is not None:
        note = (
            f"= reliability {result.reliability:.4f} − resolution {result.resolution:.4f}"
            f" + uncertainty {result.uncertainty:.4f} + within bin {result.within_bin:.4f}"
        )
    title = f"{result.forecasts:,} forecasts, {result.outcomes:,} outcomes: {said}"
    return sheet(title, "forecast count:n mean:score came_true:score 95_%", rows, (note,))
