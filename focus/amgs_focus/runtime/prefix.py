"""Reads a working context with the base model, keeping the keys and values of everything before the first
change.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from amgs_focus.errors import FocusError
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock, ProgressCallback
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.invalidation_cost import ReadingCosts
from amgs_focus.window.working_context import SINKS, Codes, WorkingContext

CHUNK = 128  # positions computed at a time: the unit of progress and of cancelling
REMEMBERED = 9  # passes whose time per position is remembered; their median is the estimate


@dataclass(frozen=True, slots=True)
class PrefixReading:
    """logits: (V,) float32 after the last position. dirty: positions computed. milliseconds: they took."""

    logits: torch.Tensor
    dirty: int
    milliseconds: float


class PrefixReader:
    """The base model with the cache of the context it last read."""

    def __init__(self, model: BaseModel, clock: PerfClock) -> None:
        self._model = model
        self._clock = clock
        self._cache = model.new_cache()
        self._codes: Codes = np.empty(0, np.int64)
        self._generation = 0
        self._logits: torch.Tensor | None = None
        self._cold = True  # the first pass pages the weights in and says nothing about the next
        self._singles: deque[float] = deque(maxlen=REMEMBERED)  # milliseconds of passes over one position
        self._further: deque[float] = deque(maxlen=REMEMBERED)  # of every further position of a longer pass

    @property
    def cached(self) -> int:
        """Positions whose keys and values are held."""
        return len(self._codes)

    def dirty(self, context: WorkingContext) -> int:
        """Positions that reading the context would compute; 0 when it was the last thing read."""
        codes = context.codes()
        keep = self._common(codes)
        return 0 if keep == len(codes) == len(self._codes) else len(codes) - min(keep, len(codes) - 1)

    def prices(self, context: WorkingContext) -> ReadingCosts:
        """What reading the context would cost, from what is cached and what was measured before."""
        clean = context.used - self.dirty(context)
        return ReadingCosts(clean, median(self._singles or (0.0,)), median(self._further or (0.0,)))

    def forget(self, tree: LifetimeTree, length: int) -> None:
        """Drop what depends on lifetime tokens from `length` on; call it before the lifetime is cut."""
        spans = self._codes.copy()
        gists = spans >= 1 << 48
        levels = spans[gists] // tree.slots >> 48
        indexes = (spans[gists] // tree.slots) & ((1 << 48) - 1)
        spans[gists] = (indexes + 1) * tree.block_size**levels - 1  # the last token a gist stands for
        void = np.flatnonzero(spans >= length)
        if len(void):
            self._crop(int(void[0]))
        elif length < tree.length:
            self._logits = None

    def read(
        self, context: WorkingContext, tree: LifetimeTree, progress: ProgressCallback | None = None
    ) -> PrefixReading:
        """Logits for the token after the context. Raises FocusError when the model gives values that are no
        number.
        """
        began = self._clock.perf()
        if tree.generation != self._generation:
            self._crop(SINKS if self.cached >= SINKS else 0)
            self._generation = tree.generation
        codes = context.codes()
        dirty = self.dirty(context)
        if dirty or self._logits is None:
            dirty = dirty or 1
            self._crop(len(codes) - dirty)
            self._compute(codes, context, tree, progress)
        elapsed = (self._clock.perf() - began) * 1000
        if self._logits is None or not bool(torch.isfinite(self._logits).all()):
            self._reset()
            raise FocusError(
                f"{self._model.card.name} returned logits that are not numbers.",
                way_out="Use another precision, or the pointer gist, or step back.",
            )
        return PrefixReading(self._logits, dirty, elapsed)

    def _compute(
        self, codes: Codes, context: WorkingContext, tree: LifetimeTree, progress: ProgressCallback | None
    ) -> None:
        """Run the model over the positions that the cache lacks, a chunk at a time."""
        first, total = len(self._codes), len(codes)
        with torch.no_grad():
            for start in range(first, total, CHUNK):
                if progress is not None and total - first > CHUNK:
                    progress(start - first, total - first, "reading")
                stop = min(total, start + CHUNK)
                began = self._clock.perf()
                rows = context.embeddings(tree, start, stop)  # (n, d)
                try:
                    hidden = self._model.forward(rows[None], self._cache)  # (1, n, d)
                except BaseException:
                    self._reset()
                    raise
                self._codes = codes[:stop]
                self._learn(stop - start, (self._clock.perf() - began) * 1000)
            self._logits = self._model.logits(hidden[0, -1:])[0].cpu()

    def _common(self, codes: Codes) -> int:
        """Positions from the front that are as they were."""
        length = min(len(codes), len(self._codes))
        differ = np.flatnonzero(codes[:length] != self._codes[:length])
        return int(differ[0]) if len(differ) else length

    def _crop(self, length: int) -> None:
        if length < len(self._codes):
            self._cache.crop(length)
            self._codes = self._codes[:length]
            self._logits = None

    def _reset(self) -> None:
        """Begin with an empty cache: an interrupted pass may have filled some layers only."""
        self._cache = self._model.new_cache()
        self._codes = np.empty(0, np.int64)
        self._logits = None

    def _learn(self, positions: int, elapsed: float) -> None:
        """Take in what one pass of the model cost; the first one is left out."""
        if self._cold:
            self._cold = False
        elif positions == 1:
            self._singles.append(elapsed)
        else:
            self._further.append(max(0.0, elapsed - median(self._singles or (0.0,))) / (positions - 1))
