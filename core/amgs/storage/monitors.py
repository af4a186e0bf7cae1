"""Table `monitor_log`: recorded metrics; and what monitors read from the journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, stored
from amgs.types import EdgeKey


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
                [stored(reading.at), reading.kind, reading.subject, reading.value, json.dumps(dict(reading.detail))],
            )

    def remove(self, instants: Iterable[datetime]) -> None:
        """Delete the records of these times; of two records of one kind at one time, the later."""
        for at in instants:
            self._note(
                "DELETE FROM monitor_log WHERE rowid IN "
                "(SELECT max(rowid) FROM monitor_log WHERE timestamp = ? GROUP BY kind)",
                [stored(at)],
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
        """Return the keys of edges created and deleted by operations after this one that are not undone."""
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
