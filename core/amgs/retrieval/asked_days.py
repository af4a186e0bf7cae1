"""Find the days that a question names and the blocks that belong to them, for the features about time.

`waterfall` makes the features `written_then` and `told_day` from it, and calls `add_latest` for `latest`.
"""

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
"""Confidence above which the reading of a date is used."""

MOST_CHARACTERS = 1000
"""A longer text is no question: its dates are part of its content."""

LONGEST = 31
"""Days of a span; a longer one hardly narrows down when something was said."""

BESIDE_WORDS = 1 / 3
"""Weight of `written_then` where the question asks for more than the days: "how much diesel came in October?" may be
answered by a note of November.
"""

MOST_BLOCKS = 200
"""Blocks of the named days up to which all are candidates; of more, only what words, meaning and edges find."""

MOST_LATEST = 10
"""Number of best candidates that `add_latest` orders by time."""

_COMMON = frozenset(COMMON_WORDS)
_ANOTHER_DAY = timedelta(days=45)
"""How much later `gives_its_day` reads a text again: by then "today" is another day, and "last month" another month."""
_EASTERNMOST, _WESTERNMOST = timedelta(hours=14), timedelta(hours=12)
_WORD = re.compile(r"[^\W\d_]+")


Blocks = Callable[[Sequence[int]], Mapping[int, Block]]


@dataclass(frozen=True, slots=True)
class AskedDays:
    """Days that a question names, first and last inclusive. alone: it asks for whatever was said or done on them."""

    first: date
    last: date
    alone: bool = True

    def within(self, wanted: BlockFilter) -> BlockFilter:
        """Return the filter narrowed to blocks written on these days in any time zone; `contains_writing` then checks
        each by its writer's own calendar.
        """
        since = earlier(datetime.combine(self.first, time.min, UTC), _EASTERNMOST)
        until = earlier(datetime.combine(self.last, time.min, UTC), -timedelta(days=1) - _WESTERNMOST)
        return replace(
            wanted,
            since=since if wanted.since is None else max(since, wanted.since),
            until=until if wanted.until is None else min(until, wanted.until),
        )

    def overlap(self, days: ToldDays) -> bool:
        """Return whether a span that a text mentions includes one of these days; long and unsure spans do not count."""
        short = (days.last - days.first).days < LONGEST
        return short and days.confidence > LEAST_SURE and days.first <= self.last and days.last >= self.first

    def contains_writing(self, block: Block) -> bool:
        """Return whether a block was written on one of these days, by its writer's calendar."""
        return self.first <= block.written.date() <= self.last

    def mentioned_by(self, block: Block) -> bool:
        """Return whether a block's text mentions one of these days. "Today" and "this week" do not count: they say no
        more than when the text was written.
        """
        written = block.written.date()
        return any(self.overlap(days) and not days.first <= written <= days.last for days in _read_told_days(block))


def find_asked_days(text: str, now: datetime) -> AskedDays | None:
    """Return the days that a question names, from the first to the last; None where it names none.

    now: the moment of asking, in the asker's time zone. Unsure readings, open spans ("since May"), spans longer than
    LONGEST days and texts longer than MOST_CHARACTERS name none.
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


def gives_its_day(block: Block) -> bool:
    """Return whether a text writes out the day it was written on, so that words already match the date.

    "Today" and "this week" do not: read from _ANOTHER_DAY they mean other days.
    """
    written = block.written.date()
    if not any(days.first <= written <= days.last for days in _read_told_days(block)):
        return False
    read = [mention.interval for mention in dates_in(block.content, block.written + _ANOTHER_DAY)]
    sure = [interval.whole for interval in read if interval.confidence > LEAST_SURE]
    return any(first <= written <= last for first, last in sure)


def add_latest(evidence: Features, asked: str, blocks: Blocks) -> Features:
    """Fill the feature `latest` of the best candidates where the question asks what holds now: of two decisions the
    later one counts. blocks: reads blocks by number.
    """
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
