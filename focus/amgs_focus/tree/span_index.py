"""Token statistics of every span of a lifetime, updated as it grows: words by block, idf, sums of embeddings.

A word is a token without case and spaces. The statistics are a pure function of the tokens: stepping back and forward
again gives the same numbers. Memory does not grow with the lifetime, except for a row per 32^3 tokens and the places of
rare words: sums of blocks and of level-2 gists are computed on demand. The idf weights are those of the first 2^k
blocks, for the greatest 2^k in the lifetime; when it doubles, all sums are weighed anew, up to 2^15 blocks (a million
tokens).

For each word only its first blocks are stored, up to a limit: a word in more blocks no longer tells them apart, and a
search leaves it out. So the cost of a search does not grow with the lifetime either.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import OPTIONS
from amgs_focus.records import NodeRef
from amgs_focus.tree.files import MemoryRows
from amgs_focus.tree.gist_tree import LifetimeTree

RECENT = 1024
"""Number of last blocks whose words are remembered, so that they can be removed again."""

Numbers = NDArray[np.int64]


class BlockPostings:
    """An inverted index: for each word the blocks that hold it, in order. Word 0 is white space and is never found."""

    def __init__(self, model: BaseModel) -> None:
        self._model = model
        self._numbers: dict[str, int] = {"": 0}
        self._word_of: Numbers = np.full(model.card.vocabulary, -1, np.int64)
        self._counts: Numbers = np.zeros(1024, np.int64)
        self._places: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        self._recent: deque[Numbers] = deque(maxlen=RECENT)
        self.blocks = 0
        self.visited = 0
        """Postings that searches have read so far."""

    def clear(self) -> None:
        """Drop all blocks; words keep their numbers."""
        self._counts[:] = 0
        self._places.clear()
        self._recent.clear()
        self.blocks = 0

    def words_of(self, tokens: Iterable[int] | Numbers) -> Numbers:
        """Return the word numbers of tokens, in their shape. The numbers are arbitrary: nothing may depend on their
        order.
        """
        ids = np.asarray(tokens, np.int64)
        for token in np.unique(ids[self._word_of[ids] < 0]) if ids.size else ():
            text = self._model.decode([int(token)]).strip().casefold()
            self._word_of[token] = self._numbers.setdefault(text, len(self._numbers))
        if len(self._numbers) > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(len(self._numbers), np.int64)])
        return self._word_of[ids]

    def add(self, tokens: Numbers, total: int) -> None:
        """Add (n, K) tokens of the next blocks. total: number of blocks once all calls are done."""
        words = np.sort(self.words_of(tokens), axis=1)
        fresh = words > 0
        fresh[:, 1:] &= words[:, 1:] != words[:, :-1]
        rows, _ = np.nonzero(fresh)
        fresh_words = words[fresh]
        self._counts += np.bincount(fresh_words, minlength=len(self._counts))
        order = np.argsort(fresh_words, kind="stable")
        kinds, starts = np.unique(fresh_words[order], return_index=True)
        blocks = (self.blocks + rows[order]).astype(np.uint32)
        for word, places in zip(kinds.tolist(), np.split(blocks, starts)[1:], strict=True):
            postings = self._places[word]
            if (room := OPTIONS.word_blocks - len(postings)) > 0:
                postings.frombytes(places[:room].tobytes())
        self.blocks += len(tokens)
        if (first := len(tokens) - (RECENT - (total - self.blocks))) < len(tokens):
            ends = np.searchsorted(rows, np.arange(max(0, first), len(tokens) + 1))
            self._recent.extend(fresh_words[low:high] for low, high in pairwise(ends))

    def forget(self, blocks: int) -> bool:
        """Keep the first blocks only. Return False where that reaches beyond the remembered blocks: the caller must
        begin anew.
        """
        if self.blocks - blocks > len(self._recent):
            return False
        while self.blocks > blocks:
            self.blocks -= 1
            removed = self._recent.pop()
            self._counts[removed] -= 1
            for word in removed.tolist():
                postings = self._places[word]
                if postings and postings[-1] == self.blocks:
                    postings.pop()
        return True

    def counts(self) -> Numbers:
        """Return (words,) the number of blocks that hold each word; a copy."""
        return self._counts.copy()

    def idf(self, words: Numbers) -> NDArray[np.float64]:
        """Return log((N + 1) / (n + 1)) of each word over all blocks; 0 for white space and for common words."""
        counts = self._counts[words]
        weights = np.log((self.blocks + 1) / (counts + 1))
        rare: NDArray[np.float64] = np.where((words > 0) & (counts <= OPTIONS.word_blocks), weights, 0.0)
        return rare

    def search(self, weights: dict[int, float]) -> tuple[Numbers, NDArray[np.float64]]:
        """Return (m,) blocks that hold any of the words, in order, and (m,) the summed weight of the words in each."""
        lists: Sequence[array[int]] = [self._places.get(word, array("I")) for word in weights]
        counts = [len(postings) for postings in lists]
        self.visited += sum(counts)
        joined = np.concatenate(
            [np.frombuffer(postings, np.uint32) for postings in lists if postings] or [np.zeros(0, np.uint32)]
        )
        blocks, place = np.unique(joined.astype(np.int64), return_inverse=True)
        summed = np.bincount(place, weights=np.repeat(list(weights.values()), counts), minlength=len(blocks))
        return blocks, summed.astype(np.float64)


CHUNK = 2048  # blocks read at a time
STORED = 3  # level from which sums are stored
CACHED = 4096  # sums of finer nodes that are remembered

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Query:
    """A search query: weighted words, weighted pairs of adjacent words, the total of both, and a centred mean embedding
    (d,).

    A name is usually several common tokens: only side by side are they the name.
    """

    words: dict[int, float]
    pairs: dict[tuple[int, int], float]
    total: float
    centre: Vectors


class SpanIndex:
    """Similarity of a query to any node of the tree."""

    def __init__(self, tree: LifetimeTree) -> None:
        self.tree = tree
        self._seen_cuts = len(tree.truncations)
        self._epoch = 0
        self._postings = BlockPostings(tree.model)
        self._begin()

    @property
    def visited(self) -> int:
        """Postings that searches have read so far."""
        return self._postings.visited

    def sync(self) -> None:
        """Catch up with the tree: remove what was cut, add what is new."""
        cuts = self.tree.truncations
        if len(cuts) > self._seen_cuts:
            self._forget(min(cuts[self._seen_cuts :]) // self.tree.block_size)
            self._seen_cuts = len(cuts)
        total = self.tree.count(0)
        epoch = min(OPTIONS.weighed_blocks, 1 << (total.bit_length() - 1)) if total else 0
        if epoch > self._epoch:
            self._add(epoch)
            self._epoch = epoch
            self._update_weights()
        self._add(total)
        self._extend_sums()

    def query(self, tokens: Sequence[int], weights: Sequence[float]) -> Query:
        """Weigh a query's tokens; for a repeated word the greater weight counts."""
        numbers = self._postings.words_of(np.asarray(tokens, np.int64))
        idf = self._postings.idf(numbers)
        words: dict[int, float] = {}
        for word, weight in zip(numbers.tolist(), (np.asarray(weights) * idf).tolist(), strict=True):
            if weight > 0:
                words[word] = max(weight, words.get(word, 0.0))
        pairs: dict[tuple[int, int], float] = {}
        for pair in itertools.pairwise(numbers.tolist()):
            if all(word in words for word in pair):
                pairs[pair] = sum(words[word] for word in pair) / 2
        ids = np.asarray(tokens, np.int64)
        summed = self._sum_weighted(ids, np.asarray(weights) * self._weights(ids))
        total = math.fsum(words.values()) + math.fsum(pairs.values())
        return Query(words, pairs, total, self._centre_means(summed[None])[0])

    def rarity(self, tokens: Sequence[int]) -> Vectors:
        """Return (n,) in [0, 1]: the idf of each token's word, 1 for a word that is not in the lifetime."""
        most = math.log(self._postings.blocks + 1)
        idf = self._postings.idf(self._postings.words_of(np.asarray(tokens, np.int64)))
        return idf / most if most else idf

    def similarity(self, query: Query, nodes: Sequence[NodeRef]) -> Vectors:
        """Return (nodes,) cosines in [-1, 1] of the query's and each node's mean embedding; 0 where one has none."""
        if not nodes:
            return np.zeros(0)
        means = self._centre_means(np.stack([self._sum(node) for node in nodes]))
        lengths = np.linalg.norm(means, axis=1) * np.linalg.norm(query.centre)
        cosines: Vectors = np.divide(means @ query.centre, lengths, out=np.zeros(len(nodes)), where=lengths > 1e-9)
        return cosines

    def lexical(self, query: Query, nodes: Sequence[NodeRef]) -> Vectors:
        """Return (nodes,) in [0, 1]: the share of the query's words and pairs, by idf, in the best block of each node.

        Pairs are looked for only in the blocks with most words. A sentence may cross the border of a block: both
        neighbours also get nearly the share found in the half blocks around their common border.
        """
        blocks, shares = self.search(query)
        ranges = np.array([self._block_range(node) for node in nodes], np.int64).reshape(-1, 2)
        cuts = np.searchsorted(blocks, ranges)
        return np.array([shares[low:high].max(initial=0.0) for low, high in cuts], np.float64)

    def search(self, query: Query) -> tuple[Numbers, Vectors]:
        """Return (m,) blocks that hold part of the query, in order, some of them twice, and (m,) the share that each
        holds.
        """
        if not query.total:
            return np.zeros(0, np.int64), np.zeros(0)
        blocks, shares = self._postings.search(query.words)
        looked, close_shares = self._closely(query, blocks, shares)
        blocks, shares = np.concatenate([blocks, looked]), np.concatenate([shares, close_shares])
        order = np.argsort(blocks, kind="stable")
        return blocks[order], shares[order] / query.total

    def _closely(self, query: Query, blocks: Numbers, shares: Vectors) -> tuple[Numbers, Vectors]:
        """Return (m,) the best blocks and their neighbours, and (m,) the query's weight in each, token by token."""
        size, total = self.tree.block_size, self._postings.blocks
        best = np.sort(blocks[np.lexsort((-blocks, -shares))[: OPTIONS.edges_looked_at]])
        looked, close_shares = [], []
        for block in best.tolist():
            looked.append(block)
            close_shares.append(self._weigh_tokens(query, block * size, (block + 1) * size))
        for edge in np.unique(np.concatenate([best, best + 1])).tolist():
            if 0 < edge < total:
                around = self._weigh_tokens(query, edge * size - size // 2, edge * size + size // 2)
                looked += [edge - 1, edge]
                close_shares += [OPTIONS.across * around] * 2
        return np.array(looked, np.int64), np.array(close_shares, np.float64)

    def _weigh_tokens(self, query: Query, start: int, end: int) -> float:
        """Return the weight of the query's words and pairs in tokens [start, end)."""
        numbers = self._postings.words_of(np.asarray(self.tree.tokens(start, end), np.int64)).tolist()
        # exact sums: word numbers, and so the order of addition, depend on the lifetime's history
        words = math.fsum(query.words.get(word, 0.0) for word in set(numbers))
        return words + math.fsum(query.pairs.get(pair, 0.0) for pair in set(itertools.pairwise(numbers)))

    def _begin(self) -> None:
        """Reset everything; words keep their numbers, which others may hold."""
        width = self.tree.model.card.width + 1
        self._postings.clear()
        self._epoch = 0
        self._counts: Numbers = np.zeros(0, np.int64)
        self._sums: list[MemoryRows] = []
        self._fine: dict[tuple[int, int], Vectors] = {}
        self._whole: Vectors = np.zeros(width)

    def _forget(self, blocks: int) -> None:
        """Keep the first blocks only; reset everything where the weights came from blocks that were cut."""
        if blocks >= self._postings.blocks:
            return
        if blocks < self._epoch or not self._postings.forget(blocks):
            self._begin()
            return
        size = self.tree.block_size
        for level, sums in enumerate(self._sums, start=STORED):
            sums.truncate(blocks // size ** (level - 1))
        self._fine = {
            (level, index): row
            for (level, index), row in self._fine.items()
            if (index + 1) * size ** (level - 1) <= blocks
        }

    def _add(self, total: int) -> None:
        """Add the words of further blocks up to `total` blocks."""
        for first in range(self._postings.blocks, total, CHUNK):
            ids = self._tokens(first, min(total, first + CHUNK))
            self._postings.add(ids.reshape(-1, self.tree.block_size), total)

    def _update_weights(self) -> None:
        """Compute the weights of a new epoch and drop the sums made with the old ones."""
        self._counts = self._postings.counts()
        self._sums, self._fine = [], {}
        self._whole = np.zeros_like(self._whole)
        for first in range(0, self._epoch, CHUNK):
            self._whole += self._bag(self._tokens(first, min(self._epoch, first + CHUNK)))

    def _weights(self, ids: Numbers) -> Vectors:
        """Return each token's idf in this epoch; 0 for white space."""
        words = self._postings.words_of(ids)
        known = np.zeros(len(ids), np.int64)
        inside = words < len(self._counts)
        known[inside] = self._counts[words[inside]]
        weights: Vectors = np.where(words > 0, np.log((self._epoch + 1) / (known + 1)), 0.0)
        return weights

    def _extend_sums(self) -> None:
        """Add the sums of new nodes, from the lowest stored level up."""
        size = self.tree.block_size
        width = size ** (STORED - 1)  # blocks
        while (done := len(self._level(STORED))) < self._postings.blocks // width:
            row = np.zeros_like(self._whole)
            for first in range(done * width, (done + 1) * width, CHUNK):
                row += self._bag(self._tokens(first, min((done + 1) * width, first + CHUNK)))
            self._level(STORED).append(row[None])
        level = STORED
        while (complete := len(self._level(level)) // size) > 0:
            done = len(self._level(level + 1))
            below = self._level(level).rows(done * size, complete * size)
            self._level(level + 1).append(below.reshape(complete - done, size, len(self._whole)).sum(axis=1))
            level += 1

    def _level(self, level: int) -> MemoryRows:
        """Return the stored sums of a tree level."""
        while len(self._sums) <= level - STORED:
            self._sums.append(MemoryRows(len(self._whole), np.float64))
        return self._sums[level - STORED]

    def _sum(self, node: NodeRef) -> Vectors:
        """Return a node's sum (d + 1,); zeros for the open block."""
        level, size = max(1, node.level), self.tree.block_size
        if (node.index + 1) * size ** (level - 1) > self._postings.blocks:
            return np.zeros_like(self._whole)
        if level >= STORED:
            row: Vectors = self._level(level).rows(node.index, node.index + 1)[0]
            return row
        key = (level, node.index)
        if key not in self._fine:
            if len(self._fine) >= CACHED:
                self._fine.clear()
            width = size ** (level - 1)
            self._fine[key] = self._bag(self._tokens(node.index * width, (node.index + 1) * width))
        return self._fine[key]

    def _bag(self, ids: Numbers) -> Vectors:
        """Return the weighted sum (d + 1,) of tokens (n,); equal tokens are looked up once."""
        kinds, counts = np.unique(ids, return_counts=True)
        return self._sum_weighted(kinds, counts * self._weights(kinds))

    def _sum_weighted(self, tokens: Numbers, weights: Vectors) -> Vectors:
        """Return (d + 1,) for tokens (n,) and weights (n,): the weighted sum of the embeddings, then the sum of the
        weights.
        """
        with torch.no_grad():
            rows = self.tree.model.embed(torch.from_numpy(tokens)).to("cpu", torch.float64).numpy()
        return np.append(weights @ rows, weights.sum())

    def _tokens(self, first: int, last: int) -> Numbers:
        """Return the tokens of blocks [first, last)."""
        size = self.tree.block_size
        return self.tree.tokens(first * size, last * size).astype(np.int64)

    def _centre_means(self, sums: Vectors) -> Vectors:
        """Return (n, d) means of sums (n, d + 1), less the mean of the whole lifetime; 0 where there is no weight."""
        means = [
            np.divide(rows[:, :-1], rows[:, -1:], out=np.zeros_like(rows[:, :-1]), where=rows[:, -1:] > 1e-9)
            for rows in (sums, self._whole[None])
        ]
        centred: Vectors = np.where(sums[:, -1:] > 1e-9, means[0] - means[1], 0.0)
        return centred

    def _block_range(self, node: NodeRef) -> tuple[int, int]:
        width = self.tree.block_size ** max(0, node.level - 1)
        return node.index * width, (node.index + 1) * width
