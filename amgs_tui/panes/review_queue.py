"""The review queue of the inbox: findings to choose from, each with both texts before a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.terminal.printable import printable, printable_line
from amgs_tui.dialogs.questions import Choice, confirm
from amgs_tui.keys import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.lifecycle.supersede import ReviewItem
    from amgs_tui.panes.base import Pane

Verdict = Literal["accept", "reject"]

REVIEW = show("v", "review", "review", "inbox.review", "Review blocks that may be superseded, contradicted or merged")


@dataclass(eq=False)
class ReviewQueue:
    """Opens the queue from a pane."""

    pane: Pane
    _scanned: bool = field(default=False, init=False)

    def action_review(self) -> None:
        self._scanned = False
        self.pane.ask(operations.maintenance.review())

    def show(self, result: object) -> None:
        """Offer the queue as a list to choose from; a finding is shown with both texts before a verdict."""
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
