"""Searches on a store in PostgreSQL with a search index outside the process, beside indexes in its memory."""

from __future__ import annotations

import os
import shutil
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import fill, sample_vectors
from benchmarks.measures import quantile
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.stores import open_memory

WARM_UP = 10
TOP_K = 10
OWN, INDEX = "in memory (control)", "index"
"""Where words and vectors are looked up."""


@dataclass(slots=True)
class TierSearches:
    """What one way of searching took. opened: seconds until the first answer. took, computed: milliseconds of each
    search, and those of this process's processor. stages: milliseconds of each layer, by its name.
    """

    opened: float
    took: list[float] = field(default_factory=list)
    computed: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def measure_tier(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Milliseconds of a search and of its layers at each size, seconds until the first answer of a memory that is
    opened, with what the build kept and, as a control, without, and how many of the ten best hits are those of the
    control. The questions are sentences of the books, asked of one and then of the other; embedding them is part of the
    time, in the layer of vectors.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    books = Books(folder)
    vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    stages: list[tuple[str | float, ...]] = []
    for size in setup.effort.blocks:
        index = setup.work / f"index-{size}"
        shutil.rmtree(index, ignore_errors=True)
        with setup.namespace(f"tier_{size}") as place:
            fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            begun = time.perf_counter()
            with open_memory(rig, place, NOW, index=str(index)) as memory:
                memory.index.build(progress=rig.progress)
            metrics[f"tier_build_s_{size}"] = time.perf_counter() - begun
            metrics[f"tier_bytes_a_block_{size}"] = _bytes(index) / size
            derived = _opened_anew(rig, place, index, books, size)
            found, same = _asked(rig, place, str(index), books, size, setup)
        metrics[f"tier_same_hits_{size}"] = same
        metrics[f"tier_open_anew_s_{size}"] = derived
        for way, asked in found.items():
            name = "tier" if way == INDEX else "tier_control"
            p50, p95 = quantile(asked.took, 0.5), quantile(asked.took, 0.95)
            cpu = quantile(asked.computed, 0.5)
            metrics |= {
                f"{name}_open_s_{size}": asked.opened,
                f"{name}_p50_ms_{size}": p50,
                f"{name}_p95_ms_{size}": p95,
                f"{name}_cpu_p50_ms_{size}": cpu,
            }
            rows.append((f"{size:,}", way, asked.opened, p50, p95, cpu, os.getloadavg()[0]))
        metrics |= {
            f"tier_stage_{layer}_ms_{size}": quantile(took, 0.5)
            for layer, took in found[INDEX].stages.items()
        }
        rows.append((f"{size:,}", "index, nothing kept (control)", derived, "", "", "", os.getloadavg()[0]))
        stages += _stages(size, found)
    largest = max(setup.effort.blocks)
    table = BenchTable(
        "PostgreSQL, the same questions",
        (
            "blocks",
            "words and vectors",
            "open s",
            "search p50 ms",
            "p95 ms",
            "processor p50 ms",
            "load average",
        ),
        tuple(rows),
    )
    layers = BenchTable(
        "Milliseconds of a search by its layers, p50 and p95",
        ("blocks", "layer", "index p50", "p95", "in memory p50", "p95"),
        tuple(stages),
    )
    return SubjectResult(
        metrics,
        {
            f"tier_p50_ms_{largest}": ("<=", 120.0),
            f"tier_p95_ms_{largest}": ("<=", 300.0),
            f"tier_open_s_{largest}": ("<=", 10.0),
        },
        (table, layers),
    )


def _stages(size: int, found: Mapping[str, TierSearches]) -> list[tuple[str | float, ...]]:
    """A row a layer, the index beside the control."""
    return [
        (
            f"{size:,}",
            layer,
            *(quantile(found[way].stages[layer], share) for way in (INDEX, OWN) for share in (0.5, 0.95)),
        )
        for layer in found[INDEX].stages
    ]


def _opened_anew(rig: MemoryRig, place: str, index: Path, books: Books, size: int) -> float:
    """Seconds until the first answer where nothing of what the build kept is there."""
    question = books.queries(1, SEED + size)[0]
    folders = list(index.glob("*/kept"))
    for folder in folders:
        folder.rename(folder.with_name("aside"))
    try:
        begun = time.perf_counter()
        with open_memory(rig, place, NOW, index=str(index), read_only=True) as memory:
            memory.search(question)
            return time.perf_counter() - begun
    finally:
        for folder in folders:
            folder.with_name("aside").rename(folder)


def _asked(
    rig: MemoryRig, place: str, index: str, books: Books, size: int, setup: ScaleoutSetup
) -> tuple[dict[str, TierSearches], float]:
    """What each way took; the percentage of hits that both have. One after the other: by turns each would find the
    caches full of what the other read, gigabytes at a million blocks.
    """
    questions = books.queries(setup.effort.questions + WARM_UP + 1, SEED + size)
    first = questions.pop()
    found: dict[str, TierSearches] = {}
    hits: dict[str, list[set[str]]] = {}
    for way, at in ((INDEX, index), (OWN, "")):
        begun = time.perf_counter()
        with open_memory(rig, place, NOW, index=at, read_only=True) as memory:
            memory.search(first)
            found[way], hits[way] = TierSearches(time.perf_counter() - begun), []
            for number, question in enumerate(questions):
                rig.progress(number, len(questions), f"searching {size:,} blocks, {way}")
                begun, processor = time.perf_counter(), time.process_time()
                result = memory.search(question, top_k=TOP_K)
                if number >= WARM_UP:
                    found[way].took.append(1000 * (time.perf_counter() - begun))
                    found[way].computed.append(1000 * (time.process_time() - processor))
                    for layer in result.layers:
                        found[way].stages[layer.layer].append(layer.milliseconds)
                hits[way].append({hit.block.id for hit in result.hits})
    same = sum(len(one & other) for one, other in zip(hits[INDEX], hits[OWN], strict=True))
    return found, 100 * same / max(sum(map(len, hits[OWN])), 1)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
