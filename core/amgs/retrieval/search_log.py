"""Keep past searches, so that `why` can explain a hit, or a block that was missed, as it was at the time.

A search only queues its evidence here. A few queued searches become rows of the store with each frame assembly, the
rest when the memory closes, so that searching itself never writes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from amgs.retrieval.layers import saturate_share
from amgs.retrieval.stored_candidates import WHOLE, StoredCandidate, layer_verdicts, pack, restore_candidate, unpack
from amgs.storable import make_storable
from amgs.storage.assemblies import SearchRow
from amgs.types import Block, Explanation, LayerVerdict, Weights

if TYPE_CHECKING:
    from amgs.retrieval.waterfall import Gathered
    from amgs.storage.store import Storage

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
        because = f"it was not among the best {len(every)} of {row.pool} candidates, which are kept"
    return because, (LayerVerdict("candidates", "missed", None, None, because),)
