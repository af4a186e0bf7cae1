"""Review proposals in the inbox: correct the draft of a consolidation by block and edge, and decide on findings of the
review queue with both texts in view.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amgs.text.words import plural
from amgs_app import operations
from amgs_app.terminal.output import printable, printable_line
from amgs_tui.dialogs.questions import Choice, confirm
from amgs_tui.keys import hide, show
from amgs_tui.panes.weight_editor import step_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.lifecycle.supersede import ReviewItem
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
    """The keys of a pane that correct a draft.

    item: the proposal for the block under the cursor. draft: None for none. edge: index of the edge that the keys act
    on, None for the block itself. correctable: the session has the draft, which is not so after a dry run.
    """

    pane: Pane
    item: Callable[[], ConsolidationItem | None]
    draft: PlanDraft | None = None
    edge: int | None = None
    correctable: bool = False

    def __str__(self) -> str:
        """Return a phrase that says what is corrected; "" for nothing."""
        corrected = len(self.draft.edits) if self.draft is not None else 0
        return f"corrections to {plural(corrected, 'block')}" if corrected else ""

    def take(self, draft: PlanDraft) -> bool:
        """Store a draft of the session; return whether there was none before."""
        fresh, self.draft, self.correctable = self.draft is None, draft, True
        return fresh

    def look_at(self, plan: ConsolidationPlan | None) -> None:
        """Store the plan of a dry run, or none."""
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
        """Leave out the chosen edge, else the block, or include it again."""
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
        """Change the confidence of the chosen edge, else of the block, by a step."""
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
        """Choose one of the existing categories, or type another."""
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


Verdict = Literal["accept", "reject"]

REVIEW = show("v", "review", "review", "inbox.review", "Review blocks that may be superseded, contradicted or merged")


@dataclass(eq=False)
class ReviewQueue:
    """Opens the review queue from a pane."""

    pane: Pane
    _scanned: bool = field(default=False, init=False)

    def action_review(self) -> None:
        self._scanned = False
        self.pane.ask(operations.maintenance.review())

    def show(self, result: object) -> None:
        """Offer the findings as choices; the chosen one is shown with both texts for a verdict."""
        from amgs_app.results.memory import ReviewList

        if not isinstance(result, ReviewList):
            return
        waiting = [finding for finding in result.items if finding.review.state == "open"]
        if waiting:
            self._choose(waiting)
        elif not self._scanned:
            words = "Nothing to review. Compare all blocks about the same subject now?"
            confirm(self.pane.app, "Look for conflicts?", words, self._scan)

    def _scan(self) -> None:
        self._scanned = True
        self.pane.ask(operations.maintenance.review(scan=True))

    def _choose(self, waiting: Sequence[ReviewItem]) -> None:
        choices = [
            Choice(
                str(finding.review.id),
                f"{finding.review.kind}  {finding.review.confidence:.2f}  "
                f"{finding.older.title} · {finding.newer.title}",
                finding.review.because,
            )
            for finding in waiting
        ]
        by_id = {str(finding.review.id): finding for finding in waiting}
        self.pane.choose(plural(len(waiting), "finding"), choices, lambda name: self._judge(by_id[name]))

    def _judge(self, item: ReviewItem) -> None:
        def decide(verdict: Verdict | None) -> None:
            if verdict is not None:
                accepted, number = verdict == "accept", item.review.id
                review = operations.maintenance.review
                self.pane.ask(review(accept=number) if accepted else review(reject=number))

        self.pane.app.push_screen(VerdictDialog(item), decide)


MEANING = {
    "supersedes": "If you accept, the older block stays and is marked with its successor and the time.",
    "contradicts": "If you accept, an edge records the contradiction; both blocks stay as they are.",
    "merges": "If you accept, both are merged into a new block, which takes over their edges; both are archived.",
}


class VerdictDialog(ModalScreen[Verdict | None]):
    """A finding with both of its texts. Ends with accept, reject or None."""

    DEFAULT_CSS = """
    VerdictDialog { align: center middle; }
    VerdictDialog > VerticalScroll {
        width: 100; max-width: 96%; height: auto; max-height: 92%;
        background: $surface; border: round $warn; border-title-color: $warn; border-title-style: bold;
        border-subtitle-color: $muted; padding: 0 1; scrollbar-size-vertical: 1;
    }
    VerdictDialog Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("u", "judge('accept')", "accept", id="verdict.accept", tooltip="Accept: apply the finding"),
        Binding("x", "judge('reject')", "reject", id="verdict.reject", tooltip="Reject: never propose it again"),
        Binding("escape,q", "judge('')", "later", id="verdict.later", tooltip="Leave it in the queue"),
    ]

    def __init__(self, item: ReviewItem) -> None:
        super().__init__()
        self._item = item

    def compose(self) -> ComposeResult:
        with VerticalScroll() as frame:
            frame.border_title = f"{self._item.review.kind}, sure {self._item.review.confidence:.2f}"
            frame.border_subtitle = "u accepts · x rejects · esc later"
            yield Static(self._words())

    def _words(self) -> Content:
        item = self._item
        pieces: list[str | tuple[str, str]] = [(f"{printable(item.review.because)}\n", "bold $foreground")]
        for name, block in (("older", item.older), ("newer", item.newer)):
            head = f"\n{name}, {block.created_at:%Y-%m-%d}: {printable_line(block.title)}\n"
            pieces += [(head, "bold $accent"), f"{printable(block.content.strip())}\n"]
        pieces += [("\n" + MEANING.get(item.review.kind, "If you accept, it is applied."), "$muted")]
        return Content.assemble(*pieces)

    def action_judge(self, verdict: Verdict | Literal[""]) -> None:
        self.dismiss(verdict or None)
