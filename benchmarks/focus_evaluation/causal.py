"""Causal twins of lenses, the control of the C1/C2 tests: each entry is scored as when the lifetime ended with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amgs_focus.lens.lensnet import LensNetScorer
from amgs_focus.lens.scoring import LensView
from amgs_focus.window.working_context import Values


def view_until(view: LensView, at: int) -> LensView:
    """Return the entries up to `at`, as when the lifetime ended with that entry. A question that was asked later is not
    there yet; how rare its words are is counted over the whole lifetime.
    """
    seen = view.context.entries()[: at + 1]
    until = max(entry.end for entry in seen)
    prefix = replace(view.context, items=seen, lifetime=until, tail_blocks=0)
    asked = [span.end for span in view.tree.spans() if span.kind == "question"]
    return LensView(prefix, view.tree, view.question if asked and asked[-1] <= until else ())


class CausalLensNetScorer(LensNetScorer):
    def _summands(self, view: LensView) -> Values:
        rows = [super(CausalLensNetScorer, self)._summands(view_until(view, at))[-1:] for at in _places(view)]
        return np.concatenate(rows) if rows else super()._summands(view)


def _places(view: LensView) -> range:
    return range(len(view.context.entries()))


def causal_twin(lens: LensNetScorer) -> LensNetScorer:
    """Make the causal control with the same weights."""
    name = f"{lens.name} causal"
    return CausalLensNetScorer(lens.net, name=name, version=lens.version, floors=lens.floors)
