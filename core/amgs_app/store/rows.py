"""How the journal of changes and the verification of a memory are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.format import name_operation
from amgs_app.render.journal import JOURNAL
from amgs_app.render.rows import RowList
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types import JournalEntry, JournalEntryDetail, UndoPlan, Verification
    from amgs_app.results.memory import OperationList


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
        f"{result.corrected} corrections made by hand will be lost" if result.corrected else "",
        f"Undo first: {', '.join(map(str, reversed(result.later)))}" if result.later else "",
        "Nothing has changed yet.",
    ]
    return JOURNAL.of(f"Would undo {name_operation(result.operation)}", (result.operation,), notes)


@entry(figure=FigureOf("status"))
def journal_entry_detail(result: JournalEntryDetail) -> ResultTable:
    done = result.operation
    rows = [(block.id, block.title, block.told) for block in result.blocks]
    edges = (result.edges_made, result.edges_changed, result.edges_taken)
    notes = ["{:,} edges made, {:,} changed, {:,} taken out".format(*edges)]
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
