"""How long a newcomer waits: the program started anew in a terminal of its own, until what is worth reading is drawn.

Everything counts from the start of the process, and what was drawn is what counts: the key bar for the first paint, the
sentence that answers the sample's question for a useful screen, the frame of a question typed then, the first token
that the model decoded after one key. Each round begins with nothing but the installed program, its modules compiled by
a round before that does not count: no store, no settings.
"""

from __future__ import annotations

import os
import stat
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from amgs.errors import AmgsError
from amgs_app.places.corpus import SAMPLE_STORE, sample_corpus
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Rig
from benchmarks.cold_start import cold_start
from benchmarks.terminal import Terminal

BENCH: Final = Bench(
    "cold",
    {
        "first_paint_ms": ("<=", 300),
        "first_useful_ms": ("<=", 2000),
        "first_frame_s": ("<=", 10),
        "first_token_s": ("<=", 25),
        "cold_search_ms": ("<=", 1500),
        "cold_keyword_ms": ("<=", 500),
    },
)
COLUMNS, LINES = 120, 40
PAINTED: Final = "quit"
"""The last word of the key bar, which is the lowest line: everything above is drawn."""
USEFUL: Final = "Cause: nylon"
"""Of the sentence that answers the question with which the sample opens; nowhere else on the screen."""
OWN_QUESTION: Final = "who has the spare keys now?"
OWN_ANSWER: Final = "Where the spare keys are now"
"""The title of a note that answers it, and that the first screen does not show."""
READY: Final = "smollm2 ready"
ASKED: Final = "enter assembles"
OPENED: Final = r"life [\d,]+ tok"
TOKEN: Final = "1 token ·"
PATIENCE: Final = 180.0
EMPTY_SECONDS: Final = 4.0
"""How long an empty store is watched: the useful screen must not come."""


@dataclass(frozen=True, slots=True)
class StartWait:
    """Seconds from the start of a process: by the clock, and of processor time in all its threads."""

    wall: float
    processor: float


def run(rig: Rig, *, rounds: int, tokens: bool, uncached: bool) -> BenchResult:
    """So many rounds of every part. tokens: whether the language model is loaded too. uncached: a round more of which
    the files were taken out of the system's cache before.
    """
    waits: dict[str, list[StartWait]] = defaultdict(list)
    rig.progress(0, rounds, "compiling")
    with TemporaryDirectory(prefix="amgs-bench-") as folder:
        _round(Path(folder), defaultdict(list), tokens=tokens)  # an installed program has been compiled
    for turn in range(rounds):
        rig.progress(turn, rounds, "starting")
        with TemporaryDirectory(prefix="amgs-bench-") as folder:
            _round(Path(folder), waits, tokens=tokens)
    with TemporaryDirectory(prefix="amgs-bench-") as folder:
        rig.progress(rounds, rounds, "an empty store")
        empty_shows = _empty(Path(folder), waits)
    if uncached:
        rig.progress(rounds, rounds, "without the system's cache")
        dropped = drop_cached([Path(sys.prefix), *map(Path, sys.path)])
        with TemporaryDirectory(prefix="amgs-bench-") as folder, _started(Path(folder)) as terminal:
            waits["first_paint_ms_uncached"].append(_until(terminal, PAINTED))
            waits["first_useful_ms_uncached"].append(_until(terminal, USEFUL))
    metrics = {name: _unit(name) * statistics.median(each.wall for each in found) for name, found in waits.items()}
    metrics["empty_store_shows_the_answer"] = float(empty_shows)
    rows = tuple(
        (
            name,
            float(len(found)),
            metrics[name],
            _unit(name) * max(each.wall for each in found),
            _unit(name) * statistics.median(each.processor for each in found),
        )
        for name, found in waits.items()
    )
    settings = {"rounds": rounds, "tokens": tokens, "uncached": uncached, "columns": COLUMNS, "lines": LINES}
    if uncached:
        settings["dropped_mib"] = round(dropped / 2**20)
    columns = ("metric", "rounds", "median", "worst", "processor")
    return BENCH.result(settings, metrics, (BenchTable("waits, in the unit of their names", columns, rows),))


def _unit(name: str) -> float:
    """What a second is in the unit that a metric's name ends with."""
    return 1000.0 if "_ms" in name else 1.0


def _environment(folder: Path) -> Mapping[str, str]:
    """Nothing of the user's own: data and settings lie in the folder. Unpacked models stay where they are."""
    return {"AMGS_DATA": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}


def _started(folder: Path) -> Terminal:
    """The program as `make run` starts it."""
    return Terminal(["--corpus", str(sample_corpus().path)], COLUMNS, LINES, _environment(folder))


def _until(terminal: Terminal, sign: str) -> StartWait:
    if terminal.wait(sign, PATIENCE) is None:
        raise AmgsError(f"The program did not come to {sign!r}.")
    return StartWait(perf_counter() - terminal.began, terminal.processor())


def _round(folder: Path, waits: dict[str, list[StartWait]], *, tokens: bool) -> None:
    """A first start with a question, a second one on the store that is there then, searches on the command line; and a
    start anew, where the frame is opened in the language model and a token is decoded.
    """
    with _started(folder) as terminal:
        waits["first_paint_ms"].append(_until(terminal, PAINTED))
        waits["first_useful_ms"].append(_until(terminal, USEFUL))
        terminal.press("e")
        _until(terminal, ASKED)
        terminal.press(f"{OWN_QUESTION}\r")
        waits["first_frame_s"].append(_until(terminal, OWN_ANSWER))
    with _started(folder) as terminal:
        waits["second_useful_ms"].append(_until(terminal, OWN_ANSWER))
    store = folder / f"{SAMPLE_STORE}.duckdb"
    searches: dict[str, tuple[str, ...]] = {"cold_search_ms": (), "cold_keyword_ms": ("--layer", "keyword")}
    for name, layers in searches.items():
        processor, wall = cold_start(store, ["search", OWN_QUESTION, *layers], 1)
        waits[name].append(StartWait(wall, processor))
    if tokens:
        with TemporaryDirectory(prefix="amgs-bench-") as fresh, _started(Path(fresh)) as terminal:
            waits["models_ready_s"].append(_until(terminal, READY))
            terminal.press("o")
            waits["first_context_s"].append(_until(terminal, OPENED))
            terminal.press(".")
            waits["first_token_s"].append(_until(terminal, TOKEN))


def _empty(folder: Path, waits: dict[str, list[StartWait]]) -> bool:
    """A store that holds nothing: it is painted as soon, and what is looked for elsewhere must not be there."""
    with Terminal(["--store", str(folder / "empty.duckdb")], COLUMNS, LINES, _environment(folder)) as terminal:
        waits["empty_paint_ms"].append(_until(terminal, PAINTED))
        return terminal.wait(USEFUL, EMPTY_SECONDS) is not None


def drop_cached(folders: Iterable[Path]) -> int:
    """Take the files in and below some folders out of the system's cache, as far as no process holds them; gives how
    many bytes they have. Nothing where the system cannot be told.
    """
    if not hasattr(os, "posix_fadvise"):
        return 0
    seen = 0
    for path in {one.resolve() for folder in folders for one in folder.rglob("*")}:
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if stat.S_ISREG((told := os.fstat(file)).st_mode):
                    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                    seen += told.st_size
            finally:
                os.close(file)
    return seen
