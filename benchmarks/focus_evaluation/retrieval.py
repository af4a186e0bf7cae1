"""Plain retrieval: the chunks that rank best for a query, as tokens in order of time, until the room is filled.

The plain retrieval that the focus is held against: by words (BM25) and by meaning (the application's embedder).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from amgs.text.embedding import Embedder
from amgs_focus.model.base_model import BaseModel
from amgs_focus.settings import FocusSettings
from amgs_focus.window.working_context import SINKS
from benchmarks.focus_evaluation.budget import plain_nll
from benchmarks.references import Bm25

Ranking = Callable[[Sequence[Sequence[int]], Sequence[int]], Sequence[float]]
"""Chunks of tokens and the tokens of a query -> a score for each chunk."""


@dataclass(frozen=True, slots=True)
class ChunkRetrieval:
    """What ranks chunks of `chunk` tokens that begin every `stride` tokens."""

    ranking: Ranking
    chunk: int = 64
    stride: int = 32

    def places(self, tokens: Sequence[int], query: Sequence[int], room: int, tail: int) -> list[int]:
        """At most `room` places of the tokens, in order: the last `tail`, and those of the chunks before them that rank
        best, each token once; the chunk that fills the room is cut.
        """
        last = max(0, len(tokens) - min(tail, room))
        if not last:
            return list(range(len(tokens)))
        starts = range(0, max(1, last - self.chunk + self.stride), self.stride)
        chunks = [range(at, min(at + self.chunk, last)) for at in starts]
        scores = self.ranking([[tokens[place] for place in chunk] for chunk in chunks], query)
        room -= len(tokens) - last
        shown: set[int] = set()
        for number in sorted(range(len(chunks)), key=lambda number: (-scores[number], -number)):
            new = [place for place in chunks[number] if place not in shown]
            shown.update(new[: room - len(shown)])
            if len(shown) >= room:
                break
        return [*sorted(shown), *range(last, len(tokens))]

    def best(self, tokens: Sequence[int], query: Sequence[int], room: int, tail: int) -> list[int]:
        """The tokens at those places."""
        return [tokens[place] for place in self.places(tokens, query, room, tail)]


def tail_of(length: int, settings: FocusSettings) -> int:
    """The tokens at the end of a lifetime that stay tokens: the last whole blocks and the open one."""
    return min(length, settings.tail_blocks * settings.block_size + length % settings.block_size)


def retrieved(
    model: BaseModel,
    past: Sequence[int],
    future: Sequence[int],
    settings: FocusSettings,
    retrieval: ChunkRetrieval,
    query: int = 64,
) -> tuple[float, ...]:
    """NLL of each part after the sinks, the chunks that rank best for the last tokens, and the same tail."""
    found = []
    for start in range(0, len(future), settings.cadence):
        before = [*past, *future[:start]]
        room = settings.window - SINKS - settings.cadence
        shown = retrieval.best(before, before[-query:], room, tail_of(len(before), settings))
        found.append(plain_nll(model, shown, future[start : start + settings.cadence]))
    return tuple(found)


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
