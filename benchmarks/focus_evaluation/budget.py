"""The whole system against a sliding window with the same number of entries.

The future is forced: each system reads the same true tokens, a cadence at a time, and lays its context out
anew before each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from amgs_focus.evaluation.gist import horizon_nll
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.records import Action, NodeRef, Refocus
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import lay_out
from amgs_focus.window.working_context import SINKS, Codes, WorkingContext


@dataclass(frozen=True, slots=True)
class Streamed:
    """nll: of each part of the future, in nats a token. dirty: positions that each part's layout changed and
    what follows them, which must be computed anew. used: entries before each part. swaps, residency: of each
    refocus. actions: what was applied, in order, with the number of its refocus.
    """

    nll: tuple[float, ...]
    dirty: tuple[int, ...]
    used: tuple[int, ...]
    swaps: tuple[float, ...] = ()
    residency: tuple[float, ...] = ()
    actions: tuple[tuple[int, NodeRef, Action], ...] = ()

    def reversals(self, within: int) -> int:
        """Actions that undo one on the same node at most `within` refocuses before."""
        last: dict[NodeRef, tuple[int, Action]] = {}
        count = 0
        for number, node, kind in self.actions:
            before = last.get(node)
            count += before is not None and before[1] != kind and number - before[0] <= within
            last[node] = (number, kind)
        return count


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
    records: list[Refocus] = []
    try:
        for start in range(0, len(future), settings.cadence):
            part = list(future[start : start + settings.cadence])
            state, record = refocus(state, tree, scorer, settings, reader, clock)
            codes = state.context.codes()
            dirty = len(codes) - _common(codes, known)
            records.append(record)
            found.append((_nll(tree, state.context, part), dirty, len(codes)))
            tree.append(part)
            grown = state.context.extended(tree.length)
            state, known = replace(state, context=grown), grown.codes()
    finally:
        tree.truncate(length)
    nll, dirty_each, used = zip(*found, strict=True)
    return Streamed(
        nll,
        dirty_each,
        used,
        tuple(record.swap_rate for record in records),
        tuple(record.mean_residency for record in records),
        tuple((record.number, one.node, one.kind) for record in records for one in record.applied),
    )


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
