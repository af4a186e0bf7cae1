"""Candidates as they were at a moment, in a compact text: what a past search or assembly is explained from.

No block is kept, only the first 16 digits of its id; a candidate takes about a hundred bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amgs.errors import StoreCorruptError, WeightsError
from amgs.retrieval.waterfall import FINDERS
from amgs.types import COMPONENTS, Block, Candidate, LayerVerdict, ScoreParts, Weights

DIGITS = 16
"""So much of an id is kept."""
WHOLE = ""
"""All candidates together, among the weights of their parts."""

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, WeightsError)
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


def pack(candidates: Iterable[StoredCandidate], weights: Mapping[str, Weights]) -> str:
    """Return candidates and weights (by part; `WHOLE`: of all) as JSON, words once and figures to four digits."""
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(text, len(words))

    rows = [
        [
            one.block[:DIGITS],
            word(one.child),
            round(one.score, 6),
            *(round(part, 4) for part in one.parts),
            round(one.lexical, 4),
            round(one.vector, 4),
            round(one.graph, 4),
            word("+".join(one.layers)),
            word(one.fate),
            word(one.because),
            one.tokens,
        ]
        for one in candidates
    ]
    used = {name: [getattr(each, component) for component in COMPONENTS] for name, each in weights.items()}
    told = {"words": list(words), "rows": rows, "weights": used}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> tuple[tuple[StoredCandidate, ...], dict[str, Weights]]:
    """Return what `pack` wrote: the candidates, and the weights of each part; raises StoreCorruptError for anything
    else.
    """
    try:
        data = json.loads(text)
        words = data["words"]
        weights = {str(name): Weights(*values) for name, values in data["weights"].items()}
        found = tuple(_candidate(row, words) for row in data["rows"])
        return found, {WHOLE: weights[WHOLE], **weights}
    except _DAMAGED as error:
        raise StoreCorruptError(
            "The candidates that were kept are damaged.", way_out="Ask again, and explain that."
        ) from error


def _candidate(row: Sequence[Any], words: Sequence[str]) -> StoredCandidate:
    block, child, score, *rest = row
    parts, (lexical, vector, graph, layers, fate, because, tokens) = tuple(rest[:5]), rest[5:]
    found = tuple(filter(None, words[layers].split("+")))
    return StoredCandidate(
        block, words[child], score, parts, lexical, vector, graph, found, words[fate], words[because], tokens
    )


def found_by(one: StoredCandidate) -> tuple[LayerVerdict, ...]:
    """Return which layers had found a candidate."""
    return tuple(_found(layer, one) for layer in FINDERS)


def _found(layer: str, one: StoredCandidate) -> LayerVerdict:
    found = layer in one.layers
    value = float(getattr(one, _RAW[layer])) if layer in _RAW else None
    because = "this layer found it" if found else "this layer did not find it"
    return LayerVerdict(layer, "passed" if found else "missed", value, None, because)


def as_it_was(one: StoredCandidate, block: Block) -> Candidate:
    """Return a candidate with its scores of then."""
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
