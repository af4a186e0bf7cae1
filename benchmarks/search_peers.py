"""What runs beside our search in the same process: bm25s with an exact cosine in NumPy, and the database's scan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.errors import UsageError
from amgs.text.embedding import Embedder
from amgs.types import Vector
from benchmarks.references import FUSION

POOL = 100


class Bm25sAndNumpy:
    """bm25s (Lù 2024) over the texts, one float32 product over the vectors, joined by reciprocal ranks.

    texts: one a row of the matrix. The index is kept in the folder, and mapped from there when it is there.
    """

    def __init__(self, texts: Iterable[str], matrix: Vector, embedder: Embedder, folder: Path) -> None:
        try:
            import bm25s
        except ImportError as error:
            raise UsageError(
                "bench search runs beside bm25s, which is not installed.",
                way_out="Install the development tools: pip install -e '.[dev]'.",
            ) from error
        self._bm25s = bm25s
        self._matrix = matrix
        self._embedder = embedder
        if not folder.exists():
            index = bm25s.BM25()
            index.index(bm25s.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False)
            index.save(str(folder))
        self._index: Any = bm25s.BM25.load(str(folder), mmap=True)

    def search(self, query: str, limit: int) -> list[int]:
        """The best `limit` rows, the query's embedding included."""
        lexical = self._lexical(query)
        vector = self._embedder.embed([query])[0]
        cosines = self._matrix @ vector
        near = np.argpartition(-cosines, POOL)[:POOL] if cosines.size > POOL else np.arange(cosines.size)
        semantic = near[np.argsort(-cosines[near], kind="stable")]
        score: dict[int, float] = {}
        for ranked in (lexical, semantic):
            for rank, row in enumerate(ranked.tolist(), 1):
                score[row] = score.get(row, 0.0) + 1.0 / (FUSION + rank)
        return sorted(score, key=lambda row: (-score[row], row))[:limit]

    def _lexical(self, query: str) -> NDArray[np.int64]:
        tokens = self._bm25s.tokenize([query], stopwords="en", show_progress=False)
        found = self._index.retrieve(tokens, k=min(POOL, self._matrix.shape[0]), show_progress=False)
        return np.asarray(found.documents[0], dtype=np.int64)


def recall(found: Sequence[str], true: Sequence[str]) -> float:
    """Share of the true ones that were found."""
    return len(set(found) & set(true)) / max(len(true), 1)
