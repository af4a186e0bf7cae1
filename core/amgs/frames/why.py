"""Explain the presence or absence of a block in a frame by its fate among the candidates, or the layer that stopped it.

For a past assembly the stored scores, finders and fates are used: nothing is assembled again, no block is read.
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
from amgs.frames.pipeline import FrameRequest, apply_window, asked_of, build, choosable, derive_request
from amgs.frames.registry import Definitions, leaves
from amgs.frames.score import effective
from amgs.retrieval import why as retrieval
from amgs.retrieval.admit import find_admission
from amgs.retrieval.score import weight_row
from amgs.retrieval.sources import Sources
from amgs.retrieval.stored_candidates import WHOLE, StoredCandidate, layer_verdicts, pack, restore_candidate, unpack
from amgs.retrieval.waterfall import gather
from amgs.settings import Settings
from amgs.storage.assemblies import AssemblyRecord
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
from amgs.types.explanation import MinimumChange, Verdict


class Ranked(Protocol):
    """Peer that a candidate is compared with."""

    @property
    def score(self) -> float: ...
    @property
    def fate(self) -> str: ...


def told(
    candidate: Candidate,
    peers: Sequence[Ranked],
    verdicts: Sequence[LayerVerdict],
    *,
    query: str,
    frame: str,
    weights: Weights,
    as_of: datetime | None = None,
) -> Explanation:
    """Return where a candidate stands among its peers (itself with them) and why it was taken or not.

    verdicts: what brought it. as_of: the instant of a past assembly.
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


def encode(frame: Frame) -> str:
    """Return the frame's candidates and weights."""
    weights = {part.name: part.weights for part in frame.parts} | {WHOLE: frame.weights}
    return pack(map(_convert_candidate, frame.candidates), weights)


def _convert_candidate(candidate: Candidate) -> StoredCandidate:
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
    """Return why a block was in a past assembly or not, from what was kept of it. text: what `encode` wrote."""
    every, weights = unpack(text)
    mine = [candidate for candidate in every if block.id.startswith(candidate.block)]
    if not mine:
        return _absent(record, every, weights, block)
    candidate = next((c for c in mine if c.fate == "selected"), mine[0])
    return told(
        restore_candidate(candidate, block),
        [c for c in every if c.child == candidate.child],
        (LayerVerdict("prefilter", "passed", None, None, "it was a candidate"), *layer_verdicts(candidate)),
        query=record.query,
        frame=record.name,
        weights=weights.get(candidate.child, weights[WHOLE]),
        as_of=record.as_of,
    )


def _absent(
    record: AssemblyRecord, every: Sequence[StoredCandidate], weights: Mapping[str, Weights], block: Block
) -> Explanation:
    """Return a block that no layer had brought."""
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
    """Assemble the frame, leaving no trace, and say what became of one block in it.

    assembly: the frame as it was made, which is explained in place of one that is assembled and scored again.
    child: the part of a composite that is asked about; else the one that took the block, or the first that has it.
    Raises UsageError for a part that the frame has not.
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
        # Of a composite that part speaks that asks by the query.
        asking = (leaf for leaf in atoms.values() if leaf.rule.asks)
        atom = atoms[child] if child is not None else next(asking, next(iter(atoms.values())))
        part = _Part(definition, atom, request, sources, settings)
        if part.asked.within is not None and not retrieval.find_unmet_condition(block, part.asked.filter):
            because = f"it belongs to none of what {atom.name} takes: {_TAKEN[atom.rule.gather]}"
            return retrieval.explain_refusal(part.asked, block, definition.name, because, atom.rule.pool)
        return retrieval.why(part.asked, block, number, sources, atom.rule.pool, frame=definition.name)
    candidate = next((c for c in mine if c.fate == "selected"), mine[0])
    part = _Part(definition, atoms[candidate.child], request, sources, settings)
    fall = told(
        candidate,
        _peers(frame, candidate),
        part.finders(block, number),
        query=frame.query,
        frame=frame.name,
        weights=part.weights,
    )
    if fall.admitted or candidate.fate == "duplicate":  # what the frame has already, no weights bring in again
        return fall
    if candidate.fate == "over_budget":
        pools = choosable(frame, definition, sources, count_tokens)

        def takes(budget: int) -> bool:
            asked = replace(request, budget=budget)
            trial_frame = build(definition, asked, known, sources, settings, count_tokens, pools)
            return block.id in {c.block.id for c in trial_frame.selected}

        fall = replace(fall, budget_change=_budget_change(frame.budget, takes))
    if candidate.fate == "below_threshold":
        atom = atoms[candidate.child]

        def takes_with(changed: FrameDefinition) -> bool:
            whole = changed if definition.name == changed.name else definition
            trial_frame = build(whole, request, {**known, changed.name: changed}, sources, settings, count_tokens)
            return block.id in {c.block.id for c in trial_frame.selected}

        fall = replace(fall, minimum_change=_minimum_change(candidate, _peers(frame, candidate), atom, takes_with))
    change = _change(frame, candidate, part.weights)
    # A budget is in tokens and not in places: only a change under which the frame really takes it is told.
    if change is not None and block.id in {c.block.id for c in build_frame(change.weights).selected}:
        return replace(fall, change=change)
    return fall


_TAKEN = {
    "identity": "what belongs to the self, whatever is asked",
    "known": "what is known about the question",
    "task": "what a task needs",
}


class _Part:
    """One atomic frame of an assembly: what it asks the layers, and with which weights."""

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
        self.weights = effective(atom, request.weights, has_query=self._has_query).weights
        self.asked, self._members = asked_of(
            atom, apply_window(atom, request, sources), query, self.weights, sources, settings
        )

    def finders(self, block: Block, number: int) -> tuple[LayerVerdict, ...]:
        """Return what brought a candidate: the layers that found it, and why it is there whatever they say."""
        brought = LayerVerdict("prefilter", "passed", None, None, self._present(number))
        if not self._has_query:
            return (brought,)
        gathered = gather(replace(self.asked, most=None), self._sources)
        verdicts = retrieval.explain_finders(self.asked, block, number, gathered, self._sources)
        return (brought, *verdicts)

    def _present(self, number: int) -> str:
        rule = self._atom.rule
        if number in self._members:
            return f"{self._atom.name} takes {_TAKEN[rule.gather]}: {self._members[number].because}"
        if rule.gather == "filter" and rule.window_hours is not None:
            return f"{self._atom.name} takes what came or was used in the last {rule.window_hours:g} hours"
        if rule.gather == "filter":
            return f"{self._atom.name} takes whatever passes its conditions"
        return "it passes every condition"


def _budget_change(budget: int, takes: Callable[[int], bool]) -> int | None:
    """Return the fewest tokens more, up to twice the budget, with which it takes the block; None where it does not.

    Steps are doubled before they are halved: others may take what a much larger budget gives.
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


def _minimum_change(
    candidate: Candidate, peers: Sequence[Candidate], atom: FrameDefinition, takes: Callable[[FrameDefinition], bool]
) -> MinimumChange | None:
    """Return which minimum of its frame a candidate is under, and how low it would have to be; None for neither."""
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


def _change(frame: Frame, candidate: Candidate, weights: Weights) -> WeightChange | None:
    peers = _peers(frame, candidate)
    places = sum(c.fate == "selected" for c in peers)
    row = next(i for i, c in enumerate(peers) if c.block.id == candidate.block.id)
    adjustment = find_admission(_parts(peers), row, weight_row(weights), places)
    if adjustment is None:
        return None
    changed = Weights.normalised(**dict(zip(COMPONENTS, adjustment.weights.tolist(), strict=True)))
    return WeightChange(changed, adjustment.distance, adjustment.rank)


def _peers(frame: Frame, candidate: Candidate) -> list[Candidate]:
    return [c for c in frame.candidates if c.child == candidate.child]


def _parts(candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    return np.array([[getattr(c.parts, name) for name in COMPONENTS] for c in candidates])
