"""The days that a question names, which blocks were written on them or tell of them, and which is the latest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from amgs.clock import earlier
from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import contributions
from amgs.text.intervals import Modality, ToldDays, dates_in, told_days
from amgs.text.language import foreign_function_words
from amgs.text.language_tables import table_of
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import Block, BlockFilter

LEAST_SURE = 0.5
"""A reading of a date that is less sure is left alone."""

MOST_CHARACTERS = 1000
"""A longer text is no question, and its dates are its own."""

LONGEST = 31
"""Days: a longer span tells little of when a thing was said."""

BESIDE_WORDS = 1 / 3
"""How much it counts that a block was written on the days asked for, where the question asks for more than the days:
"how much diesel came in October?" may be answered by a note of November.
"""

MOST_BLOCKS = 200
"""Of the days asked for; of more, only what words, meaning and edges find is a candidate."""

MOST_LATEST = 10
"""Of the best by evidence, the later ones are lifted where a question asks what holds."""

_COMMON = frozenset(COMMON_WORDS)
_ANOTHER_DAY = timedelta(days=45)
"""From which a text is read again: a month and a half later "today" is another day, and "last month" another month."""
_EASTERNMOST, _WESTERNMOST = timedelta(hours=14), timedelta(hours=12)
_WORD = re.compile(r"[^\W\d_]+")


Blocks = Callable[[Sequence[int]], Mapping[int, Block]]


@dataclass(frozen=True, slots=True)
class AskedDays:
    """Days [first, last], both counted. alone: the question asks for whatever was said or done on them."""

    first: date
    last: date
    alone: bool = True

    def within(self, wanted: BlockFilter) -> BlockFilter:
        """Return the filter, for what was written on these days anywhere on the earth; `holds` says of a block whether
        it was.
        """
        since = earlier(datetime.combine(self.first, time.min, UTC), _EASTERNMOST)
        until = earlier(datetime.combine(self.last, time.min, UTC), -timedelta(days=1) - _WESTERNMOST)
        return replace(
            wanted,
            since=since if wanted.since is None else max(since, wanted.since),
            until=until if wanted.until is None else min(until, wanted.until),
        )

    def overlap(self, days: ToldDays) -> bool:
        """Return whether a span of at most LONGEST days that a text tells, and surely means, has one of these days."""
        short = (days.last - days.first).days < LONGEST
        return short and days.confidence > LEAST_SURE and days.first <= self.last and days.last >= self.first

    def holds(self, block: Block) -> bool:
        """Return whether a text was written on one of these days, by its writer's calendar."""
        return self.first <= block.written.date() <= self.last

    def told_by(self, block: Block) -> bool:
        """Return whether a text tells of one of these days, other than by "today" or "this week": a unit of time that
        it was written in says no more than when that was.
        """
        written = block.written.date()
        return any(self.overlap(days) and not days.first <= written <= days.last for days in _read_told_days(block))


def find_asked_days(text: str, now: datetime) -> AskedDays | None:
    """Return the first and the last day that a question names, told from now, in the zone of who asks; None where it
    names none that is sure, or a span that is open or longer than LONGEST days, and for a text of more than
    MOST_CHARACTERS.
    """
    if len(text) > MOST_CHARACTERS:
        return None
    words = table_of(text)
    named = [
        mention
        for mention in dates_in(text, now)
        if mention.interval.modality is Modality.ON
        and mention.interval.confidence > LEAST_SURE
        and not words.open.search(text, 0, mention.start)
    ]
    if not named:
        return None
    first = min(mention.interval.whole[0] for mention in named)
    last = max(mention.interval.whole[1] for mention in named)
    if (last - first).days >= LONGEST:
        return None
    rest = "".join(c for i, c in enumerate(text) if not any(m.start <= i < m.end for m in named))
    asked = {word.lower() for word in _WORD.findall(words.talking.sub(" ", rest))} - _COMMON
    asked -= foreign_function_words(text)
    return AskedDays(first, last, alone=not asked)


def holds_its_day(block: Block) -> bool:
    """Return whether a text writes out the day it was written on, as a line with its date does: its words say it, then.

    "Today" and "this week" name the day only to who knows when they were said: read from another day, they move.
    """
    written = block.written.date()
    if not any(days.first <= written <= days.last for days in _read_told_days(block)):
        return False
    read = [mention.interval for mention in dates_in(block.content, block.written + _ANOTHER_DAY)]
    sure = [interval.whole for interval in read if interval.confidence > LEAST_SURE]
    return any(first <= written <= last for first, last in sure)


def add_latest(evidence: Features, asked: str, blocks: Blocks) -> Features:
    """Return the evidence with its column `latest`: of what was decided twice, the later holds. blocks: by number."""
    best = np.argsort(-contributions(evidence).sum(axis=1), kind="stable")[:MOST_LATEST]
    if best.size < 2 or not table_of(asked).holding.search(asked):
        return evidence
    read = blocks(evidence.numbers[best].tolist())
    days = [read[number].written.date() for number in evidence.numbers[best].tolist()]
    values = evidence.values.copy()
    order = sorted(set(days))
    values[best, list(FEATURES).index("latest")] = [order.index(day) / max(len(order) - 1, 1) for day in days]
    return replace(evidence, values=values)


def _read_told_days(block: Block) -> Iterable[ToldDays]:
    return told_days(block.meta.get("dates") or ())
