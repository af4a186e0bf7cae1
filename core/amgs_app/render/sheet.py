"""A result as a table: columns, rows, title and notes; drawn for people or written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from amgs_app.render.passage import Run, in_lines, join_text
from amgs_app.terminal.output import printable, printable_line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

Kind = Literal["text", "line", "id", "number", "score", "milliseconds", "instant", "day", "age"]
"""Kind of values in a column. line: text whose blanks matter. age: a time, shown as an age and filtered by days."""

SHORT_ID = 12
GAP = "  "
_LEAST_WIDE, _LEAST_NARROW, _LEAST_DECIDING = 12, 6, 20
_INDENT = 4
_MOST = 300
"""Most characters of a cell in a list on the screen."""
_RIGHT: frozenset[Kind] = frozenset({"number", "score", "milliseconds"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    rank: columns with the highest rank are dropped first in a narrow list; rank 0 always stays. wide: cut with … if the
    table is too wide. rare: hidden if no row has a value. below: on lines of its own under its row. folds: continued on
    the next line instead of being cut (last column only). listed: in tables; shown: in lists on the screen; gauge: with
    a bar.
    """

    name: str
    kind: Kind = "text"
    wide: bool = False
    rank: int = 1
    rare: bool = False
    below: bool = False
    folds: bool = False
    listed: bool = True
    shown: bool = True
    gauge: bool = False

    @property
    def field(self) -> str:
        """Name by which rows are filtered and sorted."""
        return "days" if self.kind == "age" else self.name.replace(" ", "_").lower()

    def fills(self, values: Iterable[Any]) -> bool:
        """Return whether the column is shown with these values."""
        return not self.rare or any(values)

    def show(self, value: Any, now: datetime | None = None) -> str:
        """Format a value for a list on the screen. now: for ages."""
        from amgs_app.render.format import age, optional, short_id

        if value is None:
            return "" if self.kind == "text" else "·"
        if isinstance(value, bool):
            return "✓" if value else "·"
        if self.kind == "age" and now is not None:
            return age(value, now)
        if isinstance(value, float):
            return optional(value) if self.kind == "score" else f"{value:,.1f}"
        return short_id(str(value)) if self.kind == "id" else _format_cell(value, self.kind)[:_MOST]


@dataclass(frozen=True, slots=True)
class Marked:
    """A cell with some of its words marked."""

    runs: tuple[Run, ...]

    def __str__(self) -> str:
        return join_text(self.runs, marks=False)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table of raw values.

    title, notes: around the table, not in the CSV. digest: rows that people see instead of all; None for all, empty if
    the notes say it. alarm: what went wrong, on a line above the rows.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()
    digest: tuple[tuple[Any, ...], ...] | None = None
    alarm: str = ""


def sheet(title: str, columns: str, rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()) -> ResultTable:
    """Build a table whose columns are described in a single line: `id:id title* score:score part:score?`.

    After the name comes `:kind`, then signs: `*` wide, `?` dropped first, `!` never dropped, `~` rare, `/` below the
    row; in lists on the screen `-` is not shown, `+` shown only there, `.` only a filter field, `=` has a bar.
    """
    table_rows = tuple(tuple(row) for row in rows)
    return ResultTable(title, columns_of(columns), table_rows, tuple(note for note in notes if note))


def facts(title: str, pairs: Iterable[tuple[str, Any]], notes: Iterable[str] = ()) -> ResultTable:
    """Build a table of names and values, a pair per row."""
    columns = (Column("what"), Column("value", wide=True, folds=True))
    return ResultTable(title, columns, tuple(pairs), tuple(note for note in notes if note))


def to_csv(table: ResultTable) -> str:
    """Return the table as CSV (RFC 4180) with a header line and full values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([[_in_full(cell) for cell in row] for row in table.rows])
    return printable(out.getvalue())


def to_lines(table: ResultTable, width: int, *, marks: bool = False) -> list[Text]:
    """Return the table as lines of at most `width` cells. Notes may be longer; the printer wraps them.

    marks: show marked words in «» instead of bold.
    """
    lines = [Text(printable(table.title), style="bold")] if table.title else []
    lines += [Text(f"✗ {printable_line(table.alarm)}", style="bold red")] if table.alarm else []
    shown = table.rows if table.digest is None else table.digest
    if shown:
        beside = [
            place
            for place, column in enumerate(table.columns)
            if not column.below and column.fills(row[place] for row in shown)
        ]
        columns = [table.columns[place] for place in beside]
        cells = [
            [_format_cell(row[place], column.kind) for place, column in zip(beside, columns, strict=True)]
            for row in shown
        ]
        heads = [column.name for column in columns]
        places, widths = cut_columns(columns, [heads, *cells], width, len(GAP))
        columns = [columns[place] for place in places]
        heads, *cells = [[row[place] for place in places] for row in [heads, *cells]]
        lines.append(Text(_line(heads, columns, widths), style="dim"))
        for row, whole in zip(cells, shown, strict=True):
            lines += map(_with_signs, _lines(row, columns, widths))
            for place, column in enumerate(table.columns):
                if column.below and whole[place] is not None:
                    lines += _below(whole[place], width, marks=marks)
        if len(table.rows) > len(shown):
            lines.append(Text(f"… and {len(table.rows) - len(shown):,} more", style="dim"))
    return [*lines, *(Text(printable(note), style="dim") for note in table.notes)]


def to_cells(table: ResultTable) -> tuple[list[Column], list[list[str]]]:
    """Return the columns that have values, and the rows that people see, formatted."""
    rows = table.rows if table.digest is None else table.digest
    positions = [n for n, column in enumerate(table.columns) if column.fills(row[n] for row in rows)]
    columns = [table.columns[n] for n in positions]
    return columns, [[_format_cell(row[n], table.columns[n].kind) for n in positions] for row in rows]


def to_table(table: ResultTable) -> RenderableType:
    """Return the table as a Rich renderable that takes the available width."""
    return _RichTable(table)


def measure_width(table: ResultTable) -> int:
    """Return the width at which no column is cut or dropped; 0 without rows."""
    columns, rows = to_cells(table)
    beside = [n for n, column in enumerate(columns) if not column.below]
    heads = [column.name for column in columns]
    cells = sum(max(cell_len(row[n]) for row in [heads, *rows]) for n in beside) if rows else 0
    return cells + len(GAP) * (len(beside) - 1) if rows else 0


@dataclass(frozen=True, slots=True)
class _RichTable:
    sheet: ResultTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        yield from to_lines(self.sheet, options.max_width)


def _below(cell: Any, width: int, *, marks: bool) -> list[Text]:
    """Return a cell as at most two lines under its row."""
    runs = cell.runs if isinstance(cell, Marked) else ((printable_line(str(cell)), False),)
    if marks:
        runs = tuple((join_text([run], marks=True), run[1]) for run in runs)
    indent = " " * _INDENT
    return [
        Text.assemble(indent, *((text, "bold" if asked else "") for text, asked in line))
        for line in in_lines(runs, max(width - _INDENT, _LEAST_WIDE), 2)
    ]


def _in_full(cell: Any) -> Any:
    """Return a cell's value for the CSV."""
    from amgs_app.render.encode import plain

    return "" if cell is None else str(cell) if isinstance(cell, Marked) else plain(cell)


def cut_columns(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, gap: int, *, drops: bool = False
) -> tuple[list[int], list[int]]:
    """Return the indexes of the columns that are shown, and the width of each.

    In a table, details are dropped first, then wide columns are cut evenly, then whichever is widest. With `drops`
    (lists on the screen), wide columns are first cut to a share of the width, and columns of rank above 0 are dropped
    before those of rank 0 are cut short.
    """
    wanted = [min(width, max((cell_len(row[place]) for row in rows), default=0)) for place in range(len(columns))]
    needed, positions = list(wanted), list(range(len(columns)))

    def over() -> int:
        return sum(needed[n] for n in positions) + gap * (len(positions) - 1) - width

    def cut_to(least: int, *ranks: int) -> None:
        places = [n for n in positions if not ranks or (columns[n].wide and columns[n].rank in ranks)]
        while over() > 0 and places and needed[widest := max(places, key=lambda n: needed[n])] > least:
            needed[widest] -= 1

    def drop(above: int) -> None:
        while over() > 0 and (more := [n for n in positions if columns[n].rank > above]):
            positions.remove(max(more, key=lambda n: (columns[n].rank, n)))

    every = range(9)
    if drops:
        cut_to(max(_LEAST_DECIDING, width * 3 // 5), 0)
        cut_to(max(_LEAST_DECIDING, width // 5), *every[1:])
    drop(1)
    cut_to(_LEAST_WIDE, *every[1 if drops else 0 :])
    if drops:
        cut_to(_LEAST_DECIDING, 0)
        drop(0)
    cut_to(_LEAST_NARROW, *every)
    cut_to(1)
    for n in sorted(positions, key=lambda n: columns[n].rank):
        needed[n] = min(wanted[n], needed[n] + max(0, -over()))
    return positions, [needed[n] for n in positions]


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Return a row's cells as a single line."""
    placed = [
        cut(cell, width).rjust(width - cell_len(cell) + len(cell)) if column.kind in _RIGHT else _fill(cell, width)
        for cell, column, width in zip(cells, columns, widths, strict=True)
    ]
    return GAP.join(placed).rstrip()


def _with_signs(line: str) -> Text:
    """Colour ✓ green and ✗ red in a row's line."""
    text = Text(line)
    for sign, colour in (("✓", "green"), ("✗", "red")):
        text.highlight_regex(rf"(?:^|(?<=  )){sign}(?= |$)", colour)
    return text


def _lines(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    """Return a row's line, with the rest of its last cell on further lines if that column folds."""
    if not columns[-1].folds or cell_len(cells[-1]) <= widths[-1]:
        return [_line(cells, columns, widths)]
    folded = in_lines(((cells[-1], False),), widths[-1], len(cells[-1]))
    first, *rest = ["".join(text for text, _ in line) for line in folded]
    indent = " " * (sum(widths[:-1]) + len(GAP) * (len(widths) - 1))
    return [_line([*cells[:-1], first], columns, widths), *(indent + cut(line, widths[-1]) for line in rest)]


def _fill(cell: str, width: int) -> str:
    return set_cell_size(cut(cell, width), width)


def cut(text: str, width: int) -> str:
    """Return the text in at most `width` cells, with … where something was dropped."""
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


_KINDS: Mapping[str, Kind] = {
    "": "text",
    "line": "line",
    "id": "id",
    "n": "number",
    "score": "score",
    "ms": "milliseconds",
    "at": "instant",
    "day": "day",
    "age": "age",
}
_SIGNS = "*?!~/-+.="


def columns_of(words: str) -> tuple[Column, ...]:
    """Parse columns described in a single line; see `sheet`."""
    return tuple(map(_column, words.split()))


def is_number(column: Column) -> bool:
    """Return whether the column holds numbers, which are right-aligned."""
    return column.kind in _RIGHT


def _column(word: str) -> Column:
    """Parse a column: name, kind and signs."""
    bare = word.rstrip(_SIGNS)
    signs = word[len(bare) :]
    name, _, kind = bare.partition(":")
    return Column(
        name.replace("_", " "),
        _KINDS[kind],
        "*" in signs,
        0 if "!" in signs else 1 + signs.count("?"),
        "~" in signs,
        "/" in signs,
        listed=not {"+", "."} & set(signs),
        shown=not {"-", "."} & set(signs),
        gauge="=" in signs,
    )


def _format_cell(value: Any, kind: Kind) -> str:
    """Format a value for people, on a single line."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d" if kind == "day" else "%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3f}" if kind == "score" else f"{value:,.1f}" if kind == "milliseconds" else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if kind == "line":
        return printable(str(value).expandtabs(4))
    text = printable_line(str(value))
    return text[:SHORT_ID] if kind == "id" else text
