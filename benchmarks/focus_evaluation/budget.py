"""The whole system against a sliding window with the same number of entries.

The future is forced: each system reads the same true tokens, a cadence at a time, and lays its context out
anew before each.

Floating-point operations of a decoded block, counted by running it, to compare systems at equal cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from amgs_focus.evaluation.gist import horizon_nll
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
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    future: Sequence[int],
    clock: PerfClock,
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
        return float(
            horizon_nll(tree.model, rows[None], torch.tensor([list(part)], dtype=torch.int64)).mean()
        )


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
