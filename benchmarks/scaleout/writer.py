"""A program that writes notes to a memory and says which of them were kept: `python -m … PLACE NAME`.

It says `ready` when the memory is open, waits for a line, and then for every note prints its id once the memory has
acknowledged it; `refused: …` where the memory is in use. With --early it prints the id before it writes: what the
check for lost notes must find out.

Eight writers in eight namespaces beside one: how much more a second they get done together on this machine.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Self

from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup

READY = "ready"
REFUSED = "refused: "
_MOST = 30
"""Acknowledgements before a kill, at most."""
_LATEST = 0.05
"""Seconds after the last acknowledgement that was waited for, at most."""


def note(name: str, number: int) -> str:
    """The text of a note: another for every writer and number."""
    return f"Writer {name}, entry {number}: the tide stood at {number * 7 % 311} inches by mark {name}-{number}."


@dataclass(frozen=True, slots=True, eq=False)
class WriterProcess:
    """A writer in a process of its own. refused: why the memory was not opened, empty where it was."""

    process: subprocess.Popen[str]
    refused: str

    @classmethod
    def start(cls, place: str, name: str, *, seconds: float = 3600.0, early: bool = False) -> Self:
        """Start one and wait until it is ready, or refused; raises RuntimeError for one that ends otherwise."""
        words = [sys.executable, "-m", __spec__.name, place, name, "--seconds", str(seconds)]
        process = subprocess.Popen(
            [*words, *(["--early"] if early else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if said != READY and not said.startswith(REFUSED):
            process.kill()
            process.wait()
            raise RuntimeError(f"The writer {name} did not come up: {said or 'it said nothing'}.")
        return cls(process, said.removeprefix(REFUSED) if said != READY else "")

    def begin(self) -> None:
        """Let it write."""
        assert self.process.stdin is not None
        self.process.stdin.write("begin\n")
        self.process.stdin.flush()

    def read(self, count: int) -> list[str]:
        """The next ids that it says, `count` of them unless it ends before."""
        assert self.process.stdout is not None
        said = []
        for _ in range(count):
            line = self.process.stdout.readline()
            if not line.endswith("\n"):
                break  # what a killed process had not finished saying was not said
            said.append(line.strip())
        return said

    def rest(self) -> list[str]:
        """Everything that it still says, until it ends."""
        assert self.process.stdout is not None
        said = [line.strip() for line in self.process.stdout if line.endswith("\n")]
        self.process.wait()
        return said

    def kill(self) -> list[str]:
        """End it as a power cut would; what it had said by then and was not read."""
        self.process.kill()
        said = self.rest()
        self.process.communicate()  # closes its pipes
        return said


@contextmanager
def amid_notes(place: str, name: str, chance: random.Random, *, early: bool) -> Iterator[set[str]]:
    """What a writer acknowledges that is killed when the block is left, after 1 to 30 acknowledgements and a moment
    more, so that it dies anywhere in a later write; complete once the block was left. Raises RuntimeError where none
    could begin.
    """
    writer = WriterProcess.start(place, name, early=early)
    said: set[str] = set()
    try:
        if writer.refused:
            raise RuntimeError(f"No writer could begin: {writer.refused}")
        writer.begin()
        said.update(writer.read(chance.randint(1, _MOST)))
        time.sleep(0 if early else chance.uniform(0, _LATEST))
        yield said
    finally:
        said.update(line for line in writer.kill() if not line.startswith(REFUSED))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="writer")
    parser.add_argument("place")
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--early", action="store_true")
    given = parser.parse_args(arguments)
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # a server that was killed is no news

    from amgs.clock import SystemClock
    from amgs.errors import StoreError, StoreLockedError
    from amgs.identity import block_id
    from amgs.memory import Memory
    from amgs.text.embedding import HashingEmbedder

    try:
        memory = Memory.open(given.place, clock=SystemClock(), embedder=HashingEmbedder())
    except StoreLockedError as error:
        print(f"{REFUSED}{error}", flush=True)
        return 3
    with suppress(StoreError), memory:  # where the server is gone, closing says so once more
        print(READY, flush=True)
        sys.stdin.readline()
        ends = time.monotonic() + given.seconds
        number = 0
        while time.monotonic() < ends:
            text = note(given.name, number)
            if given.early:
                print(block_id(text), flush=True)
            try:
                added = memory.ingest_text(text).added
            except StoreError as error:
                print(f"{REFUSED}{error}", flush=True)
                return 3
            if not given.early:
                print(*added, flush=True)
            number += 1
    return 0


WRITERS = 8
ONE = "one"
EIGHT = "eight, in eight namespaces"
CROWDED = "eight, in one namespace"
IN_FILE = "one, in a file"


def measure_writers(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """Notes a second, each a transaction of its own: one writer and eight in as many namespaces by turns, since a
    machine's load changes; as controls eight in one namespace, and one in a file.
    """
    seconds, rounds = setup.effort.seconds, setup.effort.rounds
    rates: dict[str, list[float]] = {}
    refused: dict[str, int] = {}
    busy: dict[str, list[float]] = {}

    def timed(what: str, places: Sequence[str]) -> None:
        rig.progress(sum(map(len, rates.values())), 4 * rounds, what)
        rate, turned_away = _together(places, seconds)
        rates.setdefault(what, []).append(rate)
        refused[what] = max(refused.get(what, 0), turned_away)
        busy.setdefault(what, []).append(os.getloadavg()[0])

    file = setup.work / "writers.duckdb"
    for each in setup.work.glob("writers.duckdb*"):
        each.unlink()
    with ExitStack() as stack:
        places = [stack.enter_context(setup.namespace(f"writers_{n}")) for n in range(WRITERS)]
        one_place = stack.enter_context(setup.namespace("writers_one"))
        for _ in range(rounds):
            timed(ONE, places[:1])
            timed(EIGHT, places)
            timed(CROWDED, [one_place] * WRITERS)
            timed(IN_FILE, [str(file)])
    middle = {what: statistics.median(found) for what, found in rates.items()}
    metrics = {
        "writes_per_s_1": middle[ONE],
        "writes_per_s_8": middle[EIGHT],
        "writers_scale_8_over_1": middle[EIGHT] / middle[ONE],
        "writes_per_s_8_in_one_namespace": middle[CROWDED],
        "writers_refused_in_one_namespace": float(refused[CROWDED]),
        "writes_per_s_file": middle[IN_FILE],
    }
    rows = tuple(
        (what, middle[what], min(found), max(found), refused[what], statistics.median(busy[what]))
        for what, found in rates.items()
    )
    columns = ("writers", "notes a second", "least", "most", "refused", "load average")
    title = f"Writers, {rounds} rounds of {seconds:g} seconds, {os.cpu_count()} cores"
    return SubjectResult(metrics, {"writers_scale_8_over_1": (">=", 1.7)}, (BenchTable(title, columns, rows),))


def _together(places: Sequence[str], seconds: float) -> tuple[float, int]:
    """Acknowledged notes a second of writers that begin at once, and how many of them were refused."""
    stamp = time.monotonic_ns()
    writers = [WriterProcess.start(place, f"{stamp}-{n}", seconds=seconds) for n, place in enumerate(places)]
    try:
        at_work = [writer for writer in writers if not writer.refused]
        for writer in at_work:
            writer.begin()
        said = [line for writer in at_work for line in writer.rest()]
    finally:
        for writer in writers:
            writer.kill()
    stopped = sum(line.startswith(REFUSED) for line in said)
    return (len(said) - stopped) / seconds, len(writers) - len(at_work) + stopped


if __name__ == "__main__":
    raise SystemExit(main())
