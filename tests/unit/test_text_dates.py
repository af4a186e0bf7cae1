"""Dates in text, told from the day of writing."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.text.dates import dates_in, note_date

WEDNESDAY = datetime(2026, 3, 4, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2025-05-16 it stalled", date(2025, 5, 16), date(2025, 5, 16)),
        ("on 3 March 2025", date(2025, 3, 3), date(2025, 3, 3)),
        ("May 16th, 2025", date(2025, 5, 16), date(2025, 5, 16)),
        ("since Sept 2025", date(2025, 9, 1), date(2025, 9, 30)),
        ("her birthday, 3 March", date(2026, 3, 3), date(2026, 3, 3)),
        ("on 12 December", date(2025, 12, 12), date(2025, 12, 12)),
        ("yesterday", date(2026, 3, 3), date(2026, 3, 3)),
        ("the day before yesterday", date(2026, 3, 2), date(2026, 3, 2)),
        ("tomorrow", date(2026, 3, 5), date(2026, 3, 5)),
        ("last Wednesday", date(2026, 2, 25), date(2026, 2, 25)),
        ("last Tuesday", date(2026, 3, 3), date(2026, 3, 3)),
        ("next Friday", date(2026, 3, 6), date(2026, 3, 6)),
        ("next Wednesday", date(2026, 3, 11), date(2026, 3, 11)),
        ("two weeks ago", date(2026, 2, 18), date(2026, 2, 18)),
        ("in 3 days", date(2026, 3, 7), date(2026, 3, 7)),
        ("a couple of months ago", date(2026, 1, 1), date(2026, 1, 31)),
        ("last month", date(2026, 2, 1), date(2026, 2, 28)),
        ("last year", date(2025, 1, 1), date(2025, 12, 31)),
        ("this week", date(2026, 3, 2), date(2026, 3, 8)),
    ],
)
def test_a_date_means_these_days(text: str, first: date, last: date) -> None:
    (found,) = dates_in(text, WEDNESDAY)
    assert (found.first, found.last) == (first, last)
    assert text[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "text", ["31 February 2026", "2026-13-45", "999 years ago, 999 years ago", "may I", "E-17"]
)
def test_what_is_no_date_is_passed_over(text: str) -> None:
    assert all(m.first.year > 1000 for m in dates_in(text, WEDNESDAY))


@given(st.text(max_size=300), st.datetimes())
def test_any_text_on_any_day_is_read_without_a_fault(text: str, written: datetime) -> None:
    for mention in dates_in(text, written):
        assert mention.first <= mention.last
        assert text[mention.start : mention.end] == mention.text


def test_a_front_matter_date_is_an_aware_instant_or_none() -> None:
    assert note_date("2025-05-16T03:10:00Z") == datetime(2025, 5, 16, 3, 10, tzinfo=UTC)
    assert note_date("2025-05-16T05:10:00+02:00") == datetime(2025, 5, 16, 3, 10, tzinfo=UTC)
    assert note_date("16 May 2025") == datetime(2025, 5, 16, tzinfo=UTC)
    assert note_date("some day in May") is None
