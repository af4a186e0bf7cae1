"""What LensNet is told of each entry in plain numbers, each with a name that an operator can be shown.

Everything is computed from the tokens and the layout; no number costs more than the window does. What did not help
on texts that a lens had not seen was left out; docs/negative-results.md names it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amgs_focus.gist_tree import LifetimeTree
from amgs_focus.scoring import LensView, Values
from amgs_focus.span_index import SpanIndex
from amgs_focus.working_context import Entry

NAMES = (
    "level",
    "width",
    "open",
    "follows",
    "followed",
    "asked",
    "question_words",
    "question_best",
    "question_meaning",
    "far",
    "near",
    "scene_words",
    "scene_meaning",
    "far_symbols",
    "near_symbols",
    "scene_words_symbols",
    "scene_meaning_symbols",
)
"""level, width (blocks, log); open: it is tokens now; follows, followed: the entry before it is, the one after it;
asked: there is a question. question_…: words by idf that the best block of the span holds, cosine of mean
embeddings, and the words against the best entry's. The others are 0 while there is a question: far and near grow
with the distance to the cursor and fall with it; scene_…: words and meaning shared with the last tokens; …_symbols:
the same times the part of the last tokens that holds no letter, since code and prose differ in all of them."""

AHEAD = frozenset(NAMES) - {"level", "width", "open"}
"""What knows anything that stands behind the entry; the causal twin is told 0 instead."""

SCENE = 512  # last tokens that make the scene
FAR = 64.0  # blocks at which `far` is 1 and stays so
NEAR = 8.0  # blocks at which `near` is a half


class LensFeatures:
    """Features of the entries of one lifetime's contexts."""

    def __init__(self, tree: LifetimeTree) -> None:
        self.tree = tree
        self._index = SpanIndex(tree)
        self._symbols: dict[int, bool] = {}

    def of(self, view: LensView) -> Values:
        """(entries, len(NAMES)), each roughly in [0, 1]."""
        context, tree = view.context, self.tree
        self._index.sync()
        entries = context.entries()
        columns = self._layout(entries)
        columns["asked"] = np.full(len(entries), float(bool(view.question)))
        words, meaning = self._resemblance(view.question, entries)
        settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
        best = words[settled].max(initial=0.0)
        columns["question_words"], columns["question_meaning"] = words, meaning
        columns["question_best"] = words / best if best else np.zeros(len(entries))
        # a question decides by itself; what the text alone tells is asked only where there is none
        last = tree.tokens(max(0, tree.length - SCENE), tree.length).tolist()
        scene = () if view.question else last
        distance = np.array([context.distance(entry) for entry in entries], np.float64)
        told = float(not view.question)
        columns["far"] = told * np.minimum(1.0, distance / FAR)
        columns["near"] = told / (1 + distance / NEAR)
        columns["scene_words"], columns["scene_meaning"] = self._resemblance(scene, entries)
        share = self._share_of_symbols(last)
        for name in ("far", "near", "scene_words", "scene_meaning"):
            columns[f"{name}_symbols"] = columns[name] * share
        return np.stack([columns[name] for name in NAMES], axis=1)

    def _layout(self, entries: Sequence[Entry]) -> dict[str, Values]:
        """What the levels of an entry and its neighbours tell."""
        opened = np.array([entry.level == 0 for entry in entries], np.float64)
        blocks = np.array([(entry.end - entry.start) / self.tree.block_size for entry in entries])
        return {
            "level": np.array([entry.level for entry in entries], np.float64) / 3,
            "width": np.log2(np.maximum(blocks, 1.0)) / 10,
            "open": opened,
            "follows": np.concatenate([[0.0], opened[:-1]])[: len(opened)],
            "followed": np.concatenate([opened[1:], [1.0]])[: len(opened)],
        }

    def _resemblance(self, tokens: Sequence[int], entries: Sequence[Entry]) -> tuple[Values, Values]:
        """(entries,) words in common and likeness of meaning, both 0 for no tokens."""
        if not tokens:
            return np.zeros(len(entries)), np.zeros(len(entries))
        nodes = [entry.node for entry in entries]
        query = self._index.query(tokens, [1.0] * len(tokens))
        return self._index.lexical(query, nodes), (1 + self._index.similarity(query, nodes)) / 2

    def _share_of_symbols(self, tokens: Sequence[int]) -> float:
        """How much of the tokens has no letter in it, doubled, 1 at the most: about 0.4 in prose and 1 in code."""
        for token in set(tokens) - self._symbols.keys():
            self._symbols[token] = not any(map(str.isalpha, self.tree.model.decode([token])))
        return min(1.0, 2 * sum(self._symbols[token] for token in tokens) / max(1, len(tokens)))
