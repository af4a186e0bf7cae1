"""Find blocks that repeat each other: copies share their wording, two accounts of one event share their subject and
time.

A copy is known by runs of words (shingles; Broder, 1997), an account by standing among each other's nearest
neighbours in meaning. Only blocks that share a rare run or stand near each other are held side by side. However alike
their words are, two that say different things are no copies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs.identity import file_of
from amgs.index.neighbours import ValueLimit, nearest
from amgs.lifecycle.self_detection import documents
from amgs.text.differences import said, say_otherwise
from amgs.types import Block, Progress, Vector

NEAREST = 3
"""Two blocks are held against each other when each is among the other's three nearest by cosine."""

COPY_WORDING = 0.7
"""Least Jaccard overlap of the three-word runs of two copies."""

MERGE_WORDING, MERGE_COSINE = 0.25, 0.75
"""Least overlap of runs, and least cosine, of two blocks of different sources that may become one."""

OVERLAP_WORDS, OVERLAP_COSINE, OVERLAP_HOURS = 15, 0.5, 48.0
"""Two accounts of one event: each of so many words or more, at least so near in meaning, at most so far apart. The
confidence of the pair is cosine · (1 − hours / (2 · OVERLAP_HOURS)).
"""

_WORD = re.compile(r"[\w'’-]+")
_SHINGLE = 3
_COMMON_SHINGLE = 20
_MOST_PAIRS = 8_000_000
"""Pairs that share a run, counted once a run: over this only rarer runs count."""

_ROWS = 4096
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)

Likeness = Literal["duplicate", "merge", "overlap"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two blocks that are alike; a is the earlier. wording and cosine in [0, 1]; hours between their dates."""

    kind: Likeness
    a: Block
    b: Block
    wording: float
    cosine: float
    hours: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Shingles:
    """The runs of three words of n texts as numbers: text i has `runs[ends[i]:ends[i + 1]]`, rising, each once.

    A text of fewer words is one run. words: (n,) how many words each text has.
    """

    runs: NDArray[np.uint64]
    ends: NDArray[np.int64]
    words: NDArray[np.int64]

    def of(self, row: int) -> NDArray[np.uint64]:
        return self.runs[self.ends[row] : self.ends[row + 1]]

    def wording(self, i: int, j: int) -> float:
        """Jaccard overlap of two texts' runs, in [0, 1]; 0 for empty ones."""
        a, b = self.of(i), self.of(j)
        shared = np.intersect1d(a, b, assume_unique=True).size
        union = a.size + b.size - shared
        return shared / union if union else 0.0


def shingles(texts: Sequence[str]) -> Shingles:
    """Return the runs of texts, in lower case. Two different runs share a number once in 10^19."""
    known: dict[str, int] = {}
    runs: list[NDArray[np.uint64]] = []
    words: list[int] = []
    for text in texts:
        numbers = [known.setdefault(word, len(known) + 1) for word in _WORD.findall(text.lower())]
        words.append(len(numbers))
        short = _SHINGLE - len(numbers) if numbers else 0
        codes = np.array(numbers + [0] * max(0, short), dtype=np.uint64)
        places = (codes[k : codes.size - _SHINGLE + 1 + k] * _MIX[k] for k in range(_SHINGLE))
        runs.append(np.unique(sum(places, np.zeros(max(0, codes.size - _SHINGLE + 1), dtype=np.uint64))))
    ends = np.cumsum([0, *(own.size for own in runs)], dtype=np.int64)
    every = np.concatenate(runs) if runs else np.zeros(0, dtype=np.uint64)
    return Shingles(every, ends, np.array(words, dtype=np.int64))


def pairs(
    blocks: Sequence[Block], matrix: Vector, progress: Progress | None = None, *, overlap_words: int = OVERLAP_WORDS
) -> tuple[Pair, ...]:
    """Return pairs that are alike, the surest first; matrix (n, d) holds the blocks' unit embeddings.

    Pieces of one source (parts of a note, turns of a dialogue) are alike by nature: only a copy counts among them.
    """
    own = shingles([b.content for b in blocks])
    at = np.array([b.created_at.timestamp() for b in blocks])
    floor = min(OVERLAP_COSINE, MERGE_COSINE)
    shared, rare = _sharing_runs(own)
    near = _mutual(matrix, at, OVERLAP_HOURS * 3600.0, NEAREST, floor, progress)
    keys = np.union1d(shared.keys, near)
    similar_pairs = []
    for start in range(0, keys.size, 65_536):
        some = keys[start : start + 65_536]
        first, second = np.divmod(some, max(1, len(blocks)))
        cosines = np.clip(np.einsum("ij,ij->i", matrix[first], matrix[second]), 0.0, 1.0)
        # Runs that many share were not counted: at most as many as the poorer of both has.
        sizes = np.diff(own.ends)
        most = shared.counts_of(some) + np.minimum((sizes - rare)[first], (sizes - rare)[second])
        bound = most / np.maximum(1, sizes[first] + sizes[second] - most)
        for k in np.flatnonzero((cosines >= floor) | (bound >= COPY_WORDING)).tolist():
            i, j = int(first[k]), int(second[k])
            is_account = int(min(own.words[i], own.words[j])) >= overlap_words and not (
                # Manuals tell of no event.
                float(cosines[k]) >= OVERLAP_COSINE
                and documents(blocks[i].content, blocks[i].meta)
                and documents(blocks[j].content, blocks[j].meta)
            )
            pair = _judge(blocks[i], blocks[j], own.wording(i, j), float(cosines[k]), is_account)
            if pair is not None:
                similar_pairs.append(pair)
    return tuple(sorted(similar_pairs, key=lambda p: (-p.confidence, p.a.id, p.b.id)))


def _judge(x: Block, y: Block, words: float, cosine: float, is_account: bool) -> Pair | None:
    """is_account: both are long enough to be the account of an event."""
    a, b = sorted((x, y), key=lambda block: (block.said_at, block.id))
    hours = (b.said_at - a.said_at).total_seconds() / 3600.0
    apart = _source(a) != _source(b) or not _source(a)
    near = cosine >= MERGE_COSINE
    copies = words >= COPY_WORDING or (near and said(a.content) == said(b.content))
    mergeable = (copies or (words >= MERGE_WORDING and near and apart)) and not say_otherwise(a, b)
    if mergeable and copies:
        return Pair("duplicate", a, b, words, cosine, hours, round(0.5 + 0.5 * max(words, near * cosine), 4))
    if not apart:
        return None
    if mergeable:
        return Pair("merge", a, b, words, cosine, hours, round((words + cosine) / 2, 4))
    if is_account and cosine >= OVERLAP_COSINE and hours <= OVERLAP_HOURS:
        soon = 1.0 - 0.5 * hours / OVERLAP_HOURS
        return Pair("overlap", a, b, words, cosine, hours, round(cosine * soon, 4))
    return None


def _source(block: Block) -> str:
    return file_of(str(block.meta.get("source", "")))


# --- candidates -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shared:
    """Pairs of rows i < j of n as keys i·n + j, rising, and how many rare runs each shares: (m,) each."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    def counts_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.keys.size:
            return np.zeros(keys.size, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[at] == keys, self.counts[at], 0)


def _sharing_runs(own: Shingles) -> tuple[_Shared, NDArray[np.int64]]:
    """Pairs that share a run of words which few blocks have, and how many such runs each text has: (n,)."""
    n = own.words.size
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(own.ends))
    order = np.argsort(own.runs, kind="stable")
    _, starts, holders = np.unique(own.runs[order], return_index=True, return_counts=True)
    counted = np.bincount(holders, minlength=_COMMON_SHINGLE + 1)[: _COMMON_SHINGLE + 1]
    sizes = np.arange(_COMMON_SHINGLE + 1)
    costs = np.cumsum(counted * sizes * (sizes - 1) // 2)
    common = int(np.searchsorted(costs, _MOST_PAIRS, side="right")) - 1
    keys = [np.zeros(0, dtype=np.int64)]
    for size in range(2, common + 1):
        members = rows[order[starts[holders == size][:, None] + np.arange(size)]]
        first, second = np.triu_indices(size, 1)
        keys.append((members[:, first] * n + members[:, second]).ravel())
    every, counts = np.unique(np.concatenate(keys), return_counts=True)
    rare = np.zeros(n, dtype=np.int64)
    np.add.at(rare, rows[order[np.repeat(holders <= common, holders)]], 1)
    return _Shared(every, counts), rare


def _mutual(
    matrix: Vector, at: NDArray[np.float64], far: float, wanted: int, floor: float, progress: Progress | None
) -> NDArray[np.int64]:
    """Return pairs of which each is among the other's `wanted` nearest by cosine ≥ floor, of all and of those at most
    `far` seconds away, as keys.

    Anniversaries and yearly chores are near in meaning too: the nearest of the same days are asked for apart.
    """
    n = matrix.shape[0]
    pair_keys = [_both_ways(_nearest_of(matrix, None, 0.0, wanted, floor, progress), n)]
    if n and float(np.ptp(at)) > far:
        order = np.argsort(at, kind="stable")
        rows = _nearest_of(matrix[order], at[order], far, wanted, floor, progress)
        place = np.empty((n, wanted), dtype=np.int64)
        place[order] = np.where(rows >= 0, order[rows], -1)
        pair_keys.append(_both_ways(place, n))
    return np.unique(np.concatenate(pair_keys))


def _nearest_of(
    matrix: Vector, at: NDArray[np.float64] | None, far: float, wanted: int, floor: float, progress: Progress | None
) -> NDArray[np.int64]:
    """Return each row's nearest rows (n, wanted), −1 where there are fewer; at: rising, only rows at most `far`
    away.
    """
    n = matrix.shape[0]
    neighbours = np.full((n, wanted), -1, dtype=np.int64)
    for start in range(0, n, _ROWS):
        if progress is not None:
            progress(start, n, "comparing blocks")
        end, low, high, within = min(n, start + _ROWS), 0, n, None
        if at is not None:
            low = int(np.searchsorted(at, at[start] - far))
            high = int(np.searchsorted(at, at[end - 1] + far, side="right"))
            within = ValueLimit(at[start:end], at[low:high], far)
        near = nearest(matrix[start:end], matrix[low:high], wanted, floor=floor, own=start - low, within=within)
        neighbours[start:end] = np.where(near.rows >= 0, near.rows + low, -1)
    return neighbours


def _both_ways(near: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the pairs (i, j), i < j, in which each names the other, as keys."""
    rows = np.repeat(np.arange(n, dtype=np.int64), near.shape[1])
    other = near.ravel()
    named = other >= 0
    rows, other = rows[named], other[named]
    return np.intersect1d((rows * n + other)[rows < other], (other * n + rows)[other < rows])
