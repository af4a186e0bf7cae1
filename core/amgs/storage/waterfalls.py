"""The table `waterfalls`: what the layers and the selection made of every candidate of the latest assemblies."""

from __future__ import annotations

from dataclasses import dataclass

from amgs.storage.connection import SqlConnection


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """The candidates of an assembly (by its serial) as JSON; see `amgs.frames.stored_waterfall`."""

    serial: int
    candidates: str


class WaterfallStorage:
    """Candidates kept by the serial of their assembly."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, row: WaterfallRow, keep: int) -> None:
        """Keep the candidates of an assembly, and of all assemblies only the latest `keep`."""
        self._connection.execute(
            "DELETE FROM waterfalls WHERE serial IN (SELECT serial FROM waterfalls ORDER BY serial DESC OFFSET ?)",
            [max(keep - 1, 0)],
            structural=False,
        )
        if keep > 0:
            self._connection.execute(
                "INSERT INTO waterfalls VALUES (?, ?)", [row.serial, row.candidates], structural=False
            )

    def get(self, serial: int) -> str | None:
        """The candidates of an assembly; None where they are not kept."""
        value = self._connection.value("SELECT candidates FROM waterfalls WHERE serial = ?", [serial])
        return None if value is None else str(value)
