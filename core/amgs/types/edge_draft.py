"""Corrections of edges by hand, drafted before they are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.block import Edge, EdgeKey

EdgeAct = Literal["add", "cut", "confirm", "weigh"]


@dataclass(frozen=True, slots=True)
class EdgeEdit:
    """One edge as it is (None: there is none yet) and as it is to be (None: it goes), with the titles of its ends.

    confirmed: somebody said that it is right, so that its decay begins anew.
    """

    before: Edge | None
    after: Edge | None
    source: str
    target: str
    confirmed: bool = False

    @property
    def key(self) -> EdgeKey:
        """What the edge is known by."""
        one = self.after or self.before
        if one is None:
            raise ValueError("an edit needs an edge")
        return one.key

    @property
    def act(self) -> EdgeAct:
        """What is done to it."""
        if self.after is None:
            return "cut"
        if self.before is None:
            return "add"
        return "confirm" if self.confirmed else "weigh"


@dataclass(frozen=True, slots=True)
class EdgeDraft:
    """Corrections of edges in the order they were made, one an edge; nothing of it is written. at: when it was last
    corrected.
    """

    edits: tuple[EdgeEdit, ...]
    at: datetime

    def edit_of(self, key: EdgeKey) -> EdgeEdit | None:
        """The correction of an edge; None where it stays as it is."""
        return next((edit for edit in self.edits if edit.key == key), None)
