"""Write the candidates of a search or an assembly as compact JSON, so that it can be explained later as it was.

`pack` makes the text that a row of the store keeps, and `unpack` reads it, from older versions too. A block is stored
as the first 16 digits of its id; a candidate takes about a hundred bytes.
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
    """Fate of a block in one part of a frame. block: the first digits of its id. layers: that found it."""

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
    """Return candidates and scoring weights as JSON, each word once and figures to four digits.

    weights: by the part of a frame that a candidate is in; `WHOLE` for the whole frame or search.
    """
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(text, len(words))

    rows = [
        [
            candidate.block[:DIGITS],
            word(candidate.child),
            round(candidate.score, 6),
            *(round(part, 4) for part in candidate.parts),
            round(candidate.lexical, 4),
            round(candidate.vector, 4),
            round(candidate.graph, 4),
            word("+".join(candidate.layers)),
            word(candidate.fate),
            word(candidate.because),
            candidate.tokens,
        ]
        for candidate in candidates
    ]
    used = {
        name: [getattr(child_weights, component) for component in COMPONENTS] for name, child_weights in weights.items()
    }
    data = {"words": list(words), "rows": rows, "weights": used}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> tuple[tuple[StoredCandidate, ...], dict[str, Weights]]:
    """Return the candidates and weights that `pack` wrote; raise StoreCorruptError for any other text."""
    try:
        data = json.loads(text)
        words = data["words"]
        weights = {str(name): Weights(*values) for name, values in data["weights"].items()}
        candidates = tuple(_candidate(row, words) for row in data["rows"])
        return candidates, {WHOLE: weights[WHOLE], **weights}
    except _DAMAGED as error:
        raise StoreCorruptError(
            "The candidates that were kept are damaged.", way_out="Ask again, and explain that."
        ) from error


def _candidate(row: Sequence[Any], words: Sequence[str]) -> StoredCandidate:
    block, child, score, *rest = row
    parts, (lexical, vector, graph, layers, fate, because, tokens) = tuple(rest[:5]), rest[5:]
    layer_names = tuple(filter(None, words[layers].split("+")))
    return StoredCandidate(
        block, words[child], score, parts, lexical, vector, graph, layer_names, words[fate], words[because], tokens
    )


def layer_verdicts(candidate: StoredCandidate) -> tuple[LayerVerdict, ...]:
    """Return for each finding layer whether it had found the candidate."""
    return tuple(_layer_verdict(layer, candidate) for layer in FINDERS)


def _layer_verdict(layer: str, candidate: StoredCandidate) -> LayerVerdict:
    is_hit = layer in candidate.layers
    value = float(getattr(candidate, _RAW[layer])) if layer in _RAW else None
    because = "this layer found it" if is_hit else "this layer did not find it"
    return LayerVerdict(layer, "passed" if is_hit else "missed", value, None, because)


def restore_candidate(candidate: StoredCandidate, block: Block) -> Candidate:
    """Return a stored candidate as a Candidate, with the scores it had then. block: its block as it is now."""
    became: Any = candidate.fate
    return Candidate(
        block=block,
        parts=ScoreParts(*candidate.parts),
        score=candidate.score,
        tokens=candidate.tokens,
        layers=candidate.layers,
        fate=became,
        because=candidate.because,
        child=candidate.child,
        lexical=candidate.lexical,
        vector=candidate.vector,
        graph=candidate.graph,
    )
