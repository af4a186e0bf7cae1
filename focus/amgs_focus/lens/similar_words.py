"""Locate words similar to a question's: evidence beside exact words and the vectors of whole blocks.

Two words are alike as far as the frozen model's own input embeddings say so. How much a match is worth is counted, not
set: minus the logarithm of the share of the lifetime's windows in which the word is matched at least so well. So an
exact match of a rare word counts most, and a faint one that any passage has counts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.model.base_model import BaseModel

if TYPE_CHECKING:
    from amgs_focus.tree.gist_tree import LifetimeTree

SHARED = 2  # directions that all embeddings share, taken out
SAMPLE = 8192  # embeddings that mean and directions are taken from
ROUNDS = 16  # of the orthogonal iteration that finds the directions
PIECE = 8192  # embeddings, and blocks, at a time
TOP = 255  # the level of a cosine of 1; 0 and less is 0

Values = NDArray[np.float64]
Levels = NDArray[np.uint8]
Rows = NDArray[np.float32]


class SimilarWords:
    """Cosines of a model's input embeddings, less their mean and the directions that all of them share.

    Mu and Viswanath, "All-but-the-Top" (ICLR 2018): without them most pairs of words look alike.
    """

    def __init__(self, model: BaseModel) -> None:
        self._model = model
        vocabulary = model.card.vocabulary
        sample = self._embed_tokens(torch.linspace(0, vocabulary - 1, min(SAMPLE, vocabulary)).long())
        self._mean: Rows = sample.mean(axis=0)
        self._shared = _directions(sample - self._mean)
        self._worded = np.full(vocabulary, -1, np.int8)

    def match(self, words: Sequence[Sequence[int]], weights: Values, tree: LifetimeTree, blocks: int) -> WordMatches:
        """Return how well each of the words, given by its tokens, is matched in the first blocks. weights: (words,)."""
        means = [self._embed_tokens(torch.tensor(list(word))).mean(axis=0) for word in words]
        asked = self._unit(np.stack(means))
        levels = np.zeros((self._model.card.vocabulary, len(words)), np.uint8)
        for first in range(0, len(levels), PIECE):
            ids = torch.arange(first, min(len(levels), first + PIECE))
            cosines = self._unit(self._embed_tokens(ids)) @ asked.T
            levels[first : first + len(ids)] = np.clip(np.rint(TOP * cosines), 0, TOP)
        return WordMatches(self, levels, weights, tree, blocks)

    def worded(self, tokens: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return whether each token begins with a letter or a digit, and is more than that alone."""
        for token in np.unique(tokens[self._worded[tokens] < 0]).tolist():
            text = self._model.decode([token]).strip()
            self._worded[token] = len(text) > 1 and text[0].isalnum()
        mask: NDArray[np.bool_] = self._worded[tokens] > 0
        return mask

    def _embed_tokens(self, ids: torch.Tensor) -> Rows:
        with torch.no_grad():
            rows: Rows = self._model.embed(ids).to("cpu", torch.float32).numpy()
        return rows

    def _unit(self, rows: Rows) -> Rows:
        """Return (n, d) -> (n, d), each of length 1."""
        centred = rows - self._mean
        rest = centred - (centred @ self._shared) @ self._shared.T
        unit: Rows = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-9)
        return unit


class WordMatches:
    """The matches of one question's words in the blocks of one lifetime, and what they are worth.

    blocks: (blocks,) of each block or the windows of its length that reach into it by half, in standard deviations
    above the mean block.
    """

    def __init__(self, words: SimilarWords, levels: Levels, weights: Values, tree: LifetimeTree, blocks: int) -> None:
        self._words, self._levels, self._tree = words, levels, tree
        halves = self._halves(blocks)
        windows = np.maximum(halves[:-1], halves[1:])
        seen = np.stack([np.bincount(column, minlength=TOP + 1) for column in windows.T])
        share = np.cumsum(seen[:, ::-1], axis=1)[:, ::-1] / len(windows)
        self._worth: Values = -np.log(np.maximum(share, 1 / len(windows))) * weights[:, None]
        around = np.zeros(len(halves) + 1)
        around[1:-1] = self._summed(windows)
        worth = np.maximum.reduce([around[:-1:2], around[1::2], around[2::2]])
        self._mean, self._spread = float(worth.mean()), max(float(worth.std()), 1e-6)
        self.blocks: Values = (worth - self._mean) / self._spread

    def span(self, start: int, end: int) -> float:
        """Return the same of tokens [start, end)."""
        best = self._read(start, end).max(axis=0, initial=0)
        return (float(self._summed(best[None])[0]) - self._mean) / self._spread

    def _halves(self, blocks: int) -> Levels:
        """Return (2 blocks, words) the best match in each half block."""
        size = self._tree.block_size
        levels = np.zeros((2 * blocks, self._levels.shape[1]), np.uint8)
        for first in range(0, blocks, PIECE):
            last = min(blocks, first + PIECE)
            read = self._read(first * size, last * size).reshape(last - first, size, -1)
            best = np.maximum.reduceat(read, [0, size // 2], axis=1)
            levels[2 * first : 2 * last] = best.reshape(2 * (last - first), -1)
        return levels

    def _read(self, start: int, end: int) -> Levels:
        """Return (tokens, words) how well each token matches each word; 0 for what is no word."""
        tokens = self._tree.tokens(start, end)
        levels: Levels = self._levels[tokens] * self._words.worded(tokens)[:, None]
        return levels

    def _summed(self, levels: Levels) -> Values:
        """Return (n, words) -> (n,)"""
        total = np.zeros(len(levels))
        for worth, column in zip(self._worth, levels.T, strict=True):
            total += worth[column]
        return total


def words_of(model: BaseModel, text: str) -> list[list[int]]:
    """Return the words of a text, each by its tokens, as they would stand within a sentence."""
    words: list[list[int]] = []
    inside = False
    for token in model.encode(f" {text}"):
        piece = model.decode([token])
        worded = piece.strip()[:1].isalnum()
        if worded and inside and not piece[:1].isspace():
            words[-1].append(token)
        elif worded:
            words.append([token])
        inside = worded
    return words


def _directions(rows: Rows) -> Rows:
    """Return (n, d) -> (d, SHARED): the orthonormal directions in which the rows vary most."""
    directions = np.random.Generator(np.random.PCG64(0)).standard_normal((rows.shape[1], SHARED)).astype(np.float32)
    for _ in range(ROUNDS):
        directions, _ = np.linalg.qr(rows.T @ (rows @ directions))
    return directions
