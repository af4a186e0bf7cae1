"""Define `DayInterval`, the days that a text names, with unit and confidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from amgs.text.intervals.calendar import around


class Grain(StrEnum):
    """The calendar unit in which a date is given."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    HALF = "half"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


class Modality(StrEnum):
    """Relation of the days to the wording: exactly those days, about them, an open end, or hardly any hint."""

    ON = "on"
    ABOUT = "about"
    BEFORE = "before"
    AFTER = "after"
    VAGUE = "vague"


@dataclass(frozen=True, slots=True)
class DayInterval:
    """Days from first to last, inclusive; None for an open end ("before 2019", "since May").

    grain: the unit in which they are given. "Two months ago" is a single day by the calendar, but given in months:
    `whole` is what it may mean. confidence: in [0, 1], how often such a reading is right; low for vague words
    ("recently"), which give a wide interval.

    Raises ValueError where last is before first, or both ends are open.
    """

    first: date | None
    last: date | None
    grain: Grain
    modality: Modality = Modality.ON
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if self.first is None and self.last is None:
            raise ValueError("an interval with both ends open says nothing")
        if self.first is not None and self.last is not None and self.last < self.first:
            raise ValueError(f"the interval ends on {self.last}, before it begins on {self.first}")

    @property
    def whole(self) -> tuple[date, date]:
        """First and last day of the calendar units that it touches; an open end equals the other one."""
        first, last = self.first or self.last, self.last or self.first
        assert first is not None and last is not None
        return around(first, self.grain)[0], around(last, self.grain)[1]

    def closed(self, written: date) -> tuple[date, date]:
        """Return first and last day, with an open end closed by the day of writing: "since May" ends then."""
        if self.first is None:
            assert self.last is not None
            return min(self.last, written), self.last
        if self.last is None:
            return self.first, max(self.first, written)
        return self.whole
