"""A page of a list: the rows around the cursor, one a line, the chosen one marked and on the selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from amgs_app.render.figures.canvas import Region, ink
from amgs_app.render.figures.glyphs import scroll_note, window_of

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[R]):
    """The rows of a list that are shown.

    first: the place of the first of them among all `total`. cursor: the place of the chosen one, shown or not.
    """

    rows: Sequence[R]
    first: int
    total: int
    cursor: int | None = None

    @classmethod
    def around(cls, rows: Sequence[R], height: int, cursor: int | None, offset: int = 0) -> ListPage[R]:
        """At most `height` rows from the offset on, or else the page that holds the cursor."""
        height = max(0, height)
        first = window_of(len(rows), height, cursor, offset)
        return cls(rows[first : first + height], first, len(rows), cursor)

    @property
    def note(self) -> str:
        """`1–12 of 97`, or nothing when all are shown."""
        return scroll_note(self.first, len(self.rows), self.total)

    def parted(self, at: int) -> tuple[ListPage[R], ListPage[R]]:
        """The first `at` rows that are shown, and the others."""
        return (
            ListPage(self.rows[:at], self.first, self.total, self.cursor),
            ListPage(self.rows[at:], self.first + at, self.total, self.cursor),
        )

    def draw(self, region: Region, paint: Callable[[Region, R, bool], None]) -> None:
        """Each row on a line from the top of the region; paint(line, row, chosen) leaves the first cell to the mark."""
        palette = region.palette
        for y, row in enumerate(self.rows):
            chosen = self.first + y == self.cursor
            region.lists(y, self.first + y)
            line = region.part(0, y, None, 1)
            line.put(0, 0, "▸" if chosen else " ", ink(palette.accent, bold=True))
            paint(line, row, chosen)
            if chosen:
                line.shade(0, palette.selection)
