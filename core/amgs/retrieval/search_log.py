"""Keep past searches, so that `why` can explain a hit, or a block that was missed, as it was at the time.

A search only queues its evidence here. A few queued searches become rows of the store with each frame
assembly, the rest when the memory closes, so that searching itself never writes.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from amgs.errors import StoreCorruptError, WeightsError
from amgs.incoming import make_storable
from amgs.retrieval.layers import saturate_share
from amgs.retrieval.waterfall import FINDERS
from amgs.storage.frames import SearchRow
from amgs.types import COMPONENTS, Block, Candidate, Explanation, LayerVerdict, ScoreParts, Weights

if TYPE_CHECKING:
    from amgs.retrieval.waterfall import Gathered
    from amgs.storage.store import Storage


DIGITS = 16
"""Digits of an id that are stored."""
WHOLE = ""
"""All candidates together, among the weights of their parts."""

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, WeightsError)
_RAW = {"keyword": "lexical", "vector": "vector", "graph": "graph"}
"""The layers whose own score of a candidate is stored."""


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """Fate of a block in a single part of a frame. block: the first digits of its id. layers: that found it."""

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

    A block is stored as the first 16 digits of its id; a candidate takes about a hundred bytes.
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
            "The candidates that were stored are damaged.", way_out="Ask again, and explain that."
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


STORED = 200
"""Number of best candidates that are stored with a search."""
_AT_ONCE = 4
"""Searches that an assembly writes, at some 3 ms each; writing hundreds at once would delay it by a second."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A search that is not yet a row of the store."""

    serial: int
    at: datetime
    query: str
    places: int
    weights: Weights
    gathered: Gathered


class SearchLog:
    """Queue of an open memory's searches, read together with the rows of earlier ones; any thread may call it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._pending: deque[_Pending] = deque()
        self._last: int | None = None

    def keep(self, query: str, gathered: Gathered, *, at: datetime, places: int, weights: Weights, most: int) -> None:
        """Queue a search under the next number and drop all but the latest `most` queued; 0 keeps none."""
        if most <= 0 or self._storage.read_only:
            return
        with self._lock:
            if self._last is None:
                self._last = self._storage.searches.last()
            self._last += 1
            self._pending.append(_Pending(self._last, at, make_storable(query), places, weights, gathered))
            while len(self._pending) > most:
                self._pending.popleft()

    def write(self, keep: int, most: int | None = _AT_ONCE) -> None:
        """Write the oldest `most` queued searches (None: all) and delete stored ones but the latest `keep`.

        The caller holds a transaction. Where another program has written searches since, these are numbered after them.
        """
        with self._lock:
            if not self._pending:
                return
            self._renumber(self._storage.searches.last())
            count = len(self._pending) if most is None else min(most, len(self._pending))
            rows = [_row(self._pending.popleft()) for _ in range(count)]
        self._storage.searches.put(rows, keep)

    @property
    def waits(self) -> bool:
        """Whether searches are queued."""
        return bool(self._pending)

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        """Return the latest searches, written or not, the newest first."""
        with self._lock:
            written = self._storage.searches.latest(limit)
            self._renumber(written[0].serial if written else 0)
            fresh = [_row(search) for search in islice(reversed(self._pending), limit)]
        return (*fresh, *written)[:limit]

    def get(self, serial: int) -> SearchRow | None:
        """Return a search by its number, queued or stored; None where there is none."""
        with self._lock:
            waiting = next((search for search in self._pending if search.serial == serial), None)
        return self._storage.searches.get(serial) if waiting is None else _row(waiting)

    def _renumber(self, written: int) -> None:
        """Renumber the queue from after `written`, the latest stored number: another program may have written some."""
        if self._pending and self._pending[0].serial <= written:
            self._pending = deque(
                replace(search, serial=serial) for serial, search in enumerate(self._pending, written + 1)
            )
            self._last = self._pending[-1].serial


def _row(search: _Pending) -> SearchRow:
    """Return a search as a row of the store, with its best STORED candidates and why each was a hit or not."""
    scored, findings = search.gathered.scored, search.gathered.findings
    top = scored.order[:STORED]
    candidates = []
    for rank, row in enumerate(top.tolist(), 1):
        finding = findings[int(scored.facts.numbers[row])]
        candidates.append(
            StoredCandidate(
                block=str(scored.facts.ids[row]),
                child="",
                score=float(scored.totals[row]),
                parts=tuple(scored.parts[row].tolist()),
                lexical=saturate_share(finding.share),
                vector=max(finding.cosine or 0.0, 0.0),
                graph=finding.flow,
                layers=finding.layers,
                fate="selected" if rank <= search.places else "not_in_top_k",
                because="",
                tokens=0,
            )
        )
    text = pack(candidates, {WHOLE: search.weights})
    return SearchRow(search.serial, search.at, search.query, search.places, int(np.size(scored.order)), text)


def explain(row: SearchRow, block: Block) -> Explanation:
    """Explain from its stored candidates why a block was a hit of a past search or not."""
    every, weights = unpack(row.candidates)
    place = next((n for n, candidate in enumerate(every) if block.id.startswith(candidate.block)), None)
    if place is None:
        because, layers = _absent(row, every, block)
        return Explanation(
            query=row.query,
            block=block,
            frame="",
            fell_at="candidates",
            because=because,
            by=1.0,
            rank=0,
            of=row.pool,
            places=row.places,
            score=0.0,
            needed=every[: row.places][-1].score if every else 0.0,
            candidate=None,
            layers=layers,
            weights=weights[WHOLE],
            as_of=row.at,
        )
    candidate, rank = every[place], place + 1
    others = [other.score for other in every if other is not candidate][: row.places]
    needed = others[-1] if others else candidate.score
    admitted, lacks = rank <= row.places, max(needed - candidate.score, 0.0)
    because = f"it was number {rank} of {row.pool}"
    if not admitted:
        because = f"it was number {rank}, the best {row.places} were taken; it lacked {lacks:.3f}"
    return Explanation(
        query=row.query,
        block=block,
        frame="",
        fell_at="" if admitted else "score",
        because=because,
        by=0.0 if admitted else lacks,
        rank=rank,
        of=row.pool,
        places=row.places,
        score=candidate.score,
        needed=needed,
        candidate=restore_candidate(candidate, block),
        layers=(
            LayerVerdict("prefilter", "passed", None, None, "it was a candidate"),
            *layer_verdicts(candidate),
            LayerVerdict("score", "passed" if admitted else "missed", candidate.score, needed, f"rank {rank}"),
        ),
        weights=weights[WHOLE],
        as_of=row.at,
    )


def _absent(row: SearchRow, every: Sequence[StoredCandidate], block: Block) -> tuple[str, tuple[LayerVerdict, ...]]:
    """Return the reason, and the verdicts, for a block that is not among a search's stored candidates."""
    because = f"it was not among the {row.pool} candidates: no layer had found it, or a condition had refused it"
    if block.created_at > row.at:
        because = f"it is dated {block.created_at:%Y-%m-%d}, after the search"
    elif row.pool > len(every):
        because = f"it was not among the best {len(every)} of {row.pool} candidates, which are stored"
    return because, (LayerVerdict("candidates", "missed", None, None, because),)
