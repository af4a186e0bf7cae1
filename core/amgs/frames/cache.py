"""Cache assembled frames, and the scored candidates of a composite's children, as JSON (AMGS §10.2).

The API stores what `encode_frame` and `encode_pool` return, and asks `stale_reason` whether it may be used again. A
child with `refresh_hours` is not scored again for each frame of its parent; an identity frame is scored without the
query in a composite, so that it stays the same for all questions of an hour. Stored JSON of earlier versions must still
be read, or count as damaged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import parse_instant
from amgs.decay import hours_between
from amgs.errors import StoreCorruptError, WeightsError
from amgs.frames.pipeline import FrameRequest, ScoredPool
from amgs.types import (
    COMPONENTS,
    Block,
    Candidate,
    Frame,
    FrameDefinition,
    FramePart,
    LayerReport,
    LedgerEntry,
    PassageSpan,
    ScoreParts,
    Span,
    Weights,
)
from amgs.types.calibration import FrameCoverage

Importance = Mapping[str, float]
"""Centrality of the blocks tagged as self, by id."""

LARGEST_SHIFT = 0.1
"""A cached SELF expires when its `shift` of centrality is greater."""

DAMAGED = (KeyError, TypeError, ValueError, AttributeError, WeightsError)
"""Errors that reading a damaged cache entry raises: a file was edited or an import cut."""


def request_key(request: FrameRequest) -> str:
    """Return a cache key: a hash of a request's query, budget, weights and instant."""
    weights = None if request.weights is None else [getattr(request.weights, n) for n in COMPONENTS]
    asked = [request.query, request.budget, weights]
    text = json.dumps(asked if request.as_of is None else [*asked, request.as_of.isoformat()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shift(before: Importance, now: Importance) -> float:
    """Return how far centrality moved among the blocks of self: half the summed change of their shares, in [0, 1].

    0: every share is the same; 1: no block with a share before has a share now. Two empty mappings are equal.
    """
    ids = sorted(before.keys() | now.keys())
    first, second = _shares(before), _shares(now)
    if not first or not second:
        return float(bool(first) != bool(second))
    return 0.5 * sum(abs(first.get(block_id, 0.0) - second.get(block_id, 0.0)) for block_id in ids)


def _shares(importance: Importance) -> dict[str, float]:
    total = sum(importance.values())
    return {i: value / total for i, value in importance.items()} if total > 0 else {}


@dataclass(frozen=True, slots=True)
class CachedState:
    """State of the memory when an assembly was cached, or now.

    structure: the store's change counter for blocks and edges. definition: hash of the frame's definition. tagged: ids
    of the self-tagged blocks, with their centrality.
    """

    computed_at: datetime
    structure: int
    definition: str
    tagged: Importance


def stale_reason(
    assembly: CachedState, now: CachedState, definition: FrameDefinition, *, hours: float, of_self: bool
) -> str:
    """Return why a cached assembly may not be used now; "" when it may.

    hours: how long it stays fresh; 0: never used again. of_self: an identity frame expires only with a self-tagged
    block that came or went, or a shift of centrality; any other frame expires with every change of blocks and edges.
    """
    age = hours_between(assembly.computed_at, now.computed_at)
    if hours <= 0:
        return f"{definition.name} is assembled again for every query"
    if age < 0:
        return "the clock went back"
    if age > hours:
        return f"it is {age:.1f} hours old and fresh for {hours:g}"
    if assembly.definition != now.definition:
        return f"the definition of {definition.name} was changed"
    if not of_self:
        return "" if assembly.structure == now.structure else "the memory was changed"
    come, gone = now.tagged.keys() - assembly.tagged.keys(), assembly.tagged.keys() - now.tagged.keys()
    if come or gone:
        return f"{len(come)} self-tagged blocks came and {len(gone)} left"
    moved = shift(assembly.tagged, now.tagged)
    return f"centrality within the identity shifted by {moved:.2f}" if moved > LARGEST_SHIFT else ""


# --- a frame as JSON --------------------------------------------------------------------------------------


def encode_frame(frame: Frame, *, whole: bool = False) -> str:
    """Return a frame as JSON, without its rejected candidates unless `whole`; of blocks only the ids."""
    plain: dict[str, Any] = {
        name: getattr(frame, name)
        for name in ("id", "name", "query", "budget", "tokens", "text", "entropy_bits", "milliseconds")
    }
    plain["as_of"] = frame.as_of.isoformat()
    plain["remarks"] = list(frame.remarks)
    plain["weights"] = _values(frame.weights)
    plain["spans"] = [_values(span) for span in frame.spans]
    plain["ledger"] = [_values(entry) for entry in frame.ledger]
    plain["layers"] = [_values(layer) for layer in frame.layers]
    plain["parts"] = [[part.name, _values(part.weights), part.gather] for part in frame.parts]
    plain["candidates"] = [encode_candidate(candidate) for candidate in (frame.candidates if whole else frame.selected)]
    if whole and frame.coverage is not None:
        plain["coverage"] = _values(frame.coverage)
    return json.dumps(plain, ensure_ascii=False)


def decode_frame(text: str, blocks: Callable[[list[str]], Mapping[str, Block]]) -> Frame:
    """Return the frame that `encode_frame` wrote; raise StoreCorruptError when a block is gone or the text is damaged.

    blocks: reads blocks by id.
    """
    try:
        return _decode_fields(json.loads(text), blocks)
    except DAMAGED as error:
        raise StoreCorruptError("A cached frame is damaged.", way_out="Assemble the frame again.") from error


def _decode_fields(data: dict[str, Any], blocks: Callable[[list[str]], Mapping[str, Block]]) -> Frame:
    """Return the frame of decoded JSON. blocks: reads blocks by id."""
    rows = data.pop("candidates")
    stored_blocks = blocks([row["block"] for row in rows])
    return Frame(
        **{
            **data,
            "as_of": parse_instant(data["as_of"]),
            "remarks": tuple(data["remarks"]),
            "weights": Weights(*data["weights"]),
            "spans": tuple(Span(*span) for span in data["spans"]),
            "ledger": tuple(LedgerEntry(*entry) for entry in data["ledger"]),
            "layers": tuple(LayerReport(*layer) for layer in data["layers"]),
            "candidates": tuple(decode_candidate(row, stored_blocks) for row in rows),
            "parts": tuple(
                FramePart(name, Weights(*weights), gather) for name, weights, gather in data.get("parts", ())
            ),
            "coverage": _decode_coverage(data.get("coverage")),
        }
    )


def _values(record: Any) -> list[Any]:
    # `dataclasses.fields` would filter the fields again for each of thousands of values.
    return [getattr(record, name) for name in record.__dataclass_fields__]


def encode_candidate(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as a JSON object, with its block's id in place of the block."""
    plain = {name: getattr(candidate, name) for name in candidate.__dataclass_fields__}
    passage = None if candidate.passage is None else _values(candidate.passage)
    written = {"block": candidate.block.id, "parts": _values(candidate.parts), "layers": list(candidate.layers)}
    return {**plain, **written, "passage": passage}


def _decode_coverage(coverage: Any) -> FrameCoverage | None:
    if coverage is None:
        return None
    questions, share, costs = coverage
    return FrameCoverage(int(questions), float(share), tuple((float(level), cost) for level, cost in costs))


def _decode_passage(passage: Any) -> PassageSpan | None:
    if passage is None:
        return None
    start, end, matches = passage
    return PassageSpan(int(start), int(end), tuple((int(first), int(last)) for first, last in matches))


def decode_candidate(row: Mapping[str, Any], blocks: Mapping[str, Block]) -> Candidate:
    """Return the candidate that `encode_candidate` wrote; raise StoreCorruptError when its block is gone."""
    if row["block"] not in blocks:
        raise StoreCorruptError(
            f"Block {row['block'][:12]} of a cached frame is gone.", way_out="Assemble the frame again."
        )
    return Candidate(
        **{
            **row,
            "block": blocks[row["block"]],
            "parts": ScoreParts(*row["parts"]),
            "layers": tuple(row["layers"]),
            "evidence": tuple((str(name), float(value)) for name, value in row["evidence"]),
            "passage": _decode_passage(row.get("passage")),
        }
    )


POOL_PREFIX = "pool:"


@dataclass(frozen=True, slots=True)
class ChildPool:
    """Scored candidates of a composite's child. made_by: serial of the assembly that scored them; None for the current
    frame. age_hours: hours since.
    """

    scored: ScoredPool
    made_by: int | None = None
    age_hours: float = 0.0


def pool_key(request: FrameRequest, parent: FrameDefinition) -> str:
    """Return a child's cache key: a hash of its request and of the parent's layout, which decides the blocks' costs."""
    weights = None if request.weights is None else [getattr(request.weights, n) for n in COMPONENTS]
    text = json.dumps([request.query, weights, parent.assembly])
    return POOL_PREFIX + hashlib.sha256(text.encode()).hexdigest()[:16]


def encode_pool(scored: ScoredPool, serial: int) -> str:
    """Return a pool as JSON, of blocks only the ids. serial: of the assembly that scored it."""
    return json.dumps(
        {
            "serial": serial,
            "candidates": [encode_candidate(candidate) for candidate in scored.candidates],
            "weights": [getattr(scored.weights, name) for name in COMPONENTS],
            "remarks": list(scored.remarks),
        },
        ensure_ascii=False,
    )


def decode_pool(text: str, blocks: Callable[[list[str]], Mapping[str, Block]]) -> tuple[ScoredPool, int] | None:
    """Return the pool that `encode_pool` wrote, without layer reports and vectors, and its assembly's serial.

    None when a block is gone or the text is damaged: the caller then scores the child again.
    """
    try:
        data = json.loads(text)
        stored_blocks = blocks([row["block"] for row in data["candidates"]])
        candidates = tuple(decode_candidate(row, stored_blocks) for row in data["candidates"])
        scored = ScoredPool(candidates, Weights(*data["weights"]), (), remarks=tuple(data["remarks"]))
        return scored, int(data["serial"])
    except (StoreCorruptError, *DAMAGED):
        return None
