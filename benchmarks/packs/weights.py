"""Learning from outcomes: useless companions that are read beside useful packs.

All of it is invented: every useful pack has a companion that is read with it nine times of ten and adds nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from amgs.wings.packs.engine.outcome_weights import weights
from amgs.wings.packs.values import PackUse
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult

_WORLDS = 20
_SESSIONS = 200
_USEFUL = 8
_WORTH, _NOISE = 0.3, 0.3
"""What a useful pack adds on average, and the standard deviation of what a verdict sees of it: above 0 is useful."""
_SUCCESS = 0.8
"""How often a session succeeds; the useful packs are in every one."""
_START = datetime(2030, 1, 1, tzinfo=UTC)
GOALS: dict[str, tuple[Comparator, float]] = {"companions_not_useful": (">=", 95.0)}
_METHODS = {
    "a verdict of each reading": "",
    "the reward of the session, each reading's": "_shared",
    "the reward of the session, as amgs takes it": "_session",
}


def measure_weights(rig: MemoryRig, data: Path) -> SubjectResult:
    """How many companions are thought useful, by what is taken for an outcome."""
    del data
    tables, metrics = [], {}
    rows: list[tuple[str | float, ...]] = []
    for name, mark in _METHODS.items():
        useless, useful = _companions(rig.seed, mark)
        rows.append((name, 100.0 * (1 - useless), 100.0 * useful))
        metrics[f"companions_not_useful{mark}"] = 100.0 * (1 - useless)
        metrics[f"packs_useful{mark}"] = 100.0 * useful
    columns = ("outcome of a reading", "companions not thought useful, percent", "useful ones found, percent")
    tables.append(BenchTable(f"{_WORLDS} worlds of {_USEFUL} useful packs", columns, tuple(rows)))
    return SubjectResult(metrics, GOALS, tuple(tables))


def _companions(seed: int, method: str) -> tuple[float, float]:
    """The share of companions that are thought useful, and of useful packs that are."""
    thought = {"companion": 0, "useful": 0}
    for world in range(_WORLDS):
        for name in _thought_useful(_sessions(f"companions {seed} {world}", method in ("_shared", "_session")), method):
            thought[name.split()[0]] += 1
    every = _WORLDS * _USEFUL
    return thought["companion"] / every, thought["useful"] / every


def _thought_useful(uses: Sequence[PackUse], method: str) -> list[str]:
    """shared: each reading has the session's reward as if it were its own."""
    given = [replace(one, session="") for one in uses] if method == "_shared" else uses
    return [one.name for one in weights(given).packs if one.bound > 0.5]


def _sessions(seed: str, rewarded: bool) -> list[PackUse]:
    """A log of sessions that read two useful packs and their companions, the oldest first.

    rewarded: every reading's outcome is the session's, else a verdict of its own.
    """
    chance = random.Random(seed)
    worth = [_WORTH * chance.uniform(0.5, 1.5) for _ in range(_USEFUL)]
    uses: list[PackUse] = []
    for session in range(_SESSIONS):
        first = chance.sample(range(_USEFUL), 2)
        read = [(f"useful {n}", worth[n]) for n in first]
        read += [(f"companion {n}", 0.0) for n in first if chance.random() < 0.9]
        chance.shuffle(read)
        succeeded = float(chance.random() < _SUCCESS)
        at = _START + timedelta(hours=6 * session)
        for name, own in read:
            outcome = succeeded if rewarded else float(own + chance.gauss(0.0, _NOISE) > 0.0)
            uses.append(PackUse(len(uses) + 1, name, 1, "", at, "", f"session {session}", 300, (), outcome))
    return uses
