"""Choosing the final blocks: every candidate ends with a fate and the reason for it (AMGS §4.5, step 3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from amgs.clock import microseconds_of
from amgs.frames.assemble import GroupKey, group_of
from amgs.frames.score import entropy_bits
from amgs.text.differences import say_otherwise
from amgs.types import Block, Candidate, Fate, SelectionRule, Vector

_NEWER = timedelta(hours=1)
_BALANCE = 0.15
"""What the whole of the attainable entropy is worth in score, when a frame balances its categories."""


@dataclass(slots=True)
class Taken:
    """Content of an assembly so far. The children of a composite share it, so that none takes a block of another.

    vectors: unit embeddings (d,) by block id. threshold: cosine from which two blocks say the same, if they do not
    differ in what they say; None: only equal content. shorten: gives a candidate that costs more than it may, with so
    many tokens left, as a passage, or leaves it to a second round (see Shortener).
    heading: tokens of the heading that the group of a block begins with.
    """

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    threshold: float | None = None
    shorten: Callable[[Candidate, int, bool], Candidate] = lambda candidate, *_: candidate
    heading: Callable[[Block], int] = lambda _: 0
    frame_of: dict[str, str] = field(default_factory=dict)
    _begun: set[tuple[str, GroupKey]] = field(default_factory=set)
    _said: list[datetime] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _rows: Vector | None = None  # (taken, d)

    def duplicate(self, candidate: Candidate) -> str:
        """Return why the candidate would repeat what is taken; empty when it would not, or says it anew: the newer one
        of two that are alike is never left out for the older one.
        """
        block_id = candidate.block.id
        if block_id in self.frame_of:
            return f"already in {self.frame_of[block_id] or 'the frame'}"
        vector = self.vectors.get(block_id)
        if self.threshold is None or vector is None or self._rows is None:
            return ""
        cosines = self._rows @ vector
        for near in np.argsort(-cosines, kind="stable").tolist():
            if float(cosines[near]) < self.threshold:
                break
            other = self._blocks[near]
            if not _later(candidate, self._said[near]) and not say_otherwise(candidate.block, other):
                return f"duplicate of {other.id[:6]}… (cosine {float(cosines[near]):.2f})"
        return ""

    def written(self, candidate: Candidate, left: int, uncut: bool = False) -> Candidate:
        """Return the candidate as it would be written with so many tokens left, and with what that costs: the heading
        of its group too, where none of its group is taken yet. uncut: see Shortener.
        """
        begun = (candidate.child, group_of(candidate.block)) in self._begun
        heading = 0 if begun else self.heading(candidate.block)
        excerpt = self.shorten(candidate, left - heading, uncut)
        return replace(excerpt, tokens=excerpt.tokens + heading)

    def add(self, candidate: Candidate) -> None:
        """Take the candidate."""
        self.frame_of[candidate.block.id] = candidate.child
        self._begun.add((candidate.child, group_of(candidate.block)))
        vector = self.vectors.get(candidate.block.id)
        if vector is not None:
            self._blocks.append(candidate.block)
            self._said.append(_find_statement_time(candidate))
            # Few are taken and many are asked about: the matrix is made here, not for each question.
            self._rows = vector[None] if self._rows is None else np.vstack([self._rows, vector])


class _Twins:
    """Candidates that repeat another and are later."""

    def __init__(self, candidates: Sequence[Candidate], taken: Taken) -> None:
        self._candidates, self._threshold = candidates, taken.threshold
        with_vector = [i for i, c in enumerate(candidates) if c.fate == "selected" and c.block.id in taken.vectors]
        if taken.threshold is None:
            with_vector = []
        # By the time they were said, so that those said later than another are the rows after it.
        self._places = sorted(with_vector, key=lambda i: _find_statement_time(candidates[i]))
        self._row = {place: row for row, place in enumerate(self._places)}
        if self._places:
            self._vectors = np.stack([taken.vectors[candidates[i].block.id] for i in self._places])
            instants = [microseconds_of(_find_statement_time(candidates[i])) for i in self._places]
            self._first_later = np.searchsorted(instants, np.array(instants) + _NEWER // timedelta(microseconds=1))

    def newer(self, at: int, waiting: Collection[int]) -> int | None:
        """Return the place of the latest of those waiting that says the same as the candidate at a place, and later."""
        row = self._row.get(at)
        if row is None or self._threshold is None:
            return None
        first = int(self._first_later[row])
        if first == len(self._places):
            return None
        alike = np.flatnonzero(self._vectors[first:] @ self._vectors[row] >= self._threshold)
        candidates = self._candidates
        near = [place for place in (self._places[first + k] for k in alike.tolist()) if place in waiting]
        twins = [place for place in near if not say_otherwise(candidates[at].block, candidates[place].block)]
        return max(
            twins,
            key=lambda i: (_find_statement_time(candidates[i]), candidates[i].score, candidates[i].block.id),
            default=None,
        )


def _find_statement_time(candidate: Candidate) -> datetime:
    block = candidate.block
    return block.said_at if "said_at" in block.meta else block.valid_from or block.created_at


def _later(candidate: Candidate, than: datetime) -> bool:
    """Return whether it was said later by so much that the order of two files on a disk does not decide."""
    return _find_statement_time(candidate) - than >= _NEWER


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """The candidates in their order, each with its fate; used: tokens of the selected ones."""

    candidates: tuple[Candidate, ...]
    used: int

    @property
    def chosen(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if c.fate == "selected")


def select(candidates: Sequence[Candidate], budget: int, rule: SelectionRule, taken: Taken) -> SelectionResult:
    """Take candidates until the budget of tokens or the top k is full.

    They come in the order in which they should be taken, each with its cost in `tokens`; one that already has
    another fate than "selected" keeps it. A block that does not fit is passed over and a smaller one after it
    may still fit; passages of those passed over then fill what is left. Only the first is cut at once.
    """
    decided: dict[int, Candidate] = {}
    waiting = list(range(len(candidates)))
    twins = _Twins(candidates, taken)
    categories: Counter[str] = Counter()
    balance = _balance(candidates) if rule.selection == "entropy" else 0.0
    used = picked = 0
    while waiting:
        at = _next(waiting, candidates, categories, balance)
        waiting.remove(at)
        candidate, left = candidates[at], budget - used
        fate, because = _fate(candidate, at, picked, rule, taken)
        if fate == "selected":
            other = twins.newer(at, waiting)
            newer = candidate if other is None else candidates[other]
            fits = other is not None and taken.written(newer, left).tokens <= left
            if other is not None and fits and newer.score >= rule.threshold:
                because = f"older than {newer.block.id[:6]}…, which says the same"
                decided[at] = replace(candidate, fate="duplicate", because=because)
                at = other
                waiting.remove(at)
                candidate = newer
                fate, because = _fate(candidate, at, picked, rule, taken)
        if fate == "selected":
            rendering = taken.written(candidate, left, uncut=picked > 0)
            if rendering.tokens <= left:
                candidate, because = rendering, rendering.because
            else:
                fate, because = "over_budget", over_budget(rendering.tokens, left)
        decided[at] = replace(candidate, fate=fate, because=because)
        if fate == "selected":
            taken.add(candidate)
            used += candidate.tokens
            picked += 1
            categories[candidate.block.category] += 1
    passed_over = [i for i in range(len(candidates)) if decided[i].fate == "over_budget"]
    most = None if rule.top_k is None else rule.top_k - picked
    chosen = refill([decided[i] for i in range(len(candidates))], passed_over[:most], budget - used, taken)
    more = sum(c.tokens for place, c in enumerate(chosen) if decided[place].fate != c.fate == "selected")
    return SelectionResult(chosen, used + more)


def refill(candidates: Sequence[Candidate], places: Iterable[int], left: int, taken: Taken) -> tuple[Candidate, ...]:
    """Give tokens that were left to candidates that did not fit before, at these places, the first of them first; the
    candidates in their order.
    """
    result = list(candidates)
    used = 0
    for at in places:
        candidate = candidates[at]
        repeated = taken.duplicate(candidate)
        if repeated:
            result[at] = replace(candidate, fate="duplicate", because=repeated)
            continue
        rendering = taken.written(replace(candidate, because="in the tokens that were left"), left - used)
        if rendering.tokens <= left - used:
            taken.add(rendering)
            used += rendering.tokens
            result[at] = replace(rendering, fate="selected")
        else:
            result[at] = replace(candidate, because=over_budget(rendering.tokens, left - used))
    return tuple(result)


def over_budget(tokens: int, left: int) -> str:
    """Return the words for a block that does not fit."""
    return f"over budget: {tokens} tokens, {max(left, 0)} left"


def _fate(candidate: Candidate, place: int, picked: int, rule: SelectionRule, taken: Taken) -> tuple[Fate, str]:
    """Return what becomes of a candidate as long as there are tokens."""
    if candidate.fate != "selected":
        return candidate.fate, candidate.because
    if candidate.score < rule.threshold:
        return "below_threshold", f"score {apart(candidate.score, rule.threshold)}"
    repeated = taken.duplicate(candidate)
    if repeated:
        return "duplicate", repeated
    if rule.top_k is not None and picked >= rule.top_k:
        return "not_in_top_k", f"rank {place + 1}, the top {rule.top_k} were taken"
    return "selected", candidate.because


def _balance(candidates: Sequence[Candidate]) -> float:
    """Return what one bit of entropy is worth: the pool's number of categories bounds the entropy."""
    kinds = len({c.block.category for c in candidates})
    return _BALANCE / math.log2(kinds) if kinds > 1 else 0.0


def _next(waiting: list[int], candidates: Sequence[Candidate], categories: Counter[str], balance: float) -> int:
    """Return the place of the next candidate: the first, or the one whose score and gain in entropy sum highest."""
    if balance == 0.0 or not categories:
        return waiting[0]
    before = entropy_bits(categories.elements())
    gain = {
        kind: balance * (entropy_bits((categories + Counter([kind])).elements()) - before)
        for kind in {candidates[i].block.category for i in waiting}
    }
    return min(
        waiting, key=lambda i: (-(candidates[i].score + gain[candidates[i].block.category]), candidates[i].block.id)
    )


def apart(value: float, least: float) -> str:
    """`0.34 under 0.46`; with three digits where two would be the same."""
    digits = 3 if f"{value:.2f}" == f"{least:.2f}" else 2
    return f"{value:.{digits}f} under {least:.{digits}f}"
