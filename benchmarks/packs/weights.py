"""Learning from outcomes: useless companions that are read beside useful packs, and what the last third of a log says.

Both are invented. In the first, every useful pack has a companion that is read with it nine times of ten and adds
nothing. In the second, half the worlds let outcomes follow what is known before a reading and the pack itself, and half
let them follow nothing, where nothing should be learned.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import exp, sqrt
from pathlib import Path
from statistics import NormalDist

from amgs.packs.outcome_weights import FEATURES, PackOutcome, fit, gain, read_from, utilities
from amgs.types.packs import PackUse
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

_WORLDS = 20
_SESSIONS = 200
_USEFUL = 8
_WORTH, _NOISE = 0.3, 0.3
"""What a useful pack adds on average, and the standard deviation of what a verdict sees of it: above 0 is useful."""
_SUCCESS = 0.8
"""How often a session succeeds; the useful packs are in every one."""
_START = datetime(2030, 1, 1, tzinfo=UTC)
_LOG = 450
GOALS: dict[str, tuple[Comparator, float]] = {
    "companions_not_useful": (">=", 95.0),
    "weights_gain_low": (">=", 0.0),
}
_UNKNOWN = (0.0,) * len(FEATURES)
_METHODS = {
    "a verdict of each reading": "",
    "a verdict of each, by its share (Wilson) above one half": "_share",
    "the reward of the session, each reading's": "_shared",
    "the reward of the session, as amgs takes it": "_session",
}


def measure_weights(rig: MemoryRig, data: Path) -> SubjectResult:
    """How many companions are thought useful, by what is taken for an outcome; and when learning is in force."""
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
    rows = []
    for kind in ("outcomes follow what is known", "outcomes follow nothing"):
        found = [gain(_log(f"{rig.seed} {kind} {n}", kind.endswith("known"))) for n in range(_WORLDS)]
        values = [one.value for one in found]
        low, high = _interval(values)
        on = sum(one.better for one in found)
        rows.append(
            (kind, f"{sum(values) / len(values):+.3f} [{low:+.3f}, {high:+.3f}]", f"{on} of {_WORLDS}")
        )
        mark = "" if kind.endswith("known") else "_of_nothing"
        metrics[f"weights_gain{mark}"] = sum(values) / len(values)
        metrics[f"weights_gain_low{mark}"] = low
        metrics[f"weights_better{mark}"] = 100.0 * on / _WORLDS
    columns = ("world", "nats a reading better than no learning, 95 %", "called better")
    tables.append(
        BenchTable(f"The last third of {_LOG} outcomes, {_WORLDS} worlds each", columns, tuple(rows))
    )
    return SubjectResult(metrics, GOALS, tuple(tables))


def _companions(seed: int, method: str) -> tuple[float, float]:
    """The share of companions that are thought useful, and of useful packs that are."""
    thought = {"companion": 0, "useful": 0}
    for world in range(_WORLDS):
        for name in _thought_useful(
            _sessions(f"companions {seed} {world}", method in ("_shared", "_session")), method
        ):
            thought[name.split()[0]] += 1
    every = _WORLDS * _USEFUL
    return thought["companion"] / every, thought["useful"] / every


def _thought_useful(uses: Sequence[PackUse], method: str) -> list[str]:
    if method == "_shared":
        outcomes = [PackOutcome(one.name, _UNKNOWN, one.outcome or 0.0) for one in uses]
    else:
        outcomes, _ = read_from(uses, {})
    if method != "_share":
        return [one.name for one in utilities(fit(outcomes), outcomes) if one.bound > 0.0]
    own: dict[str, list[float]] = {}
    for one in uses:
        own.setdefault(one.name, []).append(one.outcome or 0.0)
    return [name for name, all_of in own.items() if _share_bound(int(sum(all_of)), len(all_of)) > 0.5]


def _share_bound(hits: int, n: int) -> float:
    """The one-sided 95 % lower bound of a share of which `hits` of n were seen (Wilson 1927)."""
    z, share = NormalDist().inv_cdf(0.95), hits / n
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (share + z * z / (2 * n) - spread) / (1 + z * z / n)


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


def _log(seed: str, known: bool) -> list[PackOutcome]:
    chance = random.Random(seed)
    own = {f"pack {n}": chance.gauss(0.0, 0.6) for n in range(30)}
    past: dict[str, list[float]] = {name: [] for name in own}
    outcomes = []
    for _ in range(_LOG):
        name = chance.choice(sorted(own))
        asked, recent = chance.random(), chance.random()
        before = past[name]
        success = (sum(before) + 1.0) / (len(before) + 2.0)
        features = (asked, recent, 0.1 * len(before), chance.uniform(0.4, 0.8), success)
        odds = 2.5 * asked + 0.8 * recent - 1.5 + own[name] if known else 0.4
        outcome = float(chance.random() < 1.0 / (1.0 + exp(-odds)))
        before.append(outcome)
        outcomes.append(PackOutcome(name, features, outcome))
    return outcomes


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a mean, by drawing worlds."""
    chance = random.Random(1)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(2_000))
    return means[50], means[1_950]
