"""How diagnoses, fixes and test runs are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.words import plural
from amgs_app.diagnosis.figure import describe_trial
from amgs_app.render.catalogue import entry
from amgs_app.render.glyphs import HOLDS_SIGNS
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from amgs.types.diagnosis import CaseChange, Diagnosis, FixApplied
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import CasesTested

_MOST_MOVED = 3


def _verdict(result: Diagnosis) -> str:
    return result.verdict.removesuffix(".")


def _describe_fix(result: FixApplied) -> str:
    return result.told


def _summarise_test(result: CasesTested) -> str:
    return f"{result.path}: {result.summary}"


def _page(result: Diagnosis, canvas: Canvas, now: datetime) -> RenderableType:
    from amgs_app.diagnosis import figure

    del now
    return figure.diagnosis(result, canvas.with_size(canvas.width, figure.height(result, canvas)))


@entry(sentence=_verdict, page=_page)
def diagnosis(result: Diagnosis) -> ResultTable:
    rows = [(HOLDS_SIGNS[step.holds], step.step, step.told) for step in result.evidence]
    notes = []
    trial = result.trial
    if trial is not None:
        notes.append(f"fix: {trial.fix.told} It {describe_trial(trial)}.")
        for answer in trial.moved[:_MOST_MOVED]:
            lost = f", loses {', '.join(answer.lost[:3])}" if answer.lost else ""
            notes.append(f"  moves “{answer.question}”{lost}{', begins otherwise' if answer.first else ''}")
    notes += [
        f"tried, not proposed: {other_trial.fix.told} It {describe_trial(other_trial)}."
        for other_trial in result.others
    ]
    if trial is not None:
        how = "`--apply` with the same words carries it out" if trial.fix.applies else "It is up to whoever asks"
        notes.append(f"{how}; `test --add` makes a test of it.")
    return sheet(result.verdict, "_ step told*", rows, notes)


@entry(sentence=_describe_fix, quiet=True)
def tabulate_applied_fix(result: FixApplied) -> ResultTable:
    undo = ", ".join(f"`undo {operation.id}`" for operation in result.operations)
    back = f"taken back by {undo}, in this order" if len(result.operations) > 1 else f"taken back by {undo}"
    notes = [back] if undo else []
    if result.before is not None:
        notes.append(f"`frame list {result.before.name}` shows it, `frame define` or `frame delete` takes it back.")
    rows = [("fix", result.fix.told), ("done", result.told)]
    return facts(result.told, rows, notes)


@entry(sentence=_summarise_test)
def tabulate_tested_cases(result: CasesTested) -> ResultTable:
    moved = (
        {}
        if result.compared is None
        else {case_change.after.case: case_change for case_change in result.compared.moved}
    )
    rows, notes = [], []
    for outcome in result.outcomes:
        change = moved.get(outcome.case)
        if not (outcome.faults or change) and result.quiet:
            continue
        rank = f"{outcome.rank}" if outcome.rank else "–"
        if change is not None:
            rank = f"{change.before.rank or '–'} → {rank}"
            notes.append(f"“{outcome.case.question}” {_since(change)}:")
            notes += [f"  {reason}" for reason in change.because]
        rows.append(("✗" if outcome.faults else "✓", rank, outcome.case.question, "; ".join(outcome.faults)))
    if result.recorded is not None:
        notes.insert(0, f"{plural(result.recorded, 'question')} with verdicts written into {result.path}.")
    if result.compared is not None:
        for label, questions in (("new", result.compared.added), ("no longer asked", result.compared.gone)):
            if questions:
                notes.append(f"{label}: {'; '.join(questions)}")
    return sheet(_summarise_test(result), "_ rank:n question* fails*", rows, notes)


def _since(change: CaseChange) -> str:
    before, after = bool(change.before.faults), bool(change.after.faults)
    if before == after:
        return "still fails, otherwise" if after else "still holds"
    return "fails now" if after else "holds now"
