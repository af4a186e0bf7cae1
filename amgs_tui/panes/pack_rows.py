"""What the Packs pane lists: the packs, those for a question, what waits for a decision, or the members of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs_app.panes.row_fields import of_packs, of_proposals, of_routed
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.pack_acting import PackActing
from amgs_tui.panes.pack_deciding import PackDeciding

if TYPE_CHECKING:
    from amgs.types import Block
    from amgs.types.pack_learning import PackProposal
    from amgs.types.packs import PackContent, PackOutlook, RoutedPack
    from amgs_app.panes.row_filter import Row
    from amgs_app.render.figures.packs import PackMemberRow
    from amgs_tui.host import Host


class PackRows(PackActing, PackDeciding, ListPane):
    """A pane that lists packs, or what stands in one.

    content: of the pack that is looked at. inside: whether its members are listed in place of the packs; learning:
    whose origins are listed.
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.content: PackContent | None = None
        self.inside = False
        self.learning: Block | None = None
        self._back_to: list[int] = []

    @property
    def empty(self) -> bool:
        return self.forecast is None or not self.forecast.packs

    @property
    def packs(self) -> Sequence[PackOutlook]:
        """The packs that the filter leaves."""
        every = self.forecast.packs if self.forecast is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def routed(self) -> Sequence[RoutedPack]:
        """The packs for the question that the filter leaves, those that were not chosen too."""
        every = (*self.route.packs, *self.route.left_out) if self.route is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def names(self) -> Sequence[str]:
        """The packs that are listed."""
        if self.route is not None:
            return [one.pack.name for one in self.routed]
        return [one.usage.pack.name for one in self.packs]

    @property
    def name_at_cursor(self) -> str:
        """The name of the pack that is looked at, "" for none."""
        if self.proposal is not None:
            return self.proposal.packs[0].partition("@")[0]
        place = self._back_to[0] if self._back_to else self.cursor
        names = self.names
        return names[place] if 0 <= place < len(names) else ""

    @property
    def chosen(self) -> PackOutlook | None:
        every, name = self.forecast.packs if self.forecast is not None else (), self.name_at_cursor
        return next((one for one in every if one.usage.pack.name == name), None)

    @property
    def proposed(self) -> Sequence[PackProposal]:
        return [self.waiting[place] for place in self.places] if self.sift else self.waiting

    @property
    def proposal(self) -> PackProposal | None:
        rows = self.proposed if self.deciding else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    @property
    def members(self) -> Sequence[PackMemberRow]:
        """The members of the pack, or the blocks that a learning in it was made of."""
        from amgs_app.render.figures.packs import PackMemberRow, members_of

        if self.content is None:
            return ()
        if self.learning is None:
            return members_of(self.content)
        from amgs.packs.keeping import origins_of, role_of

        held = {one.id: one for one in self.content.origins}
        return [PackMemberRow(held[i], role_of(held[i])) for i in origins_of(self.learning) if i in held]

    @property
    def member(self) -> PackMemberRow | None:
        """The member under the cursor."""
        rows = self.members if self.inside else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    def all_rows(self) -> Sequence[Row]:
        if self.deciding:
            return of_proposals(self.waiting)
        if self.route is not None:
            return of_routed(self.route)
        return of_packs(self.forecast.packs, self.host.now()) if self.forecast is not None else ()

    @property
    def rows(self) -> int:
        if self.deciding:
            return len(self.proposed)
        return len(self.members) if self.inside else len(self.names)
