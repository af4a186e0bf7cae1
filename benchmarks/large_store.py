"""A store of any size, filled in bulk from a folder of books, kept under a work folder so that a bench can run
again without building anew.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.decay import PROFILES
from amgs.lifecycle.linking import MENTIONS_SAME, NEXT, RELATED
from amgs.storage.opening import open_storage
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder
from amgs.types import Progress, Vector
from benchmarks.bulk_rows import BulkBlocks, BulkEdges, append_blocks, append_edges
from benchmarks.large_corpus import Books, Slice, paragraph_vectors, sample_of, vectors_of

FORMAT = 1
"""Rises when what is written changes; a kept store of another format is built anew."""

RAW = 40
"""The last blocks stay in the inbox."""

TAGGED = 32
"""Blocks that are tagged as self."""


@dataclass(frozen=True, eq=False)
class LargeStore:
    """A prepared store. built: seconds it took, 0 when it was kept from an earlier run."""

    path: Path
    blocks: int
    edges: int
    built: float


def sample_vectors(books: Books, embedder: Embedder, count: int, work: Path, progress: Progress | None) -> Vector:
    """(p, d): a vector for every paragraph, `count` of them really embedded; kept in the work folder."""
    sample = sample_of(books, count)
    texts = [books.paragraphs[i].text for i in sample.tolist()]
    digest = hashlib.sha256("\0".join([embedder.name, *texts]).encode()).hexdigest()[:16]
    kept = work / f"vectors-{digest}.npy"
    if kept.exists():
        real = np.load(kept)
    else:
        real = embedder.embed(texts, progress)
        np.save(kept, real)
    return paragraph_vectors(sample, real, len(books.paragraphs))


def prepare(
    books: Books,
    blocks: int,
    work: Path,
    embedder: Embedder,
    *,
    sample: int,
    seed: int,
    progress: Progress | None = None,
) -> LargeStore:
    """The store of `blocks` blocks in the work folder: kept from before, or filled now."""
    told = {
        "format": FORMAT,
        "blocks": blocks,
        "seed": seed,
        "sample": sample,
        "embedder": embedder.name,
        "paragraphs": len(books.paragraphs),
    }
    folder = work / f"search-{blocks}"
    path, note = folder / "memory.duckdb", folder / "prepared.json"
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if known.get("told") == told and path.exists():
        return LargeStore(path, blocks, int(known["edges"]), 0.0)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start = time.perf_counter()
    vectors = sample_vectors(books, embedder, sample, work, progress)
    edges = fill(path, books, blocks, vectors, embedder, seed, progress)
    note.write_text(json.dumps({"told": told, "edges": edges}), encoding="utf-8")
    return LargeStore(path, blocks, edges, time.perf_counter() - start)


def fill(
    path: Path | str,
    books: Books,
    blocks: int,
    paragraphs: Vector,
    embedder: Embedder,
    seed: int,
    progress: Progress | None,
) -> int:
    """Fill an empty store, in a file or in a database, from these vectors of paragraphs; gives its edges."""
    edges = 0
    weave = _Weave(len(books.paragraphs), paragraphs.shape[1])
    with open_storage(path) as store:
        with store.transaction():
            store.meta.put_embedding_space(embedder.name, embedder.dimension)
        for made in books.slices(blocks, seed):
            if progress is not None:
                progress(made.start, blocks, f"filling a store of {blocks:,} blocks")
            vectors = vectors_of(made, paragraphs, seed)
            woven = weave.edges(made, vectors, until=blocks - RAW)
            with store.transaction():
                _append(store, made, vectors, blocks)
                append_edges(store, woven)
            edges += len(woven.source)
    return edges


def _append(store: Storage, made: Slice, vectors: Vector, blocks: int) -> None:
    """The slice as rows: consolidated with vectors, the store's last RAW blocks raw and without."""
    n = len(made.ids)
    raw = max(0, made.start + n - (blocks - RAW))
    for rows, status in ((slice(0, n - raw), "consolidated"), (slice(n - raw, n), "raw")):
        ids = made.ids[rows]
        if not ids:
            continue
        created = made.created[rows]
        append_blocks(
            store,
            BulkBlocks(
                ids=ids,
                contents=made.contents[rows],
                created=created,
                reinforced=created,
                category=made.category[rows],
                confidence=made.confidence[rows],
                decay_lambda=made.decay_lambda[rows],
                status=[status] * len(ids),
                self_component=np.arange(made.start + rows.start, made.start + rows.stop) % max(blocks // TAGGED, 1)
                == 1,
                meta=[_meta(made, i) for i in range(rows.start, rows.stop)],
                reinforcements=made.reinforcements[rows],
                embeddings=vectors[rows] if status == "consolidated" else None,
            ),
        )


def _meta(made: Slice, i: int) -> str:
    said: dict[str, object] = {"source": made.sources[i]}
    if made.speakers[i]:
        said["speaker"] = made.speakers[i]
    if made.names[i]:
        said["entities"] = [made.names[i]]
    return json.dumps(said, ensure_ascii=False, sort_keys=True)


class _Weave:
    """The edges that consolidation would have found, from what is known of how the blocks were made: the piece
    before, the earlier blocks of the same paragraph, the last block with the same name.
    """

    def __init__(self, paragraphs: int, dimension: int) -> None:
        self._last: list[str | None] = [None] * paragraphs
        self._vectors = np.zeros((paragraphs, dimension), dtype=np.float32)
        self._named: dict[str, str] = {}
        self._before: tuple[str, str] | None = None

    def edges(self, made: Slice, vectors: Vector, *, until: int) -> BulkEdges:
        """The edges that the first blocks of a slice bring, those before the corpus' block `until`."""
        source: list[str] = []
        target: list[str] = []
        relation: list[str] = []
        weight: list[float] = []
        at: list[int] = []

        def tie(begin: str, end: str, kind: str, strength: float, i: int) -> None:
            if begin != end:
                source.append(begin)
                target.append(end)
                relation.append(kind)
                weight.append(strength)
                at.append(i)

        for i, block in enumerate(made.ids[: max(0, until - made.start)]):
            part = made.sources[i].split("#")[0]
            if self._before is not None and self._before[0] == part:
                tie(self._before[1], block, NEXT, 0.8, i)
            self._before = (part, block)
            for paragraph in dict.fromkeys((int(made.base[i]), int(made.other[i]))):
                earlier = self._last[paragraph]
                cosine = float(vectors[i] @ self._vectors[paragraph])
                if earlier is not None and cosine > 0:
                    tie(block, earlier, RELATED, min(cosine, 1.0), i)
            self._last[int(made.base[i])] = block
            self._vectors[int(made.base[i])] = vectors[i]
            name = made.names[i]
            if name and name in self._named:
                tie(block, self._named[name], MENTIONS_SAME, 0.4, i)
            if name:
                self._named[name] = block
        rows = np.array(at, dtype=np.int64)
        return BulkEdges(
            source=source,
            target=target,
            relation=relation,
            weight=np.array(weight, dtype=np.float64),
            confidence=np.full(rows.size, 0.8),
            created=made.created[rows] if rows.size else np.zeros(0, np.int64),
            decay_lambda=_lambdas(relation),
        )


def _lambdas(relations: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    lasting = {NEXT: PROFILES["core"], RELATED: PROFILES["durable"], MENTIONS_SAME: PROFILES["durable"]}
    return np.array([lasting[one] for one in relations], dtype=np.float64)
