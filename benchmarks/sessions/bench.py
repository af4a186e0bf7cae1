"""`sessions`: whether session files are read whole, whether what is called regret is right, and what it is worth beside
the same rule where nothing was compacted, and beside other ways to drop as much.

The verdicts in `verdicts.json` were given by reading 100 cases before the present rule was settled: [digest of
the file's name, "compaction" or "elsewhere", turn of the compaction or place, turn before, turn again, kind, verdict].
Kinds that did not hold, and bare names of files, left the rule after that; on other sessions it may be less right.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import amgs
from amgs.errors import AmgsError
from amgs.sessions.opening import open_session
from amgs.sessions.turn import Session
from amgs.sessions.windows import after_boundary, window_at
from amgs.wings.sessions.controls import DropOutcome, dropped_tokens, elsewhere
from amgs.wings.sessions.listing import list_sessions
from amgs.wings.sessions.regrets import CAUSED, REGRET_KINDS, Regret, regrets, regrets_between
from amgs.wings.sessions.replay import replay
from benchmarks import measures
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Rig
from benchmarks.sessions.brief import judge_briefs

BENCH: Final = Bench(
    "sessions",
    {
        "sessions_read_percent": (">=", 100.0),
        "sessions_lines_lost": ("<=", 0),
        "sessions_boundaries_missed": ("<=", 0),
        "regret_precision": (">=", 0.85),
        "list_1000_ms": ("<=", 1000.0),
        "first_screen_200mb_ms": ("<=", 1500.0),
        "rss_200mb_mib": ("<=", 300.0),
        "mutated_tracebacks": ("<=", 0),
    },
)
_VERDICTS = Path(__file__).parent / "verdicts.json"
_LONG = 80
"""Turns from which on a session has places that say something."""
_FIRST_SCREEN = """
import sys, time
start = time.perf_counter()
from pathlib import Path
from amgs.sessions.opening import open_end
from amgs.wings.sessions.review import facts_of, fills_of
session = open_end(Path(sys.argv[1]))
facts_of(session), fills_of(session)
first = time.perf_counter() - start
from amgs.sessions.opening import open_session
open_session(Path(sys.argv[1]))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(first, int(peak.split()[1]) / 1024)
"""


@dataclass(frozen=True)
class _Read:
    path: Path
    session: Session


def run(rig: Rig, data: Path, *, mutations: int = 2_000, strategies: bool = True, only: str = "") -> BenchResult:
    """Measure the session files below a folder. strategies: replay our own, half a minute for each compacted
    session.
    """
    files = [path for path in sorted(data.rglob("*")) if path.suffix in (".jsonl", ".json") and path.is_file()]
    read = [_Read(path, session) for path in files if (session := _open(path)) is not None]
    metrics = {
        "sessions_files": float(len(files)),
        "sessions_read_percent": 100.0 * len(read) / len(files) if files else 0.0,
        "sessions_lines_lost": float(sum(_lost(one) for one in read)),
        "sessions_boundaries_missed": float(sum(_missed(one) for one in read)),
    }
    rig.progress(0, 5, "briefs")
    briefs = judge_briefs(rig, [one.session for one in read], metrics)
    if only == "brief":
        return BENCH.result({"files": len(files)}, metrics, (briefs,))
    rig.progress(1, 5, "judged cases")
    metrics |= _precision(read)
    rig.progress(2, 5, "regret")
    table = _by_kind(read, metrics)
    tables = [table, briefs]
    if strategies:
        tables.append(_ways(rig, read, metrics))
    rig.progress(4, 5, "speed")
    metrics |= _speed([one.path for one in read if one.path.suffix == ".jsonl"])
    metrics["mutated_tracebacks"] = float(_mutate([one.path for one in read], mutations, rig))
    return BENCH.result({"files": len(files), "mutations": mutations}, metrics, tuple(tables))


# --- reading -----------------------------------------------------------------------------------------------


def _open(path: Path) -> Session | None:
    try:
        return open_session(path)
    except AmgsError:
        return None


def _lost(one: _Read) -> int:
    """Lines of the file that the session does not account for."""
    if one.path.suffix != ".jsonl":
        return 0
    lines = sum(1 for line in one.path.read_bytes().split(b"\n") if line.strip())
    return abs(lines - one.session.records)


def _missed(one: _Read) -> int:
    """Compactions by the letters of the file that were not found, or found where there is none."""
    marks = (b'"subtype":"compact_boundary"', b'"type":"compacted"')
    there = sum(one.path.read_bytes().count(mark) for mark in marks)
    found = sum(turn.boundary is not None and turn.boundary.whole for turn in one.session.turns)
    return abs(there - found)


# --- regret ------------------------------------------------------------------------------------------------


def _precision(read: Sequence[_Read]) -> dict[str, float]:
    """Of the judged cases, the share that is right: of all, of those that the rule still tells, and of what counts."""
    judged = json.loads(_VERDICTS.read_text())
    by_file = {_digest(one.path): one.session for one in read}
    rows = [row for row in judged if row[0] in by_file]
    if not rows:
        return {}
    told = [row for row in rows if _tells(by_file[row[0]], row)]
    counted = [row for row in told if row[5] in CAUSED]

    def share(some: Sequence[Sequence[object]]) -> float:
        return sum(row[6] == "right" for row in some) / len(some) if some else 0.0

    return {
        "regret_judged": float(len(rows)),
        "regret_precision_at_judging": share(rows),
        "regret_told": float(len(told)),
        "regret_precision": share(told),
        "regret_precision_counted": share(counted),
    }


def _digest(path: Path) -> str:
    """What a file is called in the verdicts: its name and its folder's, unreadable."""
    return hashlib.sha256(f"{path.parent.name}/{path.name}".encode()).hexdigest()[:12]


def _tells(session: Session, row: Sequence[object]) -> bool:
    """Whether the rule tells a judged case."""
    _, where, place, before, again, kind, _ = row
    assert isinstance(place, int)
    if where == "compaction":
        found: Sequence[Regret] = regrets(session)
    else:
        length = max((len(after_boundary(session, mark)) for mark in session.boundaries), default=120)
        later = [turn for turn in session.main if turn.number >= place][:length]
        found = regrets_between(session, place, window_at(session, place - 1).turns, later)
    return any((one.before, one.after, one.kind) == (before, again, kind) for one in found)


def _by_kind(read: Sequence[_Read], metrics: dict[str, float]) -> BenchTable:
    """Tokens done again for 1,000 that were dropped, by kind: after compactions, and at other places."""
    compacted = [one.session for one in read if one.session.boundaries]
    others = [one.session for one in read if not one.session.boundaries and len(one.session.main) >= _LONG]
    after = {session.path: (list(regrets(session)), dropped_tokens(session)) for session in compacted}
    same = {session.path: elsewhere(session, places=24) for session in compacted}
    away = {session.path: elsewhere(session, places=24) for session in others}
    rows = []
    for kind in REGRET_KINDS:
        cells: list[str | float] = [kind, float(sum(r.kind == kind for found, _ in after.values() for r in found))]
        for held in (after, same, away):
            rate, low, high = _rate(held, (kind,))
            cells.append(f"{rate:.1f} [{low:.1f}, {high:.1f}]")
        rows.append(tuple(cells))
    metrics["compactions"] = float(sum(len(session.boundaries) for session in compacted))
    metrics["regret_per_1000"] = _rate(after, CAUSED)[0]
    metrics["elsewhere_per_1000"] = _rate(same, CAUSED)[0]
    metrics["other_sessions_per_1000"] = _rate(away, CAUSED)[0]
    columns = ("kind", "times", "after compactions", "elsewhere in these sessions", "in sessions without any")
    return BenchTable("Tokens done again for 1,000 dropped, with intervals over sessions", columns, tuple(rows))


def _rate(held: dict[str, tuple[list[Regret], int]], kinds: Sequence[str]) -> tuple[float, float, float]:
    """(rate, low, high): tokens of kinds for 1,000 that stood there; sessions are drawn with replacement."""
    parts = [(sum(r.tokens for r in found if r.kind in kinds), tokens) for found, tokens in held.values() if tokens]
    if not parts:
        return 0.0, 0.0, 0.0
    rng = random.Random(1)

    def of(some: Sequence[tuple[int, int]]) -> float:
        return 1000.0 * sum(own for own, _ in some) / sum(tokens for _, tokens in some)

    drawn = sorted(of(rng.choices(parts, k=len(parts))) for _ in range(1_000))
    return of(parts), drawn[25], drawn[974]


def _ways(rig: Rig, read: Sequence[_Read], metrics: dict[str, float]) -> BenchTable:
    """What each way to drop would have cost at the compactions, together."""
    by_name: dict[str, list[DropOutcome]] = defaultdict(list)
    with amgs.open(":memory:") as scratch:
        for one in read:
            if one.session.boundaries:
                rig.progress(3, 5, "strategies")
                for outcome in replay(scratch, one.session, regrets(one.session)):
                    by_name[outcome.name].append(outcome)
    rows = []
    for name, outcomes in by_name.items():
        dropped, tokens = sum(one.dropped for one in outcomes), sum(one.tokens for one in outcomes)
        rate = 1000.0 * tokens / dropped if dropped else 0.0
        rates = {str(n): [one.rate] for n, one in enumerate(outcomes)}
        low, high = measures.interval(rates, seed=rig.seed)
        metrics[f"per_1000_{name.replace(' ', '_')}"] = rate
        rows.append((name, float(sum(one.regrets for one in outcomes)), rate, f"[{low:.1f}, {high:.1f}]"))
    return BenchTable(
        "Ways to drop, each keeping as many tokens as the compaction kept",
        ("way", "needed again", "tokens for 1,000", "interval of the mean over sessions"),
        tuple(rows),
    )


# --- speed and damage --------------------------------------------------------------------------------------


def _speed(files: Sequence[Path]) -> dict[str, float]:
    """The list of a thousand files, and a file of 200 MB."""
    if not files:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        place = home / ".claude" / "projects" / "p"
        place.mkdir(parents=True)
        small = sorted(files, key=lambda path: path.stat().st_size)[: max(1, len(files) // 2)]
        for number in range(1_000):
            (place / f"session-{number:04}.jsonl").write_bytes(small[number % len(small)].read_bytes())
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            found = list_sessions(home)
            taken.append(1000.0 * (time.perf_counter() - start))
        large = home / "large.jsonl"
        source = max(files, key=lambda path: path.stat().st_size).read_bytes()
        with large.open("wb") as file:
            while file.tell() < 200 * 1024 * 1024:
                file.write(source)
        done = subprocess.run(
            [sys.executable, "-c", _FIRST_SCREEN, str(large)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        first, memory = map(float, done.stdout.split())
    return {
        "list_1000_ms": median(taken),
        "list_1000_left": float(found.left),
        "first_screen_200mb_ms": 1000.0 * first,
        "rss_200mb_mib": memory,
    }


def _mutate(files: Sequence[Path], number: int, rig: Rig) -> int:
    """How many of so many damaged files end in anything but a session or an error that says why."""
    rng = random.Random(rig.seed)
    small = [path for path in files if path.stat().st_size < 300_000] or list(files)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for done in range(number):
            rig.progress(done, number, "damaged files")
            source = rng.choice(small)
            path = Path(folder) / f"damaged{source.suffix}"
            path.write_bytes(_damaged(source.read_bytes()[:200_000], rng))
            try:
                session = open_session(path)
                regrets(session)
            except AmgsError:
                continue
            except Exception:  # noqa: BLE001 - it is what is counted
                failed += 1
    return failed


def _damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes with one to five damages: cut, flipped, moved lines, other values, deep nesting."""
    for _ in range(rng.randint(1, 5)):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(data: bytes, rng: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        if made:
            made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def _shuffle(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _replace(data: bytes, rng: random.Random) -> bytes:
    words = (b'"content"', b'"message"', b'"usage"', b'"timestamp"', b'"payload"', b'"uuid"', b'"input"')
    others = (b"null", b"[]", b"{}", b"-1", b'""', b"1e999", b"[[[[]]]]", b'"\\ud800"', b"true")
    word = rng.choice(words) + b":"
    places = [at for at in range(0, len(data), max(1, len(data) // 50)) if word in data[at : at + 4_000]]
    if not places:
        return data
    at = data.find(word, rng.choice(places)) + len(word)
    return data[:at] + rng.choice(others) + b"," + data[at:] if rng.random() < 0.3 else _swap(data, at, rng, others)


def _swap(data: bytes, at: int, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Another value in place of a string that begins at a place."""
    if data[at : at + 1] != b'"':
        return data
    end = data.find(b'"', at + 1)
    return data[:at] + rng.choice(others) + data[end + 1 :] if end > 0 else data


def _nest(data: bytes, rng: random.Random) -> bytes:
    deep = rng.choice((50, 500, 5_000))
    return data + b'\n{"type":"user","message":{"role":"user","content":' + b"[" * deep + b"]" * deep + b"}}\n"


_DAMAGES: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (_cut, _flip, _shuffle, _replace, _nest)
