"""The baseline scorer without any training: how much a span resembles the question and the last tokens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs_focus.scoring import LensView, Scores, Values
from amgs_focus.span_index import SpanIndex


class TailSimilarity:
    """The baseline: similarity to the question and the last tokens, from token statistics alone.

    similarity: cosine of idf-weighted, centred mean input embeddings. lexical: share of the query's words,
    by idf, that one block of the span holds. recency: 1 just before the tail, falling with the distance in
    blocks. Their weighted sum is centred on the median entry and scaled on each side by its own spread, so
    that about half of the entries ask for less detail and half for more, and nothing is asked where all
    entries are alike.
    """

    name = "tail-similarity"

    weights: Mapping[str, float] = {"similarity": 0.1, "lexical": 1.0, "recency": 0.02}
    recent = 64  # last tokens that join the query
    recent_weight = 0.25  # of a last token beside a word of the question
    floor = 0.05  # spread under which differences are noise; recency alone never reaches a threshold

    def __init__(self) -> None:
        self._index: SpanIndex | None = None

    def score(self, view: LensView) -> Scores:
        context, tree = view.context, view.tree
        entries = context.entries()
        if self._index is None or self._index.tree is not tree:
            self._index = SpanIndex(tree)
        self._index.sync()
        recent = tree.tokens(max(0, tree.length - self.recent), tree.length)
        weights = [1.0] * len(view.question) + [self.recent_weight if view.question else 1.0] * len(recent)
        query = self._index.query([*view.question, *(int(token) for token in recent)], weights)
        nodes = [entry.node for entry in entries]
        raw = {
            "similarity": self._index.similarity(query, nodes),
            "lexical": self._index.lexical(query, nodes),
            "recency": 1 / (1 + np.array([context.distance(entry) for entry in entries], np.float64) / 8),
        }
        settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
        parts = _signed({name: self.weights[name] * raw[name] for name in raw}, settled, self.floor)
        costs = [entry.cost for entry in entries]
        spread = {name: np.repeat(part, costs) for name, part in parts.items()}
        total: Values = np.sum(list(spread.values()), axis=0) if entries else np.zeros(0)
        return Scores(np.clip(total, -1.0, 1.0), spread)


def _signed(parts: dict[str, Values], settled: NDArray[np.bool_], floor: float) -> dict[str, Values]:
    """Centre each part on the settled entries' median sum, and squash the sum to (-1, 1) keeping the
    shares.
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
