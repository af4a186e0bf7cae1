"""The candidates of a past assembly as they were then: what `why` answers from when the memory has moved on.

Nothing is assembled again and no block is read: scores, finders and fates are those of the moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amgs.frames import fate
from amgs.retrieval.stored_candidates import WHOLE, StoredCandidate, as_it_was, found_by, pack, unpack
from amgs.storage.assemblies import AssemblyRecord
from amgs.types import COMPONENTS, Block, Candidate, Explanation, Frame, LayerVerdict, Weights


def encode(frame: Frame) -> str:
    """The frame's candidates and weights."""
    weights = {part.name: part.weights for part in frame.parts} | {WHOLE: frame.weights}
    return pack(map(_stored, frame.candidates), weights)


def _stored(one: Candidate) -> StoredCandidate:
    return StoredCandidate(
        one.block.id,
        one.child,
        one.score,
        tuple(getattr(one.parts, name) for name in COMPONENTS),
        one.lexical,
        one.vector,
        one.graph,
        one.layers,
        one.fate,
        one.because,
        one.tokens,
    )


def explain(record: AssemblyRecord, text: str, block: Block) -> Explanation:
    """Why a block was in a past assembly or not, from what was kept of it. text: what `encode` wrote."""
    every, weights = unpack(text)
    mine = [one for one in every if block.id.startswith(one.block)]
    if not mine:
        return _absent(record, every, weights, block)
    one = next((c for c in mine if c.fate == "selected"), mine[0])
    return fate.told(
        as_it_was(one, block),
        [c for c in every if c.child == one.child],
        (
            LayerVerdict("prefilter", "passed", None, None, "it was a candidate"),
            *found_by(one),
        ),
        query=record.query,
        frame=record.name,
        weights=weights.get(one.child, weights[WHOLE]),
        as_of=record.as_of,
    )


def _absent(
    record: AssemblyRecord, every: Sequence[StoredCandidate], weights: Mapping[str, Weights], block: Block
) -> Explanation:
    """A block that no layer had brought."""
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
        needed=min((one.score for one in every if one.fate == "selected"), default=0.0),
        candidate=None,
        layers=(LayerVerdict("candidates", "missed", None, None, because),),
        weights=weights[WHOLE],
        as_of=record.as_of,
    )
