"""`focus-scale`: whether a refocus costs the same over ten thousand tokens as over a hundred million.

The lifetimes are synthetic: a real one of the given text, its tokens and its gists repeated to the length. A
refocus is timed as assemble + score + allocate, after a new block came in; what it reads is counted. Each size is
timed with a question asked, another stretch of the text each time, and without, in turns. Sizes that were measured
before are not measured again: name another folder where the machine is another, or quieter.

A synthetic lifetime of any length: a real one, tokens and gists, repeated without being held in memory.

For measuring what grows with the lifetime and what does not. A gist of a level that the real one does not
reach is that level's nearest one below. Every row that is read is counted.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.records import SpanSource
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.ctx_file import Rows
from amgs_focus.tree.files import MemoryRows, MemoryStore, RowStore
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.journal import Journalled
from amgs_focus.window.allocator import allocate
from amgs_focus.window.candidates import AllocatorState
from amgs_focus.window.layout import lay_out
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_rig import FocusRig, Row, kept_lifetime


@dataclass
class Reads:
    """Rows read since the beginning, and in how many calls."""

    rows: int = 0
    calls: int = 0


class TiledRows:
    """The rows of a base over and over, `count` in all; what is appended after them is kept in memory."""

    def __init__(self, base: Rows, count: int, reads: Reads) -> None:
        self._base = base
        self._tiled = count
        self._more = MemoryRows(base.shape[1] if base.ndim > 1 else 0, base.dtype)
        self._reads = reads

    def __len__(self) -> int:
        return self._tiled + len(self._more)

    def rows(self, start: int, stop: int) -> Rows:
        """As any store's."""
        start, stop = max(0, start), min(stop, len(self))
        self._reads.rows += max(0, stop - start)
        self._reads.calls += 1
        places = np.arange(start, min(stop, self._tiled)) % max(1, len(self._base))
        more = self._more.rows(start - self._tiled, stop - self._tiled)
        return np.concatenate([self._base[places], more]) if stop > self._tiled else self._base[places]

    def append(self, rows: Rows) -> None:
        """As any store's."""
        self._more.append(rows)

    def overwrite(self, start: int, rows: Rows) -> None:
        """As any store's; what is tiled stays."""
        self._more.overwrite(start - self._tiled, rows)

    def truncate(self, count: int) -> None:
        """As any store's."""
        self._more.truncate(count - self._tiled)
        self._tiled = min(self._tiled, max(0, count))

    def close(self) -> None:
        """Nothing is open."""


class TiledStore(MemoryStore):
    """A lifetime store that repeats another lifetime up to `length` tokens, a multiple of the block size. Questions are
    searched by their words alone.
    """

    def __init__(self, real: LifetimeTree, length: int) -> None:
        self.reads = Reads()
        self._length = length
        self._tiled: dict[int, RowStore] = {
            0: TiledRows(real.tokens(0, real.count(0) * real.block_size), length, self.reads)
        }
        level = 1
        rows: Rows = np.zeros((0, 0), np.float16)
        while (count := length // real.block_size**level) > 0:
            if real.count(level):
                rows = real.gists(level, 0, real.count(level)).flatten(1).numpy().astype(np.float16)
            self._tiled[level] = TiledRows(rows, count, self.reads)
            level += 1
        super().__init__(rows.shape[1], real.gist.version)

    def level(self, number: int) -> RowStore:
        """As any store's."""
        return self._tiled[number] if number in self._tiled else super().level(number)

    def levels(self) -> tuple[int, ...]:
        """As any store's."""
        return tuple(sorted({*self._tiled, *super().levels()}))

    def load(self) -> Journalled:
        """One span from nowhere."""
        return Journalled([SpanSource(0, self._length, None)])


SIZES: Mapping[str, int] = {"10k": 10_240, "1M": 1_048_576, "100M": 104_857_600}
REAL = 262_144
"""Tokens of the lifetime that is repeated."""
BENCH = Bench("focus-scale", {"scale_ratio": ("<=", 1.10)})
SETTINGS = FocusSettings()
PARTS = ("assemble", "score", "allocate")
ASKED, UNASKED = "asked", "unasked"
QUESTION = 16
"""Tokens of a question: a stretch of the text that is repeated."""
SEED = 0


def run(
    rig: FocusRig,
    *,
    sizes: Mapping[str, int] = SIZES,
    real: int = REAL,
    rounds: int = 40,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Time `rounds` refocuses at each size with each scorer; the first scorer, asked, gives the metrics.

    A quick run goes without the greatest size and takes a quarter of the rounds.
    """
    if rig.quick:
        sizes, rounds = dict(list(sizes.items())[:2]), max(3, rounds // 4)
    real = min(real, len(rig.text) - len(rig.text) % settings.block_size)
    told = {
        "model": rig.model.card.name,
        "gist": rig.encoder.name,
        "gist_version": rig.encoder.version,
        "scorers": [scorer.name for scorer in rig.scorers],
        "text": rig.parts()["text"],
        "real_tokens": real,
        "rounds": rounds,
        **settings.model_dump(),
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    tokens = rig.text[:real]
    speed = _gist_speed(rig, tokens, settings)
    rows: dict[str, dict[str, Row]] = {
        f"{scorer.name}, {asked}": {} for scorer in rig.scorers for asked in (ASKED, UNASKED)
    }
    with closing(kept_lifetime(rig, f"scale-{real}", tokens, settings.block_size)) as tree:
        for place, (name, size) in enumerate(sizes.items()):
            for scorer in rig.scorers:
                rig.progress(place, len(sizes), f"{name}, {scorer.name}")
                measure = partial(_refocuses, rig, tree, scorer, size, rounds, settings)
                found = ledger.once(f"{scorer.name}/{name}", measure)
                for asked in (ASKED, UNASKED):
                    rows[f"{scorer.name}, {asked}"][name] = found[asked]
    names = list(sizes)
    first, silent = (rows[f"{rig.scorer.name}, {asked}"] for asked in (ASKED, UNASKED))
    metrics = {f"refocus_p50_ms_{name}": first[name]["p50"] for name in names}
    metrics["scale_ratio"] = first[names[-1]]["p50"] / first[names[0]]["p50"]
    metrics["scale_ratio_cpu"] = first[names[-1]]["processor"] / first[names[0]]["processor"]
    metrics["scale_ratio_unasked"] = silent[names[-1]]["p50"] / silent[names[0]]["p50"]
    metrics["gist_tokens_per_s"] = speed
    metrics["reads_ratio"] = first[names[-1]]["rows"] / first[names[0]]["rows"]
    metrics["memory_growth_mib"] = first[names[-1]]["memory"] - first[names[0]]["memory"]
    shown = {**told, "sizes": dict(sizes), "scorer": rig.scorer.name, "lifetimes": "synthetic: repeated"}
    shown |= {"rows": str(ledger.path)}
    return BENCH.result(shown, metrics, (_table(rows, sizes),))


def _gist_speed(rig: FocusRig, tokens: tuple[int, ...], settings: FocusSettings, least: float = 2.0) -> float:
    """Tokens a second of summing blocks up, by itself, over at least so many seconds."""
    size, clock, done, at = settings.block_size, rig.clock, 0, 0
    ids = torch.tensor(tokens, dtype=torch.int64).view(-1, size)
    began = clock.perf()
    while (spent := clock.perf() - began) < least:
        some = ids[at : at + 64]
        with torch.no_grad():
            rig.encoder.encode_tokens(rig.model.embed(some), some)
        done += some.numel()
        at = (at + 64) % max(1, len(ids) - 64)
    return done / spent


def _refocuses(
    rig: FocusRig, real: LifetimeTree, scorer: FocusScorer, size: int, rounds: int, settings: FocusSettings
) -> Row:
    """Refocuses at one size with a question and without, in turns: of each the milliseconds of the parts and what one
    reads.
    """
    store = TiledStore(real, size - size % settings.block_size)
    began = rig.clock.perf()
    tree = LifetimeTree(real.model, real.gist, block_size=settings.block_size, store=store)
    places = np.random.Generator(np.random.PCG64(SEED)).integers(0, real.length - QUESTION, size=rounds)
    blocks = iter(real.tokens(0, (2 * rounds + 1) * settings.block_size).reshape(-1, settings.block_size))
    measure = partial(_refocus, rig, tree, store, scorer, settings, blocks)
    measure(())  # what is derived from the whole lifetime is made once
    opened = rig.clock.perf() - began
    each: dict[str, list[Row]] = {ASKED: [], UNASKED: []}
    for at in places.tolist():
        question = tuple(int(token) for token in real.tokens(at, at + QUESTION))
        each[ASKED].append(measure(question))
        each[UNASKED].append(measure(()))
    entries, memory = len(lay_out(tree, settings).entries()), _resident()
    tree.close()
    return {
        asked: {
            **{name: statistics.median(row[name] for row in found) for name in found[0]},
            "entries": entries,
            "memory": memory,
            "opened": opened,
            "each": [row["p50"] for row in found],
        }
        for asked, found in each.items()
    }


def _refocus(
    rig: FocusRig,
    tree: LifetimeTree,
    store: TiledStore,
    scorer: FocusScorer,
    settings: FocusSettings,
    blocks: Iterator[Rows],
    question: tuple[int, ...],
) -> Row:
    """One refocus after the next block came in."""
    clock = rig.clock
    tree.append([int(token) for token in next(blocks)])
    rows_before, visited = store.reads.rows, _visited(scorer)
    worked = time.process_time()
    marks = [clock.perf()]
    context = lay_out(tree, settings)
    marks.append(clock.perf())
    scores = scorer.score(LensView(context, tree, question))
    marks.append(clock.perf())
    allocate(context, scores, tree, settings, AllocatorState(headroom=settings.cadence))
    marks.append(clock.perf())
    worked = time.process_time() - worked
    spent = {part: 1000 * (high - low) for part, low, high in zip(PARTS, marks, marks[1:], strict=False)}
    return {
        **spent,
        "p50": sum(spent.values()),
        "processor": 1000 * worked,
        "rows": store.reads.rows - rows_before,
        "visited": _visited(scorer) - visited,
    }


def _visited(scorer: FocusScorer) -> int:
    """Places of words that the scorer's index has looked at, where it has one."""
    return int(getattr(scorer, "visited", 0))


def _resident() -> float:
    """MiB of memory that the process holds now; NaN where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _table(rows: Mapping[str, Mapping[str, Row]], sizes: Mapping[str, int]) -> BenchTable:
    lines = []
    for scorer, found in rows.items():
        for name, row in found.items():
            lines.append(
                (
                    f"{name} ({sizes[name]:,}), {scorer}",
                    *(f"{row[part]:.2f}" for part in PARTS),
                    f"{row['p50']:.2f}",
                    f"{row['processor']:.2f}",
                    f"{row['rows']:,.0f}",
                    f"{row['visited']:,.0f}",
                    str(row["entries"]),
                    f"{row['memory']:,.0f}",
                    f"{row['opened']:.1f}",
                )
            )
    columns = (
        "tokens, scorer",
        *PARTS,
        "refocus p50",
        "of it processor",
        "rows read",
        "places visited",
        "entries",
        "memory MiB",
        "opened in s",
    )
    return BenchTable("Milliseconds of a refocus over a repeated lifetime, medians", columns, tuple(lines))
