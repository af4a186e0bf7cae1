"""A synthetic year: blocks arrive, are consolidated, asked for, judged, and fade (AMGS §13.2).

It lives in a store in memory and a clock of its own; no file is touched. Whether a block is useful is known here,
because the world that writes the blocks also asks the questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from amgs.clock import FixedClock
from amgs.decay import relevance_at
from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.settings import Settings
from amgs.types import BlockFilter, Progress
from benchmarks.bench_results import Bench, BenchResult, BenchTable

if TYPE_CHECKING:
    from amgs.memory import Memory

BENCH = Bench("year")

START = datetime(2025, 1, 1, 7, tzinfo=UTC)
KINDS = ("value", "person", "procedure", "observation", "task")
"""Tags that consolidation knows."""

_SHARES = (0.04, 0.12, 0.14, 0.5, 0.2)
"""How much of what arrives is of each kind."""

_TOPICS, _WORDS = 18, 14
_ARRIVALS, _QUERIES = 2.0, 1.2
_CONSOLIDATE_DAYS, _CALIBRATE_DAYS, _MONTH_DAYS = 3, 90, 30
_BUDGET = 220
_NOISE = 0.05
"""How often a verdict is wrong."""

_COMMON = ("today", "again", "once", "more", "after", "before", "near", "under", "with", "still")


@dataclass(frozen=True, slots=True)
class Month:
    """One month of a simulated life, counted at its end. brier: of the verdicts of this month."""

    month: int
    arrived: int
    consolidated: int
    queries: int
    useful: int
    alive: int
    fading: int
    edges: int
    mean_relevance: float
    brier: float | None


@dataclass(frozen=True, slots=True)
class SyntheticYear:
    """A synthetic year. survived: per kind of block, those above the threshold at the end over those that came."""

    days: int
    seed: int
    months: tuple[Month, ...]
    survived: Mapping[str, tuple[int, int]] = field(hash=False)
    outcomes: int = 0
    brier: float | None = None
    recalibrated: int = 0


class InventedWorld:
    """What is written and asked: topics with words of their own, the popular ones changing with the seasons."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u")]
        words = {"".join(self.rng.choice(syllables, 3)) for _ in range(2 * _TOPICS * _WORDS)}
        ordered = sorted(words)
        self.rng.shuffle(ordered)
        self.topics = [ordered[i * _WORDS : (i + 1) * _WORDS] for i in range(_TOPICS)]
        self.written = 0

    def topic(self, day: int) -> int:
        """A topic of the season: near ones of a slowly turning wheel are popular."""
        centre = day / 365 * _TOPICS
        return round(self.rng.normal(centre, 2.0)) % _TOPICS

    def draft(self, day: int, at: datetime) -> RawBlock:
        """One block about a topic of the season."""
        topic = self.topic(day)
        kind = str(self.rng.choice(KINDS, p=_SHARES))
        own = self.rng.choice(self.topics[topic], 8, replace=False).tolist()
        words = [*own, *self.rng.choice(_COMMON, 4).tolist()]
        self.rng.shuffle(words)
        self.written += 1
        meta = {"tags": [kind], "topic": str(topic), "kind_of": kind}
        return RawBlock(f"Entry {self.written}. {' '.join(words)}.", at, meta)

    def query(self, day: int) -> tuple[str, int]:
        """Three words of a topic of the season, and which topic it is."""
        topic = self.topic(day)
        return " ".join(self.rng.choice(self.topics[topic], 3, replace=False).tolist()), topic


@dataclass
class _Tally:
    """What happened in the month so far."""

    arrived: int = 0
    consolidated: int = 0
    queries: int = 0
    useful: int = 0
    scores: list[float] = field(default_factory=list)


def simulate(
    *, days: int, seed: int, settings: Settings | None = None, progress: Progress | None = None
) -> SyntheticYear:
    """Live through so many days; equal seeds give equal years. Raises UsageError for less than a day."""
    from amgs.memory import Memory

    if days < 1:
        raise UsageError(f"Cannot simulate {days} days.", way_out="Give at least 1.")
    world, clock = InventedWorld(seed), FixedClock(START)
    months: list[Month] = []
    every: list[float] = []
    tally, recalibrated = _Tally(), 0
    with Memory.open(":memory:", clock=clock, settings=settings) as memory:
        for day in range(days):
            if progress is not None:
                progress(day, days, "living")
            _live(memory, world, day, tally)
            if (day + 1) % _CALIBRATE_DAYS == 0:
                recalibrated += _calibrate(memory)
            clock.advance(timedelta(days=1))
            if (day + 1) % _MONTH_DAYS == 0 or day + 1 == days:
                months.append(_month(memory, len(months) + 1, tally))
                every += tally.scores
                tally = _Tally()
        survived = _survivors(memory)
    brier = float(np.mean(every)) if every else None
    return SyntheticYear(days, seed, tuple(months), survived, len(every), brier, recalibrated)


def _live(memory: Memory, world: InventedWorld, day: int, tally: _Tally) -> None:
    """One day: what arrives, what is consolidated, what is asked and judged."""
    now = memory.clock.now()
    drafts = [world.draft(day, now) for _ in range(int(world.rng.poisson(_ARRIVALS)))]
    tally.arrived += len(memory.ingest_many(drafts).added)
    if day % _CONSOLIDATE_DAYS == 0:
        tally.consolidated += memory.apply_consolidation(memory.plan_consolidation()).blocks
    for _ in range(int(world.rng.poisson(_QUERIES))):
        query, topic = world.query(day)
        frame = memory.assemble("ATTENTION", query=query, budget=_BUDGET)
        tally.queries += 1
        for one in frame.selected:
            useful = (one.block.meta.get("topic") == str(topic)) != (world.rng.random() < _NOISE)
            outcome = memory.feedback(one.block.id, useful=bool(useful), assembly_id=frame.id)
            tally.useful += bool(useful)
            tally.scores.append(outcome.brier or 0.0)


def _calibrate(memory: Memory) -> int:
    """Recalibrate where there are enough verdicts and the curve helps; how often that was done."""
    try:
        plan = memory.calibration.plan()
    except UsageError:
        return 0
    memory.calibration.apply(plan)
    return int(plan.forecast.used)


def _month(memory: Memory, number: int, tally: _Tally) -> Month:
    blocks, now = memory.blocks(BlockFilter()), memory.clock.now()
    levels = [relevance_at(b.decay_lambda, b.last_reinforced_at, now) for b in blocks]
    fading = sum(level < memory.settings.decay.threshold for level in levels)
    return Month(
        number,
        tally.arrived,
        tally.consolidated,
        tally.queries,
        tally.useful,
        len(blocks) - fading,
        fading,
        len(memory.edges()),
        float(np.mean(levels)) if levels else 0.0,
        float(np.mean(tally.scores)) if tally.scores else None,
    )


def _survivors(memory: Memory) -> dict[str, tuple[int, int]]:
    """Per kind of block: how many are above the threshold, of how many that were consolidated."""
    came: Counter[str] = Counter()
    alive: Counter[str] = Counter()
    now = memory.clock.now()
    for block in memory.blocks(BlockFilter()):
        kind = str(block.meta.get("kind_of"))
        came[kind] += 1
        level = relevance_at(block.decay_lambda, block.last_reinforced_at, now)
        alive[kind] += level >= memory.settings.decay.threshold
    return {kind: (alive[kind], came[kind]) for kind in KINDS if came[kind]}


def run(days: int, seed: int, settings: Settings | None = None, progress: Progress | None = None) -> BenchResult:
    """The year as a result: what came of the verdicts, month by month, and what of each kind outlived it."""
    year = simulate(days=days, seed=seed, settings=settings, progress=progress)
    months = [
        (
            f"{m.month}",
            *(m.arrived, m.consolidated, m.queries, m.useful, m.alive, m.fading, m.edges),
            f"{m.mean_relevance:.2f}",
            "–" if m.brier is None else f"{m.brier:.3f}",
        )
        for m in year.months
    ]
    columns = "month arrived consolidated queries useful alive fading edges relevance Brier"
    metrics = {"year_verdicts": float(year.outcomes), "year_recalibrated": float(year.recalibrated)}
    if year.brier is not None:
        metrics["year_brier"] = year.brier
    return BENCH.result(
        {"days": days, "seed": seed},
        metrics,
        (
            BenchTable("Month by month", tuple(columns.split()), tuple(months)),
            BenchTable(
                "Above the threshold at the end",
                ("kind", "alive", "of"),
                tuple((kind, alive, came) for kind, (alive, came) in year.survived.items()),
            ),
        ),
    )
