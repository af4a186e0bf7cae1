"""The plain retrieval that the focus is held against: by words (BM25) and by meaning (the application's embedder)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from amgs.text.embedding import Embedder
from amgs_focus.model.base_model import BaseModel
from benchmarks.focus_evaluation.retrieval import ChunkRetrieval
from benchmarks.references import Bm25


def retrievals(model: BaseModel, embedder: Embedder) -> Mapping[str, ChunkRetrieval]:
    """Chunks of 64 tokens that overlap by half, by BM25 ("rag") and by the cosine of embeddings ("dense"); and BM25 on
    the grid of the lifetime's blocks ("grid"), whose chunks cut in two what lies across an edge.
    """
    by_words = partial(_by_words, model)
    return {
        "rag": ChunkRetrieval(by_words),
        "dense": ChunkRetrieval(_ByMeaning(model, embedder)),
        "grid": ChunkRetrieval(by_words, chunk=32, stride=32),
    }


def bm25(chunks: Sequence[str], query: str) -> Sequence[float]:
    """Textbook BM25 of each chunk."""
    return [float(score) for score in Bm25(chunks).scores(query)]


def _by_words(model: BaseModel, chunks: Sequence[Sequence[int]], query: Sequence[int]) -> Sequence[float]:
    return bm25([model.decode(chunk) for chunk in chunks], model.decode(query))


class _ByMeaning:
    """Cosine of the embeddings of chunk and query; a chunk's is computed once."""

    def __init__(self, model: BaseModel, embedder: Embedder) -> None:
        self._model = model
        self._embedder = embedder
        self._known: dict[tuple[int, ...], NDArray[np.float32]] = {}

    def __call__(self, chunks: Sequence[Sequence[int]], query: Sequence[int]) -> Sequence[float]:
        keys = [tuple(chunk) for chunk in chunks]
        if new := [key for key in dict.fromkeys(keys) if key not in self._known]:
            vectors = self._embedder.embed([self._model.decode(key) for key in new])
            self._known |= dict(zip(new, vectors, strict=True))
        asked = self._embedder.embed([self._model.decode(query)])[0]
        return [float(self._known[key] @ asked) for key in keys]
