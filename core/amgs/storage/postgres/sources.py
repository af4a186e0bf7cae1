"""Sources in PostgreSQL, where no store is older than they are."""

from __future__ import annotations

from amgs.errors import StoreError
from amgs.storage.sources import SourceStorage


class PostgresSources(SourceStorage):
    """`SourceStorage` in PostgreSQL."""

    def adopt(self) -> None:
        raise StoreError(
            "An export from before sources were kept cannot be imported into PostgreSQL.",
            way_out="Import it into a file, export that, and import the new export.",
        )
