"""Read a working context with the base model, reusing valid keys and values; and the runtime's state between two steps,
an immutable value, so that stepping back is restoring an older one.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.model.base_model import BaseModel, RotaryModel
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.records import Band, Findings, Keyframe, NodeRef, Refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.node_set import NOTHING, NodeSet
from amgs_focus.window.allocator import ReadingCosts
from amgs_focus.window.candidates import AllocatorState
from amgs_focus.window.working_context import READ_AS_ONE, SINKS, Codes, WorkingContext, common


@dataclass(frozen=True)
class ReadHistory:
    """The reads that the model's keys and values come from.

    contexts: as last read, oldest first; the first was read in full. generation: of the lifetime's gists at that time.
    closed: the next change is read in full, whatever the setting.

    After a change, a full read computes everything from the first changed position on. A read that reuses the cache
    computes only the new positions and rotates all others to their new places, although they never saw what changed
    before them. The same history gives the same logits, whatever a cache happens to hold.
    """

    contexts: tuple[WorkingContext, ...] = ()
    generation: int = 0
    closed: bool = False

    @property
    def last(self) -> WorkingContext | None:
        """The last context read, or None."""
        return self.contexts[-1] if self.contexts else None

    @cached_property
    def exact(self) -> int:
        """Leading positions of the last context whose keys and values are those of a full read."""
        if not self.contexts:
            return 0
        codes = [context.codes() for context in self.contexts]
        changes = [common(old, new) for old, new in pairwise(codes)]
        return min([len(codes[-1]), *changes])

    def end(self) -> ReadHistory:
        """Return the history with a full read next; used when text is appended."""
        return replace(self, closed=True)

    def after(self, context: WorkingContext, generation: int, every: int) -> ReadHistory:
        """Return the history after reading a context. every: reads after a change of which the last is in full."""
        last = self.last
        if last is None or generation != self.generation or self.closed:
            return ReadHistory((context,), generation)
        old, new = last.codes(), context.codes()
        if common(old, new) == len(old):
            return replace(self, contexts=(*self.contexts[:-1], context))
        # the last position must be read for the next logits; it is new only if tokens were appended
        if len(self.contexts) < every and context.lifetime > last.lifetime:
            return replace(self, contexts=(*self.contexts, context))
        return ReadHistory((context,), generation)

    def reuses(self, context: WorkingContext, generation: int, every: int) -> bool:
        """Return whether the context, if it were changed now, would be read by reusing the cache."""
        grown = self.last is not None and context.lifetime > self.last.lifetime
        return grown and not self.closed and generation == self.generation and len(self.contexts) < every

    def clean(self, context: WorkingContext, generation: int) -> int:
        """Return the leading positions that a full read of the context would not compute."""
        if self.last is None or generation != self.generation:
            return 0
        return min(common(self.last.codes(), context.codes()), self.exact, context.read - 1)

    def pending(self, context: WorkingContext, generation: int, every: int) -> int:
        """Return the positions that reading the context would compute; 0 if it was read last."""
        following = self.after(context, generation, every)
        codes = context.codes()
        if self.last is None or following.contexts == (context,):
            same = following.contexts == self.contexts and not self.closed
            return 0 if same else context.read - self.clean(context, generation)
        return int(np.isin(codes, self.last.codes(), invert=True).sum())

    @cached_property
    def digest(self) -> str:
        """Hash of everything in the history that decides the next logits."""
        signatures = "/".join(context.signature for context in self.contexts)
        return hashlib.sha256(f"{signatures}|{self.closed}".encode()).hexdigest()[:16]


NOTHING_READ = ReadHistory()


Parts = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class FocusState:
    """All state of a runtime except the lifetime's tokens; the context knows their number.

    settings: as the operator last set them. since: tokens decoded after the last refocus. fresh: text was appended
    since. residency: the refocus in which each entry took its present level. scores, parts: of each entry at the last
    refocus. answer: tokens decoded since the last text. answering: the model's turn is open. random: state of the
    generator if tokens are sampled. sealed: gists whose detail was forgotten. question_share: as in FocusView.
    findings: of the search for the question, None without one. reads: the history behind the context's keys and values.
    """

    context: WorkingContext
    settings: FocusSettings
    allocator: AllocatorState = field(default_factory=AllocatorState)
    step: int = 0
    since: int = 0
    fresh: bool = True
    residency: Mapping[NodeRef, int] = field(default_factory=dict)
    scores: Mapping[NodeRef, float] = field(default_factory=dict)
    parts: Mapping[NodeRef, Parts] = field(default_factory=dict)
    last: Refocus | None = None
    history: tuple[tuple[Band, ...], ...] = ()
    swaps: tuple[float, ...] = ()
    question: str = ""
    question_tokens: tuple[int, ...] = ()
    answer: tuple[int, ...] = ()
    answering: bool = False
    finished: bool = False
    random: torch.Tensor | None = None
    sealed: NodeSet = NOTHING
    question_share: float | None = None
    findings: Findings | None = None
    reads: ReadHistory = NOTHING_READ

    def digest(self, tokens: str) -> str:
        """Return 16 hex digits of everything that decides the next step. tokens: hash of the lifetime's tokens."""
        allocator = self.allocator
        entries = self.context.signature
        marks = [
            sorted((str(node), value) for node, value in marked.items())
            for marked in (allocator.opened, allocator.closed, allocator.overrides)
        ]
        flags = (self.step, self.since, self.fresh, self.finished, allocator.refocus)
        hits = [hit.block for hit in self.findings.blocks] if self.findings is not None else None
        read = self.reads.digest if self.settings.full_read_every > 1 else ""  # a full read depends on no history
        settings = self.settings.model_dump_json()
        whole = f"{flags}|{settings}|{marks}|{entries}|{tokens}|{self.sealed.runs}|{hits}|{read}"
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def without(self, sealed: NodeSet) -> FocusState:
        """Return the state with exactly these gists sealed: the window shows nothing below them."""
        context = self.context.without(sealed)
        context.check()
        number = self.allocator.refocus
        residency = {entry.node: self.residency.get(entry.node, number) for entry in context.entries()}
        return replace(self, context=context, residency=residency, sealed=sealed, reads=NOTHING_READ)

    def keyframe(self, tokens: str) -> Keyframe:
        """Return the state as a keyframe of a trace. tokens: hash of the lifetime's tokens."""
        allocator = self.allocator
        return Keyframe(
            step=self.step,
            lifetime=self.context.lifetime,
            used=self.context.used,
            entries=tuple(entry.node for entry in self.context.entries()),
            opened=tuple(sorted(allocator.opened.items())),
            closed=tuple(sorted(allocator.closed.items())),
            overrides=tuple(sorted(allocator.overrides.items())),
            state_hash=self.digest(tokens),
        )


def mean_residency(context: WorkingContext, residency: Mapping[NodeRef, int], number: int) -> float:
    """Return the mean number of refocuses for which entries outside the tail have kept their level."""
    settled = [entry.node for entry in context.entries() if entry.end <= context.tail_start]
    total = sum(number - residency.get(node, number) for node in settled)
    return total / len(settled) if settled else 0.0


CHUNK = 128  # positions computed at a time: the unit of progress and of cancelling
REMEMBERED = 9  # passes whose time per position is remembered; their median is the estimate

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PrefixReading:
    """Result of a read. logits: (V,) float32 after the last position; dirty: positions computed; milliseconds: time
    taken.
    """

    logits: torch.Tensor
    dirty: int
    milliseconds: float


class PrefixReader:
    """The base model with a cache of what it last read."""

    def __init__(self, model: BaseModel, clock: PerfClock) -> None:
        self._model = model
        self._clock = clock
        self._cache = model.new_cache()
        self._codes: Codes = np.empty(0, np.int64)  # what the cache holds, read after the contexts `_before`
        self._before: tuple[WorkingContext, ...] = ()
        self._exact = 0  # leading positions as a full read would have them
        self._generation = 0
        self._logits: torch.Tensor | None = None
        self._cold = True  # the first pass loads the weights from disk, so its time predicts nothing
        self._singles: deque[float] = deque(maxlen=REMEMBERED)  # milliseconds of passes over one position
        self._further: deque[float] = deque(maxlen=REMEMBERED)  # of every further position of a longer pass

    @property
    def cached(self) -> int:
        """Number of positions with cached keys and values."""
        return len(self._codes)

    def every(self, wanted: int) -> int:
        """Return of how many reads after a change one is in full: the setting, or 1 if the model's keys cannot be
        rotated.
        """
        return wanted if wanted > 1 and self._model.rotates else 1

    def prices(self, history: ReadHistory, context: WorkingContext, tree: LifetimeTree, every: int) -> ReadingCosts:
        """Return the estimated cost of reading a context after a history, from measured passes."""
        return ReadingCosts(
            history.clean(context, tree.generation),
            median(self._singles or (0.0,)),
            median(self._further or (0.0,)),
            pending=history.pending(context, tree.generation, every),
            reuse=history.reuses(context, tree.generation, every),
        )

    def forget(self, tree: LifetimeTree, length: int) -> None:
        """Drop what depends on lifetime tokens from `length` on; call it before the lifetime is cut."""
        if any(context.lifetime > length for context in self._before):
            self._crop(self._exact)
            self._before = ()
        spans = self._codes.copy()
        gists = spans >= 1 << 48
        levels = spans[gists] >> 48
        indexes = spans[gists] & ((1 << READ_AS_ONE) - 1)
        spans[gists] = (indexes + 1) * tree.block_size**levels - 1  # the last token that a gist covers
        void = np.flatnonzero(spans >= length)
        if len(void):
            self._crop(int(void[0]))
        elif length < tree.length:
            self._logits = None

    def read(self, history: ReadHistory, tree: LifetimeTree, progress: ProgressCallback | None = None) -> PrefixReading:
        """Return the logits after the last context of a history; earlier contexts are read again where the cache lacks
        them.

        Raises FocusError when the model returns values that are not numbers.
        """
        began = self._clock.perf()
        if tree.generation != self._generation:
            self._crop(min(self._exact, SINKS))
            self._before, self._generation = (), tree.generation
        computed = 0
        for number in range(self._choose_context(history), len(history.contexts)):
            computed += self._advance(history.contexts, number, tree, progress)
        elapsed = (self._clock.perf() - began) * 1000
        if self._logits is None or not bool(torch.isfinite(self._logits).all()):
            self._reset()
            raise FocusError(
                f"{self._model.card.name} returned logits that are not numbers.",
                way_out="Use another precision, or the pointer gist, or step back.",
            )
        return PrefixReading(self._logits, computed, elapsed)

    def losses(self, history: ReadHistory, tree: LifetimeTree, future: Sequence[int]) -> torch.Tensor:
        """Return (H,) float64: the NLL in nats of each token if they followed. Raises as `read` does."""
        logits = [self.read(history, tree).logits[None]]
        ids = torch.tensor(list(future), dtype=torch.int64)
        with torch.no_grad():
            if len(ids) > 1:
                hidden = self._model.forward(self._model.embed(ids[None, :-1]), self._cache)
                self._cache.crop(len(self._codes))
                logits.append(self._model.logits(hidden[0]).cpu())
        return torch.nn.functional.cross_entropy(torch.cat(logits).double(), ids, reduction="none")

    def _choose_context(self, history: ReadHistory) -> int:
        """Return the index of the context to continue with: the one that the cache was last filled for, else 0.

        For 0 the cache is cropped to the positions that a full read would have.
        """
        contexts, number = history.contexts, len(self._before)
        if number < len(contexts) and self._before == contexts[:number]:
            codes = contexts[number].codes()
            rest = codes[common(codes, self._codes) :]
            # positions reused from the previous context cannot be computed one by one
            if not number or not np.isin(rest, contexts[number - 1].codes()).any():
                return number
        self._crop(self._exact)
        self._before = ()
        return 0

    def _advance(
        self, contexts: Sequence[WorkingContext], number: int, tree: LifetimeTree, progress: ProgressCallback | None
    ) -> int:
        """Read context `number` of a history, after those before it; return how many positions were computed."""
        context = contexts[number]
        codes = context.codes()
        if number == len(self._before):
            keep = common(codes, self._codes)
            if keep == len(codes) == len(self._codes) and self._logits is not None:
                return 0
            self._crop(min(keep, len(codes) - 1))
            fresh = np.arange(len(self._codes), len(codes))
        else:
            fresh = self._reuse(codes)
            self._before = tuple(contexts[:number])
        self._compute(fresh, codes, context, tree, progress)
        return len(fresh)

    def _reuse(self, codes: Codes) -> Positions:
        """Keep in the cache what the new context shares, rotated to its new place; return the positions to compute."""
        model = cast(RotaryModel, self._model)
        self._exact = min(self._exact, common(codes, self._codes))
        _, new_places, old_places = np.intersect1d(codes[:-1], self._codes, assume_unique=True, return_indices=True)
        new_places, old_places = np.sort(new_places), np.sort(old_places)  # both are in order of time
        places = torch.from_numpy(old_places)
        by = torch.from_numpy(new_places) - places
        self._cache = model.cache_of(
            [
                (model.rotate_keys(keys[:, :, places], by), values[:, :, places])
                for keys, values in model.layers_of(self._cache)
            ]
        )
        self._codes = codes[new_places]
        self._logits = None
        return np.setdiff1d(np.arange(len(codes)), new_places)

    def _compute(
        self,
        fresh: Positions,
        codes: Codes,
        context: WorkingContext,
        tree: LifetimeTree,
        progress: ProgressCallback | None,
    ) -> None:
        """Compute the missing positions in chunks; afterwards the cache holds the whole context in order."""
        positions = np.flatnonzero(np.isin(codes, self._codes))
        exact = self._exact == len(positions)
        between = bool(len(positions)) and int(fresh[0]) < int(positions[-1])
        with torch.no_grad():
            for start in range(0, len(fresh), CHUNK):
                if progress is not None and len(fresh) > CHUNK and not between:
                    progress(start, len(fresh), "reading")
                chunk = fresh[start : start + CHUNK]
                began = self._clock.perf()
                rows = _rows(context, tree, chunk)  # (n, d)
                positions = np.concatenate([positions, chunk])
                try:
                    if between:
                        hidden = self._between(rows, chunk, positions)  # (1, n, d)
                    else:
                        hidden = self._model.forward(rows[None], self._cache)
                except BaseException:
                    self._reset()
                    raise
                if not between:
                    self._codes = codes[: len(positions)]
                    self._exact = len(positions) if exact else self._exact
                self._learn(len(chunk), (self._clock.perf() - began) * 1000)
            self._logits = self._model.logits(hidden[0, -1:])[0].cpu()
        if between:
            self._order(positions)
            self._codes = codes

    def _between(self, rows: torch.Tensor, positions: Positions, cache_positions: Positions) -> torch.Tensor:
        """Return hidden states (1, n, d) of rows (n, d) between cached positions; each sees only earlier positions."""
        model = cast(RotaryModel, self._model)
        hidden_from = torch.from_numpy(cache_positions[None, :] > positions[:, None])  # (n, held + n)
        bias = torch.zeros(hidden_from.shape, dtype=rows.dtype).masked_fill(hidden_from, -torch.inf)
        return model.forward_gated(rows[None], self._cache, bias.to(rows.device), torch.from_numpy(positions))

    def _order(self, positions: Positions) -> None:
        """Sort the cache, whose entries stand at `positions`, by position."""
        model = cast(RotaryModel, self._model)
        order = torch.from_numpy(np.argsort(positions))
        self._cache = model.cache_of(
            [(keys[:, :, order], values[:, :, order]) for keys, values in model.layers_of(self._cache)]
        )

    def _crop(self, length: int) -> None:
        if length < len(self._codes):
            self._cache.crop(length)
            self._codes = self._codes[:length]
            self._exact = min(self._exact, length)
            self._logits = None

    def _reset(self) -> None:
        """Empty the cache: an interrupted pass may have filled only some layers."""
        self._cache = self._model.new_cache()
        self._codes = np.empty(0, np.int64)
        self._before = ()
        self._exact = 0
        self._logits = None

    def _learn(self, positions: int, elapsed: float) -> None:
        """Record the time of a pass; the first is left out."""
        if self._cold:
            self._cold = False
        elif positions == 1:
            self._singles.append(elapsed)
        else:
            self._further.append(max(0.0, elapsed - median(self._singles or (0.0,))) / (positions - 1))


def _rows(context: WorkingContext, tree: LifetimeTree, positions: Positions) -> torch.Tensor:
    """Return (n, d): the model's input at these ascending positions."""
    cuts = [0, *(np.flatnonzero(np.diff(positions) > 1) + 1), len(positions)]
    runs = [positions[low:high] for low, high in pairwise(cuts)]
    return torch.cat([context.embeddings(tree, int(run[0]), int(run[-1]) + 1) for run in runs])
