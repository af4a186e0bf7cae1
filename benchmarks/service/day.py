"""A working day on a real server, its hours passing by its clock: whether its memory and its files grow by more than
what is kept.

Notes come in, are searched, assembled, judged, consolidated, improved and pruned; what is older than a few hours is
erased, so that as much is kept at the end as after those hours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2

from benchmarks.bench_results import BenchTable
from benchmarks.service.process import ServerProcess

TENTHS: Final = 10


@dataclass(frozen=True, slots=True)
class DayEffort:
    """How many hours the day has, and what is done in each, in as many steps as there are notes. kept: hours after
    which a note is erased.
    """

    hours: int = 24
    notes: int = 20
    searches: int = 40
    assemblies: int = 10
    kept: int = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """What the server took up at an instant, in bytes but for the blocks that the store holds, of any status. rss: all
    of its memory; own: without what it has mapped of files. ahead: the write-ahead file.
    """

    hour: float
    blocks: int
    rss: int
    own: int
    file: int
    ahead: int
    index: int


@dataclass(slots=True)
class Day:
    """What came of it. readings: at the start, after each tenth, and after everything was erased. errors: answers that
    were none. requests: how many were made.
    """

    readings: list[Reading] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: int = 0
    sound: bool = False

    def metrics(self) -> dict[str, float]:
        """Growth is what was added between the half of the day and its end, as a share, while as much was kept."""
        start, half, end, bare = (
            self.readings[0],
            self.readings[(len(self.readings) - 1) // 2],
            self.readings[-2],
            self.readings[-1],
        )
        return {
            "day_requests": float(self.requests),
            "day_errors": float(len(self.errors)),
            "day_rss_start_mb": start.rss / 1e6,
            "day_rss_end_mb": end.rss / 1e6,
            "day_memory_growth": end.own / half.own - 1.0,
            "day_file_growth": (end.file + end.ahead) / (half.file + half.ahead) - 1.0,
            "day_ahead_most_mb": max(each.ahead for each in self.readings) / 1e6,
            "day_erased_kb": (bare.file + bare.ahead) / 1e3,
            "day_left_blocks": float(bare.blocks),
            "day_verified": float(self.sound),
        }

    def table(self) -> BenchTable:
        """The readings in order; the last is after all was erased."""
        columns = ("hour", "blocks", "RSS MB", "own MB", "file MB", "write-ahead MB", "indexes MB")
        rows: tuple[tuple[str | float, ...], ...] = tuple(
            (
                f"{each.hour:.1f}",
                float(each.blocks),
                *(size / 1e6 for size in (each.rss, each.own, each.file, each.ahead, each.index)),
            )
            for each in self.readings
        )
        return BenchTable("A day of mixed use", columns, rows)


def live_a_day(
    store: Path,
    model: str,
    questions: Sequence[str],
    effort: DayEffort = DayEffort(),
    progress: Callable[[int], None] = lambda _: None,
) -> Day:
    """Serve an empty store for a day. questions: what is asked and noted, from the first again when all were."""
    words = (str(store), model)
    log = store.with_suffix(".log")
    with ServerProcess.start(words, log, "benchmarks.service.day_server") as server, server.client(timeout=300) as http:
        return _Worker(store, server, http, questions, effort, progress).day()


class _Worker:
    """Who works with the server; one request after the other."""

    def __init__(
        self,
        store: Path,
        server: ServerProcess,
        http: httpx2.Client,
        questions: Sequence[str],
        effort: DayEffort,
        progress: Callable[[int], None],
    ) -> None:
        self._store = store
        self._pid = server.process.pid
        self._http = http
        self._effort = effort
        self._progress = progress
        self._questions = _again(questions)
        self._noted: deque[tuple[int, str]] = deque()
        self._day = Day()

    def day(self) -> Day:
        self._read(0.0)
        steps = self._effort.notes * self._effort.hours
        for step in range(steps):
            hour, within = divmod(step, self._effort.notes)
            self._step(hour, within)
            if within == self._effort.notes - 1:
                self._progress(hour)
                self._end_of_hour(hour)
            if (step + 1) * TENTHS // steps > step * TENTHS // steps:
                self._read((step + 1) / self._effort.notes)
        self._erase([id for _, id in self._noted])
        told = self._post("/v1/operations/verify", {})
        self._day.sound = bool(told.get("ok", not told.get("faults")))
        self._read(float(self._effort.hours))
        return self._day

    def _step(self, hour: int, within: int) -> None:
        """One note, and its share of the hour's questions."""
        effort = self._effort
        note = f"At {hour}:{60 * within // effort.notes:02d}, number {within}: {next(self._questions)}"
        self._noted += [(hour, id) for id in self._post("/v1/memory/ingest", {"content": note}).get("added", ())]
        for _ in range(_share(effort.searches, within, effort.notes)):
            self._post("/v1/memory/search", {"query": next(self._questions)})
        for _ in range(_share(effort.assemblies, within, effort.notes)):
            frame = self._post(
                "/v1/frame/assemble", {"name": "ATTENTION", "query": next(self._questions), "budget": 400}
            )
            chosen = next((each["block_id"] for each in frame.get("spans", ()) if each["block_id"]), None)
            if chosen is not None:
                verdict = "useful" if within % 3 else "useless"
                self._post("/v1/operations/feedback", {"verdict": verdict, "block": chosen})
        self._post("/clock", 3600 / effort.notes)

    def _end_of_hour(self, hour: int) -> None:
        self._post("/v1/lifecycle/consolidate", {})
        if hour % 6 == 5:
            self._post("/v1/operations/enhance", {"apply": True})
        self._post("/v1/operations/prune", {"threshold": 0.5})
        old = []
        while self._noted and self._noted[0][0] <= hour - self._effort.kept:
            old.append(self._noted.popleft()[1])
        self._erase(old)

    def _erase(self, ids: list[str]) -> None:
        """Erase blocks, and those that were merged or split from them."""
        while ids:
            told = self._post("/v1/operations/block_delete", {"blocks": ids, "hard": True, "yes": True})
            ids = list(told.get("related", ()))

    def _post(self, path: str, body: Any) -> dict[str, Any]:
        """Make a request; gives an empty answer for one that failed, which is noted."""
        self._day.requests += 1
        answer = self._http.post(path, json=body)
        if answer.status_code >= 400:
            self._day.errors.append(f"{path}: {answer.status_code} {answer.text[:300]}")
            return {}
        told: dict[str, Any] = answer.json()
        return told

    def _read(self, hour: float) -> None:
        blocks = self._http.get("/v1/lifecycle/status").json()["store"]["blocks"]
        self._day.readings.append(
            Reading(
                hour,
                sum(blocks.values()),
                *_memory(self._pid),
                _size(self._store),
                _size(Path(f"{self._store}.wal")),
                sum(_size(each) for each in Path(f"{self._store}.index").rglob("*")),
            )
        )


def _again(questions: Sequence[str]) -> Iterator[str]:
    """The questions; when all were asked, anew with a number, so that no two are the same."""
    turn = 0
    while True:
        yield from (f"{each} ({turn})" if turn else each for each in questions)
        turn += 1


def _share(of: int, step: int, steps: int) -> int:
    """How many of so many things fall into one of the steps, spread evenly."""
    return of * (step + 1) // steps - of * step // steps


def _memory(pid: int) -> tuple[int, int]:
    """Bytes a process has in memory, all and without mapped files; Linux tells them."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    told = {name: rest for name, _, rest in (line.partition(":") for line in lines)}
    return 1024 * int(told["VmRSS"].split()[0]), 1024 * int(told["RssAnon"].split()[0])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
