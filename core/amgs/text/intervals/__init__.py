"""Find the intervals of days that a text names ("last Friday", "in two weeks"), relative to the day it was written.

`grammar.dates_in` is the entry. Each rule is a function (reading, index of a token) that returns the days and where the
phrase ends, or None.
"""

from amgs.text.intervals.calendar import DayInterval, Grain, Modality
from amgs.text.intervals.grammar import (
    DateMention,
    ToldDays,
    dates_in,
    find_told_dates,
    note_date,
    read_told_days,
    remove_datelines,
)

__all__ = [
    "DateMention",
    "DayInterval",
    "Grain",
    "Modality",
    "ToldDays",
    "dates_in",
    "find_told_dates",
    "note_date",
    "read_told_days",
    "remove_datelines",
]
