"""Which blocks say the same: copies share their wording, two accounts of one event share their subject and time.

A copy is known by runs of words (shingles; Broder, 1997), an account by standing among each other's nearest
neighbours in meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs.model import Block, Vector
from amgs.settings import EnhancementSettings

_WORD = re.compile(r"[\w'’-]+")
_SHINGLE = 3
_COMMON_SHINGLE = 20
_ROWS = 512

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


def shingles(text: str) -> frozenset[str]:
    """Runs of three words, lower case; of a shorter text the text itself."""
    words = _WORD.findall(text.lower())
    if len(words) < _SHINGLE:
        return frozenset({" ".join(words)} if words else ())
    return frozenset(" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))


def wording(a: frozenset[str], b: frozenset[str]) -> float:
    """Jaccard overlap of two sets of shingles, in [0, 1]; 0 for empty ones."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def pairs(blocks: Sequence[Block], matrix: Vector, settings: EnhancementSettings) -> tuple[Pair, ...]:
    """Pairs that are alike, the surest first; matrix (n, d) holds the blocks' unit embeddings.

    Pieces of one source (parts of a note, turns of a dialogue) are alike by nature: only a copy counts among them.
    """
    sets = [shingles(b.content) for b in blocks]
    found: dict[tuple[int, int], Pair] = {}
    far = settings.overlap_hours * 3600.0
    at = np.array([b.created_at.timestamp() for b in blocks])
    # Anniversaries and yearly chores are near in meaning too: the nearest of the same days are asked for apart.
    near = (*_mutual(matrix, at, np.inf, settings.nearest), *_mutual(matrix, at, far, settings.nearest))
    for i, j in (*_sharing_words(sets), *near):
        if (i, j) not in found:
            cosine = float(np.clip(matrix[i] @ matrix[j], 0.0, 1.0))
            pair = _judge(blocks[i], blocks[j], wording(sets[i], sets[j]), cosine, settings)
            if pair is not None:
                found[i, j] = pair
    return tuple(sorted(found.values(), key=lambda p: (-p.confidence, p.a.id, p.b.id)))


def _judge(x: Block, y: Block, words: float, cosine: float, settings: EnhancementSettings) -> Pair | None:
    a, b = sorted((x, y), key=lambda block: (block.created_at, block.id))
    hours = (b.created_at - a.created_at).total_seconds() / 3600.0
    apart = _source(a) != _source(b) or not _source(a)
    if words >= settings.copy_wording:
        return Pair("duplicate", a, b, words, cosine, hours, round(0.5 + 0.5 * words, 4))
    if not apart:
        return None
    if words >= settings.merge_wording and cosine >= settings.merge_cosine:
        return Pair("merge", a, b, words, cosine, hours, round((words + cosine) / 2, 4))
    told = min(len(_WORD.findall(block.content)) for block in (a, b)) >= settings.overlap_words
    if told and cosine >= settings.overlap_cosine and hours <= settings.overlap_hours:
        near = 1.0 - 0.5 * hours / settings.overlap_hours if settings.overlap_hours else 1.0
        return Pair("overlap", a, b, words, cosine, hours, round(cosine * near, 4))
    return None


def _source(block: Block) -> str:
    return str(block.meta.get("source", "")).partition("#")[0]


def _sharing_words(sets: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs that share a run of words which few blocks have."""
    holders: dict[str, list[int]] = {}
    for row, own in enumerate(sets):
        for shingle in own:
            holders.setdefault(shingle, []).append(row)
    seen = set()
    for shingle in sorted(holders):
        rows = holders[shingle]
        if 2 <= len(rows) <= _COMMON_SHINGLE:
            for at, i in enumerate(rows):
                for j in rows[at + 1 :]:
                    if (i, j) not in seen:
                        seen.add((i, j))
                        yield i, j


def _mutual(matrix: Vector, at: NDArray[np.float64], far: float, nearest: int) -> Iterator[tuple[int, int]]:
    """Pairs that are each among the other's `nearest` neighbours by cosine, of those at most `far` seconds away."""
    n = matrix.shape[0]
    wanted = min(nearest, n - 1)
    if wanted < 1:
        return
    near: list[set[int]] = []
    for start in range(0, n, _ROWS):
        cosines = matrix[start : start + _ROWS] @ matrix.T
        rows = np.arange(cosines.shape[0])
        cosines[rows, start + rows] = -2.0
        cosines[np.abs(at[start : start + _ROWS, None] - at[None, :]) > far] = -2.0
        best = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
        near += [{j for j in best[row].tolist() if cosines[row, j] > -2.0} for row in rows]
    for i in range(n):
        for j in sorted(near[i]):
            if i < j and i in near[j]:
                yield i, j
