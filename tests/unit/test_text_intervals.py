"""Dates in text: what days they mean, told from the day of writing and the tense of the verb."""

from __future__ import annotations

from datetime import UTC, date, datetime
from time import process_time
from timeit import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.text.intervals import Modality, dates_in, find_told_dates, note_date, read_told_days

WEDNESDAY = datetime(2026, 3, 4, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2025-05-16 it stalled", "2025-05-16"),
        ("on 3 March 2025", "2025-03-03"),
        ("May 16th, 2025", "2025-05-16"),
        ("the 16th of May 2025", "2025-05-16"),
        ("16.5.2025", "2025-05-16"),
        ("5/16/25", "2025-05-16"),
        ("Dec. 31, 1994", "1994-12-31"),
        ("since Sept 2025", "2025-09-01/2025-09-30"),
        ("her birthday, 3 March", "2026-03-03"),
        ("on 12 December", "2025-12-12"),
        ("on 28 February", "2026-02-28"),
        ("yesterday", "2026-03-03"),
        ("the day before yesterday", "2026-03-02"),
        ("tomorrow", "2026-03-05"),
        ("last Wednesday", "2026-02-25"),
        ("last Tuesday", "2026-03-03"),
        ("last Fri", "2026-02-27"),
        ("this Friday", "2026-03-06"),
        ("next Friday", "2026-03-13"),
        ("next Wednesday", "2026-03-11"),
        ("Tuesday of last week", "2026-02-24"),
        ("two weeks ago", "2026-02-18/2026-02-18"),
        ("in 3 days", "2026-03-07"),
        ("two days before Christmas", "2025-12-23"),
        ("Thanksgiving 2025", "2025-11-27"),
        ("Easter 2026", "2026-04-05"),
        ("the Friday before last", "2026-02-20"),
        ("Letzten Freitag wurde das Tor geölt.", "2026-02-27"),
        ("Vendredi dernier on a huilé la porte.", "2026-02-27"),
        ("Vendredi prochain on part.", "2026-03-06"),
        ("La semana que viene salimos.", "2026-03-09/2026-03-15"),
        ("Nächste Woche kommt der Kran.", "2026-03-09/2026-03-15"),
        ("An Silvester sind wir gesegelt.", "2025-12-31"),
        ("Weihnachten 2024 waren wir in Rom.", "2024-12-25"),
        ("En Navidad de 2023 estuvimos en Roma.", "2023-12-25"),
        ("We met the Oggi editor on March 5 in Rome.", "2026-03-05"),
        ("Jutro Film was founded on 3 May 2019.", "2019-05-03"),
        ("Ontem FC won on 3 May 2019.", "2019-05-03"),
        ("last month", "2026-02-01/2026-02-28"),
        ("last year", "2025-01-01/2025-12-31"),
        ("this week", "2026-03-02/2026-03-08"),
        ("the week before last", "2026-02-16/2026-02-22"),
        ("last weekend", "2026-02-28/2026-03-01"),
        ("two weekends ago", "2026-02-21/2026-02-22"),
        ("last summer", "2025-06-01/2025-08-31"),
        ("the third quarter of 2025", "2025-07-01/2025-09-30"),
        ("the last 3 months", "2025-12-04/2026-03-03"),
        ("the last week of July 2025", "2025-07-28/2025-08-03"),
        ("the week of March 18", "2026-03-16/2026-03-22"),
        ("from May 5 to 7, 2025", "2025-05-05/2025-05-07"),
        ("November 29-30", "2025-11-29/2025-11-30"),
        ("between January and March 2025", "2025-01-01/2025-03-31"),
        ("late 2025", "2025-07-01/2025-12-31"),
        ("the 1990s", "1990-01-01/1999-12-31"),
        ("4-23 March 2025", "2025-03-04/2025-03-23"),
    ],
)
def test_a_date_means_these_days(text: str, days: str) -> None:
    (found,) = dates_in(text, WEDNESDAY)
    first, _, last = days.partition("/")
    assert (found.interval.first, found.interval.last) == (_day(first), _day(last or first))
    assert text[found.start : found.end] == found.text


def _day(written: str) -> date:
    return date.fromisoformat(written)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("we met on Friday", "2026-02-27"),
        ("we will meet on Friday", "2026-03-06"),
        ("it was held on May 20", "2025-05-20"),
        ("the hearing is scheduled for 20 September", "2026-09-20"),
        ("it would still be held on April 24", "2026-04-24"),
    ],
)
def test_the_tense_of_the_verb_says_which_of_two_days_is_meant(text: str, first: str) -> None:
    (found,) = dates_in(text, WEDNESDAY)
    assert found.interval.first == _day(first)
    assert (
        found.interval.confidence
        > dates_in(text.split(" on ")[-1].split(" for ")[-1], WEDNESDAY)[0].interval.confidence
    )


@pytest.mark.parametrize("text", ["recently", "a few days ago", "a while ago", "lately", "the other day"])
def test_vague_words_give_a_wide_unsure_interval_and_no_day(text: str) -> None:
    (found,) = dates_in(f"We spoke {text}.", WEDNESDAY)
    told = found.interval
    assert told.modality is Modality.VAGUE
    assert told.confidence <= 0.6
    assert told.first is not None and told.last is not None and told.first < told.last <= WEDNESDAY.date()


NO_DATES = """2026-13-45;9999 years ago;may I;E-17;we march on;room 2008;2.5 litres;in a second;sat in the sun;he will
fall;the spring of the clock;fork 1:1;a day like this;
Guten Morgen, wie geht es dir?;Por la mañana corremos.;Jeden Morgen gibt es Tee.;We use the library Dnes.;
Domani is an Italian newspaper.;Dobro jutro, Ana."""


@pytest.mark.parametrize("text", NO_DATES.split(";"))
def test_what_is_no_date_is_passed_over(text: str) -> None:
    assert dates_in(text, WEDNESDAY) == ()


_WORDS = """last next this week month year Friday May 5 2019 - to from between and 12/5 ago two days before after the of
Christmas quarter early weekends in since 1st twenty"""
_PHRASES = st.lists(st.sampled_from(_WORDS.split()), max_size=12).map(" ".join)


@given(st.text(max_size=200) | _PHRASES, st.datetimes())
def test_any_text_on_any_day_is_read_in_order_without_a_fault(text: str, written: datetime) -> None:
    end = 0
    for mention in dates_in(text, written):
        assert mention.start >= end
        end = mention.end
        assert text[mention.start : mention.end] == mention.text
        first, last = mention.interval.close_ends(written.date())
        assert first <= last
        assert 0 < mention.interval.confidence <= 1


@pytest.mark.parametrize(
    "piece",
    ["two days before ", "between May ", "the ", "1-", "12/", "last week of ", "from 5 to ", "ieri ", "gestern "],
)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        """Return the least of three runs: `timeit` holds the garbage collector, whose pause is no reading."""
        text = piece * (length // len(piece))
        return min(repeat(lambda: dates_in(text, WEDNESDAY), timer=process_time, repeat=3, number=1))

    assert seconds(3_000) < 30 * max(seconds(300), 0.005)


def test_a_blocks_dates_are_written_as_intervals_and_read_back() -> None:
    told = find_told_dates("Yesterday was loud; last week was not. I read it recently.", WEDNESDAY)
    assert told == ["2026-01-03/2026-03-04 0.4", "2026-02-23/2026-03-01 0.9", "2026-03-03 0.95"]
    assert [(t.first.isoformat(), t.confidence) for t in read_told_days([*told, "2026-02-09", "never", 3])] == [
        *(("2026-01-03", 0.4), ("2026-02-23", 0.9), ("2026-03-03", 0.95), ("2026-02-09", 1.0))
    ]


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("Ada decided: ship by the 15th of April.", 2026),
        ("I fixed the parser; the report is needed by 15 April.", 2026),
        ("We had finished by 15 April.", 2025),
    ],
)
def test_a_deadline_is_ahead_unless_the_verb_is_past(text: str, year: int) -> None:
    (found,) = dates_in(text, WEDNESDAY)
    assert found.interval.last == date(year, 4, 15)


def test_a_front_matter_date_is_an_aware_instant_or_none() -> None:
    assert note_date("2025-05-16T03:10:00Z") == datetime(2025, 5, 16, 3, 10, tzinfo=UTC)
    assert note_date("2025-05-16T05:10:00+02:00") == datetime(2025, 5, 16, 3, 10, tzinfo=UTC)
    assert note_date("16 May 2025") == datetime(2025, 5, 16, tzinfo=UTC)
    assert note_date("some day in May") is None
