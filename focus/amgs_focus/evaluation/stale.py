"""What it would cost to keep keys and values that an edit made stale, instead of computing them anew.

After an edit everything behind it sees another context. Reusing what stands behind the last change, turned to
its new positions, saves its computation; the NLL of what follows says what that is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from amgs_focus.errors import FocusError
from amgs_focus.model.base_model import KVCache
from amgs_focus.utility.labels import LabelSnapshot
from amgs_focus.window.working_context import Codes, WorkingContext

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Per layer keys and values, (1, heads, n, e) each."""


@runtime_checkable
class Shifting(Protocol):
    """A base model whose kept keys can be turned to other positions."""

    def layers_of(self, cache: KVCache) -> Layers:
        """What a cache holds."""
        ...

    def cache_of(self, layers: Layers) -> KVCache:
        """A cache that holds it."""
        ...

    def turned(self, keys: torch.Tensor, by: int) -> torch.Tensor:
        """(1, heads, n, e) keys as if each had stood `by` positions further on."""
        ...


@dataclass(frozen=True, slots=True)
class Reuse:
    """NLLs of the horizon in nats a token. reused: positions kept stale; dirty: positions from the first change
    on, which are otherwise computed anew.
    """

    exact: float
    stale: float
    reused: int
    dirty: int


def reuse(snapshot: LabelSnapshot, before: WorkingContext) -> Reuse | None:
    """The snapshot's future after its context with everything computed, and with what stood behind the last
    change kept from `before`, a context of the same lifetime. None where nothing changed, or all of it.

    Raises FocusError for a model whose keys cannot be turned.
    """
    context, tree = snapshot.context, snapshot.tree
    model = tree.model
    if not isinstance(model, Shifting):
        raise FocusError(f"The cached keys of {model.card.name} cannot be rotated to other positions.")
    old, new = before.codes(), context.codes()
    first, suffix = _common(old, new), _common(old[::-1], new[::-1])
    if first == len(new):
        return None
    suffix = min(suffix, len(old) - first, len(new) - first)
    kept = suffix - 1  # the last position is computed in any case: it says what comes next
    if kept <= 0:
        return None
    future = torch.tensor(snapshot.future, dtype=torch.int64)
    with torch.no_grad():
        rows = context.embeddings(tree, 0, context.used)
        follow = model.embed(future[:-1]).to(rows)
        exact = model.new_cache()
        model.forward(rows[None, : len(new) - suffix], exact)
        past = model.new_cache()
        model.forward(before.embeddings(tree, 0, before.used)[None], past)
        spliced = model.cache_of(_spliced(model, exact, past, len(old) - suffix, kept))
        ends = torch.cat([rows[-1:], follow])
        stale = _nll(model.logits(model.forward(ends[None], spliced)[0]), future)
        whole = model.forward(torch.cat([rows, follow])[None])[0, -len(future) :]
        return Reuse(_nll(model.logits(whole), future), stale, kept, len(new) - first)


def _spliced(model: Shifting, exact: KVCache, past: KVCache, start: int, count: int) -> Layers:
    """The exact beginning, then `count` positions from `start` on of the past, turned to where they stand now."""
    moved = exact.length - start
    joined = []
    for (keys, values), (old_keys, old_values) in zip(
        model.layers_of(exact), model.layers_of(past), strict=True
    ):
        kept = model.turned(old_keys[:, :, start : start + count], moved)
        joined.append(
            (
                torch.cat([keys, kept], dim=2),
                torch.cat([values, old_values[:, :, start : start + count]], dim=2),
            )
        )
    return joined


def _nll(logits: torch.Tensor, future: torch.Tensor) -> float:
    return float(torch.nn.functional.cross_entropy(logits.double(), future.to(logits.device)))


def _common(left: Codes, right: Codes) -> int:
    """Positions from the front that are equal."""
    length = min(len(left), len(right))
    differ = np.flatnonzero(left[:length] != right[:length])
    return int(differ[0]) if len(differ) else length
