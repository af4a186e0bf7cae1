"""Sources of a store that was written before they were kept."""

from __future__ import annotations

from amgs.storage.migrations import ADOPT_SOURCES
from amgs.storage.sources import SourceStorage


class DuckDBSources(SourceStorage):
    """`SourceStorage` in DuckDB."""

    def adopt(self) -> None:
        for statement in ADOPT_SOURCES.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)
