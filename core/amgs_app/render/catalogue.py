"""Display each type of result: its table, its figure, its sentence, drawn with what its pane knows.

Entries are defined with `@entry` in the `rows` modules. A result type used by a single command may define `as_list`
instead; any other type without an entry is shown field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from amgs_app.wing_views import views

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from amgs.types import Edge
    from amgs_app.panes.layout import Pane
    from amgs_app.panes.row_filter import Row
    from amgs_app.render.canvas import Canvas
    from amgs_app.render.rows import RowList
    from amgs_app.render.sheet import ResultTable
    from amgs_app.session import Operator


MODULES = (
    "calibration.rows",
    "conversation.exchange_rows",
    "conversation.rows",
    "decay.rows",
    "diagnosis.rows",
    "focus.lifetime_rows",
    "focus.rows",
    "frames.rows",
    "graph.rows",
    "lifecycle.care_rows",
    "lifecycle.rows",
    "memory.rows",
    "search.rows",
    "workplace.rows",
)
"""Modules with entries. They import no engine: a type is identified by its class name, which is unique."""

_INCLUDED: list[str] = []

_OFTEN = ("search.rows",)
"""Modules searched first, since importing all of them takes longer than a quick command."""

R = TypeVar("R")
Look = Callable[[str], Any]
"""Runs another command by its line and returns its result."""


@dataclass(frozen=True, slots=True)
class FigureOf:
    """Use the figure of another command's result, for a report without its own. line: such as `inbox list`."""

    line: str


@dataclass(frozen=True, slots=True)
class ResultEntry(Generic[R]):
    """How results of a type are displayed.

    kind: class name of the type. make: the result's table or list. figure: the picture in a pane, exactly as large as
    the canvas. sentence: the outcome in a few words, "" if "done" says it all; without it, the table's title is used if
    it contains a number. page: the whole result, as wide as the canvas and as high as needed, if that is more than the
    table. portable: the result without what differs between machines. quiet: the screen opens no page for it. stays:
    the screen does not bring its pane to the front.
    """

    kind: str
    make: Callable[[R], ResultTable | RowList[Any]]
    figure: Callable[[Operator, R, Canvas], Text] | FigureOf | None = None
    sentence: Callable[[R], str] | None = None
    page: Callable[[R, Canvas, datetime], RenderableType] | None = None
    portable: Callable[[R], R] | None = None
    quiet: bool = False
    stays: bool = False

    def table(self, result: R) -> ResultTable:
        """Return the result as a table."""
        from amgs_app.render.rows import RowList

        content = self.make(result)
        return content.table() if isinstance(content, RowList) else content

    def fills_pane(self, result: R) -> bool:
        """Return whether a pane can draw the result: it has a figure, or a list that names a pane."""
        from amgs_app.render.rows import RowList

        content = self.make(result) if self.figure is None else None
        return self.figure is not None or (isinstance(content, RowList) and bool(content.kind.pane))


def entry(
    *,
    figure: Callable[[Operator, R, Canvas], Text] | FigureOf | None = None,
    sentence: Callable[[R], str] | None = None,
    page: Callable[[R, Canvas, datetime], RenderableType] | None = None,
    portable: Callable[[R], R] | None = None,
    quiet: bool = False,
    stays: bool = False,
) -> Callable[[Callable[[R], ResultTable | RowList[Any]]], ResultEntry[R]]:
    """Turn a function `table(result: Kind)` into the entry of Kind; the catalogue collects it from its module."""

    def mark(table: Callable[[R], ResultTable | RowList[Any]]) -> ResultEntry[R]:
        return ResultEntry(table.__annotations__["result"], table, figure, sentence, page, portable, quiet, stays)

    return mark


def include(module: str) -> None:
    """Add the entries of another module, for a program that builds on this program."""
    if module not in _INCLUDED:
        _INCLUDED.append(module)
        entries.cache_clear()


@cache
def entries() -> Mapping[str, ResultEntry[Any]]:
    """Return all entries by class name; raises ValueError if a type has two."""
    by_name: dict[str, ResultEntry[Any]] = {}
    of_wings = (view.entries for view in views().values())
    for module in (*(_module(place) for place in MODULES), *of_wings, *_INCLUDED):
        for kind, result_entry in _entries_in(module).items():
            if by_name.setdefault(kind, result_entry) is not result_entry:
                raise ValueError(f"{kind} has two entries.")
    return by_name


@cache
def _entries_in(module: str) -> Mapping[str, ResultEntry[Any]]:
    """Return the entries defined in a module, by class name."""
    values = vars(import_module(module)).values()
    return {result_entry.kind: result_entry for result_entry in values if isinstance(result_entry, ResultEntry)}


def _module(place: str) -> str:
    return f"amgs_app.{place}"


def entry_of(kind: type) -> ResultEntry[Any]:
    """Return the entry of a type or of its nearest base class; if there is none, the entry that shows fields.

    Raises TypeError for a type that is not a dataclass either.
    """
    for place in _OFTEN:
        if kind.__name__ in _entries_in(_module(place)):
            return _entries_in(_module(place))[kind.__name__]
    known = entries()
    if hasattr(kind, "as_list"):
        return ResultEntry(kind.__name__, lambda result: result.as_list())
    for base in kind.__mro__:
        if base.__name__ in known:
            return known[base.__name__]
    if is_dataclass(kind):
        return BY_FIELDS
    raise TypeError(f"{kind.__name__} has no table.")


def table_of(result: Any) -> ResultTable:
    """Return the result as a table; raises TypeError like entry_of."""
    return entry_of(type(result)).table(result)


def list_of(result: Any) -> RowList[Any] | None:
    """Return the result as a list; None if it is a table."""
    from amgs_app.render.rows import RowList

    content = entry_of(type(result)).make(result)
    return content if isinstance(content, RowList) else None


def draw(operator: Operator, result: Any, canvas: Canvas, look: Look) -> Text:
    """Draw the figure of a result, exactly as large as the canvas; its list or table if it has no figure.

    look: used if the entry shows another command's figure.
    """
    figure = entry_of(type(result)).figure
    if isinstance(figure, FigureOf):
        return draw(operator, look(figure.line), canvas, look)
    if figure is None:
        listed = list_of(result)
        return draw_table(operator, result, canvas) if listed is None else draw_list(operator, listed, canvas)
    return figure(operator, result, canvas)


def sentence_of(result: Any) -> str:
    """Return the outcome in a few words; "" if "done" says it all."""
    result_entry = entry_of(type(result))
    if result_entry.sentence is not None:
        return result_entry.sentence(result)
    title = title_of(result)
    return title if any(sign.isdigit() for sign in title) else ""


def title_of(result: Any) -> str:
    """Return the title of a result's table."""
    return table_of(result).title


def page_of(result: Any, canvas: Canvas, now: datetime) -> RenderableType:
    """Return the whole result, as wide as the canvas and as high as needed."""
    from amgs_app.render.sheet import to_table

    result_entry = entry_of(type(result))
    return to_table(result_entry.table(result)) if result_entry.page is None else result_entry.page(result, canvas, now)


def page_width(result: Any) -> int:
    """Return the width at which `page_of` cuts nothing; 0 if it wraps to any width."""
    from amgs_app.render.sheet import measure_width

    result_entry = entry_of(type(result))
    return measure_width(result_entry.table(result)) if result_entry.page is None else 0


def portable(result: R) -> R:
    """Return the result without what differs between machines, such as the store's path."""
    conversion = entry_of(type(result)).portable
    return result if conversion is None else conversion(result)


def _by_fields(result: Any) -> ResultTable:
    """Return a table with a row per field; nested values as JSON."""
    from amgs_app.render.sheet import facts

    return facts(
        _words(type(result).__name__),
        [(field.name.replace("_", " "), _format_value(getattr(result, field.name))) for field in fields(result)],
    )


def _format_value(value: Any) -> Any:
    """Return a field's value for a cell: simple lists joined by commas, nested values as JSON."""
    import json

    from amgs_app.render.encode import plain

    plain_value = plain(value)
    if isinstance(plain_value, list) and not any(isinstance(item, list | dict) for item in plain_value):
        return ", ".join(map(str, plain_value))
    return json.dumps(plain_value, ensure_ascii=False) if isinstance(plain_value, list | dict) else value


def _sizes(result: Any) -> str:
    """Return the type's name in words and the sizes of its collections: `Fault report: 3 faults, 2 notes`."""
    counted = [(field.name.replace("_", " "), getattr(result, field.name)) for field in fields(result)]
    sizes = ", ".join(f"{len(value):,} {name}" for name, value in counted if isinstance(value, tuple | Mapping))
    name = _words(type(result).__name__)
    return f"{name}: {sizes}" if sizes else name


def _words(name: str) -> str:
    """Split a class name into words: `FaultReport` is `Fault report`."""
    spaced = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in name).strip()
    return spaced[:1].upper() + spaced[1:]


BY_FIELDS: ResultEntry[Any] = ResultEntry("", _by_fields, sentence=_sizes)
"""Entry of every type that has none of its own."""


def places(operator: Operator, pane: Pane, rows: Sequence[Row]) -> Sequence[int] | None:
    """Return the indexes of the rows that pass the pane's filter, in its order; None without filter or order."""
    from amgs_app.panes.row_filter import visible_rows

    sift = operator.layout.sifts.get(pane)
    return visible_rows(pane, rows, sift) if sift else None


def draw_list(operator: Operator, listed: RowList[Any], canvas: Canvas) -> Text:
    """Draw a list as its pane does: filtered, with the selected row in full."""
    cached_rows = places(operator, listed.kind.pane, listed.fields)
    left = listed.keep(cached_rows)
    return left.draw(canvas, left.place_of(operator.selection), filtered=cached_rows is not None).render()


def titles_of_edges(operator: Operator, edges: Iterable[Edge]) -> dict[str, str]:
    """Return the titles of the blocks at both ends of edges, by id."""
    return operator.engine.memory.titles({end for edge in edges for end in (edge.source_id, edge.target_id)})


def draw_table(operator: Operator, result: Any, canvas: Canvas) -> Text:
    """Draw as many lines of a result's table as fit, and how many are left."""
    del operator
    from amgs_app.render.canvas import Figure, ink
    from amgs_app.render.sheet import to_lines

    sheet = Figure(canvas)
    lines = to_lines(table_of(result), canvas.width)
    for y, line in enumerate(lines[: canvas.height]):
        sheet.put(0, y, line.plain, ink(sheet.palette.text, bold=y == 0), width=sheet.width)
    hidden = len(lines) - sheet.height
    if hidden > 0:
        sheet.fill(0, sheet.height - 1, sheet.width, " ")
        sheet.put(0, sheet.height - 1, f"… {hidden + 1:,} more", ink(sheet.palette.muted), width=sheet.width)
    return sheet.render()
