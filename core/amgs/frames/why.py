"""Why a block is in a frame or not: its fate among the candidates, or the layer that kept it from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from amgs.frames.assemble import CountTokens
from amgs.frames.pipeline import FrameRequest, asked_of, build, windowed
from amgs.frames.registry import Definitions, leaves
from amgs.frames.score import effective
from amgs.model import (
    COMPONENTS,
    Block,
    Candidate,
    Fall,
    Frame,
    FrameDefinition,
    LayerVerdict,
    WeightChange,
    Weights,
)
from amgs.retrieval import why as retrieval
from amgs.retrieval.admit import admission
from amgs.retrieval.ports import Sources
from amgs.retrieval.score import weight_row
from amgs.settings import Settings


def why(
    definition: FrameDefinition,
    request: FrameRequest,
    known: Definitions,
    sources: Sources,
    settings: Settings,
    count_tokens: CountTokens,
    block: Block,
    number: int,
) -> Fall:
    """Assemble the frame, leaving no trace, and say what became of one block in it."""

    def assembled(weights: Weights | None) -> Frame:
        again = FrameRequest(request.query, request.budget, weights)
        return build(definition, again, known, sources, settings, count_tokens)

    frame = assembled(request.weights)
    mine = [c for c in frame.candidates if c.block.id == block.id]
    if not mine:
        return _before_the_pool(definition, request, known, sources, settings, block, number)
    candidate = next((c for c in mine if c.fate == "selected"), mine[0])
    atom = next(leaf for leaf in leaves(definition, known) if leaf.name == candidate.child)
    has_query = any(c.isalnum() for c in request.query)
    weights = effective(atom, request.weights or atom.weights, has_query=has_query).weights
    fall = _among(frame, candidate, weights)
    if fall.admitted:
        return fall
    change = _change(frame, candidate, weights)
    # A budget is in tokens and not in places: only a change under which the frame really takes it is told.
    if change is not None and block.id in {c.block.id for c in assembled(change.weights).selected}:
        return replace(fall, change=change)
    return fall


def _among(frame: Frame, candidate: Candidate, weights: Weights) -> Fall:
    peers = _peers(frame, candidate)
    chosen = [c for c in peers if c.fate == "selected"]
    needed = min((c.score for c in chosen), default=0.0)
    taken = candidate.fate == "selected"
    because = candidate.because or ("it is in the frame" if taken else candidate.fate.replace("_", " "))
    rank = 1 + sum(c.score > candidate.score for c in peers)
    return Fall(
        query=frame.query,
        block=candidate.block,
        frame=frame.name,
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
            *(LayerVerdict(layer, "passed", None, None, "it found the block") for layer in candidate.layers),
            LayerVerdict("score", "passed", candidate.score, needed, f"rank {rank} in {candidate.child}"),
            LayerVerdict("selection", "passed" if taken else "missed", None, None, because),
        ),
        weights=weights,
    )


def _change(frame: Frame, candidate: Candidate, weights: Weights) -> WeightChange | None:
    peers = _peers(frame, candidate)
    places = sum(c.fate == "selected" for c in peers)
    row = next(i for i, c in enumerate(peers) if c.block.id == candidate.block.id)
    found = admission(_parts(peers), row, weight_row(weights), places)
    if found is None:
        return None
    changed = Weights.normalised(**dict(zip(COMPONENTS, found.weights.tolist(), strict=True)))
    return WeightChange(changed, found.distance, found.rank)


def _peers(frame: Frame, candidate: Candidate) -> list[Candidate]:
    return [c for c in frame.candidates if c.child == candidate.child]


def _parts(candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    return np.array([[getattr(c.parts, name) for name in COMPONENTS] for c in candidates])


def _before_the_pool(
    definition: FrameDefinition,
    request: FrameRequest,
    known: Definitions,
    sources: Sources,
    settings: Settings,
    block: Block,
    number: int,
) -> Fall:
    """The block is no candidate: the pre-filter, the finders or the size of the pool kept it out. Of a
    composite that part speaks that asks by the query.
    """
    atoms = leaves(definition, known)
    atom = next((leaf for leaf in atoms if leaf.rule.gather == "query"), atoms[0])
    has_query = any(c.isalnum() for c in request.query)
    weights = effective(atom, request.weights or atom.weights, has_query=has_query).weights
    asked, _ = asked_of(atom, windowed(atom, sources), request.query, weights, sources, settings)
    return retrieval.why(
        asked, block, number, sources, settings.retrieval, atom.rule.pool, frame=definition.name
    )
