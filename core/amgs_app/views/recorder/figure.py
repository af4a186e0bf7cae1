"""What another memory did, as pictures: a list of recalls or of records with the one under the cursor in full, or what
its scores are worth as a diagram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rich.style import Style
from rich.text import Text

from amgs_app.panes.row_filter import Listing, Row
from amgs_app.render.canvas import Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.format import optional
from amgs_app.render.glyphs import ListPage, gauge, wrap

if TYPE_CHECKING:
    from amgs.types.calibration import Reliability
    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs_app.session.operator import Operator
    from amgs_app.terminal.themes import Palette
    from amgs_app.views.recorder.results import MemoryAudit, MemoryRecords, MemoryTraffic, RecallScores, RecallShown

R = TypeVar("R")
Told = tuple[str, str, float | None]
"""What a text is, the text, and its score."""
LISTING: Final = Listing(("kind", "store", "id", "text"), ("count", "score"), ("count", "score", "kind", "text"))
"""The fields of a line; count: records of an operation, or recalls of a record."""
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
"""The words of the pictures, and what they mean."""
_GAUGE, _GAUGE_FROM = 6, 70
"""Cells of a score's bar, and of a line that has one."""
_DETAIL = 12
"""Lines of a picture from which the row under the cursor stands below the list too, and in how many at most."""


@dataclass(frozen=True, slots=True)
class RecorderRow:
    """A line. at: when, or at which place. kind: what was done, or what is said of a record. told: a record in full.
    operation: None for a record.
    """

    at: str
    kind: str
    store: str
    id: str
    text: str
    count: int | None
    score: float | None
    told: tuple[Told, ...] = ()
    operation: MemoryOperation | None = None

    @property
    def below(self) -> tuple[Told, ...]:
        """What stands below the list; of an operation made when it is asked for, of one among thousands."""
        if (one := self.operation) is None:
            return self.told
        asked = (("asked", one.query, None),) if one.query else ()
        return (*asked, *((each.id, each.content, each.score) for each in one.records))

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in its columns."""
        count = "" if self.count is None else f"{self.count:,}"
        score = "" if self.score is None else optional(self.score)
        return self.at, self.kind, count, score, f"{self.id}  {self.text}" if self.id else self.text

    @property
    def fields(self) -> Row:
        """What it is filtered and sorted by."""
        return {name: getattr(self, name) for name in LISTING.fields}


@dataclass(frozen=True, slots=True, eq=False)
class RecorderPage:
    """A view. heads: what stands above the columns; widths: of all but the last, 0 for one that is empty. table: of a
    diagram instead of rows.
    """

    title: str
    notes: str
    heads: Sequence[str] = ()
    widths: Sequence[int] = ()
    rows: Sequence[RecorderRow] = ()
    table: Reliability | None = None


def _page(result: Any, heads: str, made: Iterable[RecorderRow]) -> RecorderPage:
    """heads: of at, kind, count, score and text."""
    rows, named = tuple(made), heads.split("|")
    columns = zip(named, *(row.cells for row in rows), strict=True)
    widths = [max(map(width_of, column)) for column, _ in zip(columns, range(4), strict=False)]
    return RecorderPage(*_heading(result), named, widths, rows)


def _heading(result: Any) -> tuple[str, str]:
    """The title and the notes of a result's table, but for those that name other commands."""
    from amgs_app.render.catalogue import table_of

    told = table_of(result)
    return told.title, " · ".join(note for note in told.notes if "`" not in note)


def asked(one: MemoryOperation) -> str:
    """What an operation was about: its query, else its records, else the id of one."""
    told = one.query or " · ".join(each.content or each.id for each in one.records[:3]) or one.record
    return " ".join(told.split())


def traffic_page(result: MemoryTraffic) -> RecorderPage:
    """What the memory was asked to do, the latest first."""
    rows = (
        RecorderRow(
            f"{one.at:%m-%d %H:%M:%S}",
            f"✗ {one.act}" if one.failed else one.act,
            one.store,
            one.record,
            asked(one),
            one.count,
            one.records[0].score if one.records else None,
            operation=one,
        )
        for one in result.operations
    )
    return _page(result, "at|did|records|score|what", rows)


def recall_page(result: RecallShown) -> RecorderPage:
    """What a search brought, and what else lay there."""
    marks = {True: "used", False: "not used", None: "untold"}
    rows = []
    for row in result.rows:
        kind = marks[row.used] if row.brought else "lay there"
        told: tuple[Told, ...] = ((row.id, row.content, row.score), ("", dict(TERMS)[kind], None))
        where = result.operation.store, row.id, row.content
        rows.append(RecorderRow(f"{row.place}", kind, *where, None, row.score, told))
    return _page(result, "place|what||score|record", rows)


def records_page(result: MemoryRecords) -> RecorderPage:
    """What is there now."""
    rows = []
    for one in result.records:
        kind = f"version {one.versions}" if one.versions > 1 else ""
        where = one.store, one.id, one.content
        rows.append(RecorderRow(f"{one.since:%Y-%m-%d}", kind, *where, one.recalls, None, ((*where[1:], None),)))
    return _page(result, "since||recalls||record", rows)


def audit_page(result: MemoryAudit) -> RecorderPage:
    """What is of no use, or cannot be right."""
    rows = []
    for one in result.rows:
        where = one.store, one.id, one.content
        told: list[Told] = [(*where[1:], None), ("because", one.because, None)]
        told += [(one.other or "other", one.other_content, None)] if one.other_content else []
        rows.append(RecorderRow(f"{one.since:%Y-%m-%d}", one.reason, *where, one.recalls, None, tuple(told)))
    return _page(result, "since|reason|recalls||record", rows)


def scores_page(result: RecallScores) -> RecorderPage:
    """What scores are worth."""
    return RecorderPage(*_heading(result), table=result.review.table)


def drawn(page: Callable[[R], RecorderPage]) -> Callable[[Operator, R, Canvas], Text]:
    """The figure of a result that is shown as such a page."""
    return lambda _, result, canvas: draw_page(canvas, page(result)).render()


def draw_page(
    canvas: Canvas, page: RecorderPage, rows: Sequence[RecorderRow] | None = None, cursor: int | None = None
) -> Figure:
    """The title and the notes; then the diagram, or the list and below it the row under the cursor. rows: those that a
    filter leaves.
    """
    sheet, rows = Figure(canvas), page.rows if rows is None else rows
    palette = sheet.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    sheet.put(1, 0, clean(page.title), ink(palette.text, bold=True), width=sheet.width - 2)
    most = sheet.height if not page.heads and page.table is None else 1 if sheet.height < 16 else 4
    notes = wrap(page.notes, max(8, sheet.width - 2), most)
    for y, note in enumerate(notes, 1):
        sheet.put(1, y, note, quiet)
    body = sheet.part(0, len(notes) + 2)
    if page.table is not None:
        from amgs_app.calibration.figure import draw_diagram

        draw_diagram(body.part(0, 0, body.height * 3 + 8), page.table.bins)
    if not page.heads:
        return sheet
    chosen = rows[cursor] if cursor is not None and 0 <= cursor < len(rows) else None
    tall = min(_DETAIL, body.height // 3) if body.height >= _DETAIL and chosen is not None else 0
    listed = body.part(0, 1, None, body.height - 1 - tall)
    _line(body, page.heads, page.widths, (quiet,) * 5)

    def paint(line: Region, row: RecorderRow, _: bool) -> None:
        x = _line(line, row.cells, page.widths, (quiet, _ink(palette, row.kind), quiet, quiet, plain))
        if row.score is not None and x:
            gauge(line, x, 0, _GAUGE, row.score, ink(palette.accent))

    ListPage.around(rows, listed.height, cursor).draw(listed, paint)
    if tall and chosen is not None:
        _below(body.part(0, body.height - tall), chosen)
    return sheet


def _line(line: Region, cells: Sequence[str], widths: Sequence[int], styles: Sequence[Style]) -> int:
    """Write the columns; gives the place of the score's bar, 0 for none."""
    x, bar = 2, 0
    for place, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=False)):
        if width:
            x = line.put(x, 0, cell, style, width=width, align="right" if place > 1 else "left") + 1
    if widths[3] and line.width >= _GAUGE_FROM:
        bar, x = x, x + _GAUGE + 1
    line.put(x, 0, clean(cells[4]), styles[4], width=line.width - x)
    return bar


def _ink(palette: Palette, kind: str) -> Style:
    bad, warn = ("✗", "superseded", "contradicted"), ("not used", "delete", "duplicate")
    colour = {"search": palette.accent, "used": palette.good}.get(kind, palette.muted)
    return ink(palette.bad if kind.startswith(bad) else palette.warn if kind.startswith(warn) else colour)


def _below(region: Region, row: RecorderRow) -> None:
    """The row under the cursor in full, as far as there is room."""
    palette, one = region.palette, row.operation
    where = (one.conversation, f"{one.milliseconds:,.0f} ms") if one is not None else ()
    region.rule(0, clean(" · ".join(filter(None, (row.kind, row.store, *where)))))
    wide, y = min(24, max((width_of(label) for label, _, _ in row.below), default=0)), 1
    for label, text, score in row.below:
        x = region.put(1, y, clean(label), ink(palette.muted), width=wide) + 1
        if score is not None:
            x = region.put(x, y, optional(score), ink(palette.accent), width=5, align="right") + 1
        for line in wrap(text, max(8, region.width - x - 1), max(0, region.height - y)):
            region.put(x, y, line, ink(palette.text))
            y += 1
