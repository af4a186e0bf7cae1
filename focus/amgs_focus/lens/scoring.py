"""Signed focus scores: which entries deserve more detail, which less, and what each score is made of.

MegaContext, "LensNet". What a scorer sees and what it gives; `LensNetScorer` and the baselines are interchangeable
behind `FocusScorer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs_focus.records import Findings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.scores import Scores, Values
from amgs_focus.window.working_context import WorkingContext


@dataclass(frozen=True, slots=True)
class LensView:
    """What a scorer may look at. question: token ids of the question alone, () when there is none; findings: what a
    search of the lifetime found for it, None where none was made.
    """

    context: WorkingContext
    tree: LifetimeTree
    question: tuple[int, ...] = ()
    findings: Findings | None = None


class FocusScorer(Protocol):
    """Gives signed focus scores; LensNet and the baselines are interchangeable behind it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Changes whenever the same view would get other scores; 0 where there are no weights."""
        ...

    def score(self, view: LensView) -> Scores: ...


def signed(parts: dict[str, Values], settled: NDArray[np.bool_], floor: float) -> dict[str, Values]:
    """Named summands, each (entries,), as parts of a score in (-1, 1).

    The sum is centred on the settled entries' median, scaled on each side by that side's own spread (at least
    `floor`, so that noise asks for nothing) and squashed; the parts keep their shares. About half of the entries
    then ask for less detail and half for more, with like force: the specification's re-balance.
    """
    if not settled.any():
        return {name: np.zeros_like(part) for name, part in parts.items()}
    total = np.sum(list(parts.values()), axis=0)
    centre = float(np.median(total[settled]))
    middle = np.abs(total - centre) <= np.median(np.abs(total[settled] - centre)) + 1e-12
    middle &= settled
    means = {name: float(part[middle].mean()) for name, part in parts.items()}
    shifted = total - sum(means.values())
    above, below = shifted[settled & (shifted > 0)], shifted[settled & (shifted < 0)]
    up = max(floor, float(np.sqrt(np.mean(above**2)))) if len(above) else floor
    down = max(floor, float(np.sqrt(np.mean(below**2)))) if len(below) else floor
    squashed = np.tanh(np.where(shifted > 0, shifted / up, shifted / down) / 2)
    share = np.divide(squashed, shifted, out=np.zeros_like(shifted), where=np.abs(shifted) > 1e-9)
    return {name: (part - means[name]) * share for name, part in parts.items()}
