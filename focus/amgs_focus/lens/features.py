"""Features of the entries of a working context, which a lens weighs.

A feature is a plain number with a name that an operator can be shown, computed from the tokens and the layout; none
costs more than the window does. What did not help on texts that a lens had not seen was left out;
benchmarks/notebooks/negative-results.md names it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amgs_focus.lens.scoring import LensView
from amgs_focus.options import OPTIONS
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.span_index import SpanIndex
from amgs_focus.window.working_context import Entry, Values

NAMES = (
    "level",
    "width",
    "open",
    "asked",
    "question_words",
    "question_best",
    "question_meaning",
    "far_prose",
    "near_prose",
    "far_code",
    "near_code",
)
"""open: it is tokens now; asked: there is a question. question_…: words by idf that the best block of the span holds,
the same against the best entry's, and cosine of mean embeddings. The others are 0 while there is a question: level,
width (blocks, log); far and near grow with the distance to the cursor and fall with it, shared out by how much of the
last tokens is prose and how much is code, where opposite blocks help."""


class LensFeatures:
    """Features of the entries of one lifetime's contexts."""

    def __init__(self, tree: LifetimeTree) -> None:
        self.tree = tree
        self._index = SpanIndex(tree)
        self._symbols: dict[int, bool] = {}

    def of(self, view: LensView) -> Values:
        """Return (entries, len(NAMES)), each roughly in [0, 1]."""
        context, tree = view.context, self.tree
        self._index.sync()
        entries = context.entries()
        blocks = np.array([(entry.end - entry.start) / tree.block_size for entry in entries])
        words, meaning = self._resemblance(view.question, entries)
        settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
        best = words[settled].max(initial=0.0)
        # a question decides by itself: what it asks for is wanted wherever it stands, and below a coarse gist too,
        # whose opening helps nothing yet
        weight = float(not view.question)
        columns = {
            "level": weight * np.array([entry.level for entry in entries], np.float64) / 3,
            "width": weight * np.log2(np.maximum(blocks, 1.0)) / 10,
            "open": np.array([entry.level == 0 for entry in entries], np.float64),
            "asked": np.full(len(entries), float(bool(view.question))),
            "question_words": words,
            "question_best": words / best if best else np.zeros(len(entries)),
            "question_meaning": meaning,
        }
        code = self._share_of_code(context.lifetime)
        distance = np.array([context.distance(entry) for entry in entries], np.float64)
        for name, share in (("prose", 1 - code), ("code", code)):
            columns[f"far_{name}"] = weight * share * np.minimum(1.0, distance / OPTIONS.far_blocks)
            columns[f"near_{name}"] = weight * share / (1 + distance / OPTIONS.near_blocks)
        return np.stack([columns[name] for name in NAMES], axis=1)

    def _resemblance(self, tokens: Sequence[int], entries: Sequence[Entry]) -> tuple[Values, Values]:
        """Return (entries,) words in common and likeness of meaning, both 0 for no tokens."""
        if not tokens:
            return np.zeros(len(entries)), np.zeros(len(entries))
        nodes = [entry.node for entry in entries]
        query = self._index.query(tokens, [1.0] * len(tokens))
        return self._index.lexical(query, nodes), (1 + self._index.similarity(query, nodes)) / 2

    def _share_of_code(self, until: int) -> float:
        """Return how far the last tokens before one are code, by how many of them have no letter."""
        tree = self.tree
        tokens = tree.tokens(max(0, until - OPTIONS.latest_tokens), until).tolist()
        for token in set(tokens) - self._symbols.keys():
            self._symbols[token] = not any(map(str.isalpha, tree.model.decode([token])))
        share = sum(self._symbols[token] for token in tokens) / max(1, len(tokens))
        return min(1.0, max(0.0, (share - OPTIONS.prose_share) / (OPTIONS.code_share - OPTIONS.prose_share)))
