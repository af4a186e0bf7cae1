"""From what detail is worth to signed scores: what every trained lens has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from amgs_focus.lens.scoring import LensView, signed
from amgs_focus.records import NodeRef
from amgs_focus.window.scores import Scores, Values


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
