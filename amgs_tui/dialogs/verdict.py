"""A finding of the review queue with both of its texts, and the operator's verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from amgs_app.terminal.printable import printable, printable_line

if TYPE_CHECKING:
    from amgs.lifecycle.supersede import ReviewItem

MEANING = {
    "supersedes": "If you accept, the older block stays and is marked with its successor and the time.",
    "contradicts": "If you accept, an edge records the contradiction; both blocks stay as they are.",
    "merges": "If you accept, both are merged into a new block, which takes over their edges; both are archived.",
}


class VerdictDialog(ModalScreen[str | None]):
    """Ends with accept, reject or None."""

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
        Binding(
            "x", "judge('reject')", "reject", id="verdict.reject", tooltip="Reject: never propose it again"
        ),
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

    def action_judge(self, verdict: str) -> None:
        self.dismiss(verdict or None)
