"""Token statistics of every span of a lifetime, kept up as it grows: words by block, idf, additive
embedding sums.

A pure function of the tokens: stepping back and forward again gives the same numbers. Embedding sums are
additive up the tree, so that a gist of any level costs one look-up; their idf weights are those of the
first 2^k blocks, with the greatest 2^k that the lifetime holds, and everything is weighed anew when it
doubles.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.gist_tree import LifetimeTree
from amgs_focus.lifetime_files import MemoryRows
from amgs_focus.records import NodeRef

CHUNK = 256  # blocks embedded at a time

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Query:
    """Weighted words, their total by idf, and a centred mean embedding (d,)."""

    words: dict[int, float]
    total: float
    centre: Vectors


class SpanIndex:
    """Similarity of a query to any node of the tree. Words are tokens without their case and their spaces."""

    def __init__(self, tree: LifetimeTree) -> None:
        self.tree = tree
        self._words: dict[str, int] = {"": 0}
        self._word_of: dict[int, int] = {}
        self._seen_cuts = len(tree.truncations)
        self._postings: defaultdict[int, list[int]] = defaultdict(list)
        self._blocks = 0
        self._epoch = 0
        self._sums: list[MemoryRows] = []
        self._whole: Vectors = np.zeros(tree.model.card.width + 1)

    def sync(self) -> None:
        """Catch up with the tree: forget what was cut, add what came."""
        cuts = self.tree.truncations
        if len(cuts) > self._seen_cuts:
            self._forget(min(cuts[self._seen_cuts :]) // self.tree.block_size)
            self._seen_cuts = len(cuts)
        for block in range(self._blocks, self.tree.count(0)):
            for word in set(self.words_of(self._tokens(block, block + 1))):
                self._postings[word].append(block)
        self._blocks = self.tree.count(0)
        epoch = 1 << (self._blocks.bit_length() - 1) if self._blocks else 0
        if epoch != self._epoch or not self._sums:
            self._epoch, self._sums = epoch, []
            self._extend_sums()
            self._whole = self._level(0).rows(0, epoch).sum(axis=0)
        else:
            self._extend_sums()

    def query(self, tokens: Sequence[int], weights: Sequence[float]) -> Query:
        """Weigh a query's tokens; of a word that occurs twice the greater weight counts."""
        words: dict[int, float] = {}
        for word, weight in zip(self.words_of(tokens), weights, strict=True):
            words[word] = max(weight, words.get(word, 0.0))
        words = {word: weight * self._idf(word, self._blocks) for word, weight in words.items() if word}
        words = {word: weight for word, weight in words.items() if weight > 0}
        summed = self._weighted_sums(np.asarray([tokens], np.int64), np.asarray([weights]))[0]
        return Query(words, sum(words.values()), self._centred(summed[None])[0])

    def similarity(self, query: Query, nodes: Sequence[NodeRef]) -> Vectors:
        """(nodes,) cosine in [-1, 1] between the query's and each node's mean embedding; else 0."""
        if not nodes:
            return np.zeros(0)
        means = self._centred(np.stack([self._sum(node) for node in nodes]))
        lengths = np.linalg.norm(means, axis=1) * np.linalg.norm(query.centre)
        cosines: Vectors = np.divide(
            means @ query.centre, lengths, out=np.zeros(len(nodes)), where=lengths > 1e-9
        )
        return cosines

    def lexical(self, query: Query, nodes: Sequence[NodeRef]) -> Vectors:
        """(nodes,) in [0, 1]: the share of the query's words, by idf, in the best block of each node."""
        if not query.total:
            return np.zeros(len(nodes))
        found = np.zeros(self._blocks)
        for word, weight in query.words.items():
            found[self._postings.get(word, [])] += weight
        best = [found[slice(*self._block_range(node))].max(initial=0.0) for node in nodes]
        return np.array(best) / query.total

    def blocks_with(self, word: int) -> Sequence[int]:
        """The whole blocks that hold a word, in order."""
        return self._postings.get(word, ())

    def _forget(self, blocks: int) -> None:
        """Keep the first blocks only."""
        if blocks >= self._blocks:
            return
        for word, places in list(self._postings.items()):
            del places[bisect.bisect_left(places, blocks) :]
            if not places:
                del self._postings[word]
        self._blocks = blocks
        if blocks < self._epoch:  # the weights came from blocks that are no more
            self._epoch = 0
        size = self.tree.block_size
        for level, sums in enumerate(self._sums):
            sums.truncate(blocks // size**level)

    def words_of(self, tokens: Sequence[int]) -> list[int]:
        """Word numbers; 0 for what is only space. Numbers are arbitrary, nothing depends on their order."""
        for token in tokens:
            if token not in self._word_of:
                text = self.tree.model.decode([token]).strip().casefold()
                self._word_of[token] = self._words.setdefault(text, len(self._words))
        return [self._word_of[token] for token in tokens]

    def _tokens(self, first: int, last: int) -> list[int]:
        size = self.tree.block_size
        return [int(token) for token in self.tree.tokens(first * size, last * size)]

    def _idf(self, word: int, blocks: int) -> float:
        """log((N + 1) / (n + 1)) over the first N blocks, n of which hold the word; 0 for mere space."""
        if word == 0:
            return 0.0
        return float(np.log((blocks + 1) / (bisect.bisect_left(self._postings.get(word, []), blocks) + 1)))

    def _level(self, level: int) -> MemoryRows:
        """Sums of the nodes of tree level `level` + 1."""
        while len(self._sums) <= level:
            self._sums.append(MemoryRows(self.tree.model.card.width + 1, np.float64))
        return self._sums[level]

    def _extend_sums(self) -> None:
        """Sums for new blocks, then of each higher level for its new nodes."""
        size = self.tree.block_size
        idf: dict[int, float] = {}
        for first in range(len(self._level(0)), self._blocks, CHUNK):
            tokens = self._tokens(first, min(self._blocks, first + CHUNK))
            words = self.words_of(tokens)
            idf.update({word: self._idf(word, self._epoch) for word in set(words) - idf.keys()})
            ids = np.asarray(tokens, np.int64).reshape(-1, size)
            scale = np.asarray([idf[word] for word in words]).reshape(-1, size)
            self._level(0).append(self._embedding_sums(ids, scale))
        level = 0
        while (complete := len(self._level(level)) // size) > 0:
            done = len(self._level(level + 1))
            below = self._level(level).rows(done * size, complete * size)
            self._level(level + 1).append(below.reshape(complete - done, size, below.shape[1]).sum(axis=1))
            level += 1

    def _weighted_sums(self, ids: NDArray[np.int64], weights: Vectors) -> Vectors:
        """(n, k) tokens and weights -> (n, d + 1), each token weighed by its idf besides."""
        words = self.words_of([int(token) for token in ids.ravel()])
        idf = np.asarray([self._idf(word, self._epoch) for word in words]).reshape(ids.shape)
        return self._embedding_sums(ids, weights * idf)

    def _embedding_sums(self, ids: NDArray[np.int64], scale: Vectors) -> Vectors:
        """(n, k), (n, k) -> (n, d + 1): the weighted sum of embeddings, and in the last column of the
        weights.
        """
        with torch.no_grad():
            rows = self.tree.model.embed(torch.from_numpy(ids)).to("cpu", torch.float64).numpy()
        summed = np.einsum("nk,nkd->nd", scale, rows)
        joined: Vectors = np.concatenate([summed, scale.sum(axis=1, keepdims=True)], axis=1)
        return joined

    def _centred(self, sums: Vectors) -> Vectors:
        """(n, d + 1) sums -> (n, d) means less the mean of the whole lifetime; 0 where there is no weight."""
        means = [
            np.divide(rows[:, :-1], rows[:, -1:], out=np.zeros_like(rows[:, :-1]), where=rows[:, -1:] > 1e-9)
            for rows in (sums, self._whole[None])
        ]
        centred: Vectors = np.where(sums[:, -1:] > 1e-9, means[0] - means[1], 0.0)
        return centred

    def _sum(self, node: NodeRef) -> Vectors:
        """(d + 1,) of a node; the open block has none yet."""
        level = max(0, node.level - 1)
        if node.level == 0 and node.index >= self._blocks:
            return np.zeros(self.tree.model.card.width + 1)
        row: Vectors = self._sums[level].rows(node.index, node.index + 1)[0]
        return row

    def _block_range(self, node: NodeRef) -> tuple[int, int]:
        width = self.tree.block_size ** max(0, node.level - 1)
        return node.index * width, (node.index + 1) * width
