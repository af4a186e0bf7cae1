"""`sessions`: whether session files are read whole, and what a compaction costs beside the same rule where nothing was
compacted, and beside other ways to drop as much.
"""

from __future__ import annotations

import os
import posixpath
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import amgs
from amgs.errors import AmgsError
from amgs.sessions.opening import open_session
from amgs.sessions.turn import Session, after_boundary, opening_after, window_at
from amgs.wings.sessions.losses import contains_whole, files_at_risk
from amgs.wings.sessions.regrets import (
    CAUSED,
    REGRET_KINDS,
    Regret,
    control_regrets,
    count_dropped_tokens,
    regrets,
    steps_of,
)
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Rig
from benchmarks.sessions.brief import judge_briefs
from benchmarks.sessions.byte_count import missed_boundaries, missed_requests, missed_rewinds, records_of
from benchmarks.sessions.replay import DropOutcome, replay

BENCH: Final = Bench(
    "sessions",
    {
        "sessions_read_percent": (">=", 100.0),
        "sessions_lines_lost": ("<=", 0),
        "sessions_boundaries_missed": ("<=", 0),
        "sessions_rewinds_missed": ("<=", 0),
        "sessions_requests_missed": ("<=", 0),
        "list_1000_ms": ("<=", 1000.0),
        "list_1000_cpu_ms": ("<=", 1000.0),
        "first_screen_200mb_ms": ("<=", 1500.0),
        "first_screen_200mb_cpu_ms": ("<=", 1500.0),
        "rss_200mb_mib": ("<=", 150.0),
        "mutated_tracebacks": ("<=", 0),
    },
)
PLACES: Final = 24
"""Places of a session without a compaction at which the rule is applied, too."""
_DRAWS: Final = 2_000
_SOON, _FIRST = 80, 5
"""Turns after a compaction, and files of the outlook, that are looked at."""
_RUNS: Final = 5
_FIRST_SCREEN = """
import sys, time
start = time.perf_counter()
from pathlib import Path
from amgs.sessions.opening import open_end
from amgs.wings.sessions.review import facts_of, fills_of
session = open_end(Path(sys.argv[1]))
facts_of(session), fills_of(session)
first, processor = time.perf_counter() - start, time.process_time()
from amgs.sessions.opening import open_session
open_session(Path(sys.argv[1]))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(first, processor, int(peak.split()[1]) / 1024)
"""


@dataclass(frozen=True)
class _Read:
    path: Path
    session: Session


@dataclass(frozen=True)
class _Price:
    """What a session needed again after its compactions, and did again at other places. dropped, stood: tokens."""

    session: Session
    again: Sequence[Regret]
    dropped: int
    anyway: Sequence[Regret]
    stood: int


def run(rig: Rig, data: Path, *, mutations: int = 2_000, strategies: bool = True, only: str = "") -> BenchResult:
    """Measure the session files below a folder. strategies: replay our own, half a minute for each compacted session.
    only: this part alone.
    """
    files = [path for path in sorted(data.rglob("*")) if path.suffix in (".jsonl", ".json") and path.is_file()]
    read = [_Read(path, session) for path in files if (session := _open(path)) is not None]
    metrics = {
        "sessions_files": float(len(files)),
        "sessions_read_percent": 100.0 * len(read) / len(files) if files else 0.0,
    }
    tables: list[BenchTable] = []
    if only in ("", "bytes"):
        metrics |= _against_bytes(read)
    if only in ("", "brief"):
        rig.progress(0, 4, "briefs")
        tables.append(judge_briefs(rig, [each.session for each in read], metrics))
    compacted = [each.session for each in read if each.session.boundaries]
    if only in ("", "price"):
        rig.progress(1, 4, "what was needed again")
        tables.append(_by_kind([_price_of(session) for session in compacted], metrics))
        metrics |= _outlook(compacted)
    if strategies and only in ("", "ways"):
        tables.append(_ways(rig, compacted, metrics))
    if only in ("", "speed"):
        rig.progress(3, 4, "speed")
        metrics |= _speed([each.path for each in read if each.path.suffix == ".jsonl"])
    if only in ("", "damage"):
        metrics["mutated_tracebacks"] = float(_mutate([each.path for each in read], mutations, rig))
    return BENCH.result({"files": len(files), "mutations": mutations}, metrics, tuple(tables))


# --- reading -----------------------------------------------------------------------------------------------


def _open(path: Path) -> Session | None:
    try:
        return open_session(path)
    except AmgsError:
        return None


def _against_bytes(read: Sequence[_Read]) -> dict[str, float]:
    """What the readers tell, held against a count of the bytes that was written apart."""
    told = [(records_of(each.path), each.session) for each in read]
    rewinds = [missed_rewinds(records, session) for records, session in told]
    requests, missed = missed_requests(told)
    return {
        "sessions_lines_lost": float(sum(_lost(each) for each in read)),
        "sessions_boundaries_missed": float(sum(missed_boundaries(*each) for each in told)),
        "sessions_rewinds": float(sum(there for there, _ in rewinds)),
        "sessions_rewinds_missed": float(sum(wrong for _, wrong in rewinds)),
        "sessions_requests": float(requests),
        "sessions_requests_missed": float(missed),
    }


def _lost(each: _Read) -> int:
    """Lines of the file that the session does not account for."""
    if each.path.suffix != ".jsonl":
        return 0
    lines = sum(1 for line in each.path.read_bytes().split(b"\n") if line.strip())
    return abs(lines - each.session.records)


# --- the price of a compaction -----------------------------------------------------------------------------


def _price_of(session: Session) -> _Price:
    anyway, stood = control_regrets(session, places=PLACES)
    return _Price(session, regrets(session), count_dropped_tokens(session), anyway, stood)


def _by_kind(prices: Sequence[_Price], metrics: dict[str, float]) -> BenchTable:
    """Tokens done again for 1,000 that were dropped, by program and kind: after compactions, at other places, and how
    much more after compactions.
    """
    rows: list[tuple[str | float, ...]] = []
    agents = sorted({price.session.agent for price in prices})
    for agent in ("all", *agents):
        own = [price for price in prices if agent in ("all", price.session.agent)]
        for kind in REGRET_KINDS:
            times = sum(regret.kind == kind for price in own for regret in price.again)
            found = _rates(own, kind)
            rows.append(
                (agent, len(own), kind, times, *(f"{rate:.1f} [{low:.1f}, {high:.1f}]" for rate, low, high in found))
            )
            if agent == "all":
                for name, (rate, low, high) in zip(("after", "elsewhere", "more"), found, strict=True):
                    metrics |= {f"{kind}_{name}": rate, f"{kind}_{name}_low": low, f"{kind}_{name}_high": high}
    again = [(price.session, regret) for price in prices for regret in price.again if regret.kind in CAUSED]
    metrics["compactions"] = float(sum(len(price.session.boundaries) for price in prices))
    metrics["reopened_times"] = float(len(again))
    metrics["reopened_named_in_summary"] = float(sum(_is_named(*each) for each in again))
    columns = ("program", "sessions", "kind", "times", "after compactions", "elsewhere in these sessions", "more")
    return BenchTable("Tokens done again for 1,000 dropped, with intervals over sessions", columns, tuple(rows))


def _rates(prices: Sequence[_Price], kind: str) -> list[tuple[float, float, float]]:
    """(rate, low, high) after compactions, elsewhere, and of the difference; sessions are drawn with replacement."""
    parts = [(_tokens(price.again, kind), price.dropped, _tokens(price.anyway, kind), price.stood) for price in prices]
    rng = random.Random(1)

    def rates(some: Sequence[tuple[int, int, int, int]]) -> tuple[float, float, float]:
        after, dropped, anyway, stood = (sum(column) for column in zip(*some, strict=True))
        first, second = 1000.0 * after / max(1, dropped), 1000.0 * anyway / max(1, stood)
        return first, second, first - second

    if not parts:
        return [(0.0, 0.0, 0.0)] * 3
    drawn = [
        sorted(column) for column in zip(*(rates(rng.choices(parts, k=len(parts))) for _ in range(_DRAWS)), strict=True)
    ]
    return [(rate, *_ends(column)) for rate, column in zip(rates(parts), drawn, strict=True)]


def _ends(drawn: Sequence[float]) -> tuple[float, float]:
    """The ends of the 95 % in the middle of what was drawn, in order."""
    cut = len(drawn) // 40
    return drawn[cut], drawn[-cut - 1]


def _tokens(found: Iterable[Regret], kind: str) -> int:
    return sum(regret.tokens for regret in found if regret.kind == kind)


def _is_named(session: Session, regret: Regret) -> bool:
    """Whether the new window names the file that was opened again."""
    opening = opening_after(session, session.turn(regret.boundary))
    return contains_whole("\n".join(session.text(turn) for turn in opening), regret.what.rsplit("/", 1)[-1])


def _outlook(sessions: Sequence[Session]) -> dict[str, float]:
    """Per cent of the files in the window that are touched again soon after a compaction: of the first that the outlook
    tells, and of all.
    """
    parts = []
    for session in sessions:
        touched: list[tuple[list[bool], list[bool]]] = []
        for boundary in session.boundaries:
            files = files_at_risk(session, window_at(session, boundary.number - 1).turns)
            steps = steps_of(session, after_boundary(session, boundary)[:_SOON])
            later = {target for step in steps for target in step.targets}
            hits = [posixpath.normpath(posixpath.join(session.project, file.path)) in later for file in files]
            touched.append((hits[:_FIRST], hits))
        parts.append([[hit for pair in touched for hit in pair[way]] for way in (0, 1)])

    def shares(some: Sequence[Sequence[Sequence[bool]]]) -> tuple[float, float]:
        first, every = ([hit for part in some for hit in part[way]] for way in (0, 1))
        return 100.0 * sum(first) / max(1, len(first)), 100.0 * sum(every) / max(1, len(every))

    if not parts:
        return {}
    rng = random.Random(1)
    drawn = [shares(rng.choices(parts, k=len(parts))) for _ in range(_DRAWS)]
    low, high = _ends(sorted(first - every for first, every in drawn))
    first, every = shares(parts)
    return {"outlook_first": first, "outlook_all": every, "outlook_more_low": low, "outlook_more_high": high}


def _ways(rig: Rig, compacted: Sequence[Session], metrics: dict[str, float]) -> BenchTable:
    """What each way to drop would have cost at the compactions, together, and how much more than dropping at random."""
    by_name: dict[str, list[DropOutcome]] = defaultdict(list)
    with amgs.open(":memory:") as scratch:
        for done, session in enumerate(compacted):
            rig.progress(done, len(compacted), "ways to drop")
            for outcome in replay(scratch, session, regrets(session)):
                by_name[outcome.name].append(outcome)
    rows = []
    for name, outcomes in by_name.items():
        rng = random.Random(rig.seed)
        pairs = [*zip(outcomes, by_name["at random"], strict=True)]
        drawn = sorted(_more(rng.choices(pairs, k=len(pairs))) for _ in range(_DRAWS))
        low, high = _ends(drawn)
        rate = _rate(outcomes)
        metrics[f"per_1000_{name.replace(' ', '_')}"] = rate
        rows.append((name, sum(each.regrets for each in outcomes), rate, f"{_more(pairs):.1f} [{low:.1f}, {high:.1f}]"))
    return BenchTable(
        "Ways to drop, each keeping as many tokens as the compaction kept",
        ("way", "needed again", "tokens for 1,000", "more than at random, interval over sessions"),
        tuple(rows),
    )


def _rate(outcomes: Sequence[DropOutcome]) -> float:
    return 1000.0 * sum(each.tokens for each in outcomes) / max(1, sum(each.dropped for each in outcomes))


def _more(pairs: Sequence[tuple[DropOutcome, DropOutcome]]) -> float:
    return _rate([own for own, _ in pairs]) - _rate([other for _, other in pairs])


# --- speed and damage --------------------------------------------------------------------------------------


def _speed(files: Sequence[Path]) -> dict[str, float]:
    """The list of a thousand files as the command shows it, and a file of 200 MB."""
    if not files:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        place = home / ".claude" / "projects" / "p"
        place.mkdir(parents=True)
        small = sorted(files, key=lambda path: path.stat().st_size)[: max(1, len(files) // 2)]
        for number in range(1_000):
            (place / f"session-{number:04}.jsonl").write_bytes(small[number % len(small)].read_bytes())
        walls, processor = zip(*(_listed(home) for _ in range(_RUNS)), strict=True)
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
        first, cpu, memory = map(float, done.stdout.split())
    return {
        "list_1000_ms": median(walls),
        "list_1000_cpu_ms": median(processor),
        "first_screen_200mb_ms": 1000.0 * first,
        "first_screen_200mb_cpu_ms": 1000.0 * cpu,
        "rss_200mb_mib": memory,
    }


def _listed(home: Path) -> tuple[float, float]:
    """Milliseconds on the wall and of the processor of `amgs session` from its start on."""
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "amgs_tui", "session"], capture_output=True, check=True, env=environment)
    wall, after = time.perf_counter() - start, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return 1000.0 * wall, 1000.0 * spent


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
