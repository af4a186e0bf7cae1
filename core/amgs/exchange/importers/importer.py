"""What every importer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from amgs.exchange.importers.records import ForeignFormat, ForeignRecords
from amgs.settings import IngestSettings


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """branches: keep the messages of a conversation that were asked again or answered again."""

    ingest: IngestSettings
    branches: bool = False


class Importer(Protocol):
    """Reads one format from a parsed JSON document; knows no file.

    program: whose files these are, in its own spelling.
    """

    name: ForeignFormat
    program: str

    def recognises(self, data: Any) -> bool:
        """Whether the document is of this format, by what stands in it."""
        ...

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """The records of the document; whatever is not understood is named, nothing is raised."""
        ...
