"""The subject `sizing`: what a block takes in each place, measured, and what follows for a hundred million and more."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from amgs.memory import Memory
from amgs.storage.opening import open_storage
from amgs.storage.tables import TableSize
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import fill, sample_vectors
from benchmarks.scaleout.footprint import footprint
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.scaleout.sizing import AIMS, BlockFigures, Line, most_blocks, side_by_side
from benchmarks.stores import BenchClock

EMBEDDED = 256
"""Texts whose embedding is timed."""


def measure_sizing(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Bytes, memory and seconds of a block: the difference between the smallest and the largest size, so that what a
    process or a file takes anyway is left out; from one size alone, all of it. Then the plans.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    books = Books(folder)
    vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
    found: list[dict[str, float]] = []
    ends = sorted({min(setup.effort.blocks), max(setup.effort.blocks)})
    for size in ends:
        kept = setup.filled_file(rig, books, size)
        with Memory.open(kept.path, clock=BenchClock(NOW), embedder=rig.embedder) as memory:
            memory.search("who opened the door?")  # builds its indexes; closing keeps them
        in_file = footprint(str(kept.path))
        beside = kept.path.with_name(f"{kept.path.name}.index")
        with setup.namespace(f"sizing_{size}") as place:
            edges = fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            opened = footprint(place)
            with open_storage(place, read_only=True) as storage:
                tables = storage.tables.sizes()
                texts = sum(
                    len(content.encode())
                    for batch in storage.block_columns.contents()
                    for _, content, _ in batch
                )
            frames = _log_bytes(rig, place, books, setup.effort.frames, tables)
        found.append(
            {
                "blocks": size,
                "text_bytes": texts,
                "edges": edges,
                "file": kept.path.stat().st_size,
                "kept_index": _bytes(beside),
                "words": _bytes(beside / "keyword"),
                "rows": sum(each.bytes for each in tables.values()),
                "indexes": sum(each.index_bytes for each in tables.values()),
                "process": opened["bytes"],
                "process_file": in_file["bytes"] + in_file["mapped"],
                "open_cpu_s": opened["open_cpu_s"],
                "session_bytes": frames,
            }
        )
    with setup.namespace("sizing_empty") as place, open_storage(place) as storage:
        empty = storage.tables.sizes()
    measured = _a_block(found, empty, _embedded_per_core_s(rig, books), vectors.shape[1])
    columns = ("what", *(f"{blocks:,} blocks" for blocks in AIMS), "from")
    plans = BenchTable("What is derived for many blocks", columns, side_by_side(measured))
    bears = BenchTable(
        "What one process bears today", ("limit", "blocks", "from"), _rows(most_blocks(measured))
    )
    return SubjectResult(
        {f"sizing_{name}": value for name, value in asdict(measured).items()}
        | {"sizing_process_file": _slope(found, "process_file")},
        {},
        (plans, bears),
    )


def _bytes(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def _rows(lines: tuple[Line, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((line.what, line.value, line.derived) for line in lines)


def _a_block(
    found: list[dict[str, float]], empty: Mapping[str, TableSize], per_s: float, dimension: int
) -> BlockFigures:
    each = {
        name: _slope(found, name)
        for name in (
            "text_bytes",
            "edges",
            "file",
            "kept_index",
            "words",
            "rows",
            "indexes",
            "process",
            "open_cpu_s",
        )
    }
    return BlockFigures.of(
        each
        | {
            "vector": 4.0 * dimension,
            "namespace_bytes": float(sum(one.bytes + one.index_bytes for one in empty.values())),
            "namespace_tables": float(len(empty)),
            "session_bytes": found[-1]["session_bytes"],
            "embed_per_core_s": per_s,
        }
    )


def _slope(found: list[dict[str, float]], name: str) -> float:
    """A block's share: by what the largest has over the smallest, else of all."""
    last, first = found[-1], found[0] if len(found) > 1 else {"blocks": 0.0, name: 0.0}
    return (last[name] - first[name]) / (last["blocks"] - first["blocks"])


def _log_bytes(
    rig: MemoryRig, place: str, books: Books, frames: int, before: Mapping[str, TableSize]
) -> float:
    """Bytes that a SESSION frame leaves in the database."""
    with Memory.open(
        place, clock=BenchClock(NOW), embedder=rig.embedder, count_tokens=rig.count_tokens
    ) as memory:
        for question in books.queries(frames, SEED):
            memory.assemble("SESSION", query=question)
    with open_storage(place, read_only=True) as storage:
        after = storage.tables.sizes()
    grown = sum(
        after[name].bytes + after[name].index_bytes - before[name].bytes - before[name].index_bytes
        for name in after
    )
    return grown / frames


def _embedded_per_core_s(rig: MemoryRig, books: Books) -> float:
    """Texts a second of processor time, all threads together: a busy machine takes longer, not more."""
    texts = [paragraph.text for paragraph in books.paragraphs[:EMBEDDED]]
    rig.embedder.embed(texts[:8])
    begun = time.process_time()
    rig.embedder.embed(texts)
    return len(texts) / (time.process_time() - begun)
