"""Filters and orders: what the terms mean, what is refused, and that sorting loses and invents no row."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.errors import UsageError
from amgs_app.panes.row_filter import ListFilter, Listing, Row, filter_rows
from tests.tui.real_world import say
from tests.tui.test_app_workplace import session

LIST = Listing(("title", "fate"), ("score", "tokens"), ("score", "title"))
ROWS: tuple[Row, ...] = (
    {"title": "Dome motor log", "fate": "selected", "score": 0.8, "tokens": 48},
    {"title": "Night of 14 May", "fate": "over budget", "score": 0.7, "tokens": 51},
    {"title": "Motor log (copy)", "fate": "duplicate", "score": 0.7, "tokens": None},
    {"title": "Encoder supplier", "fate": "over budget", "score": 0.4, "tokens": 33},
)


def sifted(words: str, order: str = "", *, reverse: bool = False) -> tuple[int, ...]:
    return filter_rows(ROWS, LIST, ListFilter(order=order, reverse=reverse).with_filter(words))


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("", (0, 1, 2, 3)),
        ("MOTOR", (0, 2)),
        ("fate:over", (1, 3)),
        ('"fate=over budget" !night', (3,)),
        ("fate=over", ()),
        ("score>0.4", (0, 1, 2)),
        ("score>=0.4 tokens<50", (0, 3)),
        ("tokens=51", (1,)),
        ("!tokens<50", (1, 2)),
        ("14:00", ()),
    ],
)
def test_every_term_must_hold(words: str, left: tuple[int, ...]) -> None:
    assert sifted(words) == left


@pytest.mark.parametrize("words", ["colour:red", "score>much", "title>3", "!", "fate:"])
def test_a_term_that_asks_for_nothing_is_refused_with_a_way_out(words: str) -> None:
    with pytest.raises(UsageError) as refused:
        sifted(words)
    assert refused.value.way_out


@given(st.lists(st.one_of(st.none(), st.floats(-9, 9)), max_size=40), st.booleans())
def test_sorting_keeps_every_row_once_and_in_order(values: list[float | None], reverse: bool) -> None:
    rows: list[Row] = [{"score": value} for value in values]
    found = filter_rows(rows, LIST, ListFilter(order="score", reverse=reverse))
    assert sorted(found) == list(range(len(rows)))
    known = [value for place in found if (value := values[place]) is not None]
    assert known == sorted(known, reverse=not reverse)
    assert [values[place] for place in found[len(known) :]] == [None] * (len(values) - len(known))


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4))
def test_a_filter_is_written_as_it_is_read(terms: list[str]) -> None:
    made = ListFilter(tuple(terms))
    assert ListFilter().with_filter(made.words) == made


# --- the verbs --------------------------------------------------------------------------------------------


def test_a_filter_and_an_order_stay_with_the_layout_and_in_the_script(tmp_path: Path) -> None:
    with session(tmp_path) as one:
        say(one, 'filter frame "fate:over budget" !snow --sort -tokens')
        say(one, "layout --save --name night")
        say(one, "filter frame")
        assert [call.line() for call in one.history] == [
            'filter frame "fate:over budget" !snow --sort -tokens',
            "layout --name night --save",
            "filter frame",
        ]
    with session(tmp_path) as two:
        kept = say(two, "layout --name night")
        assert kept.sifts == {"frame": ListFilter(("fate:over budget", "!snow"), "tokens", reverse=True)}
        assert say(two, "layout").sifts == {}


@pytest.mark.parametrize("line", ["filter frame colour:red", "filter frame --sort colour"])
def test_what_the_rows_cannot_answer_is_refused_and_changes_nothing(tmp_path: Path, line: str) -> None:
    with session(tmp_path) as one:
        with pytest.raises(UsageError, match="colour"):
            say(one, line)
        assert one.layout.sifts == {}
