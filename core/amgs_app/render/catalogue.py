"""Catalogue of result displays: one entry per type, with its table, its figure if any, and its sentence.

The entries stand in the `rows` of each subject; whoever shows a result asks here, whatever the front end. A type that
one command gives and that is a list says so itself, by `as_list`; any other without an entry is shown by its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from amgs_app.wing_views import views

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from amgs_app.render.canvas import Canvas
    from amgs_app.render.rows import RowList
    from amgs_app.render.sheet import ResultTable
    from amgs_app.session.operator import Operator

MODULES = (
    "calibration.rows",
    "conversation.rows",
    "decay.rows",
    "diagnosis.rows",
    "exchanges.rows",
    "focus.lifetime_rows",
    "focus.rows",
    "focus.trace_rows",
    "frames.rows",
    "graph.rows",
    "lifecycle.care_rows",
    "lifecycle.rows",
    "memory.rows",
    "search.rows",
    "store.rows",
    "workplace.rows",
)
"""The modules with entries. They import no engine: a type is known by its name, of which there is one."""

_INCLUDED: list[str] = []

_OFTEN = ("search.rows",)
"""Where results are looked for first: importing every module takes longer than a quick command."""

R = TypeVar("R")
Look = Callable[[str], Any]
"""The result of another command as it is now, by the command's line."""


@dataclass(frozen=True, slots=True)
class FigureOf:
    """The figure of another command's result: a report has none of its own. line: `inbox list`."""

    line: str


@dataclass(frozen=True, slots=True)
class ResultEntry(Generic[R]):
    """Display of the results of one type.

    kind: the type's name. figure: the picture in a pane, exactly as large as the canvas; called with what the session
    knows. sentence: what came of the action, in a few words, empty where there is nothing to say but that it is done;
    without one it is the table's title where that counts something. page: the result in full, as wide as the canvas and
    as high as it takes, where that is more than the table. portable: the result without what is true of this run alone.
    quiet: a screen opens no page for it where no pane shows it: it does what the result says, or tells it in one line.
    stays: a screen does not bring its pane to the front: the operator goes on where they are.
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
        """Return whether a pane has a picture of the result: a figure, or a list of its own."""
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
    """Make a function `table(result: Kind)` the entry of Kind; the catalogue collects it from its module. A list makes
    a figure too.
    """

    def mark(table: Callable[[R], ResultTable | RowList[Any]]) -> ResultEntry[R]:
        return ResultEntry(table.__annotations__["result"], table, figure, sentence, page, portable, quiet, stays)

    return mark


def include(module: str) -> None:
    """Take the entries of another module too: those of a program that stands on this one."""
    if module not in _INCLUDED:
        _INCLUDED.append(module)
        entries.cache_clear()


@cache
def entries() -> Mapping[str, ResultEntry[Any]]:
    """Return every entry, by the name of its type."""
    by_name: dict[str, ResultEntry[Any]] = {}
    of_wings = (view.entries for view in views().values())
    for module in (*(_module(place) for place in MODULES), *of_wings, *_INCLUDED):
        for kind, result_entry in _entries_in(module).items():
            if by_name.setdefault(kind, result_entry) is not result_entry:
                raise ValueError(f"{kind} has two entries.")
    return by_name


@cache
def _entries_in(module: str) -> Mapping[str, ResultEntry[Any]]:
    values = vars(import_module(module)).values()
    return {result_entry.kind: result_entry for result_entry in values if isinstance(result_entry, ResultEntry)}


def _module(place: str) -> str:
    return f"amgs_app.{place}"


def entry_of(kind: type) -> ResultEntry[Any]:
    """Return the entry of a type of result, or of what it derives from; that by fields where there is none.

    Raises TypeError for what is no frozen dataclass either, which is a fault of the program.
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
    """Return the result as a list; None for what is none."""
    from amgs_app.render.rows import RowList

    content = entry_of(type(result)).make(result)
    return content if isinstance(content, RowList) else None


def draw(operator: Operator, result: Any, canvas: Canvas, look: Look) -> Text:
    """Return the figure of a result, exactly as large as the canvas; its table where it has none. look: asked where
    another command's figure is shown.
    """
    figure = entry_of(type(result)).figure
    if isinstance(figure, FigureOf):
        return draw(operator, look(figure.line), canvas, look)
    if figure is None:
        from amgs_app.render.drawing import draw_list, draw_table

        listed = list_of(result)
        return draw_table(operator, result, canvas) if listed is None else draw_list(operator, listed, canvas)
    return figure(operator, result, canvas)


def sentence_of(result: Any) -> str:
    """Return what came of an action, in a few words; empty where nothing is to be said but that it is done."""
    result_entry = entry_of(type(result))
    if result_entry.sentence is not None:
        return result_entry.sentence(result)
    title = title_of(result)
    return title if any(sign.isdigit() for sign in title) else ""


def title_of(result: Any) -> str:
    """Return the heading of a result's table."""
    return table_of(result).title


def page_of(result: Any, canvas: Canvas, now: datetime) -> RenderableType:
    """Return a result in full, as wide as the canvas and as high as it takes."""
    from amgs_app.render.sheet import to_table

    result_entry = entry_of(type(result))
    return to_table(result_entry.table(result)) if result_entry.page is None else result_entry.page(result, canvas, now)


def page_width(result: Any) -> int:
    """Return cells that `page_of` needs to cut nothing; 0 where it folds what is longer than its canvas is wide."""
    from amgs_app.render.sheet import measure_width

    result_entry = entry_of(type(result))
    return measure_width(result_entry.table(result)) if result_entry.page is None else 0


def portable(result: R) -> R:
    """Return the result as every machine makes it: without where its store lies."""
    conversion = entry_of(type(result)).portable
    return result if conversion is None else conversion(result)


def _by_fields(result: Any) -> ResultTable:
    """Return a row for each field: single values as they are, several on one line, everything else as JSON."""
    from amgs_app.render.sheet import facts

    return facts(
        _words(type(result).__name__),
        [(field.name.replace("_", " "), _format_value(getattr(result, field.name))) for field in fields(result)],
    )


def _format_value(value: Any) -> Any:
    import json

    from amgs_app.render.encode import plain

    plain_value = plain(value)
    if isinstance(plain_value, list) and not any(isinstance(item, list | dict) for item in plain_value):
        return ", ".join(map(str, plain_value))
    return json.dumps(plain_value, ensure_ascii=False) if isinstance(plain_value, list | dict) else value


def _sizes(result: Any) -> str:
    """Return the type in words, and how many there are of what it holds: `Fault report: 3 faults, 2 notes`."""
    counted = [(field.name.replace("_", " "), getattr(result, field.name)) for field in fields(result)]
    sizes = ", ".join(f"{len(value):,} {name}" for name, value in counted if isinstance(value, tuple | Mapping))
    name = _words(type(result).__name__)
    return f"{name}: {sizes}" if sizes else name


def _words(name: str) -> str:
    """`FaultReport` as `Fault report`."""
    spaced = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in name).strip()
    return spaced[:1].upper() + spaced[1:]


BY_FIELDS: ResultEntry[Any] = ResultEntry("", _by_fields, sentence=_sizes)
"""What shows a type that has no entry."""
