"""The draft of a consolidation, corrected in the inbox block by block and edge by edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amgs.text.plural import plural
from amgs_app import operations
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.weight_editor import step_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.types import ConsolidationItem, ConsolidationPlan
    from amgs_tui.panes.base import Pane

CORRECTING: Final[list[Any]] = [
    show("e", "recategorise", "category", "inbox.category", "Change the category of this block of the draft"),
    show("x", "leave_out", "leave out", "inbox.leave_out", "Leave out the block or the edge, or include it again"),
    show("plus,equals_sign", "surer(1)", "surer", "inbox.surer", "More confidence in the block or the edge"),
    hide("minus", "surer(-1)", "less sure", "inbox.less_sure", "Less confidence in the block or the edge"),
    show("right", "walk_edges(1)", "edge", "inbox.edge", "Next edge of this block", key_display="←→"),
    hide("left", "walk_edges(-1)", "edge before", "inbox.edge_before", "Previous edge, or back to the block"),
    hide("0", "as_proposed", "as proposed", "inbox.as_proposed", "Reset the corrections to this block"),
]


@dataclass(eq=False)
class PlanCorrecting:
    """Corrections that the keys of a pane make to a draft. item: its proposal for the block under the cursor.

    draft: None for none. edge: which edge of the block the keys mean, None for the block itself. correctable: whether
    the session holds the draft; what only a dry run showed it does not.
    """

    pane: Pane
    item: Callable[[], ConsolidationItem | None]
    draft: PlanDraft | None = None
    edge: int | None = None
    correctable: bool = False

    def __str__(self) -> str:
        """Return what is corrected; "" for nothing."""
        corrected = len(self.draft.edits) if self.draft is not None else 0
        return f"corrections to {plural(corrected, 'block')}" if corrected else ""

    def take(self, draft: PlanDraft) -> bool:
        """Keep a draft of the session; whether it is the first one, or stands where there was none."""
        fresh, self.draft, self.correctable = self.draft is None, draft, True
        return fresh

    def look_at(self, plan: ConsolidationPlan | None) -> None:
        """Keep a plan that only a dry run showed; None for none."""
        from amgs.lifecycle.plan_editing import PlanDraft

        self.draft = PlanDraft(plan) if plan is not None else None
        self.correctable, self.edge = False, None

    def _correct(self, item: ConsolidationItem, **how: Any) -> None:
        self.pane.ask(operations.consolidation_plan.edit(item.block.id, **how))

    # --- what the keys do -----------------------------------------------------------------------------------

    def action_walk_edges(self, by: int) -> None:
        item = self.item()
        edges = len(item.edges) if item is not None else 0
        place = (-1 if self.edge is None else self.edge) + by
        self.edge = None if place < 0 or not edges else min(place, edges - 1)
        self.pane.repaint()

    def action_leave_out(self) -> None:
        """Leave out the chosen edge, else the block, or put it back."""
        item = self.item()
        if self.draft is None or item is None:
            return
        edit = self.draft.edit_of(item.block.id)
        if self.edge is None:
            self._correct(item, take="yes" if edit.left_out else "no")
        elif item.edges[self.edge].key in edit.dropped:
            self._correct(item, keep=[str(self.edge + 1)])
        else:
            self._correct(item, drop=[str(self.edge + 1)])

    def action_surer(self, by: int) -> None:
        """Confidence of the chosen edge, else of the block, a step up or down."""
        item = self.item()
        if self.draft is None or item is None:
            return
        edit = self.draft.edit_of(item.block.id)
        if self.edge is None:
            present = item.confidence if edit.confidence is None else edit.confidence
            self._correct(item, confidence=step_value(present, by))
        else:
            edge = item.edges[self.edge]
            present = dict(edit.sure).get(edge.key, edge.confidence)
            self._correct(item, sure=[f"{self.edge + 1}={step_value(present, by):g}"])

    def action_as_proposed(self) -> None:
        if (item := self.item()) is not None:
            self._correct(item, reset=True)

    def action_recategorise(self) -> None:
        """Choose among the categories there are; one of the operator's own is typed."""
        from amgs.lifecycle.categories import CATEGORIES

        item = self.item()
        if self.draft is None or item is None:
            return
        overview = self.pane.host.overview
        counts = overview.store.categories if overview is not None else {}
        present = self.draft.edit_of(item.block.id).category or item.category
        names = dict.fromkeys((*CATEGORIES, *counts, present))
        choices = [Choice(name, name, "proposed" if name == item.category else "", name == present) for name in names]
        self.pane.choose_or_type(
            "Category",
            choices,
            lambda name: self._correct(item, category=name),
            "a category of your own",
            f"consolidate edit {item.block.id[:12]} --new --category ",
        )
