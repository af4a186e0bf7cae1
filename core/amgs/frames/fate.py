"""What became of a candidate among those of its part of a frame, now or in a past assembly."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from amgs.types import Candidate, Explanation, LayerVerdict, Weights
from amgs.types.explanation import Verdict


class Ranked(Protocol):
    """What a candidate is measured against."""

    @property
    def score(self) -> float: ...
    @property
    def fate(self) -> str: ...


def told(
    candidate: Candidate,
    peers: Sequence[Ranked],
    found: Sequence[LayerVerdict],
    *,
    query: str,
    frame: str,
    weights: Weights,
    as_of: datetime | None = None,
) -> Explanation:
    """Where a candidate stands among its peers (itself with them) and why it was taken or not.

    found: what brought it. as_of: the instant of a past assembly.
    """
    chosen = [one.score for one in peers if one.fate == "selected"]
    needed = min(chosen, default=0.0)
    taken = candidate.fate == "selected"
    verb = "is" if as_of is None else "was"
    because = candidate.because or (f"it {verb} in the frame" if taken else candidate.fate.replace("_", " "))
    rank = 1 + sum(one.score > candidate.score for one in peers)
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
            *found,
            LayerVerdict("score", score, candidate.score, needed, stands),
            LayerVerdict("selection", "passed" if taken else "missed", None, None, because),
        ),
        weights=weights,
        as_of=as_of,
    )
