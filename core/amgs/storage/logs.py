"""Tables that record uses and findings, read on demand: `reinforcement_log` and `edge_walks` (AMGS §8.4),
`monitor_log`, and `reviews`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, to_stored_time
from amgs.types import EdgeKey

if TYPE_CHECKING:
    from amgs.types import ReinforcementEvent, Review


class ReinforcementStorage(StoragePart):
    """The log of reinforcements and walks."""

    def append(self, ids: Sequence[str], event_type: str, at: datetime, source: str) -> None:
        """Log an event per block."""
        self._note(
            "INSERT INTO reinforcement_log SELECT unnest(?::VARCHAR[]), ?, ?, ?",
            [list(ids), event_type, to_stored_time(at), source],
        )

    def remove(self, block_id: str, event_type: str, at: datetime, source: str) -> None:
        """Delete an event."""
        self._note(
            "DELETE FROM reinforcement_log WHERE rowid = (SELECT max(rowid) FROM reinforcement_log "
            "WHERE block_id = ? AND event_type = ? AND timestamp = ? AND source = ?)",
            [block_id, event_type, to_stored_time(at), source],
        )

    def of(self, block_id: str) -> tuple[ReinforcementEvent, ...]:
        """Return the events of a block, oldest first."""
        rows = self._rows(
            "SELECT block_id, event_type, timestamp, source FROM reinforcement_log WHERE block_id = ? "
            "ORDER BY timestamp, event_type, source",
            [block_id],
        )
        from amgs.types import ReinforcementEvent

        return tuple(ReinforcementEvent(b, e, as_utc(t), s) for b, e, t, s in rows)

    def instants(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return running number of the block, and time in microseconds since 1970, of every event, oldest first: (n,)
        each.
        """
        c = self._columns(
            "SELECT b.number AS number, epoch_us(l.timestamp) AS at FROM reinforcement_log l "
            "JOIN memory_blocks b ON b.id = l.block_id ORDER BY l.timestamp, b.number"
        )
        return np.asarray(c["number"], dtype=np.int64), np.asarray(c["at"], dtype=np.int64)

    def counts(self) -> dict[str, int]:
        """Count the events by block; blocks without any are left out."""
        return dict(self._rows("SELECT block_id, count(*) FROM reinforcement_log GROUP BY 1 ORDER BY 1"))

    def count(self, *, since: datetime) -> int:
        """Count the events since a time."""
        return self._count("SELECT count(*) FROM reinforcement_log WHERE timestamp >= ?", [to_stored_time(since)])

    def append_walks(self, keys: Sequence[tuple[str, str, str]], at: datetime, source: str) -> None:
        """Log a walk per edge (source, target, relation)."""
        self._note(
            "INSERT INTO edge_walks SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), ?, ?",
            [[k[0] for k in keys], [k[1] for k in keys], [k[2] for k in keys], to_stored_time(at), source],
        )

    def walks(self) -> dict[tuple[str, str, str], int]:
        """Count how often each edge led to a block that a verdict called useful; others are left out."""
        rows = self._rows(
            "SELECT source_id, target_id, relation_type, count(*) FROM edge_forecasts "
            "JOIN calibration_log USING (prediction_id) WHERE actual >= 0.5 GROUP BY 1, 2, 3"
        )
        return {(s, t, r): n for s, t, r, n in rows}

    def uses(self) -> dict[str, frozenset[str]]:
        """Return the occasions on which each block was used; blocks never used are left out.

        Blocks that share an occasion were used together: called useful in the same assembly, or reinforced together.
        Being selected for the same frame does not count.
        """
        # The event of a verdict has a time but no assembly, so verdicts are taken from the log of forecasts.
        rows = self._rows(
            "SELECT block_id, array_agg(DISTINCT occasion) FROM (SELECT block_id, assembly_id AS occasion FROM "
            "calibration_log WHERE actual >= 0.5 UNION ALL SELECT block_id, concat(source, ' ', epoch_us(timestamp)) "
            "FROM reinforcement_log WHERE event_type NOT IN ('assembled', 'useful')) AS used GROUP BY 1"
        )
        return {i: frozenset(s for s in occasions) for i, occasions in rows}

    def find_miscounted_blocks(self) -> tuple[str, ...]:
        """Return ids of blocks whose counter differs from the log; empty in a sound store."""
        rows = self._rows(
            "SELECT b.id FROM memory_blocks b LEFT JOIN (SELECT block_id, count(*) AS n FROM reinforcement_log "
            "GROUP BY 1) l "
            "ON l.block_id = b.id WHERE b.reinforcements <> coalesce(l.n, 0) ORDER BY 1"
        )
        return tuple(row[0] for row in rows)


@dataclass(frozen=True, slots=True)
class MonitorValue:
    """One recorded value. detail: what the next record is compared with."""

    at: datetime
    kind: str
    subject: str
    value: float | None
    detail: Mapping[str, float]


class MonitorStorage(StoragePart):
    """The log of recorded metrics."""

    def append(self, seen: Iterable[MonitorValue]) -> None:
        """Record values."""
        for reading in seen:
            self._note(
                "INSERT INTO monitor_log VALUES (?, ?, ?, ?, ?::JSON)",
                [
                    to_stored_time(reading.at),
                    reading.kind,
                    reading.subject,
                    reading.value,
                    json.dumps(dict(reading.detail)),
                ],
            )

    def remove(self, instants: Iterable[datetime]) -> None:
        """Delete the records of these times; of two records of the same kind at the same time, the later."""
        for at in instants:
            self._note(
                "DELETE FROM monitor_log WHERE rowid IN "
                "(SELECT max(rowid) FROM monitor_log WHERE timestamp = ? GROUP BY kind)",
                [to_stored_time(at)],
            )

    def last(self, kind: str) -> MonitorValue | None:
        """Return the latest record of a kind; None if there is none."""
        rows = self._rows(
            "SELECT timestamp, kind, subject, value, detail::VARCHAR FROM monitor_log WHERE kind = ? "
            "ORDER BY rowid DESC LIMIT 1",
            [kind],
        )
        if not rows:
            return None
        at, kind, subject, value, detail = rows[0]
        return MonitorValue(as_utc(at), kind, subject, value, json.loads(detail))

    def cycles(self, kind: str) -> tuple[int, ...]:
        """Return the ids of operations of a kind that are not undone, newest first."""
        rows = self._rows("SELECT id FROM operations WHERE kind = ? AND NOT undone ORDER BY id DESC", [kind])
        return tuple(row[0] for row in rows)

    def edges_changed(self, after: int) -> tuple[set[EdgeKey], set[EdgeKey]]:
        """Return the keys of edges created and deleted by later operations that are not undone."""
        additions: set[EdgeKey] = set()
        gone: set[EdgeKey] = set()
        for key, is_made, is_gone in self._rows(
            "SELECT r.key, r.before IS NULL, r.after IS NULL FROM operation_rows r JOIN operations o ON o.id = "
            "r.operation_id WHERE r.target = 'edge' AND o.id > ? AND NOT o.undone ORDER BY o.id",
            [after],
        ):
            source, target, relation = key.split(" ", 2)
            if is_made:
                additions.add((source, target, relation))
            if is_gone:
                gone.add((source, target, relation))
        return additions, gone


_STANDING = (
    "SELECT r.id, r.kind, r.older_id, r.newer_id, r.because, r.confidence, r.found_at, "
    "CASE WHEN v.id IS NULL OR v.undone THEN 'open' ELSE r.verdict END AS state, "
    "CASE WHEN v.id IS NULL OR v.undone THEN NULL ELSE v.id END AS decided_by "
    "FROM reviews r JOIN operations f ON f.id = r.found_by AND NOT f.undone "
    "LEFT JOIN operations v ON v.id = r.operation_id"
)


class ReviewStorage(StoragePart):
    """Findings and verdicts.

    A finding counts while the operation that found it is not undone, a verdict while its own operation is not.
    """

    def add(self, reviews: Sequence[Review], operation: int) -> None:
        """Store findings, each under its own number."""
        for review in reviews:
            self._note(
                "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                [
                    review.id,
                    review.kind,
                    review.older_id,
                    review.newer_id,
                    review.because,
                    review.confidence,
                    to_stored_time(review.found_at),
                    operation,
                ],
            )

    def next_id(self) -> int:
        """Return the number of the next finding; numbers are never reused."""
        return self._count("SELECT coalesce(max(id), 0) + 1 FROM reviews")

    def waiting(self) -> int:
        """Count the open findings."""
        return self._count(f"SELECT count(*) FROM ({_STANDING}) WHERE state = 'open'")

    def everything(self) -> tuple[Review, ...]:
        """Return the valid findings, open ones first, then by falling confidence."""
        rows = self._rows(f"SELECT * FROM ({_STANDING}) AS r ORDER BY state <> 'open', confidence DESC, id")
        return tuple(_review(row) for row in rows)

    def decide(self, review: int, verdict: str, operation: int) -> None:
        """Store a verdict and the operation that applied it."""
        self._note("UPDATE reviews SET verdict = ?, operation_id = ? WHERE id = ?", [verdict, operation, review])


def _review(row: Sequence[Any]) -> Review:
    from amgs.types import Review

    number, kind, older, newer, because, confidence, at, state, operation = row
    return Review(number, kind, older, newer, because, confidence, as_utc(at), state, operation)
