"""Signed focus scores: which entries deserve more detail, which less, and what each score is made of.

MegaContext, "LensNet". What a scorer sees and what it gives; the linear lens and the baseline are interchangeable
behind `FocusScorer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs_focus.records import Findings, NodeRef
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
    """Gives signed focus scores; The linear lens and the baseline are interchangeable behind it."""

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


@dataclass(frozen=True, slots=True)
class SpreadFloors:
    """Spreads of worths that are not taken for more than they are; a checkpoint carries its own.

    plain: without a question, where all entries of prose are worth about the same and none is to pass a threshold.
    asked: with one, which wants something whatever the scale of its words.
    """

    plain: float = 0.7
    asked: float = 0.05


def by_entry(view: LensView, summands: Mapping[str, Values]) -> dict[NodeRef, float]:
    """The worth of each entry's detail: its summands added up."""
    total: Values = np.sum(list(summands.values()), axis=0)
    return dict(zip((entry.node for entry in view.context.entries()), total.tolist(), strict=True))


def scores_of(
    view: LensView, summands: Mapping[str, Values], floors: SpreadFloors, question_words: Values | None
) -> Scores:
    """Worths, by named summands (entries,), less the middle one's, squashed to (-1, 1): zero-sum, so that detail is
    moved and not asked for without end. The tail is no matter of focus and gets 0.

    question_words: (entries,) share of the question's words in the best block of each.
    """
    context = view.context
    entries = context.entries()
    settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
    parts = signed(dict(summands), settled, floors.asked if view.question else floors.plain)
    costs = [entry.cost for entry in entries]
    spread = {name: np.repeat(np.where(settled, part, 0.0), costs) for name, part in parts.items()}
    total: Values = np.sum(list(spread.values()), axis=0) if entries else np.zeros(0)
    share = None
    if view.question and question_words is not None and len(question_words) == len(settled):
        share = float(question_words[settled].max(initial=0.0))
    return Scores(np.clip(total, -1.0, 1.0), spread, share)


def as_of(view: LensView, at: int) -> LensView:
    """What a causal twin sees: the entries up to `at`, as when the lifetime ended with that entry. A question that was
    asked later is not there yet; how rare its words are is counted over the whole lifetime.
    """
    context = view.context
    seen = context.entries()[: at + 1]
    until = max(entry.end for entry in seen)
    prefix = replace(context, items=seen, lifetime=until, tail_blocks=0)
    asked = [span.end for span in view.tree.spans() if span.kind == "question"]
    return LensView(prefix, view.tree, view.question if asked and asked[-1] <= until else ())
