"""Select a frame's blocks within its budget; every candidate gets a fate and the reason for it (AMGS §4.5,
step 3).

`compose` calls `select` for each part of a frame. The fates are stored with the assembly, and `frame why`
explains them. The weight of a score's part that no candidate can have goes to the other parts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from amgs.clock import microseconds_of
from amgs.frames.assemble import GroupKey, group_of
from amgs.retrieval.layers import SEARCH_WEIGHTS
from amgs.text.differences import say_otherwise
from amgs.types import COMPONENTS, Block, Candidate, Fate, FrameDefinition, SelectionRule, Vector, Weights
from amgs.types.health import bits_of


@dataclass(frozen=True, slots=True)
class EffectiveWeights:
    """Weights that score a frame. remark: what differs from the definition, for the operator; "" where nothing does."""

    weights: Weights
    remark: str = ""


def own_weights(definition: FrameDefinition, *, has_query: bool) -> Weights:
    """Return an atomic frame's weights when the request names none: those of a search where the frame's rule keeps the
    order of the search and there is a question, else the definition's.
    """
    if has_query and definition.rule.gather == "query" and definition.rule.order == "search":
        return SEARCH_WEIGHTS
    return definition.weights


def effective_weights(definition: FrameDefinition, asked: Weights | None, *, has_query: bool) -> EffectiveWeights:
    """Return the requested weights, or the frame's own, without the parts that no candidate can have, scaled to sum 1.

    A frame of raw blocks has no centrality and no reinforcement; without a query there is no similarity.
    """
    weights = asked or own_weights(definition, has_query=has_query)
    missing = []
    if set(definition.rule.filter.statuses) == {"raw"}:
        missing += ["centrality", "reinforcement"]
    if not has_query:
        missing.append("similarity")
    dropped = [name for name in COMPONENTS if name in missing and getattr(weights, name) > 0]
    components = {name: getattr(weights, name) for name in COMPONENTS if name not in missing}
    if not dropped or sum(components.values()) <= 0:
        return EffectiveWeights(weights)
    return EffectiveWeights(Weights.normalised(**components), _remark(definition.name, weights, dropped))


def _remark(name: str, weights: Weights, lost: Sequence[str]) -> str:
    """Return a sentence that says which weights do not apply, and why."""
    why = []
    if "similarity" in lost:
        why.append("is scored without the question")
    if set(lost) - {"similarity"}:
        why.append("holds unprocessed blocks, which have neither edges nor a history")
    named = " and ".join(f"{part} weight ({getattr(weights, part):.2f})" for part in lost)
    return f"{name} {' and '.join(why)}; its {named} {'was' if len(lost) == 1 else 'were'} spread over the other parts"


def entropy_bits(categories: Iterable[str]) -> float:
    """Return the Shannon entropy of the categories, -Σ p log₂ p, in bits; 0 for fewer than two (AMGS §7.5)."""
    return bits_of(Counter(categories).values())


_NEWER = timedelta(hours=1)
_BALANCE = 0.15
"""Score that the greatest possible entropy is worth, where a frame balances its categories."""


@dataclass(slots=True)
class Selection:
    """Blocks selected so far. The children of a composite share it, so that no block is selected twice.

    vectors: unit embeddings (d,) by block id. threshold: cosine from which two blocks count as duplicates, unless their
    statements differ; None: only equal content does. shorten: cuts a candidate, see `Shortener`. heading: tokens of the
    heading of a block's group. frame_of: the part that selected each block, by id.
    """

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    threshold: float | None = None
    shorten: Callable[[Candidate, int, bool], Candidate] = lambda candidate, *_: candidate
    heading: Callable[[Block], int] = lambda _: 0
    frame_of: dict[str, str] = field(default_factory=dict)
    _groups: set[tuple[str, GroupKey]] = field(default_factory=set)
    _said_at: list[datetime] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _rows: Vector | None = None  # (taken, d)

    def duplicate(self, candidate: Candidate) -> str:
        """Return why the candidate repeats a selected block; "" where it does not. A block that was said later than its
        twin is no duplicate: the newer block is never left out for the older.
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
            if not _is_later(candidate, self._said_at[near]) and not say_otherwise(candidate.block, other):
                return f"duplicate of {other.id[:6]}… (cosine {float(cosines[near]):.2f})"
        return ""

    def render(self, candidate: Candidate, left: int, uncut: bool = False) -> Candidate:
        """Return the candidate, cut where needed to fit into `left` tokens, with its cost: the heading of its group
        included where no block of it is selected yet. uncut: see `Shortener`.
        """
        begun = (candidate.child, group_of(candidate.block)) in self._groups
        heading = 0 if begun else self.heading(candidate.block)
        excerpt = self.shorten(candidate, left - heading, uncut)
        return replace(excerpt, tokens=excerpt.tokens + heading)

    def add(self, candidate: Candidate) -> None:
        """Add a candidate to the selection."""
        self.frame_of[candidate.block.id] = candidate.child
        self._groups.add((candidate.child, group_of(candidate.block)))
        vector = self.vectors.get(candidate.block.id)
        if vector is not None:
            self._blocks.append(candidate.block)
            self._said_at.append(_find_statement_time(candidate))
            # Few are added and many are compared, so the matrix grows here and not in `duplicate`.
            self._rows = vector[None] if self._rows is None else np.vstack([self._rows, vector])


class _Twins:
    """Finds, for a candidate, the newest later candidate that says the same."""

    def __init__(self, candidates: Sequence[Candidate], taken: Selection) -> None:
        self._candidates, self._threshold = candidates, taken.threshold
        with_vector = [i for i, c in enumerate(candidates) if c.fate == "selected" and c.block.id in taken.vectors]
        if taken.threshold is None:
            with_vector = []
        # In order of when they were said, so that what is later than a row comes after it.
        self._places = sorted(with_vector, key=lambda i: _find_statement_time(candidates[i]))
        self._row = {place: row for row, place in enumerate(self._places)}
        if self._places:
            self._vectors = np.stack([taken.vectors[candidates[i].block.id] for i in self._places])
            instants = [microseconds_of(_find_statement_time(candidates[i])) for i in self._places]
            self._first_later = np.searchsorted(instants, np.array(instants) + _NEWER // timedelta(microseconds=1))

    def newer(self, at: int, waiting: Collection[int]) -> int | None:
        """Return the newest of the waiting places whose candidate says the same as that at `at`, but later; None if
        none.
        """
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
    """Return when a block's statement dates from: `said_at`, else from when it is valid, else its creation."""
    block = candidate.block
    return block.said_at if "said_at" in block.meta else block.valid_from or block.created_at


def _is_later(candidate: Candidate, than: datetime) -> bool:
    """Return whether it was said at least _NEWER later: the order of two files on a disk must not decide."""
    return _find_statement_time(candidate) - than >= _NEWER


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """Candidates in their order, each with its fate. used: tokens of the selected ones."""

    candidates: tuple[Candidate, ...]
    used: int

    @property
    def chosen(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if c.fate == "selected")


def select(candidates: Sequence[Candidate], budget: int, rule: SelectionRule, taken: Selection) -> SelectionResult:
    """Select candidates, in their order, until the budget of tokens or the top k is full.

    Each candidate has its cost in `tokens`; a candidate whose fate is not "selected" keeps that fate. A block that does
    not fit is skipped, and a smaller block after it may fit; at the end passages of the skipped blocks fill what is
    left. Only the first block is cut at once. Where a later candidate says the same but is newer, it is selected
    instead.
    """
    decided: dict[int, Candidate] = {}
    waiting = list(range(len(candidates)))
    twins = _Twins(candidates, taken)
    categories: Counter[str] = Counter()
    balance = _entropy_price(candidates) if rule.selection == "entropy" else 0.0
    used = picked = 0
    while waiting:
        at = _next_place(waiting, candidates, categories, balance)
        waiting.remove(at)
        candidate, left = candidates[at], budget - used
        fate, because = _decide_fate(candidate, at, picked, rule, taken)
        if fate == "selected":
            other = twins.newer(at, waiting)
            newer = candidate if other is None else candidates[other]
            fits = other is not None and taken.render(newer, left).tokens <= left
            if other is not None and fits and newer.score >= rule.threshold:
                because = f"older than {newer.block.id[:6]}…, which says the same"
                decided[at] = replace(candidate, fate="duplicate", because=because)
                at = other
                waiting.remove(at)
                candidate = newer
                fate, because = _decide_fate(candidate, at, picked, rule, taken)
        if fate == "selected":
            rendering = taken.render(candidate, left, uncut=picked > 0)
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


def refill(
    candidates: Sequence[Candidate], places: Iterable[int], left: int, taken: Selection
) -> tuple[Candidate, ...]:
    """Spend tokens that are left on candidates that did not fit before, cut where needed; return all candidates.

    places: indexes of those that may be selected, the first first.
    """
    result = list(candidates)
    used = 0
    for at in places:
        candidate = candidates[at]
        repeated = taken.duplicate(candidate)
        if repeated:
            result[at] = replace(candidate, fate="duplicate", because=repeated)
            continue
        rendering = taken.render(replace(candidate, because="in the tokens that were left"), left - used)
        if rendering.tokens <= left - used:
            taken.add(rendering)
            used += rendering.tokens
            result[at] = replace(rendering, fate="selected")
        else:
            result[at] = replace(candidate, because=over_budget(rendering.tokens, left - used))
    return tuple(result)


def over_budget(tokens: int, left: int) -> str:
    """Return the reason for a block that does not fit."""
    return f"over budget: {tokens} tokens, {max(left, 0)} left"


def _decide_fate(
    candidate: Candidate, place: int, picked: int, rule: SelectionRule, taken: Selection
) -> tuple[Fate, str]:
    """Return a candidate's fate and the reason, before its cost is considered."""
    if candidate.fate != "selected":
        return candidate.fate, candidate.because
    if candidate.score < rule.threshold:
        return "below_threshold", f"score {compare_values(candidate.score, rule.threshold)}"
    repeated = taken.duplicate(candidate)
    if repeated:
        return "duplicate", repeated
    if rule.top_k is not None and picked >= rule.top_k:
        return "not_in_top_k", f"rank {place + 1}, the top {rule.top_k} were taken"
    return "selected", candidate.because


def _entropy_price(candidates: Sequence[Candidate]) -> float:
    """Return the score that a bit of entropy is worth: _BALANCE over the greatest entropy of the pool's categories."""
    kinds = len({c.block.category for c in candidates})
    return _BALANCE / math.log2(kinds) if kinds > 1 else 0.0


def _next_place(waiting: list[int], candidates: Sequence[Candidate], categories: Counter[str], balance: float) -> int:
    """Return the index of the next candidate: the first, or with `balance` that with the highest sum of score and gain
    in entropy.
    """
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


def compare_values(value: float, least: float) -> str:
    """Return `0.34 under 0.46`, with three digits where two would look equal."""
    digits = 3 if f"{value:.2f}" == f"{least:.2f}" else 2
    return f"{value:.{digits}f} under {least:.{digits}f}"
