"""What N blocks take, where, and how long: arithmetic from figures that were measured, and from assumptions by name.

The subject `sizing`: what a block takes in each place, measured, and what follows for a hundred million and more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from amgs.errors import InputError
from amgs.storage.opening import open_storage
from amgs.storage.tables import TableSize
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import fill, sample_vectors
from benchmarks.scaleout.footprint import footprint
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.stores import open_memory

AIMS = (100_000_000, 10_000_000_000)
"""Blocks for which it is worked out."""
TODAY = "today"
"""Marks what the program does now; all else is derived for parts that stand beside it or are still to be built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFigures:
    """Figures of one machine, for a block of `text_bytes` with `edges` edges. Bytes are a block's unless said.

    file, kept_index, words: of a DuckDB file, of the indexes beside it, and of these the keyword index. rows,
    indexes: in PostgreSQL, with their edges. vector: of these the embedding, which can be computed again. process:
    memory of a process that searches the store in PostgreSQL. open_cpu_s: seconds of processor that it takes to open
    it and answer. namespace_bytes, namespace_tables: of an empty namespace. session_bytes: what one SESSION frame
    writes. embed_per_core_s: texts embedded in a second of one core.
    """

    text_bytes: float
    edges: float
    file: float
    kept_index: float
    words: float
    rows: float
    indexes: float
    vector: float
    process: float
    open_cpu_s: float
    namespace_bytes: float
    namespace_tables: float
    session_bytes: float
    embed_per_core_s: float

    @classmethod
    def of(cls, given: Mapping[str, float]) -> BlockFigures:
        """From names and values, as the bench writes them; raises InputError where one is missing."""
        names = [field.name for field in fields(cls)]
        missing = [name for name in names if name not in given]
        if missing:
            raise InputError(f"These figures are missing: {', '.join(missing)}.")
        return cls(**{name: float(given[name]) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What nobody measured here. ram: bytes of a machine. node: bytes that one PostgreSQL holds well. namespace:
    blocks of a middle namespace. dataset: most rows of one dataset of the search tier. code: bytes of a quantised
    vector. probes: lists of an IVF index that a query reads. terms: words of a query. read: rows whose text a query
    fetches. first_byte_ms: of a request to the object store (Amazon's guidelines: 100 to 200 ms for small objects).
    cores: that embed at once. sessions: frames assembled for each block and year.
    """

    ram: float = 64 * 2**30
    node: float = 2e12
    namespace: float = 100_000
    dataset: float = 1e8
    code: float = 48
    probes: float = 32
    terms: float = 8
    read: float = 50
    first_byte_ms: float = 150
    cores: float = 300
    sessions: float = 0.1


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a plan: what it is, how large for how many blocks, and from what it follows."""

    what: str
    value: str
    derived: str


def plan(blocks: int, m: BlockFigures, a: Assumptions = Assumptions()) -> tuple[Line, ...]:
    """What so many blocks take."""
    truth = blocks * (m.rows + m.indexes)
    datasets = max(1, math.ceil(blocks / a.dataset))
    inside = blocks / datasets
    lists = ivf_lists(inside)
    scanned = inside * min(1.0, a.probes / lists)
    requests = cold_requests(a)
    namespaces = blocks / a.namespace
    lines = [
        Line(
            f"one DuckDB file ({TODAY})", size(blocks * (m.file + m.kept_index)), "file + indexes beside it"
        ),
        Line(f"PostgreSQL, rows and indexes ({TODAY})", size(truth), "rows + indexes"),
        Line("of it embeddings, which can be computed again", size(blocks * m.vector), "vector"),
        Line(
            "PostgreSQL clusters, by namespace",
            f"{math.ceil(truth / a.node):,}",
            f"a cluster holds {size(a.node)}",
        ),
        Line(
            "log of a year's frames",
            size(blocks * a.sessions * m.session_bytes),
            f"{a.sessions:g} frames a block, {size(m.session_bytes)} each",
        ),
        Line(
            f"tables of all namespaces ({TODAY}: a schema each)",
            f"{namespaces * m.namespace_tables:,.0f}, {size(namespaces * m.namespace_bytes)} when empty",
            f"{a.namespace:,.0f} blocks a namespace",
        ),
        Line(
            f"memory of one process that searches all ({TODAY}: indexes in memory)",
            size(blocks * m.process),
            "process",
        ),
        Line(
            f"processor time until it answers ({TODAY}, PostgreSQL)",
            duration(blocks * m.open_cpu_s),
            "open_cpu_s",
        ),
    ]
    return (
        *lines,
        Line(
            "search tier: text, words, half-precision vectors, codes",
            size(blocks * tier(m, a)),
            f"text_bytes + words + vector/2 + {a.code:g}",
        ),
        Line(
            "data sets of the search tier",
            f"{datasets:,}, {lists:,} IVF lists each",
            f"at most {a.dataset:,.0f} rows; 4√rows lists",
        ),
        Line(
            "vectors scanned for a query, in its namespace's dataset",
            f"{scanned:,.0f}, {size(scanned * a.code)}",
            f"{a.probes:g} lists, {a.code:g} bytes a code",
        ),
        Line(
            "requests to the object store for a cold query",
            f"{requests:,.0f}, at least {3 * a.first_byte_ms:,.0f} ms",
            f"lists, postings and texts: three rounds of {a.first_byte_ms:g} ms",
        ),
        Line(
            "embedding all",
            f"{duration(blocks / m.embed_per_core_s)} of one core, "
            f"{duration(blocks / m.embed_per_core_s / a.cores)} of {a.cores:g}",
            f"{m.embed_per_core_s:,.0f} texts a second of a core",
        ),
    )


def tier(m: BlockFigures, a: Assumptions = Assumptions()) -> float:
    """Bytes of a block in the search tier, by what it holds."""
    return m.text_bytes + m.words + m.vector / 2 + a.code


def most_blocks(
    m: BlockFigures, a: Assumptions = Assumptions(), *, patience_s: float = 60.0
) -> tuple[Line, ...]:
    """How many blocks of one namespace today's design bears: its indexes are in the process's memory."""
    return (
        Line(f"in {size(a.ram)} of memory", f"{a.ram / m.process:,.0f} blocks", "process"),
        Line(
            f"with an answer after {patience_s:g} s of one core",
            f"{patience_s / m.open_cpu_s:,.0f} blocks",
            "open_cpu_s",
        ),
    )


def side_by_side(m: BlockFigures, a: Assumptions = Assumptions()) -> tuple[tuple[str, ...], ...]:
    """Rows of a table: what, how large at each of AIMS, and from what it follows."""
    found = [(*plan(blocks, m, a), *bill(blocks, m, a)) for blocks in AIMS]
    return tuple(
        (one[0].what, *(line.value for line in one), one[0].derived) for one in zip(*found, strict=True)
    )


def ivf_lists(rows: float) -> int:
    """Lists of an IVF index: four times the square root of the rows, as a power of two (what Faiss advises is 4 to 16
    times the root).
    """
    return int(2 ** round(math.log2(max(1.0, 4 * math.sqrt(rows)))))


def cold_requests(a: Assumptions) -> float:
    """Ranges that are read from the object store where nothing is in a cache: a list each, for a word its entry and
    its postings, a row each.
    """
    return a.probes + 2 * a.terms + a.read


def size(number: float) -> str:
    """Bytes with a unit of a thousand and three digits: "1.54 TB"."""
    scale = max(0, min(5, int(math.log10(number) // 3))) if number >= 1 else 0
    told = number / 1000**scale
    digits = 0 if told >= 100 or not scale else 1 if told >= 10 else 2
    return f"{told:.{digits}f} {('B', 'kB', 'MB', 'GB', 'TB', 'PB')[scale]}"


def duration(seconds: float) -> str:
    """Seconds with the unit that leaves few digits: "41 h"."""
    for unit, scale in (("years", 365.25 * 86400), ("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * scale:
            return f"{seconds / scale:,.0f} {unit}"
    return f"{seconds:.0f} s"


def bill(blocks: int, m: BlockFigures, a: Assumptions = Assumptions()) -> tuple[Line, ...]:
    """What a month costs, in units whose prices the reader fills in: a price list is of one provider and one day."""
    truth = blocks * (m.rows + m.indexes)
    return (
        Line("storage of databases, with a copy", f"2 × {truth / 1e9:,.0f} GB-months", "rows + indexes"),
        Line(
            "machines of databases, with a copy", f"{2 * math.ceil(truth / a.node):,}", f"{size(a.node)} each"
        ),
        Line("object storage", f"{blocks * tier(m, a) / 1e9:,.0f} GB-months", "the search tier"),
        Line("requests of a million cold queries", f"{cold_requests(a):,.0f} million GET", "as above"),
        Line(
            "embedding, once",
            f"{blocks / m.embed_per_core_s / 3600:,.0f} core-hours",
            "embed_per_core_s",
        ),
    )


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
        with open_memory(rig, kept.path, NOW) as memory:
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
    with open_memory(rig, place, NOW) as memory:
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
