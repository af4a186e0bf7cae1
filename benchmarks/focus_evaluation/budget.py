"""The whole system against a sliding window with the same number of entries.

The future is forced: each system reads the same true tokens, a cadence at a time, and lays its context out
anew before each.

Floating-point operations of a decoded block, counted by running it, to compare systems at equal cost.

Plain retrieval: the chunks that rank best for a query, as tokens in order of time, until the room is filled.

The plain retrieval that the focus is held against: by words (BM25) and by meaning (the application's embedder).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from amgs.text.embedding import Embedder
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import lay_out
from amgs_focus.window.working_context import SINKS, Codes, WorkingContext
from benchmarks.focus_training.gistnet import horizon_nll
from benchmarks.references import Bm25


@dataclass(frozen=True, slots=True)
class ModelCost:
    """fixed: operations of one token at no context, the output matrix included. each: for every entry it sees."""

    fixed: float
    each: float

    def tokens(self, first: int, count: int) -> float:
        """Operations of `count` tokens of which the first sees `first` entries, itself included."""
        return count * self.fixed + self.each * (count * first + count * (count - 1) / 2)

    def window(self, operations: float, count: int) -> int:
        """The window in which decoding `count` tokens, one by one with everything kept, costs so much."""
        return max(1, int((operations / count - self.fixed) / self.each))


def model_cost(model: BaseModel) -> ModelCost:
    """Counted for one token; what attention adds for each entry is 4 · layers · width (scores and their sum)."""
    with torch.no_grad():
        row = model.embed(torch.tensor([[model.sinks()[0]]], dtype=torch.int64))
        fixed = counted(lambda: model.logits(model.forward(row)[0]))
    return ModelCost(fixed, 4.0 * model.card.layers * model.card.width)


def counted(run: Callable[[], object]) -> float:
    """Operations of the matrix products in a call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return float(counter.get_total_flops())


@dataclass(frozen=True, slots=True)
class Streamed:
    """nll: of each part of the future, in nats a token. dirty: positions that each part's layout changed and
    what follows them, which must be computed anew. used: entries before each part.
    """

    nll: tuple[float, ...]
    dirty: tuple[int, ...]
    used: tuple[int, ...]


def focused(
    tree: LifetimeTree, scorer: FocusScorer, settings: FocusSettings, future: Sequence[int], clock: PerfClock
) -> Streamed:
    """Refocus before every cadence of the future, read it, and let it join the lifetime, which is then cut
    back.
    """
    length = tree.length
    reader = PrefixReader(tree.model, clock)  # never read with: what it would have cached is counted below
    context = lay_out(tree, settings)
    state = FocusState(context, settings)
    known = np.empty(0, np.int64)
    found: list[tuple[float, int, int]] = []
    try:
        for start in range(0, len(future), settings.cadence):
            part = list(future[start : start + settings.cadence])
            state, _ = refocus(state, tree, scorer, settings, reader, clock)
            codes = state.context.codes()
            dirty = len(codes) - _common(codes, known)
            found.append((_nll(tree, state.context, part), dirty, len(codes)))
            tree.append(part)
            grown = state.context.extended(tree.length)
            state, known = replace(state, context=grown), grown.codes()
    finally:
        tree.truncate(length)
    nll, dirty_each, used = zip(*found, strict=True)
    return Streamed(nll, dirty_each, used)


def windowed(
    model: BaseModel, past: Sequence[int], future: Sequence[int], window: int, cadence: int
) -> tuple[float, ...]:
    """NLL of each part after the sinks and the latest tokens that leave room for the part itself."""
    found = []
    for start in range(0, len(future), cadence):
        before = [*past, *future[:start]]
        found.append(plain_nll(model, before[-(window - SINKS - cadence) :], future[start : start + cadence]))
    return tuple(found)


def _nll(tree: LifetimeTree, context: WorkingContext, part: Sequence[int]) -> float:
    with torch.no_grad():
        rows = context.embeddings(tree, 0, context.used)
        return float(horizon_nll(tree.model, rows[None], torch.tensor([list(part)], dtype=torch.int64)).mean())


def plain_nll(model: BaseModel, shown: Sequence[int], part: Sequence[int]) -> float:
    """NLL of a part of the future after the sinks and these tokens, in nats a token."""
    with torch.no_grad():
        rows = model.embed(torch.tensor([[*model.sinks(), *shown]], dtype=torch.int64))
        return float(horizon_nll(model, rows, torch.tensor([list(part)], dtype=torch.int64)).mean())


def _common(left: Codes, right: Codes) -> int:
    """Positions from the front that are equal."""
    length = min(len(left), len(right))
    differ = np.flatnonzero(left[:length] != right[:length])
    return int(differ[0]) if len(differ) else length


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
