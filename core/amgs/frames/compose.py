"""Fill a frame with blocks: divide a composite's budget among its children and merge what they select (AMGS §4.4).

`pipeline` calls `fill`. The children share a `Selection`, so that no block is in the text twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from amgs.frames.registry import Definitions, find, leaves
from amgs.frames.select import Selection, refill, select
from amgs.types import Candidate, FrameDefinition, LedgerEntry, Weights


@dataclass(frozen=True, slots=True)
class Pool:
    """Scored candidates of an atomic frame, in the order of selection. heading: tokens of its title in a composite."""

    candidates: tuple[Candidate, ...]
    heading: int = 0

    @property
    def eligible(self) -> frozenset[str]:
        """Ids of the blocks that may still be selected."""
        return frozenset(c.block.id for c in self.candidates if c.fate == "selected")

    @property
    def mass(self) -> float:
        """Sum of the scores of the selectable candidates."""
        return sum(c.score for c in self.candidates if c.fate == "selected")


Pools = Mapping[str, Pool]
"""The pool of each atomic frame, by its name."""


@dataclass(frozen=True, slots=True)
class Filled:
    """Result of `fill`: all candidates with their fates, part by part. used: tokens, titles included. ledger: tokens
    granted to each child and used by it.
    """

    candidates: tuple[Candidate, ...]
    used: int
    ledger: tuple[LedgerEntry, ...]

    @property
    def blocks(self) -> int:
        return sum(c.fate == "selected" for c in self.candidates)


def fill(definition: FrameDefinition, budget: int, pools: Pools, known: Definitions, taken: Selection) -> Filled:
    """Select the blocks of a frame within `budget` tokens; the children of a composite in their order."""
    if not definition.is_composite:
        return _fill_atomic(definition, budget, pools[definition.name], taken)
    if definition.rescore is not None:
        pools = {name: _rescore_pool(pool, definition.rescore) for name, pool in pools.items()}
    if definition.merge == "intersection":
        pools = _intersect_pools(definition, pools, known)
    parts: list[Filled] = []
    offering = {child.name: _offers(child.name, pools, known) for child in definition.children}
    fixed = _fixed_grants(definition, budget, pools, known)
    last = next((c.name for c in reversed(definition.children) if offering[c.name]), None)
    for child in definition.children:
        left = budget - sum(part.used for part in parts)
        share = 1.0 if child.name == last else child.share
        grant = fixed.get(child.name, int(left * share)) if offering[child.name] else 0
        filled = fill(find(child.name, known), grant, pools, known, taken)
        entry = LedgerEntry(child.name, max(grant, 0), filled.used, filled.blocks)
        parts.append(replace(filled, ledger=(entry,)))
    # In a priority chain an identity frame keeps to its share; tokens that are left go to the parts after it.
    closed = {leaf.name for leaf in leaves(definition, known) if leaf.rule.gather == "identity"}
    parts = _spend_rest(parts, budget, taken, closed if definition.merge == "priority_chain" else frozenset())
    return Filled(
        tuple(c for part in parts for c in part.candidates),
        sum(part.used for part in parts),
        tuple(entry for part in parts for entry in part.ledger),
    )


def _fill_atomic(definition: FrameDefinition, budget: int, pool: Pool, taken: Selection) -> Filled:
    chosen = select(pool.candidates, budget - pool.heading, definition.rule, taken)
    used = chosen.used + pool.heading if chosen.chosen else 0
    entry = LedgerEntry(definition.name, max(budget, 0), used, len(chosen.chosen))
    return Filled(chosen.candidates, used, (entry,))


def _fixed_grants(definition: FrameDefinition, budget: int, pools: Pools, known: Definitions) -> dict[str, int]:
    """Return the tokens granted to each child before any is filled; {} for the priority strategy, which grants shares
    of what is left.

    The share of a child without candidates goes to the others in proportion to theirs.
    """
    if definition.budget_strategy == "static":
        every = sum(child.share for child in definition.children)
        some = sum(c.share for c in definition.children if _offers(c.name, pools, known))
        return {c.name: int(budget * c.share * every / some) if some else 0 for c in definition.children}
    if definition.budget_strategy == "priority":
        return {}
    masses = {
        child.name: sum(pools[leaf.name].mass for leaf in leaves(find(child.name, known), known))
        for child in definition.children
    }
    total = sum(masses.values())
    return {name: int(budget * mass / total) if total > 0 else 0 for name, mass in masses.items()}


def _offers(name: str, pools: Pools, known: Definitions) -> bool:
    """Return whether a frame has any candidate that may be selected; if not, it is granted no tokens."""
    return any(pools[leaf.name].eligible for leaf in leaves(find(name, known), known))


def _spend_rest(parts: list[Filled], budget: int, taken: Selection, closed: Collection[str]) -> list[Filled]:
    """Spend the tokens that are left on the best blocks that did not fit into their child's share.

    Only parts that have a title in the text already take part, since a new title would cost tokens too; `closed` ones
    do not.
    """
    every = [c for part in parts for c in part.candidates]
    titled = {c.child for c in every if c.fate == "selected"}
    left = budget - sum(part.used for part in parts)
    open_frames = titled - set(closed)
    places = [i for i, c in enumerate(every) if c.fate == "over_budget" and c.child in open_frames]
    places.sort(key=lambda i: (-every[i].score, every[i].block.id))
    every = list(refill(every, places, left, taken))
    result = []
    start = 0
    for part in parts:
        now = tuple(every[start : start + len(part.candidates)])
        start += len(part.candidates)
        more = _used_tokens(now) - _used_tokens(part.candidates)
        filled = replace(part, candidates=now, used=part.used + more)
        (entry,) = part.ledger
        result.append(replace(filled, ledger=(replace(entry, used=filled.used, blocks=filled.blocks),)))
    return result


def _used_tokens(candidates: Iterable[Candidate]) -> int:
    return sum(c.tokens for c in candidates if c.fate == "selected")


def _rescore_pool(pool: Pool, weights: Weights) -> Pool:
    """Return the pool scored with the composite's own weights, best first."""
    scored = [replace(c, score=c.parts.weigh_parts(weights).total()) for c in pool.candidates]
    return replace(pool, candidates=tuple(sorted(scored, key=lambda c: (-c.score, c.block.id))))


def _intersect_pools(definition: FrameDefinition, pools: Pools, known: Definitions) -> dict[str, Pool]:
    """Return the pools without the candidates that some child does not offer."""
    offers: dict[str, frozenset[str]] = {}
    for child in definition.children:
        parts = [pools[leaf.name].eligible for leaf in leaves(find(child.name, known), known)]
        offers[child.name] = frozenset().union(*parts)
    result = dict(pools)
    names = {leaf.name for leaf in leaves(definition, known)}
    for name in names:
        pool = pools[name]
        result[name] = replace(pool, candidates=tuple(_drop_if_missing(c, offers) for c in pool.candidates))
    return result


def _drop_if_missing(candidate: Candidate, offers: Mapping[str, frozenset[str]]) -> Candidate:
    """Return the candidate, refused with the names of the children whose pool lacks it, if any."""
    missing = [name for name, ids in offers.items() if candidate.block.id not in ids]
    if candidate.fate != "selected" or not missing:
        return candidate
    return replace(candidate, fate="child_dropped", because="not in " + ", ".join(missing))
