"""Tables for enhancement, pruning, review, deletion, export and import, the journal of changes, and the
verification of a memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amgs.lifecycle.conflict import SURE
from amgs.masking import tell_masked
from amgs.text.words import plural, tell_again
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.format import name_operation
from amgs_app.render.rows import JOURNAL, RowList
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.api.exchange import Exported, ForeignImport, Imported
    from amgs.lifecycle.erase import ErasurePlan, ErasureReceipt, RelatedBlock, SecretScan
    from amgs.lifecycle.proposing import EnhancementPlan, Proposal
    from amgs.lifecycle.prune import PruneAssessment, Pruned, PrunePlan
    from amgs.types import JournalEntry, JournalEntryDetail, Review, UndoPlan, Verification
    from amgs_app.results.memory import Deleted, Enhanced, OperationList, ReviewList


_PROPOSALS = "id kind about* sure:score because* effect*"
_NOTHING = "There is nothing to enhance"


def _proposal_rows(proposals: tuple[Proposal, ...]) -> list[tuple[Any, ...]]:
    return [(p.id, p.kind, " / ".join(p.titles), p.confidence, p.reason, p.effect) for p in proposals]


_PRUNING = "#:n id:id title* relevance:score central:score used:n conf:score"


def _prune_rows(plan: PrunePlan) -> list[tuple[Any, ...]]:
    return [
        (n, c.block.id, c.block.title, c.relevance, c.centrality, c.reinforcements, c.block.confidence)
        for n, c in enumerate(plan.candidates, 1)
    ]


@entry()
def enhancement_plan(result: EnhancementPlan) -> ResultTable:
    if not result.proposals and not result.left_out:
        return sheet(_NOTHING, _PROPOSALS, ())
    title = f"Plan: {plural(len(result.proposals), 'proposal')}; nothing has been changed yet"
    more = f"{result.left_out:,} more are left out by --limit" if result.left_out else ""
    how = "`enhance --apply` carries them out" if result.proposals else ""
    return sheet(title, _PROPOSALS, _proposal_rows(result.proposals), (more, how))


@entry()
def tabulate_enhancement(result: Enhanced) -> ResultTable:
    done = result.operation
    if done is None:
        return sheet(_NOTHING, _PROPOSALS, ())
    title = f"Enhanced by {plural(len(result.proposals), 'proposal')} as operation {done.id}"
    return sheet(title, _PROPOSALS, _proposal_rows(result.proposals), (f"`undo {done.id}` reverts it.",))


@entry()
def prune_plan(result: PrunePlan) -> ResultTable:
    what = "would be deleted" if result.hard else "would be pruned"
    spared = ", ".join(f"{n:,} by {name}" for name, n in result.spared.items() if n)
    notes = [f"Faded, but retained: {spared}" if spared else ""]
    if result.limits:
        thresholds = ", ".join(f"{name} {bound:.3g}" for name, bound in result.limits.items())
        notes.append(f"Thresholds: {thresholds}; `prune --explain ID` says what keeps a block")
    title = f"Plan: {plural(len(result.candidates), 'block')} {what}; nothing has been changed yet"
    return sheet(title, _PRUNING, _prune_rows(result), notes)


@entry()
def prune_assessment(result: PruneAssessment) -> ResultTable:
    rows = [(sign.name, sign.value, sign.limit, "goes" if sign.low else "keeps it", sign.told) for sign in result.signs]
    verdict = f"is kept: {', '.join(result.kept_by)}" if result.kept_by else "would be pruned"
    fades = "It never fades" if result.fades_at is None else f"Faded from {result.fades_at:%Y-%m-%d} if not used"
    return sheet(f"{result.block.title} {verdict}", "sign value:score limit:score verdict why*", rows, (fades,))


@entry()
def tabulate_pruning(result: Pruned) -> ResultTable:
    done, what = result.operation, "Deleted" if result.plan.hard else "Pruned"
    title = f"{what} {plural(len(result.plan.candidates), 'block')} as operation {done.id}"
    note = "The table deleted_blocks keeps them, and an export does." if result.plan.hard else ""
    notes = (note, f"`undo {done.id}` reverts it.")
    return sheet(title, _PRUNING, _prune_rows(result.plan), notes)


@entry()
def tabulate_deletion(result: Deleted) -> ResultTable:
    rows = [(n, b.id, b.title, b.category, b.status) for n, b in enumerate(result.blocks, 1)]
    title = f"Deleted {plural(len(result.blocks), 'block')} as operation {result.operation.id}"
    notes = (f"They are marked as pruned; `undo {result.operation.id}` brings them back.",)
    return sheet(title, "#:n id:id title* category was", rows, notes)


def _describe_remains(related: Sequence[RelatedBlock], sources: Sequence[str]) -> tuple[str, ...]:
    """Return notes on what may still hold the erased text: related blocks and source files."""
    listing = ", ".join(f"{block.id[:8]} ({block.because})" for block in related)
    files = f"From {', '.join(sources)}: not touched, and taken in again it would come back." if sources else ""
    return (f"Stays, and may hold the same text: {listing}" if listing else "", files)


@entry()
def erasure_plan(result: ErasurePlan) -> ResultTable:
    rows = [(n, b.id, b.title, b.category, b.status) for n, b in enumerate(result.blocks, 1)]
    size = f" and a file of {result.bytes / 1e6:,.1f} MB be written anew" if result.bytes else ""
    title = f"Plan: {plural(len(rows), 'block')} would go with {plural(result.edges, 'edge')}{size}"
    notes = (
        "Nothing has been changed yet. With --hard it cannot be undone.",
        *_describe_remains(result.related, result.sources),
    )
    return sheet(title, "#:n id:id title* category status", rows, notes)


@entry()
def erasure_receipt(result: ErasureReceipt) -> ResultTable:
    faults = len(result.verification.faults)
    rows = [
        *(("erased", block_id, "", "") for block_id in result.ids),
        *(("rows", table, count, "") for table, count in result.rows.items()),
        *(("index", name, now, before) for name, (before, now) in result.indexes.items()),
        ("file", "bytes", result.bytes[1], result.bytes[0]),
        ("verify", "faults", faults, ""),
    ]
    title = f"Erased {plural(len(result.ids), 'block')} as operation {result.operation.id}, {result.at:%Y-%m-%d %H:%M}"
    later = "" if result.compacted else "The file is in use: it is written anew when the memory is closed."
    notes = ("It cannot be undone.", later, *_describe_remains(result.related, result.sources))
    return sheet(title, "what name* now:n before:n", rows, notes)


def _suggestions(reviews: Sequence[Review]) -> tuple[str, ...]:
    """Return a note on how many findings are too uncertain to trust."""
    few = sum(r.confidence < SURE for r in reviews)
    return (f"{few} under {SURE:g}: suggestions, more often wrong than right.",) if few else ()


@entry(figure=FigureOf("inbox list"))
def review_list(result: ReviewList) -> ResultTable:
    rows = [
        (
            i.review.id,
            i.review.kind,
            i.review.confidence,
            i.review.state,
            i.older.title,
            i.newer.title,
            i.review.because,
        )
        for i in result.items
    ]
    looked = "No two blocks contradict each other or say the same."
    empty = looked if result.scanned else "`review --scan` looks for findings."
    notes = _suggestions([i.review for i in result.items]) if rows else (empty,)
    return sheet(plural(len(rows), "finding"), "#:n kind sure:score state older* newer* because*", rows, notes)


@entry()
def tabulate_export(result: Exported) -> ResultTable:
    return sheet(
        "",
        "file* form blocks:n edges:n bytes:n",
        [(result.path, result.form, result.blocks, result.edges, result.bytes)],
        ("A file that was there is replaced.",) if result.replaced else (),
    )


@entry()
def tabulate_import(result: Imported) -> ResultTable:
    return sheet(
        "", "file* form blocks:n edges:n rows:n", [(result.path, result.form, result.blocks, result.edges, result.rows)]
    )


_MOST_REASONS = 12
_MOST_NAMES = 5
_COUNTED = {"record": "Records of sessions that hold no turn", "turn": "Turns of sessions that are no message"}
"""Kinds of skipped records that are only counted, since their place tells nothing more."""


@entry()
def foreign_import(result: ForeignImport) -> ResultTable:
    again = "".join(f"{phrase}, " for phrase in tell_again(result.again))
    done = f"{plural(result.added, 'new block')}, {again}{result.known - result.again:,} already known"
    title = f"{result.format}: {done}; nothing has been changed yet"
    if not result.dry_run:
        title = f"{result.format}: {done}" + (f", operation {result.operation}" if result.operation else "")
    reasons: dict[tuple[str, str], tuple[str, int]] = {}
    counted: dict[str, Counter[str]] = {kind: Counter() for kind in _COUNTED}
    for omission in result.left_out:
        if omission.kind in counted:
            counted[omission.kind][omission.reason] += omission.count
            continue
        first, count = reasons.get((omission.kind, omission.reason), (omission.path, 0))
        reasons[omission.kind, omission.reason] = first, count + omission.count
    notes = [
        f"{_COUNTED[kind]}: {', '.join(f'{what} {count:,}' for what, count in counter.most_common())}."
        for kind, counter in counted.items()
        if counter
    ]
    notes += [
        f"Not taken over: {plural(count, kind)} at {first}{', first' if count > 1 else ''}: {why}."
        for (kind, why), (first, count) in list(reasons.items())[:_MOST_REASONS]
    ]
    if len(reasons) > _MOST_REASONS:
        notes.append(f"{len(reasons) - _MOST_REASONS} more reasons; `--format json` names all.")
    notes += [f"{masked}."] if (masked := tell_masked(result.masked)) else []
    if result.conversations:
        names = ", ".join(result.conversations[:_MOST_NAMES])
        more = f" and {len(result.conversations) - _MOST_NAMES:,} more" if result.conversations[_MOST_NAMES:] else ""
        notes.append(f"{plural(len(result.conversations), 'conversation')}: {names}{more}.")
    if result.undated:
        notes.append(f"{plural(result.undated, 'block')} without a date: the time of the import stands in.")
    if result.superseded:
        notes.append(
            f"{plural(result.superseded, 'block')} stored as superseded: the file says when they ceased to hold."
        )
    if result.operation:
        notes.append(f"`undo {result.operation}` reverts it.")
    rows = [
        (record.kind, record.found, record.taken, record.left_out, record.blocks, record.stored)
        for record in result.records
    ]
    return sheet(title, "kind found:n taken:n left_out:n blocks:n stored:n", rows, tuple(notes))


@entry()
def secret_scan(result: SecretScan) -> ResultTable:
    if result.operation is None:
        title = result.told.replace("masked", "found") or "No secret was found"
        notes = ["`secrets scan --apply` masks them."] if result.found else []
    else:
        number = result.operation.id
        title = f"{result.told}, operation {number}"
        notes = [
            f"{result.originals} keeps them, for its owner alone: `secrets scan --restore {number}` puts them back, "
            f"`secrets scan --forget {number}` deletes it."
        ]
    return sheet(title, "in* rows:n", [*result.rows.items()], notes)


def _latest(result: OperationList) -> str:
    operations = result.operations
    return (
        f"{len(operations):,} operations, the latest #{operations[0].id} {operations[0].kind}"
        if operations
        else "The journal is empty"
    )


@entry(figure=FigureOf("status"), sentence=_latest)
def operation_list(result: OperationList) -> RowList[JournalEntry]:
    return JOURNAL.of("Journal", result.operations)


@entry(figure=FigureOf("status"), sentence=title_of, quiet=True)
def journal_entry(result: JournalEntry) -> RowList[JournalEntry]:
    done = f"Undid {name_operation(result)}" if result.undone else f"Done {name_operation(result)}"
    return JOURNAL.of(done, (result,))


@entry(figure=FigureOf("status"))
def undo_plan(result: UndoPlan) -> RowList[JournalEntry]:
    notes = [
        f"{result.corrected} manual corrections will be lost" if result.corrected else "",
        f"Undo first: {', '.join(map(str, reversed(result.later)))}" if result.later else "",
        "Nothing has changed yet.",
    ]
    return JOURNAL.of(f"Would undo {name_operation(result.operation)}", (result.operation,), notes)


@entry(figure=FigureOf("status"))
def journal_entry_detail(result: JournalEntryDetail) -> ResultTable:
    done = result.operation
    rows = [(block.id, block.title, block.told) for block in result.blocks]
    edges = (result.edges_made, result.edges_changed, result.edges_taken)
    notes = ["{:,} edges added, {:,} changed, {:,} taken out".format(*edges)]
    if len(rows) < done.blocks:
        notes.append(f"{len(rows):,} of {done.blocks:,} blocks are listed")
    if result.later:
        notes.append(f"Undo first: {', '.join(map(str, result.later))}")
    title = f"Operation {done.id}, {done.kind}: {done.summary}{' (undone)' if done.undone else ''}"
    return sheet(title, "id:id title* what*", rows, notes)


@entry()
def verification(result: Verification) -> ResultTable:
    verdict = "no faults" if result.ok else f"{plural(len(result.faults), 'fault')}"
    rows = [(fault.where, fault.what, fault.repairable) for fault in result.faults]
    return sheet(
        f"{plural(result.blocks, 'block')} and {plural(result.edges, 'edge')} checked: {verdict}",
        "where what* repairable",
        rows,
        (f"Mended: {result.mended}.",) if result.mended else (),
    )
