"""Whether the program's memory grows over an hour of acts: on the screen, in the engine without a screen, and in a
screen that nobody touches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from amgs.errors import AmgsError
from benchmarks.bench_results import BenchTable
from benchmarks.terminal import Terminal

SCREEN: Final = (
    *("1", "2", "3", "4", "5", "7", "j", "j", "k", "?", "\x1b", "t", "z", "z"),
    *(":search 'dome motor'\r", ":frame assemble SESSION --query 'dome motor'\r", "\t", "\t"),
)
"""Acts on the screen, over and over: panes, a cursor, the help, themes, the large view, a search, a frame."""
ENGINE: Final = (
    *("inbox list\r", "graph stats\r", "decay categories\r", "frame list\r", "operations\r", "health\r"),
    *("search 'dome motor'\r", "frame assemble SESSION --query 'dome motor'\r", "status\r"),
)
"""What those acts ask the engines for, line by line in the shell."""
PACE: Final = 0.15
"""Seconds from one act to the next; an act that is answered later is not waited for."""
REST: Final = 3.0
"""Seconds without an act before memory is read."""
READINGS: Final = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
"""The shares of all acts after which memory is read."""
PATIENCE: Final = 180.0


def hour(
    stores: tuple[Path, Path, Path], arguments: Sequence[str], acts: int
) -> tuple[dict[str, float], BenchTable]:
    """So many acts, one after another, in each of three programs: on the screen, in the shell, and none at all for as
    long as the first took. Growth is from the first quarter to the end, in MiB; the table has the whole course.

    stores: of 200 raw notes each. The models are loaded before the first act. Raises AmgsError when a program does not
    answer.
    """
    at = [round(share * acts) for share in READINGS]
    began = perf_counter()
    with Terminal(["--store", str(stores[0]), *arguments], 120, 40) as terminal:
        _ready(terminal, "Note 000000", ":consolidate\r")
        screen = _course(terminal, SCREEN, at)
    taken = perf_counter() - began
    with Terminal(["--store", str(stores[1]), *arguments, "shell"], 120, 40) as terminal:
        _ready(terminal, "amgs>", "consolidate\r")
        engine = _course(terminal, ENGINE, at)
    with Terminal(["--store", str(stores[2]), *arguments], 120, 40) as terminal:
        _ready(terminal, "Note 000000", ":consolidate\r")
        idle = _rested(terminal, at, taken)
    quarter = READINGS.index(0.25)
    metrics = {
        "rss_growth_mib": screen[-1] - screen[quarter],
        "rss_growth_mib_engine": engine[-1] - engine[quarter],
        "rss_growth_mib_idle": idle[-1] - idle[quarter],
        "rss_mib": screen[-1],
    }
    rows = tuple((str(n), *held) for n, held in zip(at, zip(screen, engine, idle, strict=True), strict=True))
    return metrics, BenchTable(
        "MiB held after so many acts", ("acts", "screen", "shell", "idle screen"), rows
    )


def _ready(terminal: Terminal, sign: str, consolidate: str) -> None:
    for keys, awaited in (("", sign), (consolidate, "onsolidated 200")):
        if keys:
            terminal.press(keys)
        if terminal.wait(awaited, PATIENCE) is None:
            raise AmgsError(f"The program did not come to {awaited!r}.")


def _course(terminal: Terminal, script: Sequence[str], at: Sequence[int]) -> list[float]:
    """MiB held after each of so many acts."""
    found = []
    acts = itertools.cycle(script)
    for before, until in itertools.pairwise((0, *at)):
        for keys in itertools.islice(acts, until - before):
            terminal.press(keys)
            terminal.read(PACE)
        terminal.read(REST)
        found.append(terminal.resident())
    return found


def _rested(terminal: Terminal, at: Sequence[int], seconds: float) -> list[float]:
    """MiB held at the same shares of so many seconds, in which nothing is done."""
    found = []
    for before, until in itertools.pairwise((0, *at)):
        terminal.read(REST if until == before else seconds * (until - before) / at[-1])
        found.append(terminal.resident())
    return found
