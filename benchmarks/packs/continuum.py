"""Forgetting packs over an invented year: what is there when it is needed, with half the room, or a fifth.

A pack takes its room from when it is kept; what is read and no longer there comes back, as from an archive. Belady's
rule knows the future: of what is there it drops what is read last, or never. Four worlds are invented: a mixture of
steady packs, projects that end, packs read once or twice, and packs that come back at intervals; projects alone;
steady packs alone, of very unequal rates; and intervals alone.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log1p
from pathlib import Path
from statistics import mean

from amgs.wings.packs.engine.continuum import needed
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.measures import mean_interval

DAYS = 365.0
_PACKS = 100
_WORLDS = 6
_FIRST_SEED = 100
"""The worlds that the model was chosen on had seeds below."""
_HORIZON = 30.0
KINDS = ("mixed", "projects", "steady", "intervals")
SHARES = (0.5, 0.2)
GOALS: dict[str, tuple[Comparator, float]] = {"continuum_of_belady": (">=", 0.95)}


@dataclass(frozen=True, slots=True)
class YearPack:
    """born: the day it is kept. reads: the days it is read, in order."""

    born: float
    tokens: int
    reads: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PackState:
    """What a rule sees of a pack on a day; future: the day it is read next, which only Belady may ask."""

    age: float
    reads: tuple[float, ...]
    last: float
    tokens: int
    future: float
    draw: float


def _worth(one: PackState) -> float:
    return needed(len(one.reads), one.last, one.age, _HORIZON)


RULES: dict[str, Callable[[PackState], float]] = {
    "amgs": lambda one: _worth(one) / one.tokens**0.5,
    "amgs, whatever the size": _worth,
    "last read (LRU)": lambda one: one.last - one.age,
    "most read (LFU)": lambda one: len(one.reads) + 1e-6 * (one.last - one.age),
    "decay, slower with each reading": lambda one: (1 + log1p(len(one.reads))) * exp((one.last - one.age) / 30),
    "latest kept": lambda one: -one.age,
    "at random": lambda one: one.draw,
    "Belady": lambda one: -one.future,
}
"""What has the least goes first."""


def measure_continuum(rig: MemoryRig, data: Path) -> SubjectResult:
    """The share of readings whose pack was there, by rule, world and room. Needs no data."""
    del rig, data
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for kind in KINDS:
        years = [invented(kind, _FIRST_SEED + n) for n in range(_WORLDS)]
        for share in SHARES:
            found = {name: [present(year, rule, share) for year in years] for name, rule in RULES.items()}
            best = mean(found["Belady"])
            for name, each in found.items():
                gain = [ours - theirs for ours, theirs in zip(found["amgs"], each, strict=True)]
                low, high = mean_interval(gain)
                rows.append(
                    (kind, share, name, mean(each), mean(each) / best, f"{mean(gain):+.3f} [{low:+.3f}, {high:+.3f}]")
                )
            mark = "" if (kind, share) == ("mixed", 0.5) else f"_{kind}_{round(100 * share)}"
            metrics[f"continuum_of_belady{mark}"] = mean(found["amgs"]) / best
            beside = [[a - b for a, b in zip(found["amgs"], found[name], strict=True)] for name in _BESIDE]
            metrics[f"continuum_ahead_least{mark}"] = min(mean_interval(gain)[0] for gain in beside)
    table = BenchTable(
        f"Packs there when they were read, {_WORLDS} invented years of {_PACKS} packs",
        ("world", "room", "rule", "there", "of Belady", "amgs ahead of it by"),
        tuple(rows),
    )
    return SubjectResult(metrics, GOALS, (table,))


_BESIDE = ("last read (LRU)", "most read (LFU)", "decay, slower with each reading")


def invented(kind: str, seed: int) -> list[YearPack]:
    """A year of packs."""
    chance = random.Random(f"{kind} {seed}")
    return [_invented(kind, chance) for _ in range(_PACKS)]


def _invented(kind: str, chance: random.Random) -> YearPack:
    born = chance.uniform(0, 0.9 * DAYS)
    drawn = chance.choices(("steady", "projects", "once", "intervals"), (0.25, 0.35, 0.2, 0.2))[0]
    own = drawn if kind == "mixed" else kind
    reads: list[float] = []
    day = born
    if own == "once":
        reads = [born + chance.expovariate(0.1) for _ in range(chance.randrange(3))]
    elif own == "intervals":
        period = chance.uniform(7, 60)
        while (day := day + period) < DAYS:
            reads.append(max(day + chance.gauss(0, 1.5), born))
    else:
        end = DAYS if own == "steady" else born + chance.expovariate(1 / 30)
        rate = chance.gammavariate(1.0, 0.05) if own == "steady" else chance.gammavariate(2.0, 0.125)
        while (day := day + chance.expovariate(max(rate, 1e-4))) < end:
            reads.append(day)
    tokens = int(chance.lognormvariate(6, 0.7)) + 1
    return YearPack(born, tokens, tuple(sorted(one for one in reads if one < DAYS)))


def present(year: Sequence[YearPack], rule: Callable[[PackState], float], share: float) -> float:
    """The share of readings whose pack was there, where a share of all tokens is kept."""
    room = share * sum(one.tokens for one in year)
    events = [(one.born, -1, n) for n, one in enumerate(year)]
    events += [(day, place, n) for n, one in enumerate(year) for place, day in enumerate(one.reads)]
    there: set[int] = set()
    used, hits, asked = 0, 0, 0
    chance = random.Random(0)
    for day, place, number in sorted(events):
        if place >= 0:
            asked += 1
            hits += number in there
        if number not in there:
            there.add(number)
            used += year[number].tokens
        while used > room and there:
            worst = min(there, key=lambda n: (rule(_held(year[n], day, chance)), n))
            there.discard(worst)
            used -= year[worst].tokens
    return hits / max(asked, 1)


def _held(one: YearPack, day: float, chance: random.Random) -> PackState:
    seen = bisect_right(one.reads, day)
    reads = one.reads[:seen]
    future = one.reads[seen] if seen < len(one.reads) else float("inf")
    last = reads[-1] - one.born if reads else 0.0
    return PackState(day - one.born, reads, last, one.tokens, future, chance.random())
