"""Proposals about packs: what waits for a decision, and the verdict on one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations
from amgs_tui.keys import shown
from amgs_tui.panes.base import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types.pack_learning import PackProposal
    from amgs_tui.host import Host

DECIDING: Final[list[Any]] = [
    shown("P", "propose", "proposals", "packs.propose", "What waits for a decision; there: propose anew"),
]
PROPOSING: Final = frozenset({"pack propose", "pack proposals"})


class PackDeciding(Pane):
    """A pane that may list proposals. deciding: whether it does; waiting: those there are."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.deciding = False
        self.waiting: tuple[PackProposal, ...] = ()

    @property
    def proposed(self) -> Sequence[PackProposal]:
        """The proposals that are listed."""
        return self.waiting

    @property
    def proposal(self) -> PackProposal | None:
        """The one under the cursor."""
        return None

    def action_propose(self) -> None:
        """Show what waits; where it is shown already, propose anew."""
        if self.deciding:
            self.ask(operations.pack_learning.propose(queue=True))
        else:
            self.ask(operations.pack_learning.proposals())

    def ask_titles(self, one: PackProposal) -> None:
        """Look into the packs of a proposal, so that the blocks that come or go have titles."""
        known = self.host.titles
        if any(block not in known for block in (*one.come, *one.gone)):
            for place, reference in enumerate(one.packs):
                self.ask(operations.pack.show(reference), slot=f"packs:of proposal {place}", origin="screen")

    def action_decide(self, accept: bool) -> None:
        one = self.proposal
        if one is None or one.number is None:
            return
        decide = operations.pack_learning.accept if accept else operations.pack_learning.reject
        self.ask(decide(one.number))
