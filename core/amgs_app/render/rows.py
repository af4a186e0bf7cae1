"""A list, described once: its columns, the cells of a row, and the detail of the selected row; and the journal.

From it follow the table and CSV on the command line, the list in a pane at any width, its filter and sort
fields, and which line shows which row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from amgs_app.panes.row_filter import Listing, Row
from amgs_app.render.sheet import Column, Marked, ResultTable, columns_of, cut_columns, is_number

if TYPE_CHECKING:
    from rich.style import Style

    from amgs.types import JournalEntry
    from amgs_app.render.canvas import Canvas, Figure, Region
    from amgs_app.terminal.themes import Palette


T = TypeVar("T")
Tone = Literal["good", "warn", "bad", "accent"]
Line = tuple[str, str]
"""A label, and the text beside it."""
_GAUGE = 6
_GAUGES_FROM = 56
"""Cells of a bar beside a number, and of a list that has room for bars."""
_DETAIL_FROM = 12
"""Lines from which the chosen row stands below the list in full."""


@dataclass(frozen=True, eq=False)
class Rows(Generic[T]):
    """A kind of list.

    columns: as `sheet` reads them. cells: raw values of a row. key: id of the block that a row is about. detail: the
    selected row in full; its first line is a heading. tones: colour of cells that begin with a word. empty: a sentence
    for an empty list, and commands that fill it. pane: the pane whose filter applies. bar: draws a row's bar in so many
    cells, instead of the plain picture.
    """

    columns: str
    cells: Callable[[T], Sequence[Any]]
    detail: Callable[[T], Iterable[Line]] | None = None
    key: Callable[[T], str | None] = lambda _: None
    tones: Mapping[str, Tone] = field(default_factory=dict)
    empty: Sequence[str] = ("Nothing is here.",)
    pane: str = ""
    bar: Callable[[Region, int, int, T], object] | None = None

    @cached_property
    def fields(self) -> tuple[Column, ...]:
        """Columns of the list."""
        return columns_of(self.columns)

    @cached_property
    def listing(self) -> Listing:
        """Fields by which rows can be filtered, all but times and ids, and the shown ones through which a key sorts."""
        texts: list[str] = []
        numbers: list[str] = []
        sorts: list[str] = []
        for column in self.fields:
            if column.kind in ("instant", "day", "id") or column.name == "#":
                continue
            (numbers if is_number(column) or column.kind == "age" else texts).append(column.field)
            if column.shown and not column.rare and not (column.wide and column.rank > 2):
                sorts.append(column.field)
        return Listing(tuple(texts), tuple(numbers), tuple(sorts))

    def of(self, title: str, items: Iterable[T], notes: Iterable[str] = (), **more: Any) -> RowList[T]:
        """Return the list of these rows. more: further fields of RowList."""
        return RowList(self, title, tuple(items), tuple(note for note in notes if note), **more)


def join(*kinds: Rows[Any]) -> Listing:
    """Return the filter and sort fields of several lists of a pane."""
    listings = [kind.listing for kind in kinds]
    every = (
        tuple(dict.fromkeys(name for names in lists for name in names))
        for lists in zip(*map(_names, listings), strict=True)
    )
    texts, numbers, sorts = every
    return Listing(texts, tuple(name for name in numbers if name not in texts), sorts)


def _names(listing: Listing) -> tuple[tuple[str, ...], ...]:
    return listing.texts, listing.numbers, listing.sorts


@dataclass(frozen=True, eq=False)
class RowList(Generic[T]):
    """Rows of a kind.

    total: number of all rows, if these are a part; before: how many come before these. now: for ages. digest: rows that
    a table shows instead of all.
    """

    kind: Rows[T]
    title: str
    items: tuple[T, ...]
    notes: tuple[str, ...] = ()
    total: int | None = None
    before: int = 0
    now: datetime | None = None
    digest: tuple[T, ...] | None = None

    def table(self) -> ResultTable:
        """Return the list as a table."""
        listed = [n for n, column in enumerate(self.kind.fields) if column.listed]

        def rows(items: Iterable[T]) -> tuple[tuple[Any, ...], ...]:
            return tuple(tuple(cells[n] for n in listed) for cells in map(self._cells, items))

        digest = None if self.digest is None else rows(self.digest)
        columns = tuple(self.kind.fields[n] for n in listed)
        notes = self.notes if self.items else (*self.notes, *self.kind.empty[:1])
        return ResultTable(self.title, columns, rows(self.items), notes, digest)

    def _cells(self, item: T) -> tuple[Any, ...]:
        return tuple(self.kind.cells(item))

    @cached_property
    def fields(self) -> Sequence[Row]:
        """Values by which rows are filtered and sorted, by field."""
        return [
            {
                column.field: self._to_sortable(column, value)
                for column, value in zip(self.kind.fields, row, strict=True)
            }
            for row in map(self._cells, self.items)
        ]

    def _to_sortable(self, column: Column, value: Any) -> Any:
        """Return a value as it is filtered and sorted: ages as days."""
        if column.kind != "age" or value is None or self.now is None:
            return value
        return (self.now - value).total_seconds() / 86400

    def keep(self, places: Iterable[int] | None) -> RowList[T]:
        """Return the list with only the rows at these indexes, in this order; None keeps all."""
        if places is None:
            return self
        return replace(self, items=tuple(self.items[place] for place in places), total=None, before=0)

    def place_of(self, key: str | None) -> int | None:
        """Return the index of the first row about a block; None if there is none."""
        every = (at for at, item in enumerate(self.items, self.before) if key and self.kind.key(item) == key)
        return next(every, None)

    def at(self, place: int | None) -> T | None:
        """Return the row at an index of the whole list; None if it is not loaded."""
        here = -1 if place is None else place - self.before
        return self.items[here] if 0 <= here < len(self.items) else None

    # --- the picture ----------------------------------------------------------------------------------------

    def draw(self, canvas: Canvas, cursor: int | None = None, *, filtered: bool = False, marked: str = "") -> Figure:
        """Draw the list on a canvas; see `draw_in`."""
        from amgs_app.render.canvas import Figure

        sheet = Figure(canvas)
        self.draw_in(sheet, cursor, filtered=filtered, marked=marked)
        return sheet

    def draw_in(self, sheet: Region, cursor: int | None = None, *, filtered: bool = False, marked: str = "") -> None:
        """Draw title, notes and rows, and below them the selected row in full if there is room.

        filtered: some rows may be hidden. marked: label of the selected line within the row.
        """
        from amgs_app.render.canvas import clean, ink, width_of
        from amgs_app.render.glyphs import wrap

        palette = sheet.palette
        if not self.items and (filtered or not self.notes):
            self._say_nothing(sheet, filtered)
            return
        notes = " · ".join(note for note in self.notes if "`" not in note) if sheet.height > 5 else ""
        lines = wrap(notes, max(8, sheet.width - 2), max(1, min(4, sheet.height // 6))) if notes else []
        for y, line in enumerate(lines, 1):
            sheet.put(1, y, line, ink(palette.muted))
        body = sheet.part(0, 1 + len(lines) + (sheet.height >= 16 and bool(lines)))
        high = body.height
        if high >= _DETAIL_FROM and self.kind.detail is not None:
            high = min(max(len(self.items) + 1, high // 3), high - min(9, high // 3))
        note = self.draw_rows(body.part(0, 0, None, high), cursor)
        x = sheet.put(1, 0, clean(self.title), ink(palette.text, bold=True), width=sheet.width - width_of(note) - 3)
        sheet.put(max(x, sheet.width - width_of(note)) - 1, 0, note, ink(palette.muted))
        chosen = self.at(self.before if cursor is None else cursor)
        if high < body.height and chosen is not None:
            self.draw_detail(body.part(0, high), chosen, marked)

    def _say_nothing(self, sheet: Region, filtered: bool) -> None:
        """Draw what an empty list says."""
        from amgs_app.render.glyphs import notice_in

        sentence, *ways = self.kind.empty
        if filtered:
            sentence, ways = "F changes the filter; a blank filter clears it.", []
        notice_in(sheet, "No row matches the filter" if filtered else self.title, ways, sentence)

    def draw_rows(self, region: Region, cursor: int | None = None) -> str:
        """Draw the column heads and the page of rows with the cursor; return which rows are shown, as `1–12 of 97`.

        Columns that stand below a row are drawn only if all rows have room for them.
        """
        from amgs_app.render.canvas import clean, ink
        from amgs_app.render.glyphs import scroll_note, window_of
        from amgs_app.render.passage import in_lines

        palette, headed = region.palette, region.height >= 4 and bool(self.items)
        room = max(0, region.height - headed)
        under = next((n for n, column in enumerate(self.kind.fields) if column.below), None)
        step = 2 if under is not None and 2 * len(self.items) <= room else 1
        total = len(self.items) if self.total is None else self.total
        first = max(window_of(total, room, cursor, self.before) - self.before, 0)
        items = self.items[first : first + room]
        raw = [self._cells(item) for item in items]
        seen = [
            n
            for n, column in enumerate(self.kind.fields)
            if column.shown and not column.below and column.fills(row[n] for row in raw)
        ]
        columns = [self.kind.fields[n] for n in seen]
        shown = [[clean(column.show(row[n], self.now)) for n, column in zip(seen, columns, strict=True)] for row in raw]
        heads = [column.name for column in columns]
        gap = 1 if region.width < 80 else 2
        bar = _GAUGE if region.width >= _GAUGES_FROM else 0
        gauges = sum(column.gauge for column in columns) if bar else 0
        every = [heads, *shown] if headed else shown
        room = region.width - 1 - gauges * (bar + 1)
        positions, widths = cut_columns(columns, every, room, gap, drops=True)
        if gauges and self.kind.bar is not None:  # a bar is long only where no text is short
            spare = (room - sum(widths) - gap * (len(widths) - 1)) // gauges
            bar = max(bar, min(region.width // 6, bar + spare))

        def write(line: Region, cells: Sequence[str], styles: Sequence[Style]) -> int:
            """Write the columns; gives where the bar stands."""
            x, at = 1, 0
            for n, width in zip(positions, widths, strict=True):
                right = is_number(columns[n]) or columns[n].kind == "age"
                x = line.put(x, 0, cells[n], styles[n], width=width, align="right" if right else "left") + gap
                if bar and columns[n].gauge:
                    at, x = x - gap + 1, x + bar + 1
            return at

        if headed:
            write(region.part(0, 0, None, 1), heads, [ink(palette.muted)] * len(heads))
        for y, (item, cells, values) in enumerate(zip(items, shown, raw, strict=True)):
            place = self.before + first + y
            chosen = place == cursor
            line = region.part(0, headed + y * step, None, step)
            for down in range(step):
                region.lists(headed + y * step + down, place)
            line.put(0, 0, "▸" if chosen else " ", ink(palette.accent, bold=True))
            styles = [self._style(palette, c, cell, chosen) for c, cell in zip(columns, cells, strict=True)]
            if x := write(line, cells, styles):
                value = next(values[n] for n in seen if self.kind.fields[n].gauge)
                self._draw_bar(line, x, bar, item, value)
            if step == 2 and under is not None and (lower_cell := values[under]) is not None:
                runs = in_lines(
                    lower_cell.runs if isinstance(lower_cell, Marked) else ((str(lower_cell), False),),
                    line.width - 6,
                    1,
                )
                for run in runs[:1]:
                    line.pieces(5, 1, [(text, ink(palette.accent if asked else palette.muted)) for text, asked in run])
            for down in range(step if chosen else 0):
                line.shade(down, palette.selection)
        if not self.items:
            region.put(1, 0, self.kind.empty[0], ink(palette.muted), width=region.width - 2)
        return scroll_note(self.before + first, len(items), total)

    def _draw_bar(self, line: Region, x: int, cells: int, item: T, value: float | None) -> None:
        """Draw a row's bar."""
        from amgs_app.render.canvas import ink
        from amgs_app.render.glyphs import gauge

        if self.kind.bar is not None:
            self.kind.bar(line, x, cells, item)
        elif value is not None:
            gauge(line, x, 0, cells, value, ink(line.palette.accent))

    def draw_under(self, region: Region, cursor: int | None = None) -> None:
        """Draw the list under a rule with its title, as part of a larger figure."""
        from amgs_app.render.canvas import clean

        region.rule(0, clean(self.title), self.draw_rows(region.part(0, 1), cursor))

    def _style(self, palette: Palette, column: Column, cell: str, chosen: bool) -> Style:
        """Return the style of a cell."""
        from amgs_app.render.canvas import ink

        tone = palette.muted if column.rank else palette.text
        for begins, name in self.kind.tones.items():
            if cell.startswith(begins) and not column.wide:
                tone = getattr(palette, name)
        return ink(tone, bold=chosen and not column.rank)

    def draw_detail(self, region: Region, item: T, marked: str = "") -> None:
        """Draw a row in full as far as there is room: its heading, then labels and texts."""
        from amgs_app.render.canvas import clean, ink, width_of
        from amgs_app.render.glyphs import wrap

        if self.kind.detail is None or region.height < 2:
            return
        palette = region.palette
        (title, right), *lines = self.kind.detail(item)
        region.rule(0, clean(title), clean(right), strong=True)
        wide = min(24, max((width_of(label) + 1 for label, _ in lines if label), default=0))
        y = 1
        for label, text in lines:
            tone = {"+": palette.good, "−": palette.bad, "✗": palette.warn}.get(label[:1])
            x = region.put(1, y, clean(label), ink(tone or palette.muted), width=wide - 1) + 1 if label else 1
            first = y
            for part in wrap(text.strip(), max(8, region.width - x - 1), max(0, region.height - y)):
                region.put(x, y, part, ink(tone or palette.text))
                y += 1
            if label and label == marked:
                region.shade(first, palette.selection, bold=True)


JOURNAL: Final = Rows["JournalEntry"](
    "#:n kind! at:age summary*! blocks:n? edges:n? undone~ state. id:n.",
    lambda done: (
        done.id,
        done.kind,
        done.at,
        done.summary,
        done.blocks,
        done.edges,
        done.undone,
        "undone" if done.undone else "stands",
        done.id,
    ),
    empty=("The journal is empty.",),
)
JOURNAL_LISTING: Final = JOURNAL.listing


def list_journal(operations: Iterable[JournalEntry], now: datetime | None = None) -> RowList[JournalEntry]:
    """List journal entries, latest first. now: for ages."""
    return JOURNAL.of("journal", operations, now=now)
