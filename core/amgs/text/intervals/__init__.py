"""When: the intervals of days that a text names, told from the day it was written."""

from amgs.text.intervals.grammar import DateMention, dates_in
from amgs.text.intervals.interval import DayInterval, Grain, Modality
from amgs.text.intervals.told import ToldDays, dates_told, note_date, told_days, without_datelines

__all__ = [
    "DateMention",
    "DayInterval",
    "Grain",
    "Modality",
    "ToldDays",
    "dates_in",
    "dates_told",
    "note_date",
    "told_days",
    "without_datelines",
]
