"""The baseline scorer without any training: how much a span resembles the question and the last tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from amgs_focus.lens.scoring import LensView, signed
from amgs_focus.records import NodeRef
from amgs_focus.tree.span_index import SpanIndex
from amgs_focus.window.scores import Scores, Values


class TailSimilarity:
    """The baseline: similarity to the question and the last tokens, from token statistics alone.

    similarity: cosine of idf-weighted, centred mean input embeddings. lexical: share of the query's words,
    by idf, that one block of the span holds. recency: 1 just before the tail, falling with the distance in
    blocks. Their weighted sum is centred on the median entry and scaled on each side by its own spread, so
    that about half of the entries ask for less detail and half for more, and nothing is asked where all
    entries are alike.
    """

    name = "tail-similarity"
    version = 0

    weights: Mapping[str, float] = {"similarity": 0.1, "lexical": 1.0, "recency": 0.02}
    recent = 64  # last tokens that join the query
    recent_weight = 0.25  # of a last token beside a word of the question
    floor = 0.05  # spread under which differences are noise; recency alone never reaches a threshold

    def __init__(self) -> None:
        self._index: SpanIndex | None = None

    @property
    def visited(self) -> int:
        """Places of words that searches have looked at since the beginning; must not grow with the lifetime."""
        return self._index.visited if self._index is not None else 0

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
        parts = signed({name: self.weights[name] * raw[name] for name in raw}, settled, self.floor)
        costs = [entry.cost for entry in entries]
        spread = {name: np.repeat(part, costs) for name, part in parts.items()}
        total: Values = np.sum(list(spread.values()), axis=0) if entries else np.zeros(0)
        share = self._share_asked(view, [node for node, out in zip(nodes, settled, strict=True) if out])
        return Scores(np.clip(total, -1.0, 1.0), spread, share)

    def _share_asked(self, view: LensView, nodes: Sequence[NodeRef]) -> float | None:
        """How much of the question alone the best block before the tail holds."""
        if not view.question or self._index is None:
            return None
        asked = self._index.query(view.question, [1.0] * len(view.question))
        return float(self._index.lexical(asked, nodes).max(initial=0.0)) if asked.total else None
