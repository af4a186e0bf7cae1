"""A list as its description makes it: the picture at any size, what gives way first, the table, the fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amgs_app.panes.row_filter import ListFilter, filter_rows
from amgs_app.render.canvas import Canvas
from amgs_app.render.rows import Rows, join
from amgs_app.render.sheet import columns_of, cut_columns, to_csv
from tests.tui.picture_checks import check_lines, check_picture

Note = tuple[str, str, float, int]
NOW = datetime(2026, 3, 1, tzinfo=UTC)
NOTES = Rows[Note](
    "#:n- id:id? since:age title*! score:score= words:n? mood~ content*+ length:n.",
    lambda row: (row[3], row[0][:9], NOW - timedelta(row[3]), row[0], row[2], row[3], "", row[1], len(row[1])),
    lambda row: [(row[0], "right"), ("score", f"{row[2]:.2f}"), ("", row[1])],
    tones={"odd": "bad"},
    empty=("Nothing was noted.", "note"),
)


def notes(count: int) -> list[Note]:
    return [(f"The bed number {n}", f"is watered every {n} hours\nby the old pump", n / 100, n) for n in range(count)]


texts = st.one_of(
    st.sampled_from(["", "漢字\x1b[31m", "two\nlines\tand", "👩‍👩‍👧 with", "g" * 300]), st.text(max_size=90)
)
rows_of_any = st.lists(st.tuples(texts, texts, st.floats(0, 1), st.integers(0, 9999)), min_size=1, max_size=60)


@given(rows_of_any, st.integers(20, 210), st.integers(3, 60), st.data())
def test_any_list_has_whole_lines_shows_the_chosen_row_and_counts_what_it_hides(
    rows: list[Note], width: int, height: int, data: st.DataObject
) -> None:
    cursor = data.draw(st.integers(0, len(rows) - 1))
    figure = NOTES.of("Notes", rows, ("noted by hand", "`note` adds one"), now=NOW).draw(Canvas(width, height), cursor)
    picture = figure.render()
    check_lines(picture, width, height)
    shown = set(figure.rows.values())
    assert cursor in shown
    if len(shown) < len(rows):
        assert f"{min(shown) + 1}–{max(shown) + 1} of {len(rows)}" in picture.plain.split("\n")[0]


@given(st.lists(st.lists(texts, min_size=5, max_size=5), min_size=1), st.integers(1, 120))
def test_what_decides_is_not_cut_before_what_does_not(rows: list[list[str]], width: int) -> None:
    columns = columns_of("a b*! c? d* e:n")
    kept, widths = cut_columns(columns, rows, width, 1, drops=True)
    assert 1 in kept and sum(widths) + len(kept) - 1 <= max(width, len(kept) * 2 - 1)
    needed = max(cell_len(row[1]) for row in rows)
    assert kept == [1] or widths[kept.index(1)] >= min(needed, 20)
    if 2 in kept:
        assert {0, 1, 3, 4} <= set(kept), "a detail goes before all others"


@pytest.mark.parametrize("count", [0, 1, 50])
def test_a_list_is_drawn_whole_at_every_size_with_and_without_rows(count: int) -> None:
    check_picture(lambda canvas: NOTES.of("Notes", notes(count)).draw(canvas, 1).render())


def test_a_wide_list_shows_its_chosen_row_in_full_below() -> None:
    plain = NOTES.of("Notes", notes(40), now=NOW).draw(Canvas(120, 40), 3).render().plain
    assert "▸" in plain and "by the old pump" in plain.split("─ The bed number 3 ─")[1]
    assert "mood" not in plain, "a rare column with nothing in it is not there"
    assert "3 d" in plain and "#" not in plain


def test_a_part_of_a_long_list_counts_its_places_in_all_of_it() -> None:
    part = NOTES.of("Notes", notes(40), total=900, before=300)
    figure = part.draw(Canvas(80, 24), 320)
    assert figure.rows and 320 in figure.rows.values() and "of 900" in figure.render().plain
    assert part.at(320) == notes(40)[20] and part.at(299) is None


def test_an_empty_list_says_what_fills_it_and_a_filtered_one_how_to_go_back() -> None:
    empty = NOTES.of("Notes", ())
    assert "› note" in empty.draw(Canvas(80, 20)).render().plain
    assert "F changes the filter" in empty.draw(Canvas(80, 20), filtered=True).render().plain
    assert empty.table().notes == ("Nothing was noted.",)


def test_the_table_has_what_is_listed_and_the_filter_what_is_not_an_instant() -> None:
    listed = NOTES.of("Notes", notes(9), now=NOW)
    assert to_csv(listed.table()).splitlines()[0] == "#,id,since,title,score,words,mood"
    listing = NOTES.listing
    assert listing.texts == ("title", "mood", "content") and listing.numbers == ("days", "score", "words", "length")
    assert listing.sorts == ("days", "title", "score", "words", "content")
    found = filter_rows(listed.fields, listing, ListFilter(("title:bed", "days<3"), "score"))
    assert [row[3] for row in listed.keep(found).items] == [2, 1, 0]
    assert join(NOTES, Rows[Note]("title* ago:n", lambda row: (row[0], 1))).numbers == (*listing.numbers, "ago")


def test_a_bar_is_long_only_where_no_text_is_cut_for_it() -> None:
    bars: list[int] = []
    kind = Rows[str](
        "title*! score:score= reason*",
        lambda words: (words, 0.5, words),
        bar=lambda region, x, cells, words: bars.append(cells),
    )
    for words, cells in (("short", 20), ("w" * 200, 6)):
        kind.of("Bars", [words]).draw(Canvas(120, 8))
        assert bars.pop() == cells
