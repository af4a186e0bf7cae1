"""What a question was found to be about, in the scores: the blocks found are wanted, best first, whatever stands above
them; all else gives way.

A scorer around another. Without findings its scores are the other's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.records import NodeRef
from amgs_focus.search_options import SearchOptions
from amgs_focus.window.scores import Scores, aggregate


class QuestionScorer:
    """Adds a part `question`; goes by the name and version of the scorer inside, as findings belong to the state."""

    def __init__(self, inner: FocusScorer, options: SearchOptions) -> None:
        self.inner = inner
        self._first, self._last = options.first, options.last

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def version(self) -> int:
        return self.inner.version

    def score(self, view: LensView) -> Scores:
        found = self.inner.score(view)
        blocks = () if view.findings is None else view.findings.blocks
        entries = view.context.entries()
        if not blocks or not entries:
            return found
        values = aggregate(view.context, found.values)
        wanted = np.minimum(values, 0.0)
        size, step = view.tree.block_size, (self._first - self._last) / len(blocks)
        inside: dict[NodeRef, float] = {}
        for rank in range(len(blocks) - 1, -1, -1):  # the best last, so that its score stands
            place = view.context.covering(blocks[rank].block * size)
            if place is not None and entries[place].end <= view.context.tail_start:
                wanted[place] = self._first - step * rank
                if entries[place].level > 1:
                    inside[NodeRef(1, blocks[rank].block)] = self._first - step * rank
        spread = np.repeat(wanted - values, [entry.cost for entry in entries])
        total = np.clip(found.values + spread, -1.0, 1.0)
        return replace(
            found, values=total, parts={**found.parts, "question": total - found.values}, inside=inside
        )
