"""How long packs stay needed, by when each was read, which to do without, and what is read together.

A pack is read at a rate of its own until, one day, it is no longer needed. Of both rates only the readings are seen. By
the BG/NBD model of repeated purchases (Fader, Hardie and Lee 2005) that gives, in closed form, how likely a pack is
still in use, and how likely it is read again within a horizon. A pack that was never read counts as in use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

RATE_SHAPE, RATE_DAYS = 0.6, 8.0
"""The gamma distribution of rates over packs: readings, in so many days."""
ENDED, WENT_ON = 0.8, 2.5
"""The beta distribution of how likely a reading is the last."""
LEAST_COUNT, LEAST_LIFT = 5, 1.5
"""Packs are read together where so many sessions have them all, and so many times more than by chance."""
_LARGEST_SET = 4


def needed(readings: int, last: float, age: float, horizon: float) -> float:
    """How likely a pack is read within the next `horizon` days.

    readings: so far. last: days from when it was kept to the last reading, 0 for none. age: days since it was kept.
    """
    alive = 1.0
    if readings:
        gap = (RATE_DAYS + age) / (RATE_DAYS + last)
        odds = ENDED / (WENT_ON + readings - 1) * float(gap ** (RATE_SHAPE + readings))
        alive = 1.0 / (1.0 + odds)
    none = ((RATE_DAYS + age) / (RATE_DAYS + age + horizon)) ** (RATE_SHAPE + readings)
    return alive * float(1.0 - none)


@dataclass(frozen=True, slots=True)
class PackWorth:
    """A pack with its tokens and how likely it is needed within the horizon."""

    name: str
    tokens: int
    needed: float


def to_forget(worths: Sequence[PackWorth], tokens: int) -> tuple[PackWorth, ...]:
    """Those to do without so that the others take at most `tokens`: the least likely needed for the square root of
    their size first, so that neither many small packs nor a few large ones go before all others; equal ones by name.
    What went and still fits beside the rest once a larger one has gone stays, the likeliest needed first.
    """
    held = sum(one.tokens for one in worths)
    gone: list[PackWorth] = []
    for one in sorted(worths, key=lambda one: (one.needed / max(one.tokens, 1) ** 0.5, one.name)):
        if held <= tokens:
            break
        held -= one.tokens
        gone.append(one)
    for one in gone[::-1]:
        if held + one.tokens <= tokens:
            held += one.tokens
            gone.remove(one)
    return tuple(gone)


@dataclass(frozen=True, slots=True)
class ReadTogether:
    """Packs that `count` sessions have all, of `either` that have any. lift: how many times more than if each were read
    by itself.
    """

    names: tuple[str, ...]
    count: int
    lift: float
    either: int


def together(sessions: Sequence[Iterable[str]]) -> tuple[ReadTogether, ...]:
    """Closed sets of packs read in the same sessions, at least LEAST_COUNT times and LEAST_LIFT above chance, or in all
    but one of so many where any is read, since what every session has is together by chance too; those that are read
    together most come first. A set is closed where no pack more is in all of its sessions.
    """
    read = [frozenset(one) for one in sessions]
    alone = Counter(name for one in read for name in one)
    often = sorted(name for name, count in alone.items() if count >= LEAST_COUNT)
    counts: dict[tuple[str, ...], int] = {}
    for size in range(2, _LARGEST_SET + 1):
        for names in combinations(often, size):
            parts = combinations(names, size - 1)
            if size == 2 or all(part in counts for part in parts):
                count = sum(one.issuperset(names) for one in read)
                if count >= LEAST_COUNT:
                    counts[names] = count
    found = []
    for names, count in counts.items():
        chance = float(len(read))
        for name in names:
            chance *= alone[name] / len(read)
        closed = not any(other != names and counts[other] == count and set(names) < set(other) for other in counts)
        either = sum(not one.isdisjoint(names) for one in read)
        if closed and (count / chance >= LEAST_LIFT or LEAST_COUNT * (either - count) <= count):
            found.append(ReadTogether(names, count, count / chance, either))
    return tuple(sorted(found, key=lambda one: (-one.count, -one.lift, one.names)))
