"""One catalogue shows every result: an entry a type, and nothing else that tells one type of result from another."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from amgs_app.calls.standard import standard
from amgs_app.panes.layout import PANES
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import entries, entry_of, page_of, sentence_of, table_of
from amgs_app.render.encode import to_json
from amgs_app.shell.output import as_text
from amgs_tui.panes.by_key import PANE_TYPES
from tests.tui.poison import NOW, made
from tests.tui.result_types import every_type, results_of

APP = Path(__file__).parents[2] / "core" / "amgs_app"
HINTS = APP / "calls" / "hints.py"
"""What a result lacks, and the command or the key for it: no matter of how it is shown."""


@dataclass(frozen=True, slots=True)
class FaultReport:
    """A result that the catalogue has no entry for."""

    checked: int
    places: tuple[str, ...]
    why: dict[str, int]


@pytest.mark.parametrize("kind", [*every_type(), FaultReport], ids=lambda kind: kind.__name__)
def test_every_result_is_a_table_a_sentence_a_page_and_json(kind: type) -> None:
    if kind.__name__ == "Shown":
        return  # it is shown as what it shows
    result = made(kind, "words")
    assert as_text(result) and as_text(result, "csv")
    assert isinstance(sentence_of(result), str)
    assert page_of(result, Canvas(80, 24), NOW)
    assert isinstance(json.loads(to_json(result)), dict)


def test_a_result_without_an_entry_is_told_by_its_fields() -> None:
    result = FaultReport(12, ("a", "b"), {"lost": 2})
    assert table_of(result).title == "Fault report"
    assert table_of(result).rows == (("checked", 12), ("places", "a, b"), ("why", '{"lost": 2}'))
    assert sentence_of(result) == "Fault report: 2 places, 1 why"


def test_every_entry_is_of_a_type_that_an_operation_gives() -> None:
    own = {kind for kind, each in entries().items() if each.make.__module__.startswith("amgs_app.")}
    assert own == {kind.__name__ for kind in every_type()}  # the benchmarks have an entry of theirs


def _has_picture(kind: type) -> bool:
    entry = entry_of(kind)
    return entry.figure is not None or entry.make.__annotations__["return"].startswith("RowList")


def test_what_a_pane_shows_has_a_figure() -> None:
    without = {
        operation.name
        for operation in standard()
        if operation.pane is not None and not any(map(_has_picture, results_of(operation)))
    }
    assert without == set()


def told_apart(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of each class that code asks for by isinstance, by match or by singledispatch."""
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            asked = [node.args[1]]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.FunctionDef) and any("register" in ast.unparse(d) for d in node.decorator_list):
            asked = [each.annotation for each in node.args.args if each.annotation is not None]
        for one in asked:
            for part in ast.walk(one):
                name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
                yield getattr(node, "lineno", getattr(one, "lineno", 0)), name


def test_nothing_else_tells_one_type_of_result_from_another() -> None:
    found: list[str] = []
    for path in sorted(APP.rglob("*.py")):
        if path == HINTS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(APP)}:{line}: {name}" for line, name in told_apart(tree) if name in entries()]
    assert found == []


@pytest.mark.parametrize("pane", PANES)
def test_a_pane_takes_the_results_of_the_operations_that_name_it(pane: str) -> None:
    (made,) = [each for each in PANE_TYPES if pane == each.NAME]
    assert {each.name for each in standard() if each.pane == pane} == made.SHOWS
