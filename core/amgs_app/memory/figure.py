"""What sources say now against what the memory holds of them: a revision, text by text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.canvas import Canvas, Figure, Region, clean, cut_middle, ink, width_of
from amgs_app.render.format import short_id
from amgs_app.render.glyphs import HeaderPart, ListPage, facts_line, wrap

if TYPE_CHECKING:
    from amgs.lifecycle.revision import RevisionPlan

UNCHANGED = "unchanged"
_WHAT = 10
"""Cells of the longest of the words in the first column."""
_WIDE = 76
"""Cells from which the source has a column of its own."""


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """What becomes of one text, or why a file is not taken in; block_id is empty where no block is meant. before,
    after: what a text said and what its successor says.
    """

    what: str
    title: str
    source: str
    because: str
    block_id: str = ""
    before: str = ""
    after: str = ""


def rows_of(plan: RevisionPlan) -> tuple[RevisionRow, ...]:
    """A row for each text that does not just stay, after what is refused; one for all that stay."""
    rows = [RevisionRow("rejected", one.reason, one.source, one.reason) for one in plan.refused]
    rows += [RevisionRow("warning", one.reason, one.source, one.reason) for one in plan.warnings]
    rows += [
        RevisionRow(one.kind, one.title, one.source, one.because, one.block_id, one.before, one.after)
        for one in plan.pieces
    ]
    if plan.kept:
        stay = "stays as it is" if plan.kept == 1 else "stay as they are"
        rows.append(RevisionRow(UNCHANGED, f"{plural(plan.kept, 'text')} {stay}", "", ""))
    return tuple(rows)


def revision(plan: RevisionPlan, canvas: Canvas, *, operation: int | None = None, cursor: int = 0) -> Text:
    """The rows of a revision, and why the chosen one is so. operation: what carried it out; None for a plan."""
    sheet = Figure(canvas)
    palette = sheet.palette
    state = "nothing has changed yet" if operation is None else f"operation {operation}"
    facts = [
        HeaderPart(1, ((cut_middle(clean(plan.about), max(8, sheet.width // 2)), ink(palette.accent, bold=True)),)),
        HeaderPart(0, ((state, ink(palette.warn if operation is None else palette.text)),)),
        HeaderPart(2, ((plural(plan.sources, "source"), ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts, x=1)
    rows = rows_of(plan)
    cursor = max(0, min(cursor, len(rows) - 1))
    detail = 0
    if sheet.height >= 12:
        chosen = rows[cursor] if rows else None
        changed = len(changes(chosen.before, chosen.after)) if chosen is not None else 0
        detail = min(4 + changed, max(4, sheet.height // 2))
    page = ListPage.around(rows, sheet.height - 2 - detail, cursor)
    sheet.rule(1, "revision", page.note)
    if not rows:
        sheet.put(1, 2, "There is nothing to do.", ink(palette.muted))
        return sheet.render()
    _list(sheet.part(0, 2), page)
    if detail:
        _detail(sheet.part(0, sheet.height - detail), rows[cursor])
    return sheet.render()


def _list(region: Region, page: ListPage[RevisionRow]) -> None:
    palette = region.palette
    colours = {
        "rejected": palette.bad,
        "warning": palette.warn,
        "superseded": palette.warn,
        "archived": palette.warn,
        "added": palette.good,
        "restored": palette.good,
    }
    source_w = _source_width(page.rows, region.width)
    title_w = region.width - 3 - _WHAT - (source_w + 2 if source_w else 0)

    def paint(line: Region, row: RevisionRow, chosen: bool) -> None:
        line.put(1, 0, row.what, ink(colours.get(row.what, palette.muted), bold=chosen), width=_WHAT)
        style = ink(palette.muted if row.what == UNCHANGED else palette.text, bold=chosen)
        line.put(2 + _WHAT, 0, clean(row.title), style, width=title_w)
        if source_w:
            line.put(4 + _WHAT + title_w, 0, cut_middle(clean(row.source), source_w), ink(palette.muted))

    page.draw(region, paint)


def _source_width(rows: Sequence[RevisionRow], width: int) -> int:
    if width < _WIDE:
        return 0
    return min(max((width_of(clean(row.source)) for row in rows), default=0), (width - 3 - _WHAT) // 2)


def _detail(region: Region, row: RevisionRow) -> None:
    """Where the chosen row comes from, and why."""
    palette = region.palette
    region.rule(0, row.what, short_id(row.block_id), strong=True)
    room = region.width - 2
    region.put(1, 1, cut_middle(clean(row.source or row.title), room), ink(palette.muted))
    changed = changes(row.before, row.after)
    said = wrap(clean(row.because), room, 1 if changed else region.height - 2)
    for y, line in enumerate(said, start=2):
        region.put(1, y, line, ink(palette.text))
    y = 2 + len(said)
    for sign, words in changed:
        colour = palette.good if sign == "+" else palette.bad
        for at, line in enumerate(wrap(clean(words), max(8, room - 2), max(1, region.height - y))):
            if y < region.height:
                region.put(1, y, "  " if at else f"{sign} ", ink(colour, bold=True))
                region.put(3, y, line, ink(colour))
                y += 1


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ, in the order of the text: those that went with −, those that came with +."""
    if not before and not after:
        return []
    old, new = before.splitlines(), after.splitlines()
    found: list[tuple[str, str]] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [("−", line) for line in old[a:b] if line.strip()]
            found += [("+", line) for line in new[c:d] if line.strip()]
    return found
