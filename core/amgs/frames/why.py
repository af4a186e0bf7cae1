"""Explain why a block is or is not in a frame: its fate among the candidates, or the search layer that missed it.

`why` assembles the frame again without logging it, and looks for the smallest change that would admit the block.
`explain` answers for a past assembly from what `encode_candidates` stored: it assembles nothing and reads no block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.errors import UsageError
from amgs.frames.assemble import CountTokens
from amgs.frames.pipeline import (
    FrameRequest,
    apply_window,
    build,
    build_search,
    candidates_before_choice,
    derive_request,
)
from amgs.frames.registry import Definitions, leaves
from amgs.frames.select import effective_weights
from amgs.retrieval import why as retrieval
from amgs.retrieval.layers import weight_row
from amgs.retrieval.search_log import WHOLE, StoredCandidate, layer_verdicts, pack, restore_candidate, unpack
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import gather
from amgs.retrieval.why import find_admission
from amgs.settings import Settings
from amgs.storage.frames import AssemblyRecord
from amgs.types import (
    COMPONENTS,
    Block,
    Candidate,
    Explanation,
    Frame,
    FrameDefinition,
    LayerVerdict,
    WeightChange,
    Weights,
)
from amgs.types.retrieval import MinimumChange, Verdict


class Ranked(Protocol):
    """A candidate that another is compared with: live or stored."""

    @property
    def score(self) -> float: ...
    @property
    def fate(self) -> str: ...


def explain_candidate(
    candidate: Candidate,
    peers: Sequence[Ranked],
    verdicts: Sequence[LayerVerdict],
    *,
    query: str,
    frame: str,
    weights: Weights,
    as_of: datetime | None = None,
) -> Explanation:
    """Explain a candidate's place among the candidates of its part, and why it was selected or not.

    peers: all candidates of the part, itself included. verdicts: of the layers that found it. as_of: the instant of a
    past assembly; None for a current assembly.
    """
    chosen = [peer.score for peer in peers if peer.fate == "selected"]
    needed = min(chosen, default=0.0)
    taken = candidate.fate == "selected"
    verb = "is" if as_of is None else "was"
    because = candidate.because or (f"it {verb} in the frame" if taken else candidate.fate.replace("_", " "))
    rank = 1 + sum(peer.score > candidate.score for peer in peers)
    score: Verdict = "passed" if taken or candidate.score >= needed else "missed"
    stands = f"rank {rank} of {len(peers)} in {candidate.child}"
    return Explanation(
        query=query,
        block=candidate.block,
        frame=frame,
        fell_at="" if taken else "selection",
        because=because,
        by=0.0 if taken else max(needed - candidate.score, 0.0),
        rank=rank,
        of=len(peers),
        places=len(chosen),
        score=candidate.score,
        needed=needed,
        candidate=candidate,
        layers=(
            *verdicts,
            LayerVerdict("score", score, candidate.score, needed, stands),
            LayerVerdict("selection", "passed" if taken else "missed", None, None, because),
        ),
        weights=weights,
        as_of=as_of,
    )


def encode_candidates(frame: Frame) -> str:
    """Return the text that the store keeps of an assembly: its candidates and weights."""
    weights = {part.name: part.weights for part in frame.parts} | {WHOLE: frame.weights}
    return pack(map(_to_stored, frame.candidates), weights)


def _to_stored(candidate: Candidate) -> StoredCandidate:
    return StoredCandidate(
        candidate.block.id,
        candidate.child,
        candidate.score,
        tuple(getattr(candidate.parts, name) for name in COMPONENTS),
        candidate.lexical,
        candidate.vector,
        candidate.graph,
        candidate.layers,
        candidate.fate,
        candidate.because,
        candidate.tokens,
    )


def explain(record: AssemblyRecord, text: str, block: Block) -> Explanation:
    """Explain why a block was in a past assembly or not. text: what `encode_candidates` returned then."""
    every, weights = unpack(text)
    mine = [candidate for candidate in every if block.id.startswith(candidate.block)]
    if not mine:
        return _explain_absence(record, every, weights, block)
    candidate = next((c for c in mine if c.fate == "selected"), mine[0])
    return explain_candidate(
        restore_candidate(candidate, block),
        [c for c in every if c.child == candidate.child],
        (LayerVerdict("prefilter", "passed", None, None, "it was a candidate"), *layer_verdicts(candidate)),
        query=record.query,
        frame=record.name,
        weights=weights.get(candidate.child, weights[WHOLE]),
        as_of=record.as_of,
    )


def _explain_absence(
    record: AssemblyRecord, every: Sequence[StoredCandidate], weights: Mapping[str, Weights], block: Block
) -> Explanation:
    """Explain why a block is not among a past assembly's candidates."""
    because = f"it was not among the {len(every)} candidates: no layer had brought it, or a condition had refused it"
    if block.created_at > record.as_of:
        because = f"it is dated {block.created_at:%Y-%m-%d}, after the assembly"
    return Explanation(
        query=record.query,
        block=block,
        frame=record.name,
        fell_at="candidates",
        because=because,
        by=1.0,
        rank=0,
        of=len(every),
        places=len(record.selected),
        score=0.0,
        needed=min((candidate.score for candidate in every if candidate.fate == "selected"), default=0.0),
        candidate=None,
        layers=(LayerVerdict("candidates", "missed", None, None, because),),
        weights=weights[WHOLE],
        as_of=record.as_of,
    )


def why(
    definition: FrameDefinition,
    request: FrameRequest,
    known: Definitions,
    sources: Sources,
    settings: Settings,
    count_tokens: CountTokens,
    block: Block,
    number: int,
    child: str | None = None,
    assembly: Frame | None = None,
) -> Explanation:
    """Explain a block's place in a frame, and find the smallest change of budget, minimum or weights that admits it.

    number: the block's number. child: the part of a composite to explain; None: the part that selected the block, else
    the first where it is a candidate. assembly: the frame to explain; None: assemble it, without logging. Raises
    UsageError for a part that the frame does not have.
    """

    def build_frame(weights: Weights | None) -> Frame:
        again = replace(request, weights=weights)
        return build(definition, again, known, sources, settings, count_tokens)

    atoms = {leaf.name: leaf for leaf in leaves(definition, known)}
    if child is not None and child not in atoms:
        raise UsageError(f"{definition.name} has no child {child!r}.", way_out=f"Its children are {', '.join(atoms)}.")
    frame = assembly or build_frame(request.weights)
    mine = [c for c in frame.candidates if c.block.id == block.id and child in (None, c.child)]
    if not mine:
        # For a composite, the part that uses the query is explained.
        asking = (leaf for leaf in atoms.values() if leaf.rule.asks)
        atom = atoms[child] if child is not None else next(asking, next(iter(atoms.values())))
        part = _AtomicPart(definition, atom, request, sources, settings)
        if part.search.within is not None and not retrieval.find_unmet_condition(block, part.search.filter):
            because = f"it belongs to none of what {atom.name} takes: {_TAKEN[atom.rule.gather]}"
            return retrieval.explain_refusal(part.search, block, definition.name, because, atom.rule.pool)
        return retrieval.why(part.search, block, number, sources, atom.rule.pool, frame=definition.name)
    candidate = next((c for c in mine if c.fate == "selected"), mine[0])
    part = _AtomicPart(definition, atoms[candidate.child], request, sources, settings)
    fall = explain_candidate(
        candidate,
        _same_part(frame, candidate),
        part.explain_finders(block, number),
        query=frame.query,
        frame=frame.name,
        weights=part.weights,
    )
    if fall.admitted or candidate.fate == "duplicate":  # no change admits a block twice
        return fall
    if candidate.fate == "over_budget":
        pools = candidates_before_choice(frame, definition, sources, count_tokens)

        def takes(budget: int) -> bool:
            """Return whether the frame selects the block with this budget."""
            asked = replace(request, budget=budget)
            trial_frame = build(definition, asked, known, sources, settings, count_tokens, pools)
            return block.id in {c.block.id for c in trial_frame.selected}

        fall = replace(fall, budget_change=_budget_change(frame.budget, takes))
    if candidate.fate == "below_threshold":
        atom = atoms[candidate.child]

        def takes_with(changed: FrameDefinition) -> bool:
            """Return whether the frame selects the block with this definition of the part."""
            whole = changed if definition.name == changed.name else definition
            trial_frame = build(whole, request, {**known, changed.name: changed}, sources, settings, count_tokens)
            return block.id in {c.block.id for c in trial_frame.selected}

        fall = replace(fall, minimum_change=_lower_minimum(candidate, _same_part(frame, candidate), atom, takes_with))
    change = _weight_change(frame, candidate, part.weights)
    # The weights were found for places, and a budget is in tokens: show them only if the frame really selects the
    # block.
    if change is not None and block.id in {c.block.id for c in build_frame(change.weights).selected}:
        return replace(fall, change=change)
    return fall


_TAKEN = {
    "identity": "what belongs to the self, whatever is asked",
    "known": "what is known about the question",
    "task": "what a task needs",
}


class _AtomicPart:
    """Search and weights of an atomic frame in an assembly, to explain its candidates."""

    def __init__(
        self,
        definition: FrameDefinition,
        atom: FrameDefinition,
        request: FrameRequest,
        sources: Sources,
        settings: Settings,
    ) -> None:
        self._sources, self._atom = sources, atom
        query = derive_request(definition, atom, request).query
        self._has_query = any(c.isalnum() for c in query)
        self.weights = effective_weights(atom, request.weights, has_query=self._has_query).weights
        self.search, self._members = build_search(
            atom, apply_window(atom, request, sources), query, self.weights, sources, settings
        )

    def explain_finders(self, block: Block, number: int) -> tuple[LayerVerdict, ...]:
        """Return the verdicts on a candidate: why the frame considers it, and what each layer of the search says."""
        brought = LayerVerdict("prefilter", "passed", None, None, self._present(number))
        if not self._has_query:
            return (brought,)
        gathered = gather(replace(self.search, most=None), self._sources)
        verdicts = retrieval.explain_finders(self.search, block, number, gathered, self._sources)
        return (brought, *verdicts)

    def _present(self, number: int) -> str:
        """Return why the frame considers a block, whatever the layers of the search say."""
        rule = self._atom.rule
        if number in self._members:
            return f"{self._atom.name} takes {_TAKEN[rule.gather]}: {self._members[number].because}"
        if rule.gather == "filter" and rule.window_hours is not None:
            return f"{self._atom.name} takes what came or was used in the last {rule.window_hours:g} hours"
        if rule.gather == "filter":
            return f"{self._atom.name} takes whatever passes its conditions"
        return "it passes every condition"


def _budget_change(budget: int, takes: Callable[[int], bool]) -> int | None:
    """Return the fewest additional tokens, at most as many as the budget, with which `takes` is true; None if none.

    It doubles the step before it halves it, since a much larger budget may admit other blocks instead.
    """
    least, more = 0, min(1, budget)
    while not takes(budget + more):
        if more == budget:
            return None
        least, more = more, min(2 * more, budget)
    while more - least > 1:
        middle = (least + more) // 2
        least, more = (least, middle) if takes(budget + middle) else (middle, more)
    return more


def _lower_minimum(
    candidate: Candidate, peers: Sequence[Candidate], atom: FrameDefinition, takes: Callable[[FrameDefinition], bool]
) -> MinimumChange | None:
    """Return the minimum of its frame that a candidate does not reach, and the value that would admit it; None where it
    reaches both. The value is None where even that does not admit it.
    """
    rule = atom.rule
    best = max(peer.parts.similarity for peer in peers)
    minimum: Literal["similarity_share", "threshold"]
    if candidate.parts.similarity < rule.similarity_share * best:
        minimum, own = "similarity_share", candidate.parts.similarity / best
    elif candidate.score < rule.threshold:
        minimum, own = "threshold", candidate.score
    else:
        return None
    lowered = max(math.floor(own * 100) / 100, 0.0)
    of_similarity = minimum == "similarity_share"
    changed = replace(rule, similarity_share=lowered) if of_similarity else replace(rule, threshold=lowered)
    admits = takes(replace(atom, rule=changed))
    return MinimumChange(atom.name, minimum, getattr(rule, minimum), lowered if admits else None)


def _weight_change(frame: Frame, candidate: Candidate, weights: Weights) -> WeightChange | None:
    """Return the smallest change of weights that ranks a candidate among as many as its part has selected."""
    peers = _same_part(frame, candidate)
    places = sum(c.fate == "selected" for c in peers)
    row = next(i for i, c in enumerate(peers) if c.block.id == candidate.block.id)
    adjustment = find_admission(_score_parts(peers), row, weight_row(weights), places)
    if adjustment is None:
        return None
    changed = Weights.normalised(**dict(zip(COMPONENTS, adjustment.weights.tolist(), strict=True)))
    return WeightChange(changed, adjustment.distance, adjustment.rank)


def _same_part(frame: Frame, candidate: Candidate) -> list[Candidate]:
    return [c for c in frame.candidates if c.child == candidate.child]


def _score_parts(candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    return np.array([[getattr(c.parts, name) for name in COMPONENTS] for c in candidates])
