"""The table `deleted_blocks`: the ledger of hard pruning of a store that lies in no file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from amgs.storage.deleted_blocks import LEDGER, DeletedBlockStorage
from amgs.storage.sql.connection import SqlConnection, stored


class SqlDeletedBlocks(DeletedBlockStorage):
    """`DeletedBlockStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def add(self, lines: Mapping[str, Mapping[str, Any]], at: datetime) -> None:
        if lines:
            kept = [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in lines.values()]
            self._connection.execute(
                f"INSERT INTO {LEDGER} SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[])::JSON",
                [stored(at), list(lines), kept],
                structural=False,
            )

    def lines(self) -> tuple[Mapping[str, Any], ...]:
        rows = self._connection.rows(f"SELECT line::VARCHAR FROM {LEDGER} ORDER BY rowid")
        return tuple(json.loads(line) for (line,) in rows)
