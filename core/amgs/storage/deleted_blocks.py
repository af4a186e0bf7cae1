"""The table `deleted_blocks`: the ledger of hard pruning of a store that lies in no file, with what left it, whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from amgs.storage.connection import SqlConnection, stored

LEDGER = "deleted_blocks"
"""The table's name."""


class DeletedBlockStorage:
    """Blocks as they were deleted, the earliest first; only erasing a block takes its lines out."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def add(self, lines: Mapping[str, Mapping[str, Any]], at: datetime) -> None:
        """Keep what is deleted now, by id; inside the transaction that deletes it."""
        if lines:
            kept = [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in lines.values()]
            self._connection.execute(
                f"INSERT INTO {LEDGER} SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[])::JSON",
                [stored(at), list(lines), kept],
                structural=False,
            )

    def lines(self) -> tuple[Mapping[str, Any], ...]:
        """Everything that was kept."""
        rows = self._connection.rows(f"SELECT line::VARCHAR FROM {LEDGER} ORDER BY rowid")
        return tuple(json.loads(line) for (line,) in rows)
