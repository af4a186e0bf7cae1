"""`lives`: does the memory say what the notes say now, whatever became of them, and what they said then?"""

from __future__ import annotations

import math
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from amgs.memory import Memory
from amgs.settings import IngestSettings, Settings
from amgs.types import STATUSES, BlockFilter
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.life_stories import EVENTS, ROOTS, NoteLife, NoteMoment, Topic, lives
from benchmarks.stores import STILL, BenchClock

BENCH = Bench("lives", {"lives_right": (">=", 1.0), "past_right": (">=", 1.0)})
_CHARS = 300
"""Characters of the longest piece: a note of three sections is several pieces, one of one section is one."""
_STEP = timedelta(days=7)
_EVERY = BlockFilter(statuses=STATUSES)
_VALUE = re.compile(r"\b\d{4}\b")
_DEPTH = 10

REVISED, PLAIN, ANEW = "revised", "plain ingest", "a new memory each time"


@dataclass(frozen=True, slots=True)
class Miss:
    """A check that failed: in which life, after which event, what, and what was found in place of what."""

    way: str
    life: str
    moment: int
    event: str
    check: str
    topic: str
    expected: str
    found: str


@dataclass(slots=True)
class Tally:
    """What was checked of one way of taking in: how often, and what failed."""

    checks: dict[str, int] = field(default_factory=dict)
    misses: list[Miss] = field(default_factory=list)

    def right(self, names: Sequence[NoteLife], checks: Sequence[str]) -> float:
        """The share of lives in which none of these checks failed."""
        wrong = {miss.life for miss in self.misses if miss.check in checks}
        return float(np.mean([one.name not in wrong for one in names]))

    def rate(self, check: str) -> float:
        """The share of single checks that held."""
        asked = self.checks.get(check, 0)
        return 1.0 - sum(miss.check == check for miss in self.misses) / asked if asked else float("nan")


NOW_CHECKS = ("search", "stale hit", "frame", "stale frame", "undo", "again")
PAST_CHECKS = ("past",)
RANK_CHECKS = ("first hit",)
"""What the ranking does, whatever becomes of notes: the memory that is made anew has it too, and it is no part of a
right life.
"""
_LIFE = (*NOW_CHECKS, *PAST_CHECKS)


def run(rig: MemoryRig, number: int, moments: int) -> BenchResult:
    """Live so many lives three times: with revisions, with plain ingest, and with a memory made anew each time."""
    stories = lives(number, rig.seed, moments)
    tallies = {way: _lived(rig, stories, way) for way in (REVISED, PLAIN, ANEW)}
    told = tallies[REVISED]
    metrics = {
        "lives_right": told.right(stories, NOW_CHECKS),
        "past_right": told.right(stories, PAST_CHECKS),
        "lives_right_plain": tallies[PLAIN].right(stories, NOW_CHECKS),
        "past_right_plain": tallies[PLAIN].right(stories, PAST_CHECKS),
        "lives_right_anew": tallies[ANEW].right(stories, NOW_CHECKS),
        "first_hit": told.rate("first hit"),
        "first_hit_anew": tallies[ANEW].rate("first hit"),
    }
    settings = {"lives": number, "moments": moments, "seed": rig.seed, "embedder": rig.embedder.name}
    return BENCH.result(settings, metrics, (_checks(tallies), _events(stories, told), *_misses(tallies)))


# --- living -----------------------------------------------------------------------------------------------


def _lived(rig: MemoryRig, stories: Sequence[NoteLife], way: str) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        world = _World(rig, Path(temporary), way, tally)
        try:
            for moment in range(len(stories[0].moments)):
                rig.progress(moment, len(stories[0].moments), way)
                world.live(stories, moment)
            if way != ANEW:
                world.look_back(stories)
        finally:
            world.close()
    return tally


class _World:
    """The folders of all lives, and the memory that takes them in one way."""

    def __init__(self, rig: MemoryRig, folder: Path, way: str, tally: Tally) -> None:
        self.rig, self.folder, self.way, self.tally = rig, folder, way, tally
        self.clock = BenchClock(STILL)
        self.memory = self._opened()
        self.instants: list[datetime] = []

    def _opened(self) -> Memory:
        settings = Settings(ingest=IngestSettings(max_block_chars=_CHARS))
        return Memory.open(":memory:", clock=self.clock, embedder=self.rig.embedder, settings=settings)

    def close(self) -> None:
        self.memory.close()

    def live(self, stories: Sequence[NoteLife], at: int) -> None:
        """One moment of every life: write its files, take them in, and ask."""
        self.clock.advance(_STEP)
        self.instants.append(self.clock.now())
        if self.way == ANEW:
            self.memory.close()
            self.memory = self._opened()
        for life in stories:
            for root in ROOTS:
                self._write(life, life.moments[at], root)
        for life in stories:
            for root in ROOTS:
                self._take_in(life, at, root)
        self.memory.consolidate()
        self.clock.advance(_STEP)
        for life in stories:
            for topic in life.topics:
                self._ask(life, at, topic)
            if self.way != ANEW:
                self._assemble(life, at, _changed(life, at))

    def _write(self, life: NoteLife, moment: NoteMoment, root: str) -> None:
        below = self.folder / life.name / root
        shutil.rmtree(below, ignore_errors=True)
        below.mkdir(parents=True)
        stamp = self.clock.now().timestamp()
        for (of, path), text in moment.texts().items():
            if of == root:
                whole = below / path
                whole.parent.mkdir(parents=True, exist_ok=True)
                whole.write_text(text, encoding="utf-8")
                os.utime(whole, (stamp, stamp))

    def _take_in(self, life: NoteLife, at: int, root: str) -> None:
        folder = self.folder / life.name / root
        if self.way != REVISED:
            self.memory.ingest_folder(folder)
            return
        plan = self.memory.sources.plan_folder(folder)
        if plan.empty:
            return
        before = _state(self.memory)
        done = self.memory.sources.apply(plan).operation
        after = _state(self.memory)
        if done is not None and at:
            self.memory.undo(done.id)
            self._held(life, at, "undo", None, "the state before", _same(_state(self.memory), before))
            self.memory.sources.apply(self.memory.sources.plan_folder(folder))
            self._held(life, at, "again", None, "the state after", _same(_state(self.memory), after))

    # --- checks -----------------------------------------------------------------------------------------

    def _ask(self, life: NoteLife, at: int, topic: Topic) -> None:
        """The present: of all that was ever said, the current fact comes first, and nothing stale comes unmarked."""
        wanted = life.moments[at].values(topic)
        stale = _ever(life, topic) - wanted
        hits = [hit.block for hit in self.memory.search(topic.question, top_k=_DEPTH).hits]
        said = [held for held in (_values(hit.content) for hit in hits) if held & (wanted | stale)]
        if wanted:
            self._held(life, at, "search", topic, wanted, "" if said and said[0] & wanted else _first(said))
            first = _values(hits[0].content) if hits else frozenset[str]()
            self._held(life, at, "first hit", topic, wanted, "" if first & wanted else _said(first) or "nothing")
        unmarked = frozenset(v for b in hits if not b.superseded for v in _values(b.content))
        self._held(life, at, "stale hit", topic, "none", _said(unmarked & stale))

    def _assemble(self, life: NoteLife, at: int, topic: Topic) -> None:
        """A frame holds the current fact and nothing stale."""
        wanted = life.moments[at].values(topic)
        held = _values(self.memory.assemble("SESSION", query=topic.question, reinforce=False).text)
        if wanted:
            self._held(life, at, "frame", topic, wanted, "" if held & wanted else "no current fact")
        self._held(life, at, "stale frame", topic, "none", _said(held & (_ever(life, topic) - wanted)))

    def look_back(self, stories: Sequence[NoteLife]) -> None:
        """The past: as of the end of each moment, exactly what was said then."""
        for life in stories:
            for at, instant in enumerate(self.instants):
                for topic in life.topics:
                    found = self.memory.search(topic.question, top_k=_DEPTH, as_of=instant + _STEP / 2).hits
                    said = frozenset(v for hit in found for v in _values(hit.block.content))
                    said &= _ever(life, topic)
                    wanted = life.moments[at].values(topic)
                    self._held(life, at, "past", topic, wanted, "" if said == wanted else _said(said) or "nothing")

    def _held(
        self, life: NoteLife, at: int, check: str, topic: Topic | None, wanted: frozenset[str] | str, wrong: str
    ) -> None:
        """Count a check; wrong: what was found where it failed."""
        self.tally.checks[check] = self.tally.checks.get(check, 0) + 1
        if wrong:
            about = "" if topic is None else f"{topic.thing} of {topic.place} {topic.kind}"
            expected = wanted if isinstance(wanted, str) else _said(wanted)
            event = life.moments[at].event
            self.tally.misses.append(Miss(self.way, life.name, at, event, check, about, expected, wrong))


def _changed(life: NoteLife, at: int) -> Topic:
    """A topic of which the notes say something else than the moment before; where there is none, each in turn."""
    now, before = life.moments[at], life.moments[max(at - 1, 0)]
    changed = [topic for topic in life.topics if now.values(topic) != before.values(topic)]
    return changed[0] if changed else life.topics[at % len(life.topics)]


def _first(said: Sequence[frozenset[str]]) -> str:
    return _said(said[0]) if said else "nothing"


def _ever(life: NoteLife, topic: Topic) -> frozenset[str]:
    return frozenset(value for moment in life.moments for value in moment.values(topic))


def _values(text: str) -> frozenset[str]:
    return frozenset(_VALUE.findall(text))


def _said(values: frozenset[str]) -> str:
    return ", ".join(sorted(values))


def _state(memory: Memory) -> dict[str, object]:
    """All that a revision may touch: blocks, edges, and what sources hold."""
    blocks = memory.blocks(_EVERY, order="id")
    return {
        "blocks": {b.id: (b.content, b.status, b.category, b.valid_from, b.valid_to, dict(b.meta)) for b in blocks},
        "edges": {e.key: (e.weight, e.confidence) for e in memory.edges()},
        "sources": memory.sources.list(),
    }


def _same(found: dict[str, object], wanted: dict[str, object]) -> str:
    """Which part differs, empty for none."""
    return ", ".join(name for name in wanted if found[name] != wanted[name])


# --- tables -----------------------------------------------------------------------------------------------


def _checks(tallies: dict[str, Tally]) -> BenchTable:
    asked = tallies[REVISED].checks
    rows: list[tuple[str | float, ...]] = [
        (check, float(asked.get(check, 0)), *(_per_cent(tally.rate(check)) for tally in tallies.values()))
        for check in (*NOW_CHECKS, *PAST_CHECKS, *RANK_CHECKS)
    ]
    return BenchTable("Single checks that held, per cent", ("check", "asked", *tallies), tuple(rows))


def _per_cent(rate: float) -> str | float:
    return "–" if math.isnan(rate) else 100 * rate


def _events(stories: Sequence[NoteLife], tally: Tally) -> BenchTable:
    rows = []
    for event in ("written", *EVENTS):
        lived = sum(m.event == event for life in stories for m in life.moments)
        wrong = len({(m.life, m.moment) for m in tally.misses if m.event == event and m.check in _LIFE})
        rows.append((event, float(lived), float(lived - wrong)))
    return BenchTable("Moments by event", ("event", "moments", "right"), tuple(rows))


def _misses(tallies: dict[str, Tally]) -> tuple[BenchTable, ...]:
    """What failed, by name: all of the revised lives', and the first of the controls'."""
    columns = ("life", "moment", "event", "check", "about", "expected", "found")
    made = []
    for way, tally in tallies.items():
        every = [miss for miss in tally.misses if miss.check in _LIFE]
        shown = every if way == REVISED else every[:5]
        rows = tuple((m.life, str(m.moment), m.event, m.check, m.topic, m.expected, m.found) for m in shown)
        if rows:
            made.append(BenchTable(f"Misses, {way}: {len(every)}", columns, rows))
    return tuple(made)
