"""One catalogue shows every result: an entry a type, and nothing else that tells one type of result from another."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from amgs_app.calls.registry import standard
from amgs_app.panes.layout import PANES
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import entries, entry_of, page_of, sentence_of, table_of
from amgs_app.render.encode import to_json
from amgs_app.shell.output import as_text
from amgs_tui.panes.by_key import PANE_TYPES
from tests.tui.poison import NOW, made
from tests.tui.result_types import every_type, results_of


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
    assert own == {
        kind.__name__ for kind in every_type() if not hasattr(kind, "as_list")
    }  # the benchmarks have an entry of theirs


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


@pytest.mark.parametrize("pane", PANES)
def test_a_pane_takes_the_results_of_the_operations_that_name_it(pane: str) -> None:
    (made,) = [each for each in PANE_TYPES if pane == each.NAME]
    assert {each.name for each in standard() if each.pane == pane} == made.SHOWS
