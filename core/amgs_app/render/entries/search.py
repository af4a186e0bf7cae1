"""Searches, and why a block is or is not among what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs.types import COMPONENTS
from amgs_app.panes.row_fields import state_of
from amgs_app.render.answer import answer_told
from amgs_app.render.catalogue import entry, table_of
from amgs_app.render.evidence import evidence_told, part_told
from amgs_app.render.passage import runs_of
from amgs_app.render.sheet import Marked, ResultTable, cut, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from amgs.types import Candidate, Explanation, LayerReport, SearchResult
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.results.memory import SearchList
    from amgs_app.session.operator import Operator


def layers_told(layers: tuple[LayerReport, ...]) -> str:
    """What each layer of the waterfall brought, on one line."""
    said = [
        f"{each.layer} skipped ({each.skipped})"
        if each.skipped
        else f"{each.layer} {each.candidates_in}→{each.candidates_out} {each.milliseconds:.1f} ms"
        for each in layers
    ]
    return " │ ".join(said)


def _parts(candidate: Candidate) -> tuple[float, ...]:
    return tuple(getattr(candidate.parts, name) for name in COMPONENTS)


def _drawn(operator: Operator, result: SearchResult, canvas: Canvas) -> Text:
    from amgs_app.panes.row_fields import of_candidates
    from amgs_app.render.drawing import places
    from amgs_app.render.figures.frame import search

    rows = places(operator, "frame", of_candidates(result.hits))
    return search(result, canvas, selected=operator.selection, shown=rows)


@entry(figure=_drawn)
def search_result(result: SearchResult) -> ResultTable:
    rows = [
        (
            n,
            hit.block.id,
            hit.block.title,
            hit.source,
            hit.block.created_at,
            state_of(hit.block),
            hit.score,
            *_parts(hit),
            "+".join(hit.layers),
            Marked(runs_of(hit)),
        )
        for n, hit in enumerate(result.hits, 1)
    ]
    parts = "recency:score? centr:score? conf:score? simil:score? reinf:score?"
    columns = f"#:n id:id title* source* date:day state~ score:score {parts} found_by? passage/"
    notes = [layers_told(result.layers)]
    notes += [f"{each.written!r} was read as {each.read_as!r}" for each in result.readings]
    notes += answer_told(result)
    return sheet(f"{plural(len(rows), 'hit')} for {result.query!r}", columns, rows, notes)


@entry()
def search_list(result: SearchList) -> ResultTable:
    rows = [(one.number, one.at, one.query, one.places, one.pool) for one in result.searches]
    notes = ("`searches NUMBER BLOCK` explains one.",) if rows else ()
    return sheet(
        plural(len(rows), "past search", "past searches"), "#:n at:at query* hits:n of:n", rows, notes
    )


_MOST_CHANGES = 3
"""Weights of the evidence that an explanation names."""


def _followed(result: Explanation, canvas: Canvas, now: datetime) -> RenderableType:
    """A block on its way down the layers, each with its reason in full."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    del canvas, now
    told = table_of(result)
    layers = Table.grid(padding=(0, 1))
    for each in result.layers:
        sign = {"passed": "✓", "missed": "✗"}.get(each.verdict, "–")
        value = "" if each.value is None else f"{each.value:.2f}"
        needed = "" if each.needed is None else f"(needs {each.needed:.2f})"
        layers.add_row(sign, Text(each.layer, style="bold"), value, needed, Text(each.because))
    notes = [Text(note) for note in told.notes]
    return Group(Text(f"{told.title}\n", style="bold"), layers, Text(""), *notes)


def _rank(result: Explanation) -> str:
    said = "in" if result.admitted else f"dropped out at {result.fell_at}"
    rank = f", rank {result.rank} of {result.of}" if result.rank else ""
    return f"“{cut(result.block.title, 40)}”: {said}{rank}"


def _or_budget(result: Explanation) -> str:
    """What else was tried and admits it no more than other weights do."""
    over = result.candidate is not None and result.candidate.fate == "over_budget"
    return "and no budget up to twice as large " if over else ""


@entry(page=_followed, sentence=_rank)
def explanation(result: Explanation) -> ResultTable:
    asked = f"{result.query!r} in {result.frame}" if result.frame else repr(result.query)
    said = "admitted" if result.admitted else f"dropped out at {result.fell_at}"
    rows = [(each.layer, each.verdict, each.value, each.needed, each.because) for each in result.layers]
    rank = f"rank {result.rank} of {result.of}, {result.places} admitted"
    notes = [rank if result.admitted else f"{rank}; {result.because}"]
    if result.candidate is not None:
        notes.append(evidence_told(result.candidate.evidence))
    if result.form:
        beside = f"; its neighbours and the rest of its conversation count {result.gate:.0%}"
        notes.append(f"a {result.form}{beside if result.gate > 0 else ''}")
    if result.budget_change is not None:
        told = plural(result.budget_change, "more token", "more tokens")
        notes.append(f"{told} in the budget would admit it")
    if result.change is not None:
        wanted = ",".join(f"{getattr(result.change.weights, name):.4f}" for name in COMPONENTS)
        notes.append(
            f"--weights {wanted} would admit it at rank {result.change.rank} (moved by "
            f"{result.change.distance:.3f})"
        )
    elif result.as_of is not None:
        notes.append(f"as it was at {result.as_of:%Y-%m-%d %H:%M}, from what was kept with the assembly")
    elif result.budget_change is None and result.fell_at in ("score", "selection"):
        notes.append(f"no change of weights {_or_budget(result)}was found that admits it")
    if result.evidence_change is not None:
        change = result.evidence_change
        most = sorted(change.weights.items(), key=lambda one: -abs(one[1][1] - one[1][0]))[:_MOST_CHANGES]
        told = ", ".join(f"{part_told(name)} {old:.2f} → {new:.2f}" for name, (old, new) in most)
        notes.append(
            f"other weights of what speaks for it would admit it at rank {change.rank}, moved by "
            f"{change.distance:.2f}, most of all {told}"
        )
    title = f"{result.block.title}: {said} for {asked}"
    return sheet(title, "layer verdict value:score needed:score because*", rows, notes)
