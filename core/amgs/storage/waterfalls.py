"""What the layers and the selection made of every candidate of an assembly, kept for a number of assemblies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """The candidates of an assembly (by its serial) as JSON; see `amgs.frames.stored_waterfall`."""

    serial: int
    candidates: str


class WaterfallStorage(Protocol):
    """Candidates kept by the serial of their assembly."""

    def put(self, row: WaterfallRow, keep: int) -> None:
        """Keep the candidates of an assembly, and of all assemblies only the latest `keep`."""
        ...

    def get(self, serial: int) -> str | None:
        """The candidates of an assembly; None where they are not kept."""
        ...
