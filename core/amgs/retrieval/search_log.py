"""Past searches: kept as they were made, written later, explained from what was kept.

A search only hands over what it has gathered. A few become rows with each assembly, all of them on closing.
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
from amgs.retrieval.stored_candidates import WHOLE, StoredCandidate, as_it_was, found_by, pack, unpack
from amgs.storable import make_storable
from amgs.storage.assemblies import SearchRow
from amgs.types import Block, Explanation, LayerVerdict, Weights

if TYPE_CHECKING:
    from amgs.retrieval.waterfall import Gathered
    from amgs.storage.store import Storage

STORED = 200
"""So many candidates of a search are kept, the best."""
_AT_ONCE = 4
"""Searches that an assembly writes, each some 3 ms: where there are many between two assemblies, the next would take a
second otherwise.
"""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A search that is not written yet."""

    serial: int
    at: datetime
    query: str
    places: int
    weights: Weights
    gathered: Gathered


class SearchLog:
    """The searches of one open memory that were to be kept; those of before lie in its store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._pending: deque[_Pending] = deque()
        self._last: int | None = None

    def keep(self, query: str, gathered: Gathered, *, at: datetime, places: int, weights: Weights, most: int) -> None:
        """Keep a search under the next number; of those not written yet the latest `most` stay."""
        if most <= 0 or self._storage.read_only:
            return
        with self._lock:
            if self._last is None:
                self._last = next((row.serial for row in self._storage.searches.latest(1)), 0)
            self._last += 1
            self._pending.append(_Pending(self._last, at, make_storable(query), places, weights, gathered))
            while len(self._pending) > most:
                self._pending.popleft()

    def write(self, keep: int, most: int | None = _AT_ONCE) -> None:
        """Write the oldest `most` of what was kept, None for all, and leave the latest `keep` of all searches; inside a
        transaction. Where another program has written some since, they are numbered after those.
        """
        with self._lock:
            if not self._pending:
                return
            self._renumber(next((row.serial for row in self._storage.searches.latest(1)), 0))
            count = len(self._pending) if most is None else min(most, len(self._pending))
            rows = [_row(self._pending.popleft()) for _ in range(count)]
        self._storage.searches.put(rows, keep)

    @property
    def waits(self) -> bool:
        """Return whether some entries are unwritten."""
        return bool(self._pending)

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        """Return the latest searches, written or not, the newest first."""
        with self._lock:
            written = self._storage.searches.latest(limit)
            self._renumber(written[0].serial if written else 0)
            fresh = [_row(search) for search in islice(reversed(self._pending), limit)]
        return (*fresh, *written)[:limit]

    def get(self, serial: int) -> SearchRow | None:
        """Return a search by its number; None where it is not kept."""
        with self._lock:
            waiting = next((search for search in self._pending if search.serial == serial), None)
        return self._storage.searches.get(serial) if waiting is None else _row(waiting)

    def _renumber(self, written: int) -> None:
        """Number what is not written yet after all that is: another program may have written some."""
        if self._pending and self._pending[0].serial <= written:
            self._pending = deque(
                replace(search, serial=serial) for serial, search in enumerate(self._pending, written + 1)
            )
            self._last = self._pending[-1].serial


def _row(search: _Pending) -> SearchRow:
    scored, findings = search.gathered.scored, search.gathered.found
    top = scored.order[:STORED]
    candidates = []
    for rank, row in enumerate(top.tolist(), 1):
        seen = findings[int(scored.facts.numbers[row])]
        candidates.append(
            StoredCandidate(
                block=str(scored.facts.ids[row]),
                child="",
                score=float(scored.totals[row]),
                parts=tuple(scored.parts[row].tolist()),
                lexical=saturate_share(seen.share),
                vector=max(seen.cosine or 0.0, 0.0),
                graph=seen.flow,
                layers=seen.layers,
                fate="selected" if rank <= search.places else "not_in_top_k",
                because="",
                tokens=0,
            )
        )
    text = pack(candidates, {WHOLE: search.weights})
    return SearchRow(search.serial, search.at, search.query, search.places, int(np.size(scored.order)), text)


def explain(row: SearchRow, block: Block) -> Explanation:
    """Return why a block was a hit of a past search or not, from what was kept of it."""
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
        candidate=as_it_was(candidate, block),
        layers=(
            LayerVerdict("prefilter", "passed", None, None, "it was a candidate"),
            *found_by(candidate),
            LayerVerdict("score", "passed" if admitted else "missed", candidate.score, needed, f"rank {rank}"),
        ),
        weights=weights[WHOLE],
        as_of=row.at,
    )


def _absent(row: SearchRow, every: Sequence[StoredCandidate], block: Block) -> tuple[str, tuple[LayerVerdict, ...]]:
    """Return the reason and verdict for a block that no layer found or that ranked below the stored candidates."""
    because = f"it was not among the {row.pool} candidates: no layer had found it, or a condition had refused it"
    if block.created_at > row.at:
        because = f"it is dated {block.created_at:%Y-%m-%d}, after the search"
    elif row.pool > len(every):
        because = f"it was not among the best {len(every)} of {row.pool} candidates, which are kept"
    return because, (LayerVerdict("candidates", "missed", None, None, because),)
