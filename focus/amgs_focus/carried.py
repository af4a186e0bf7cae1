"""How much of their blocks the gists of a lifetime carry, measured on its own text.

Two blocks stand as gists, and the model is asked for the tokens that follow them: with the blocks' own gists, with
gists of another place of the same lifetime, and with the blocks' tokens. Gists of any place tell the kind of text; what
only the right ones add is the content share, (elsewhere − own) / (elsewhere − tokens). Where gists are polished, the
same is asked with the gists that the net made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.model.likelihood import log_likelihood
from amgs_focus.protocols import ProgressCallback
from amgs_focus.records import NodeRef
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.metadata_store import overlapping

BLOCKS = 2
"""Blocks that stand as gists in a window."""
HORIZON = 32
"""Tokens that are predicted after them."""
WINDOWS = 24
_DRAWS = 2000
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class CarriedWindow:
    """One window: its first block, and nats a token of what follows with tokens, own gists, and gists of elsewhere.

    polished: of its blocks and of those of elsewhere, how many are; net: (own, elsewhere) of before they were.
    """

    node: NodeRef
    tokens: float
    own: float
    elsewhere: float
    polished: int = 0
    net: tuple[float, float] | None = None

    @property
    def unpolished(self) -> CarriedWindow:
        """The same before anything was polished."""
        own, elsewhere = self.net or (self.own, self.elsewhere)
        return CarriedWindow(self.node, self.tokens, own, elsewhere)


@dataclass(frozen=True, slots=True)
class Carried:
    """What the gists of a lifetime carry. windows: in order of time."""

    windows: tuple[CarriedWindow, ...]

    @property
    def nats(self) -> tuple[float, float, float]:
        """Mean nats a token with the tokens, with own gists and with gists of elsewhere."""
        tokens, own, elsewhere = self._columns().mean(axis=0).tolist()
        return tokens, own, elsewhere

    @property
    def unpolished(self) -> Carried | None:
        """The same places with the gists that the net made; None where no gist in them is polished."""
        if not any(each.polished for each in self.windows):
            return None
        return Carried(tuple(each.unpolished for each in self.windows))

    def changed(self) -> tuple[float, float, float]:
        """How polishing changed the nats a token with own gists, and the 95 % interval by drawing windows."""
        before = np.array([each.unpolished.own for each in self.windows])
        return self._interval(lambda means: means[:, 1] - means[:, 3], before)

    def content(self) -> tuple[float, float, float]:
        """elsewhere − own in nats a token, and its 95 % interval by drawing windows; above 0 the right gists help."""
        return self._interval(lambda means: means[:, 2] - means[:, 1])

    def share(self) -> tuple[float, float, float] | None:
        """The content share and its 95 % interval; None where tokens are not clearly better than gists of elsewhere."""
        if self._interval(lambda means: means[:, 2] - means[:, 0])[1] <= 0:
            return None
        return self._interval(lambda means: (means[:, 2] - means[:, 1]) / (means[:, 2] - means[:, 0]))

    def _columns(self) -> NDArray[np.float64]:
        return np.array([(each.tokens, each.own, each.elsewhere) for each in self.windows])

    def _interval(
        self, statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]], *more: NDArray[np.float64]
    ) -> tuple[float, float, float]:
        columns = np.column_stack([self._columns(), *more])
        drawn = np.random.default_rng(0).integers(0, len(columns), (_DRAWS, len(columns)))
        low, high = np.quantile(statistic(columns[drawn].mean(axis=1)), (0.025, 0.975))
        return float(statistic(columns.mean(axis=0, keepdims=True))[0]), float(low), float(high)


def carried(tree: LifetimeTree, windows: int = WINDOWS, progress: ProgressCallback | None = None) -> Carried:
    """Measure `windows` places at equal distances. Raises FocusError where the lifetime is too short, and whatever
    `progress` raises to cancel.
    """
    size, whole = tree.block_size, tree.count(1)
    last = min(whole, (tree.length - HORIZON) // size) - BLOCKS
    if last < 2 * BLOCKS:
        raise FocusError(
            f"A lifetime of {tree.length:,} tokens is too short to measure its gists.",
            title="Nothing to measure",
            way_out=f"Open a text of {(3 * BLOCKS) * size + HORIZON} tokens or more.",
        )
    places = np.unique(np.linspace(0, last, windows).astype(int)).tolist()
    found = []
    for done, place in enumerate(places):
        if progress is not None:
            progress(done, len(places), "windows")
        start, end = place * size, (place + BLOCKS) * size
        if overlapping(tree.catalogue.gone(0), start, end + HORIZON):
            continue
        model = tree.model
        before = model.embed(torch.from_numpy(tree.tokens(start, end).astype(np.int64)))
        other = (place + (last + 1) // 2) % (last + 1)
        targets = torch.from_numpy(tree.tokens(end, end + HORIZON).astype(np.int64))
        nats = partial(_nats, tree, targets)
        blocks = {at + one for at in (place, other) for one in range(BLOCKS)}
        known = len(blocks & tree.catalogue.span_metadata.polished.keys())
        own, elsewhere = (nats(tree.gists(1, at, at + BLOCKS).flatten(0, 1)) for at in (place, other))
        one = CarriedWindow(NodeRef(1, place), nats(before), own, elsewhere, known)
        if known:
            own, elsewhere = (nats(tree.encoded(at, at + BLOCKS).flatten(0, 1)) for at in (place, other))
            one = replace(one, net=(own, elsewhere))
        found.append(one)
    if len(found) < _FEWEST:
        raise FocusError(
            "Most of this lifetime was purged.", title="Nothing to measure", way_out="Open a text that is whole."
        )
    return Carried(tuple(found))


def _nats(tree: LifetimeTree, targets: torch.Tensor, rows: torch.Tensor) -> float:
    """Mean −log p of the targets after sinks and rows (n, d)."""
    model = tree.model
    sinks = model.embed(torch.tensor(model.sinks(), dtype=torch.int64))
    return -log_likelihood(model, torch.cat([sinks, rows.to(sinks)]), targets) / len(targets)
