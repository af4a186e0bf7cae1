"""The candidates of a past assembly as they were then: what `why` answers from when the memory has moved on.

Nothing is assembled again and no block is read: scores, finders and fates are those of the moment. A candidate takes
about a hundred bytes; blocks are known by the first 16 digits of their ids.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amgs.errors import StoreCorruptError
from amgs.frames import fate
from amgs.frames.cache import DAMAGED
from amgs.retrieval.waterfall import FINDERS
from amgs.storage.assemblies import AssemblyRecord
from amgs.types import (
    COMPONENTS,
    Block,
    Candidate,
    Explanation,
    Frame,
    LayerVerdict,
    ScoreParts,
    Weights,
)

_DIGITS = 16
_WHOLE = ""
"""The frame itself, among the weights of its parts."""
_RAW = {"keyword": "lexical", "vector": "vector", "graph": "graph"}
"""The layers whose own score of a candidate is kept."""


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """What became of a block in one part of a frame. block: the first digits of its id. layers: that found it."""

    block: str
    child: str
    score: float
    parts: tuple[float, ...]
    lexical: float
    vector: float
    graph: float
    layers: tuple[str, ...]
    fate: str
    because: str
    tokens: int


def encode(frame: Frame) -> str:
    """The frame's candidates as JSON, words once and figures to four digits."""
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(text, len(words))

    rows = [
        [
            one.block.id[:_DIGITS],
            word(one.child),
            round(one.score, 6),
            *(round(getattr(one.parts, name), 4) for name in COMPONENTS),
            round(one.lexical, 4),
            round(one.vector, 4),
            round(one.graph, 4),
            word("+".join(one.layers)),
            word(one.fate),
            word(one.because),
            one.tokens,
        ]
        for one in frame.candidates
    ]
    weights = {part.name: [getattr(part.weights, name) for name in COMPONENTS] for part in frame.parts}
    weights[_WHOLE] = [getattr(frame.weights, name) for name in COMPONENTS]
    told = {"words": list(words), "rows": rows, "weights": weights}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def decode(text: str) -> tuple[tuple[StoredCandidate, ...], dict[str, Weights]]:
    """The candidates that `encode` wrote, and the weights of each part; raises StoreCorruptError for anything else."""
    try:
        data = json.loads(text)
        words = data["words"]
        weights = {str(name): Weights(*values) for name, values in data["weights"].items()}
        found = tuple(_candidate(row, words) for row in data["rows"])
        return found, {_WHOLE: weights[_WHOLE], **weights}
    except (*DAMAGED, IndexError) as error:
        raise StoreCorruptError(
            "The candidates kept of a past assembly are damaged.", way_out="Replay the assembly."
        ) from error


def _candidate(row: Sequence[Any], words: Sequence[str]) -> StoredCandidate:
    block, child, score, *rest = row
    parts, (lexical, vector, graph, layers, fate, because, tokens) = tuple(rest[:5]), rest[5:]
    found = tuple(filter(None, words[layers].split("+")))
    return StoredCandidate(
        block, words[child], score, parts, lexical, vector, graph, found, words[fate], words[because], tokens
    )


def explain(record: AssemblyRecord, text: str, block: Block) -> Explanation:
    """Why a block was in a past assembly or not, from what was kept of it. text: what `encode` wrote."""
    every, weights = decode(text)
    mine = [one for one in every if block.id.startswith(one.block)]
    if not mine:
        return _absent(record, every, weights, block)
    one = next((c for c in mine if c.fate == "selected"), mine[0])
    return fate.told(
        _as_it_was(one, block),
        [c for c in every if c.child == one.child],
        (
            LayerVerdict("prefilter", "passed", None, None, "it was a candidate"),
            *(_found(layer, one) for layer in FINDERS),
        ),
        query=record.query,
        frame=record.name,
        weights=weights.get(one.child, weights[_WHOLE]),
        as_of=record.as_of,
    )


def _found(layer: str, one: StoredCandidate) -> LayerVerdict:
    found = layer in one.layers
    value = float(getattr(one, _RAW[layer])) if layer in _RAW else None
    because = "this layer found it" if found else "this layer did not find it"
    return LayerVerdict(layer, "passed" if found else "missed", value, None, because)


def _as_it_was(one: StoredCandidate, block: Block) -> Candidate:
    became: Any = one.fate
    return Candidate(
        block=block,
        parts=ScoreParts(*one.parts),
        score=one.score,
        tokens=one.tokens,
        layers=one.layers,
        fate=became,
        because=one.because,
        child=one.child,
        lexical=one.lexical,
        vector=one.vector,
        graph=one.graph,
    )


def _absent(
    record: AssemblyRecord, every: Sequence[StoredCandidate], weights: dict[str, Weights], block: Block
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
        weights=weights[_WHOLE],
        as_of=record.as_of,
    )
