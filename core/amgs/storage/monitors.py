"""The table `monitor_log`, and what the monitors and metrics read of the journal."""

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
    """One value a monitor saw; detail is what the next look is compared with."""

    at: datetime
    kind: str
    subject: str
    value: float | None
    detail: Mapping[str, float]


class MonitorStorage(StoragePart):
    """The log of the monitors."""

    def append(self, seen: Iterable[MonitorValue]) -> None:
        """Record what was seen."""
        for reading in seen:
            self._note(
                "INSERT INTO monitor_log VALUES (?, ?, ?, ?, ?::JSON)",
                [stored(reading.at), reading.kind, reading.subject, reading.value, json.dumps(dict(reading.detail))],
            )

    def remove(self, instants: Iterable[datetime]) -> None:
        """Take back what was recorded at some instants, of two records at one instant the later."""
        for at in instants:
            self._note(
                "DELETE FROM monitor_log WHERE rowid IN "
                "(SELECT max(rowid) FROM monitor_log WHERE timestamp = ? GROUP BY kind)",
                [stored(at)],
            )

    def last(self, kind: str) -> MonitorValue | None:
        """Return the latest record of a kind."""
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
        """Return ids of the standing operations of a kind, the newest first."""
        rows = self._rows("SELECT id FROM operations WHERE kind = ? AND NOT undone ORDER BY id DESC", [kind])
        return tuple(row[0] for row in rows)

    def edges_changed(self, after: int) -> tuple[set[EdgeKey], set[EdgeKey]]:
        """Return keys of the edges that standing operations made and took away after the one with this id."""
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
