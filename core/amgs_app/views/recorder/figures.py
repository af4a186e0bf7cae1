"""What another memory did, as pictures: a list of recalls or of records with the one under the cursor in full, and what
its scores are worth as a diagram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rich.style import Style
from rich.text import Text

from amgs_app.panes.row_filter import Listing, Row
from amgs_app.render.figures.canvas import Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.figures.format import optional
from amgs_app.render.figures.glyphs import ListPage, gauge, wrap

if TYPE_CHECKING:
    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs_app.session.operator import Operator
    from amgs_app.terminal.themes import Palette
    from amgs_app.views.recorder.results import (
        MemoryAudit,
        MemoryRecords,
        MemoryTraffic,
        RecallScores,
        RecallShown,
    )

R = TypeVar("R")
LISTING: Final = Listing(
    ("kind", "store", "id", "text"), ("count", "score"), ("count", "score", "kind", "text")
)
"""The fields of a line; count: records of an operation, or recalls of a record."""
TERMS: Final = (
    ("search", "What the memory was asked; the bar is the score of the first record that it brought."),
    ("used", "An answer after the recall holds half of the words that the record brought along."),
    ("not used", "No answer after the recall holds half of them."),
    ("untold", "There is no answer, or the query held every word of the record: it cannot be told."),
    ("lay there", "Was not brought; its place is that in a search for the words of the query alone."),
    ("duplicate", "Says what another record of the same store says."),
    (
        "superseded, contradicted",
        "A later record of the same store says otherwise, by rules that know English.",
    ),
    ("never recalled, not recalled lately", "No search brought it since it was stored, or for so many days."),
)
"""The words of the pictures, and what they mean."""
_GAUGE: Final = 6
_LABEL: Final = 10
_DETAIL_FROM, _DETAIL = 12, 12
"""Lines of a picture from which the row under the cursor stands below the list too, and in how many at most."""


@dataclass(frozen=True, slots=True)
class RecorderRow:
    """A line. at: when, or at which place. kind: what was done, or what is said of a record. operation: None for a
    record. told: what stands under the list while the cursor is on a record, as (label, text, score).
    """

    at: str
    kind: str
    store: str
    id: str
    text: str
    count: int | None
    score: float | None
    told: tuple[tuple[str, str, float | None], ...] = ()
    operation: MemoryOperation | None = None

    @property
    def below(self) -> tuple[tuple[str, str, float | None], ...]:
        """What stands under the list; of an operation made when it is asked for, of one among thousands."""
        one = self.operation
        if one is None:
            return self.told
        asked = (("asked", one.query, None),) if one.query else ()
        return (*asked, *((each.id, each.content, each.score) for each in one.records))

    @property
    def fields(self) -> Row:
        """What it is filtered and sorted by."""
        return {name: getattr(self, name) for name in LISTING.fields}


@dataclass(frozen=True, slots=True, eq=False)
class RecorderPage:
    """A list. heads: what stands above at, kind, count, score and text."""

    title: str
    notes: str
    heads: tuple[str, str, str, str, str]
    rows: Sequence[RecorderRow]
    at_width: int
    kind_width: int
    scored: bool


def _page(result: Any, heads: str, rows: Iterable[RecorderRow]) -> RecorderPage:
    title, notes = heading(result)
    at, kind, count, score, text = heads.split("|")
    every = tuple(rows)
    return RecorderPage(
        title,
        notes,
        (at, kind, count, score, text),
        every,
        max((len(each) for each in (at, *(row.at for row in every))), default=0),
        max((len(each) for each in (kind, *(row.kind for row in every))), default=0),
        any(row.score is not None for row in every),
    )


def heading(result: Any) -> tuple[str, str]:
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
    return _page(result, "at|did|records|score|what", map(_of_operation, result.operations))


def _of_operation(one: MemoryOperation) -> RecorderRow:
    return RecorderRow(
        f"{one.at:%m-%d %H:%M:%S}",
        f"✗ {one.act}" if one.failed else one.act,
        one.store,
        one.record,
        asked(one),
        one.count,
        one.records[0].score if one.records else None,
        operation=one,
    )


def recall_page(result: RecallShown) -> RecorderPage:
    """What a search brought, and what else lay there."""
    marks = {True: "used", False: "not used", None: "untold"}
    store = result.operation.store
    rows = (
        RecorderRow(
            f"{row.place}",
            kind := marks[row.used] if row.brought else "lay there",
            store,
            row.id,
            row.content,
            None,
            row.score,
            ((row.id, row.content, row.score), ("", dict(TERMS)[kind], None)),
        )
        for row in result.rows
    )
    return _page(result, "place|what|||record", rows)


def records_page(result: MemoryRecords) -> RecorderPage:
    """What is there now."""
    rows = (
        RecorderRow(
            f"{one.since:%Y-%m-%d}",
            f"version {one.versions}" if one.versions > 1 else "",
            one.store,
            one.id,
            one.content,
            one.recalls,
            None,
            ((one.id, one.content, None),),
        )
        for one in result.records
    )
    return _page(result, "since||recalls||record", rows)


def audit_page(result: MemoryAudit) -> RecorderPage:
    """What is of no use, or cannot be right."""
    rows = (
        RecorderRow(
            f"{one.since:%Y-%m-%d}",
            one.reason,
            one.store,
            one.id,
            one.content,
            one.recalls,
            None,
            (
                (one.id, one.content, None),
                ("because", one.because, None),
                *([(one.other or "other", one.other_content, None)] if one.other_content else []),
            ),
        )
        for one in result.rows
    )
    return _page(result, "since|reason|recalls||record", rows)


def draw_page(
    canvas: Canvas, page: RecorderPage, rows: Sequence[RecorderRow] | None = None, cursor: int | None = None
) -> Figure:
    """The title and the notes, the list, and below it the row under the cursor. rows: those that a filter leaves."""
    sheet = Figure(canvas)
    shown = page.rows if rows is None else rows
    body = _head(sheet, page.title, page.notes)
    tall = max(4, min(_DETAIL, body.height // 3)) if body.height >= _DETAIL_FROM and cursor is not None else 0
    _line(body.part(0, 0, None, 1), page, page.heads, ink(sheet.palette.muted))
    listed = body.part(0, 1, None, body.height - 1 - tall)

    def paint(line: Region, row: RecorderRow, chosen: bool) -> None:
        del chosen
        count = "" if row.count is None else f"{row.count:,}"
        told = (row.at, row.kind, count, optional(row.score), f"{row.id}  {row.text}" if row.id else row.text)
        _line(line, page, told, ink(sheet.palette.text), row)

    ListPage.around(shown, listed.height, cursor).draw(listed, paint)
    if tall and cursor is not None and 0 <= cursor < len(shown):
        _below(body.part(0, body.height - tall), shown[cursor])
    return sheet


def drawn(page: Callable[[R], RecorderPage]) -> Callable[[Operator, R, Canvas], Text]:
    """The figure of a result that is shown as such a page."""
    return lambda _, result, canvas: draw_page(canvas, page(result)).render()


def _head(sheet: Figure, title: str, notes: str) -> Region:
    """The title and as many lines of notes as there is room for; gives what is below."""
    sheet.put(1, 0, clean(title), ink(sheet.palette.text, bold=True), width=sheet.width - 2)
    lines = wrap(notes, max(8, sheet.width - 2), 1 if sheet.height < 16 else 3) if notes else []
    for y, line in enumerate(lines, 1):
        sheet.put(1, y, line, ink(sheet.palette.muted), width=sheet.width - 2)
    return sheet.part(0, len(lines) + 2)


def _line(
    line: Region,
    page: RecorderPage,
    told: tuple[str, str, str, str, str],
    style: Style,
    row: RecorderRow | None = None,
) -> None:
    """A row in its columns, or with `row` None what stands above them."""
    palette, quiet = line.palette, style if row is None else ink(line.palette.muted)
    at, kind, count, score, text = told
    x = line.put(2, 0, at, quiet, width=page.at_width) + 1
    if page.kind_width:
        colour = style if row is None else _ink(palette, kind)
        x = line.put(x, 0, clean(kind), colour, width=page.kind_width) + 1
    if page.heads[2]:
        x = line.put(x, 0, count, quiet, width=len(page.heads[2]), align="right") + 1
    if page.scored:
        x = line.put(x, 0, score, quiet, width=5, align="right") + 1
        if line.width >= 70:
            if row is not None and row.score is not None:
                gauge(line, x, 0, _GAUGE, row.score, ink(palette.accent))
            x += _GAUGE + 1
    line.put(x, 0, clean(text), style, width=line.width - x)


def _ink(palette: Palette, kind: str) -> Style:
    if kind.startswith("✗"):
        return ink(palette.bad)
    colours = {
        "search": palette.accent,
        "used": palette.good,
        "not used": palette.warn,
        "delete": palette.warn,
        "duplicate": palette.warn,
        "superseded": palette.bad,
        "contradicted": palette.bad,
    }
    return ink(colours.get(kind, palette.muted))


def _below(region: Region, row: RecorderRow) -> None:
    """The row under the cursor in full, as far as there is room."""
    palette, one = region.palette, row.operation
    where = [row.store, one.conversation if one is not None else ""]
    took = f"{one.milliseconds:,.0f} ms" if one is not None and one.milliseconds else ""
    region.rule(0, clean(" · ".join(filter(None, (row.kind, *where, took)))))
    y = 1
    for label, text, score in row.below:
        left = region.height - y
        if left <= 0:
            return
        wide = max(_LABEL, min(24, max(width_of(label) for label, _, _ in row.below)))
        x = region.put(1, y, clean(label), ink(palette.muted), width=wide) + 1
        if score is not None:
            x = region.put(x, y, optional(score), ink(palette.accent), width=5, align="right") + 1
        for line in wrap(text, max(8, region.width - x - 1), left):
            region.put(x, y, line, ink(palette.text))
            y += 1


def draw_scores(canvas: Canvas, result: RecallScores) -> Figure:
    """The reliability diagram of their scores, and its figures as a table."""
    from amgs_app.render.catalogue import table_of
    from amgs_app.render.figures.calibration import draw_diagram
    from amgs_app.render.sheet import needed_width, to_lines

    sheet, told = Figure(canvas), table_of(result)
    quiet = ink(sheet.palette.muted)
    sheet.put(1, 0, told.title, ink(sheet.palette.text, bold=True), width=sheet.width - 2)
    body, table = sheet.part(0, 2), result.review.table
    side = body
    if table is not None and body.width >= 74:
        left = min(body.width // 2, body.height * 3 + 8)
        draw_diagram(body.part(0, 0, left), table.bins)
        side = body.part(left + 2, 0)
    elif table is not None and body.height >= 20:
        draw_diagram(body.part(0, 0, None, body.height // 2), table.bins)
        side = body.part(0, body.height // 2 + 1)
    lines = (
        [] if needed_width(told) > side.width - 2 else to_lines(told, side.width - 2)[1 : -len(told.notes)]
    )
    for y, line in enumerate(lines):
        side.put(1, y, line.plain, quiet if y == 0 else ink(sheet.palette.text))
    y = len(lines)
    for note in told.notes:
        for part in wrap(note, max(8, side.width - 2), 4):
            side.put(1, y, part, quiet)
            y += 1
    return sheet
