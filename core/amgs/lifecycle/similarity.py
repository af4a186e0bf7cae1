"""Find pairs of blocks that repeat each other: copies, blocks that could be merged, and accounts of the same
event; and the successor of a text after its source was rewritten.

Copies share runs of three words (shingles; Broder 1997); accounts of an event are near in meaning and time.
Only pairs that share a rare run, or are mutual nearest neighbours, are compared. Two blocks whose statements
differ are no copies, however similar their words. `supersede` and `enhance` call `find_pairs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs.identity import file_of
from amgs.index.neighbours import ValueLimit, nearest
from amgs.lifecycle.self_detection import documents
from amgs.text.differences import normalise_words, say_otherwise
from amgs.text.words import COMMON_WORDS
from amgs.types import Block, Progress, Vector

NEAREST = 3
"""Two blocks are compared when each is among the other's so many nearest by cosine."""

COPY_WORDING = 0.7
"""Least Jaccard overlap of the three-word runs of two copies."""

MERGE_WORDING, MERGE_COSINE = 0.25, 0.75
"""Least overlap of runs, and least cosine, of two blocks of different sources that may be merged."""

OVERLAP_WORDS, OVERLAP_COSINE, OVERLAP_HOURS = 15, 0.5, 48.0
"""For two accounts of the same event: least words of each, least cosine, most hours between them. The confidence of the
pair is cosine · (1 − hours / (2 · OVERLAP_HOURS)).
"""

_WORD = re.compile(r"[\w'’-]+")
_SHINGLE = 3
_COMMON_SHINGLE = 20
_MOST_PAIRS = 8_000_000
"""Most pairs that share a run, over all runs; beyond it only rarer runs are used."""

_ROWS = 4096
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)

Likeness = Literal["duplicate", "merge", "overlap"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two similar blocks, a the earlier. wording: overlap of their runs, in [0, 1]. hours: between their dates."""

    kind: Likeness
    a: Block
    b: Block
    wording: float
    cosine: float
    hours: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Shingles:
    """Runs of three words of n texts, as hashes: text i has `runs[ends[i]:ends[i + 1]]`, ascending, without repeats.

    A text of fewer words is a single run. words: (n,) number of words of each text.
    """

    runs: NDArray[np.uint64]
    ends: NDArray[np.int64]
    words: NDArray[np.int64]

    def of(self, row: int) -> NDArray[np.uint64]:
        return self.runs[self.ends[row] : self.ends[row + 1]]

    def wording(self, i: int, j: int) -> float:
        """Return the Jaccard overlap of two texts' runs, in [0, 1]; 0 for empty texts."""
        a, b = self.of(i), self.of(j)
        shared = np.intersect1d(a, b, assume_unique=True).size
        union = a.size + b.size - shared
        return shared / union if union else 0.0


def make_shingles(texts: Sequence[str]) -> Shingles:
    """Return the runs of texts in lower case. Two different runs have the same hash once in 10^19."""
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


def find_pairs(
    blocks: Sequence[Block], matrix: Vector, progress: Progress | None = None, *, overlap_words: int = OVERLAP_WORDS
) -> tuple[Pair, ...]:
    """Return similar pairs of blocks, the most confident first. matrix: (n, d), the blocks' unit embeddings.

    Parts of the same source (a note, a dialogue) are similar by nature, so only copies count among them.
    """
    own = make_shingles([b.content for b in blocks])
    at = np.array([b.created_at.timestamp() for b in blocks])
    floor = min(OVERLAP_COSINE, MERGE_COSINE)
    shared, rare = _pairs_with_shared_runs(own)
    near = _mutual_neighbours(matrix, at, OVERLAP_HOURS * 3600.0, NEAREST, floor, progress)
    keys = np.union1d(shared.keys, near)
    similar_pairs = []
    for start in range(0, keys.size, 65_536):
        some = keys[start : start + 65_536]
        first, second = np.divmod(some, max(1, len(blocks)))
        cosines = np.clip(np.einsum("ij,ij->i", matrix[first], matrix[second]), 0.0, 1.0)
        # Common runs were not counted; the pair shares at most as many as the text with fewer has.
        sizes = np.diff(own.ends)
        most = shared.counts_of(some) + np.minimum((sizes - rare)[first], (sizes - rare)[second])
        bound = most / np.maximum(1, sizes[first] + sizes[second] - most)
        for k in np.flatnonzero((cosines >= floor) | (bound >= COPY_WORDING)).tolist():
            i, j = int(first[k]), int(second[k])
            is_account = int(min(own.words[i], own.words[j])) >= overlap_words and not (
                # Manuals do not report events.
                float(cosines[k]) >= OVERLAP_COSINE
                and documents(blocks[i].content, blocks[i].meta)
                and documents(blocks[j].content, blocks[j].meta)
            )
            pair = _classify_pair(blocks[i], blocks[j], own.wording(i, j), float(cosines[k]), is_account)
            if pair is not None:
                similar_pairs.append(pair)
    return tuple(sorted(similar_pairs, key=lambda p: (-p.confidence, p.a.id, p.b.id)))


def _classify_pair(x: Block, y: Block, words: float, cosine: float, is_account: bool) -> Pair | None:
    """Return what two blocks are to each other; None for nothing. is_account: both are long enough to
    report an event.
    """
    a, b = sorted((x, y), key=lambda block: (block.said_at, block.id))
    hours = (b.said_at - a.said_at).total_seconds() / 3600.0
    apart = _source_file(a) != _source_file(b) or not _source_file(a)
    near = cosine >= MERGE_COSINE
    copies = words >= COPY_WORDING or (near and normalise_words(a.content) == normalise_words(b.content))
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


def _source_file(block: Block) -> str:
    return file_of(str(block.meta.get("source", "")))


# --- candidates -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shared:
    """Pairs of rows i < j of n as keys i·n + j (m,), ascending, and the number of rare runs that each shares (m,)."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    def counts_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.keys.size:
            return np.zeros(keys.size, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[at] == keys, self.counts[at], 0)


def _pairs_with_shared_runs(own: Shingles) -> tuple[_Shared, NDArray[np.int64]]:
    """Return the pairs of texts that share a rare run, and the number of rare runs of each text (n,)."""
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


def _mutual_neighbours(
    matrix: Vector, at: NDArray[np.float64], far: float, wanted: int, floor: float, progress: Progress | None
) -> NDArray[np.int64]:
    """Return, as keys, the pairs in which each is among the other's `wanted` nearest by cosine ≥ floor, over all blocks
    and again over those at most `far` seconds away.

    Yearly events are near in meaning too and would crowd out the same days' blocks, hence the second search.
    """
    n = matrix.shape[0]
    pair_keys = [_mutual_pairs(_nearest_rows(matrix, None, 0.0, wanted, floor, progress), n)]
    if n and float(np.ptp(at)) > far:
        order = np.argsort(at, kind="stable")
        rows = _nearest_rows(matrix[order], at[order], far, wanted, floor, progress)
        place = np.empty((n, wanted), dtype=np.int64)
        place[order] = np.where(rows >= 0, order[rows], -1)
        pair_keys.append(_mutual_pairs(place, n))
    return np.unique(np.concatenate(pair_keys))


def _nearest_rows(
    matrix: Vector, at: NDArray[np.float64] | None, far: float, wanted: int, floor: float, progress: Progress | None
) -> NDArray[np.int64]:
    """Return each row's nearest rows (n, wanted), −1 where there are fewer.

    at: times, ascending; then only rows at most `far` seconds away count. None: all rows.
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


def _mutual_pairs(near: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return, as keys, the pairs (i, j), i < j, in which each is among the other's neighbours."""
    rows = np.repeat(np.arange(n, dtype=np.int64), near.shape[1])
    other = near.ravel()
    named = other >= 0
    rows, other = rows[named], other[named]
    return np.intersect1d((rows * n + other)[rows < other], (other * n + rows)[other < rows])


_PLAIN_WORD = re.compile(r"\w+")
_COMMON = frozenset(COMMON_WORDS)
_IN_PLACE = 0.15
"""Share of words from which a text in the same position, or under the same heading, is a successor."""
_ELSEWHERE = 0.45
"""Share of words from which a text in any other place is a successor."""


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text of a source. title: its own, or that of the heading above it."""

    block_id: str
    source: str
    content: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Succession:
    """The successor of a text, by id. share: of the words that both have, in [0, 1]. because: the reason in words."""

    successor: str
    share: float
    because: str


def find_successors(
    lost: Sequence[HeldText],
    gained: Sequence[HeldText],
    before: Mapping[str, Sequence[str]],
    after: Mapping[str, Sequence[str]],
) -> dict[str, Succession]:
    """Return the successor of each lost text that has any, by id; several texts may have the same.

    lost, gained: texts that left their sources, and new ones. before, after: ids of each source's texts in order.
    """
    aligned = {
        (source, old): new for source, ids in before.items() for old, new in _align_texts(ids, after.get(source, ()))
    }
    words = {piece.block_id: _words(piece.content) for piece in (*lost, *gained)}
    holders: dict[str, list[int]] = {}
    for row, piece in enumerate(gained):
        for word in words[piece.block_id]:
            holders.setdefault(word, []).append(row)
    of_source: dict[str, list[int]] = {}
    for row, piece in enumerate(gained):
        of_source.setdefault(piece.source, []).append(row)
    heirs: dict[str, Succession] = {}
    for piece in lost:
        own = words[piece.block_id]
        rows = dict.fromkeys(of_source.get(piece.source, ()))
        rows |= dict.fromkeys(r for word in sorted(own) for r in holders.get(word, ())[:_MOST_HOLDERS])
        best = max(
            (
                judgement
                for judgement in (_judge_succession(piece, gained[row], own, words, aligned) for row in rows)
                if judgement is not None
            ),
            key=lambda judgement: (judgement[0], judgement[1].share, judgement[1].successor),
            default=None,
        )
        if best is not None and (piece.block_id not in heirs or best[1].share > heirs[piece.block_id].share):
            heirs[piece.block_id] = best[1]
    return heirs


_MOST_HOLDERS = 40


def _judge_succession(
    old: HeldText,
    new: HeldText,
    own: frozenset[str],
    words: Mapping[str, frozenset[str]],
    aligned: Mapping[tuple[str, str], frozenset[str]],
) -> tuple[float, Succession] | None:
    """Return how well a new text fits as successor, and the succession; None where it does not."""
    share = _word_share(own, words[new.block_id])
    same_source = old.source == new.source
    in_place = same_source and new.block_id in aligned.get((old.source, old.block_id), ())
    heading = same_source and bool(old.title) and old.title == new.title
    if share < (_IN_PLACE if in_place or heading else _ELSEWHERE):
        return None
    where = "in its place" if in_place else "under its heading" if heading else ""
    reason = ", ".join(part for part in (where, f"{share:.0%} of the words") if part)
    return share + 0.3 * in_place + 0.2 * heading + 0.1 * same_source, Succession(new.block_id, share, reason)


def _word_share(words: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, in [0, 1]: of all words, or 0.8 of the share of the
    shorter text's, whichever is more.
    """
    common = len(words & other)
    if not common:
        return 0.0
    return max(common / len(words | other), 0.8 * common / min(len(words), len(other)))


def _words(text: str) -> frozenset[str]:
    words = frozenset(_PLAIN_WORD.findall(text.lower()))
    return words - _COMMON or words


def _align_texts(before: Sequence[str], after: Sequence[str]) -> Iterable[tuple[str, frozenset[str]]]:
    """Yield each removed text with the texts that now stand between its remaining neighbours."""
    if not after:
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "replace":
            for old in before[i1:i2]:
                yield old, frozenset(after[j1:j2])
