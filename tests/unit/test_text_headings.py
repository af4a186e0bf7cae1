"""Headings of plain text: what is one is read, what only looks like one is left alone."""

from __future__ import annotations

from amgs.ingest.readers.notes import headings


def told(text: str) -> list[tuple[int, str]]:
    return [(one.level, one.title) for one in headings(text.split("\n"))]


LICENCE = """\
                          BOAT LICENCE

  This licence is about boats, and about nothing else that floats
on the water of a lake.

                       TERMS AND CONDITIONS

  0. Definitions.

  A boat is what carries at least one person over water.

  1.1. Painting

  It dries in a day.

  2. You may not sell the paint of a boat that you do not own unless
  its owner agrees.
"""

QUESTIONS = """\
1. What there is
    1.1. What is a boat?

Chapter 1. What there is

1.1. What is a boat, and how does one find out whether it is
one or not?

    It floats.

1.2. What is a ship?

    A boat too large to be carried.

2.1. What is a lake?

    It holds boats.
"""


def test_numbered_headings_stand_below_each_other_and_those_in_capitals_beside_them() -> None:
    assert told(LICENCE) == [
        (1, "BOAT LICENCE"),
        (1, "TERMS AND CONDITIONS"),
        (1, "0. Definitions"),
        (2, "1.1. Painting"),
    ]


def test_a_long_question_with_its_number_is_a_heading_and_a_table_of_contents_is_none() -> None:
    assert told(QUESTIONS) == [
        (1, "Chapter 1. What there is"),
        (2, "1.1. What is a boat, and how does one find out whether it is one or not?"),
        (2, "1.2. What is a ship?"),
        (2, "2.1. What is a lake?"),
    ]


def test_lists_dates_signatures_and_code_are_no_headings() -> None:
    assert told("To do\n\n1. Buy milk\n\n2. Call Bob\n\n3. Sleep\n\nThat is all there is to do today.") == []
    assert told("2019 was wet.\n\n2020 was dry.\n\nThe lake was low.") == []
    assert told("Dear Ann,\n\nthe boat leaks.\n\nBest regards\n\nBo\n\nP.S. It sank.") == []
    assert told("Set it:\n\nCFLAGS=-O2\n\nand build.\n\nOK\n\nor not.") == []
    assert told("5. We came late.\n\nThe lake froze.\n\n9. It thawed.\n\nSo it goes.") == []
