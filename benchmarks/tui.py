"""How soon the screen answers: the program in a terminal of its own, with real keys, while the engines work.

Times are wall times of whole keystrokes: from the key's bytes into the terminal to the bytes that draw its
effect. Nothing is asked of the program but what a person would.

Whether the program's memory grows over an hour of acts: on the screen, in the engine without a screen, and in a
screen that nobody touches.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final

from amgs.clock import SystemClock
from amgs.errors import AmgsError
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Rig
from benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from amgs_focus.views import FocusView


BENCH: Final = Bench(
    "tui",
    {
        "first_paint_ms": ("<=", 400),
        "key_p95_ms_busy": ("<=", 40),
        "key_p95_ms_loading": ("<=", 100),
        "pane_ready_ms_while_busy": ("<=", 300),
        "lod_paint_ms_1m": ("<=", 16),
        "table_scroll_ms_100k": ("<=", 50),
        "rss_growth_mib": ("<=", 10),
    },
)
PANES_SEEN: Final = (
    ("3", r"density"),
    ("4", r"drop below"),
    ("5", r"No forecasts yet"),
    ("7", r"nothing is urgent|needs? attention"),
)
"""The key of a pane, and what stands in it once its data is there; nothing of it stands in an empty one."""
STARTS: Final = 7
PANE_TURNS: Final = 4
PACE: Final = 0.07
"""Seconds between two keys: as fast as a held key repeats."""
PATIENCE: Final = 180.0
"""Seconds of the program's own processor time: what other programs take beside it does not count."""
SLOWEST: Final = 5.0
CURSOR: Final = "▸"
WORDS: Final = tuple(
    re.findall(
        r"\w+",
        "dome motor encoder slipped cold night telescope mirror frost belt spare voltage fog wind valley school "
        "budget visit lens drift seeing calibration cable relay notebook station pump ladder roof snow lamp",
    )
)


def run(rig: Rig, model: str, *, rows: int = 100_000, acts: int = 600) -> BenchResult:
    """Every part in turn. model: what the program is started with. rows: of the long table. acts: of the
    scripted hour.
    """
    metrics: dict[str, float] = {}
    with TemporaryDirectory(prefix="amgs-bench-") as folder:
        here = Path(folder)
        steps: tuple[tuple[str, Callable[[], dict[str, float]]], ...] = (
            ("starting", lambda: _starts(here / "start.duckdb", model)),
            ("keys while the engines work", lambda: _keys(here / "keys.duckdb", model)),
            ("panes while a consolidation runs", lambda: _panes(here, model)),
            ("a map of a million tokens", _map),
            (f"a table of {rows:,} rows", lambda: _table(here / "rows.duckdb", model, rows)),
        )
        for place, (doing, step) in enumerate(steps):
            rig.progress(place, len(steps) + 1, doing)
            metrics |= step()
        rig.progress(len(steps), len(steps) + 1, "an hour of use")
        stores = (here / "screen.duckdb", here / "shell.duckdb", here / "idle.duckdb")
        for store in stores:
            _prepare(store, 200)
        grown, course = hour(stores, ["--model", model], acts)
    rig.progress(len(steps) + 1, len(steps) + 1, "done")
    settings = {"model": model, "starts": STARTS, "rows": rows, "acts": acts, "pace_s": PACE}
    return BENCH.result(settings, metrics | grown, (course,))


def _arguments(store: Path, model: str) -> list[str]:
    return ["--store", str(store), "--model", model]


def _prepare(store: Path, notes: int) -> None:
    """A store with so many raw notes, each with a title of its own."""
    from amgs.ingest.raw_blocks import RawBlock
    from amgs.memory import Memory

    begin = datetime(2026, 1, 1, tzinfo=UTC)
    draw = random.Random(5)
    drafts = (
        RawBlock(
            f"# Note {number:06d}\n{' '.join(draw.choices(WORDS, k=24))}.",
            begin - timedelta(minutes=number),
            {"title": f"Note {number:06d}", "source": f"notes/{number:06d}.md"},
        )
        for number in range(notes)
    )
    with Memory.open(store, clock=SystemClock()) as memory:
        memory.ingest_many(drafts)


# --- starting ---------------------------------------------------------------------------------------------


def _starts(store: Path, model: str) -> dict[str, float]:
    """From the command to the first full picture, over and over."""
    _prepare(store, 40)
    times = []
    for _ in range(STARTS):
        with Terminal(_arguments(store, model), 120, 40) as terminal:
            _until(terminal, "quit")  # the last word of the key bar, the lowest line
            times.append((perf_counter() - terminal.began) * 1000)
    return {"first_paint_ms": statistics.median(times), "first_paint_ms_worst": max(times)}


# --- keys -------------------------------------------------------------------------------------------------


def _keys(store: Path, model: str) -> dict[str, float]:
    """A cursor walks down and up a list: while models load, while one decodes, while a consolidation runs."""
    notes = 300
    _prepare(store, notes)
    text = store.with_suffix(".txt")
    text.write_text("\n\n".join(" ".join(random.Random(3).choices(WORDS, k=60)) for _ in range(30)))
    with Terminal(_arguments(store, model), 120, 40) as terminal:
        _until(terminal, "Note 000000")
        walk = _Walk(terminal)
        loading = walk.during(f":focus open {text} --question 'What slipped?'\r", "is open")
        loading += walk.during(":consolidate --limit 3\r", "onsolidated 3")
        walk.first = 3
        decoding = walk.during(":focus step 96\r", r"\d+ tokens")
        consolidating = walk.during(":consolidate\r", f"onsolidated {notes - 3}")
    return {
        "key_p95_ms_busy": _p95([*decoding, *consolidating]),
        "key_p95_ms_loading": _p95(loading),
        "key_p50_ms_busy": statistics.median([*decoding, *consolidating]),
        "key_p50_ms_loading": statistics.median(loading),
        "keys_busy": len(decoding) + len(consolidating),
        "keys_loading": len(loading),
    }


def _panes(here: Path, model: str) -> dict[str, float]:
    """Panes that are opened for the first time while a consolidation runs: from the key to the pane's own data. Each
    program opens each pane once, on a screen that has a place for one.
    """
    times: list[float] = []
    for turn in range(PANE_TURNS):
        store = here / f"panes-{turn}.duckdb"
        _prepare(store, 400)
        with Terminal(_arguments(store, model), 80, 24) as terminal:
            _until(terminal, "Note 000000")
            terminal.press(":consolidate --limit 60\r")
            _until(terminal, "onsolidated 60")
            terminal.read(1.0)
            terminal.forget()
            terminal.press(":consolidate\r")
            terminal.read(0.5)
            for key, sign in PANES_SEEN:
                terminal.press(key)
                taken = terminal.wait(sign, SLOWEST)
                if terminal.ever("onsolidated 340"):
                    break  # it was over before the pane was there
                times.append((SLOWEST if taken is None else taken) * 1000)
                terminal.read(PACE)
    return {
        "pane_ready_ms_while_busy": _p95(times),
        "pane_ready_p50_ms_while_busy": statistics.median(times) if times else float("nan"),
        "panes_while_busy": len(times),
    }


class _Walk:
    """Walks the inbox's cursor over its first rows, key by key, and times each."""

    LAST = 20

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.first = 0  # number of the note in the first row

    def during(self, command: str, end: str) -> list[float]:
        """Milliseconds of each key from a command until its end is told; none when it ends at once."""
        self.terminal.press("1")
        self.terminal.read(0.5)
        self.terminal.press("g")
        self.terminal.read(0.5)
        self.terminal.forget()
        self.terminal.press(command)
        self.terminal.read(0.3)
        self.terminal.press("1")  # what the command's pane shows comes to the front when it ends
        self.terminal.read(0.3)
        times: list[float] = []
        row, by = 0, 1
        patient = self.terminal.patience(PATIENCE)
        while patient():
            if self.terminal.ever(end):
                return times
            by = 1 if row <= 0 else -1 if row >= self.LAST else by
            row += by
            self.terminal.press("j" if by > 0 else "k")
            sign = rf"{CURSOR}[^{CURSOR}]{{0,14}}Note {self.first + row:06d}"
            taken = self.terminal.wait(f"{sign}|{end}", SLOWEST)
            if not self.terminal.ever(end):  # the answer to the key, not the end of the list
                times.append((SLOWEST if taken is None else taken) * 1000)
            self.terminal.read(PACE)
        raise AmgsError(f"`{command.strip()}` did not end.")


def _until(terminal: Terminal, sign: str) -> None:
    if not terminal.come(sign, PATIENCE):
        raise AmgsError(f"The program did not come to {sign!r}.")


def _p95(times: list[float]) -> float:
    if len(times) < 2:
        return times[0] if times else float("nan")
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


# --- pictures ---------------------------------------------------------------------------------------------


def _map() -> dict[str, float]:
    """The working context of a long and of a short lifetime, drawn at 200×60 as the pane draws it."""
    found = {}
    for name, tokens in (("1m", 1_000_000), ("10k", 10_000)):
        view = _view(tokens)
        times = [_paint(view) for _ in range(30)]
        found[f"lod_paint_ms_{name}"] = statistics.median(times)
    return found


def _view(tokens: int) -> FocusView:
    """A lifetime of so many tokens, built and focused by the real engine on the tiny model."""
    from amgs_app.models.choice import focus_runtime, load_base_model
    from amgs_focus.records import Segment
    from amgs_focus.settings import FocusSettings

    model = load_base_model("tiny", "auto")
    runtime, _ = focus_runtime(model, FocusSettings(), 0, SystemClock())
    draw = random.Random(7)
    runtime.ingest([Segment(" ".join(draw.choices(WORDS, k=tokens // 6)))])
    runtime.question("Where did the dome motor slip?")
    runtime.refocus()
    return runtime.snapshot()


def _paint(view: FocusView) -> float:
    """Milliseconds to draw a map and to lay it out in cells."""
    from rich.console import Console

    from amgs_app.focus import figure as focus
    from amgs_app.render.canvas import Canvas

    console = Console(file=StringIO(), width=198, height=58, color_system="truecolor")
    began = perf_counter()
    for _ in focus.focus(view, Canvas(198, 56)).render().__rich_console__(console, console.options):
        pass
    return (perf_counter() - began) * 1000


def _table(store: Path, model: str, rows: int) -> dict[str, float]:
    """Page by page down a list of so many rows, then to its end."""
    _prepare(store, rows)
    times = []
    with Terminal(_arguments(store, model), 120, 40) as terminal:
        _until(terminal, "Note 000000")
        terminal.press("z")
        _until(terminal, "Note 000020")
        terminal.read(2.0)
        for _ in range(60):
            terminal.press("\x1b[6~")
            # The page is there when the row under the cursor is: an empty one does not count.
            times.append(_waited(terminal, rf"{CURSOR}[^{CURSOR}]{{0,14}}Note \d"))
            terminal.read(PACE)
        terminal.press("G")
        end = _waited(terminal, f"Note {rows - 1:06d}")
    return {f"table_scroll_ms_{rows // 1000}k": _p95(times), f"table_end_ms_{rows // 1000}k": end}


def _waited(terminal: Terminal, sign: str) -> float:
    taken = terminal.wait(sign, SLOWEST)
    return (SLOWEST if taken is None else taken) * 1000


SCREEN: Final = (
    *("1", "2", "3", "4", "5", "7", "j", "j", "k", "?", "\x1b", "t", "z", "z"),
    *(":search 'dome motor'\r", ":frame assemble SESSION --query 'dome motor'\r", "\t", "\t"),
)
"""Acts on the screen, over and over: panes, a cursor, the help, themes, the large view, a search, a frame."""
ENGINE: Final = (
    *("inbox list\r", "graph stats\r", "decay curve --categories\r", "frame list\r", "operations\r", "status\r"),
    *("search 'dome motor'\r", "frame assemble SESSION --query 'dome motor'\r", "status\r"),
)
"""What those acts ask the engines for, line by line in the shell."""
ACT_PACE: Final = 0.15
"""Seconds from one act to the next; an act that is answered later is not waited for."""
REST: Final = 3.0
"""Seconds without an act before memory is read."""
READINGS: Final = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
"""The shares of all acts after which memory is read."""


def hour(stores: tuple[Path, Path, Path], arguments: Sequence[str], acts: int) -> tuple[dict[str, float], BenchTable]:
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
    return metrics, BenchTable("MiB held after so many acts", ("acts", "screen", "shell", "idle screen"), rows)


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
            terminal.read(ACT_PACE)
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
