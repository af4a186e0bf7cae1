"""What a composite takes over from its children while it is fresh: their scored candidates (AMGS §10.2).

A child with a refresh cadence is not scored anew for every assembly of its parent. An identity frame is scored without
the query in a composite, so that the same identity stands behind all questions of an hour.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from amgs.errors import StoreCorruptError
from amgs.frames.cache import DAMAGED, candidate_in, candidate_out
from amgs.frames.pipeline import FrameRequest, ScoredPool
from amgs.types import COMPONENTS, Block, FrameDefinition, Weights

PREFIX = "pool:"


@dataclass(frozen=True, slots=True)
class KeptPool:
    """The candidates of a child. made_by: serial of the assembly that scored them, None for the present one.

    age_hours: since then.
    """

    scored: ScoredPool
    made_by: int | None = None
    age_hours: float = 0.0


def pool_key(request: FrameRequest, parent: FrameDefinition) -> str:
    """What tells one pool of a child from another: the request, and how the parent writes blocks (their costs)."""
    weights = None if request.weights is None else [getattr(request.weights, n) for n in COMPONENTS]
    asked = request.query if parent.assembly == "summary" or request.query else ""
    text = json.dumps([asked, weights, parent.assembly])
    return PREFIX + hashlib.sha256(text.encode()).hexdigest()[:16]


def encode(scored: ScoredPool, serial: int) -> str:
    """A pool as JSON, blocks by their ids; serial: of the assembly that makes it."""
    return json.dumps(
        {
            "serial": serial,
            "candidates": [candidate_out(one) for one in scored.candidates],
            "weights": [getattr(scored.weights, name) for name in COMPONENTS],
            "remarks": list(scored.remarks),
        },
        ensure_ascii=False,
    )


def decode(text: str, blocks: Callable[[list[str]], Mapping[str, Block]]) -> tuple[ScoredPool, int] | None:
    """The pool that `encode` wrote, without layer reports and vectors; None when one of its blocks is gone, or
    when it is damaged: what was kept can always be made anew.
    """
    try:
        data = json.loads(text)
        found = blocks([row["block"] for row in data["candidates"]])
        candidates = tuple(candidate_in(row, found) for row in data["candidates"])
        scored = ScoredPool(candidates, Weights(*data["weights"]), (), remarks=tuple(data["remarks"]))
        return scored, int(data["serial"])
    except (StoreCorruptError, *DAMAGED):
        return None
