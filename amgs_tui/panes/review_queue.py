"""The review queue of the inbox: findings to choose from, each with both texts before a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app import operations
from amgs_tui.keys import shown
from amgs_tui.panes.base import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.lifecycle.supersede import ReviewItem


REVIEW = shown(
    "v",
    "review",
    "review",
    "inbox.review",
    "Review blocks that may be superseded, contradicted or merged",
)


class Reviewing(Pane):
    """A pane from which the queue is opened."""

    def action_review(self) -> None:
        self.ask(operations.maintenance.queue())

    def shown_to_operator(self, command: str, result: Any) -> None:
        """The queue is a list to choose from; each finding is shown with both texts before a verdict."""
        from amgs_app.results.memory import ReviewList

        if not isinstance(result, ReviewList):
            super().shown_to_operator(command, result)
            return
        waiting = [each for each in result.items if each.review.state == "open"]
        if waiting:
            self._choose(waiting)
        elif command == "review list":
            from amgs_tui.dialogs.dialog import Confirm

            words = "Nothing to review. Compare all blocks about the same subject now?"
            self.app.push_screen(Confirm("Look for conflicts?", words), self._scan)

    def _scan(self, yes: bool | None) -> None:
        if yes:
            self.ask(operations.maintenance.scan())

    def _choose(self, waiting: Sequence[ReviewItem]) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        choices = [
            Choice(
                str(each.review.id),
                f"{each.review.kind}  {each.review.confidence:.2f}  {each.older.title} · {each.newer.title}",
                each.review.because,
            )
            for each in waiting
        ]
        by_id = {str(each.review.id): each for each in waiting}

        def chose(name: str | None) -> None:
            if name is not None:
                self._judge(by_id[name])

        self.app.push_screen(Chooser(f"{plural(len(waiting), 'finding')}", choices), chose)

    def _judge(self, item: ReviewItem) -> None:
        from amgs_tui.dialogs.verdict import VerdictDialog

        def judged(verdict: str | None) -> None:
            if verdict is not None:
                self.ask(operations.maintenance.decide(item.review.id, verdict))

        self.app.push_screen(VerdictDialog(item), judged)
