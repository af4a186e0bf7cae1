"""1 Inbox: what came in and waits; consolidation, its plan first if the operator wants to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs_tui.keys import shown
from amgs_tui.panes.base import Ask, ListPane
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice
from amgs_tui.pictures.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs.lifecycle.supersede import ReviewItem
    from amgs.model import ConsolidationPlan
    from amgs_tui.verbs.results import Inbox

PAGE = 400
"""Raw blocks that are fetched at a time: the list is as long as the inbox, what is near the cursor is here."""
EDGE = 60
"""Rows from the end of what is here at which the next are fetched."""


class InboxPane(ListPane):
    """Raw blocks, or the plan of what consolidation would make of them."""

    NAME = "inbox"
    SHOWS = frozenset({"inbox list", "consolidate", "ingest", "review list", "review scan"})
    PURPOSE = """\
Notes and turns of dialogue that were taken in and not yet worked on. Consolidation gives each a category,
an embedding, entities, edges to what is related, and a pace of forgetting. d shows the plan before anything
happens; c carries it out in one transaction, which the overview can undo."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("c", "consolidate", "consolidate", "inbox.consolidate", "Consolidate the whole inbox"),
        shown("d", "plan", "plan", "inbox.plan", "Show what consolidation would do, or go back to the list"),
        shown("i", "ingest", "ingest", "inbox.ingest", "Take in a file, a folder or a text"),
        shown(
            "v",
            "review",
            "review",
            "inbox.review",
            "What may be superseded or contradicted, for your verdict",
        ),
        shown("enter", "read", "read", "inbox.read", "Select this block and read it"),
        *ListPane.BINDINGS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.inbox: Inbox | None = None
        self.plan: ConsolidationPlan | None = None
        self._owed = False  # the cursor went where no block was fetched yet; it is picked when it comes

    def asks(self) -> Iterable[Ask]:
        return [("inbox list", {"limit": PAGE, "offset": max(0, self.cursor - PAGE // 2)})]

    def take(self, verb: str, result: Any) -> None:
        if verb == "inbox list":
            self.inbox = result
        elif verb == "consolidate":
            self.plan = result if hasattr(result, "items") else None
            self.cursor = 0
        self.cursor = max(0, min(self.cursor, self.rows - 1))
        if verb == "inbox list" and self.plan is None:
            if result.total and not result.blocks:  # the list became shorter than where it was read from
                self.look()
            elif self._owed and self.block_at_cursor() is not None:
                self.moved()

    @property
    def rows(self) -> int:
        if self.plan is not None:
            return len(self.plan.items)
        return self.inbox.total if self.inbox is not None else 0

    def subtitle(self) -> str:
        if self.plan is not None:
            return f"plan for {plural(len(self.plan.items), 'block')} · c applies it · d back"
        if self.inbox is None or not self.inbox.total:
            return ""
        return f"{self.inbox.total:,} raw · press c to consolidate"

    def block_at_cursor(self) -> str | None:
        """The block under the cursor."""
        if not self.rows:
            return None
        if self.plan is not None:
            return self.plan.items[self.cursor].block.id
        here = self.inbox.blocks if self.inbox is not None else ()
        place = self.cursor - self.inbox.offset if self.inbox is not None else 0
        return here[place].id if 0 <= place < len(here) else None

    def moved(self) -> None:
        if self.plan is None and self.inbox is not None:
            first, last = self.inbox.offset, self.inbox.offset + len(self.inbox.blocks)
            above, below = first > 0 and self.cursor < first + EDGE, last < self.inbox.total
            if above or (below and self.cursor >= last - EDGE):
                for verb, arguments in self.asks():
                    self.ask(verb, origin="screen", **arguments)
        chosen = self.block_at_cursor()
        self._owed = chosen is None
        if chosen is not None:
            self.post_message(self.Picked(chosen))

    def selection_changed(self, block_id: str | None) -> None:
        if self.plan is None and self.inbox is not None:
            here = enumerate(self.inbox.blocks, self.inbox.offset)
            self.cursor = next((place for place, block in here if block.id == block_id), self.cursor)
        self.refresh()

    def draw(self, canvas: Canvas) -> Text:
        if self.plan is not None:
            from amgs_tui.pictures import inbox

            return inbox.plan(
                self.plan, canvas, selected=self.block_at_cursor(), titles=self.workstation.titles
            )
        if self.inbox is None:
            return notice(
                canvas, "Opening the memory", (), "The store is opened in the background; keys work already."
            )
        if not self.inbox.total:
            return self._nothing(canvas)
        from amgs_tui.pictures import inbox

        return inbox.inbox(
            self.inbox.blocks,
            canvas,
            now=self.inbox.now,
            selected=self.block_at_cursor(),
            offset=max(0, self.cursor - self.inbox.offset),
            total=self.inbox.total,
            before=self.inbox.offset,
            oldest=self.inbox.oldest,
        )

    def _nothing(self, canvas: Canvas) -> Text:
        """An empty inbox, in an empty store or in one that is all consolidated."""
        overview = self.workstation.overview
        if overview is None or not sum(overview.store.blocks.values()):
            sentence = "Notes come in here first; nothing is done to them yet."
            return notice(canvas, "The memory is empty", ["i  take in a file, a folder or a text"], sentence)
        keys = ["2  assemble a frame for a question", "i  take in more"]
        return notice(canvas, "The inbox is empty", keys, "Everything that came in is consolidated.")

    def action_consolidate(self) -> None:
        self.plan = None
        self.ask("consolidate")

    def action_plan(self) -> None:
        if self.plan is None:
            self.ask("consolidate", dry_run=True)
            return
        self.plan = None
        self.cursor = 0
        self._say()
        self.refresh()

    def action_ingest(self) -> None:
        self.workstation.action_command("ingest ")

    # --- review -------------------------------------------------------------------------------------------

    def action_review(self) -> None:
        self.ask("review list")

    def shown_to_operator(self, verb: str, result: Any) -> None:
        """The queue is a list to choose from; each finding is shown with both texts before a verdict."""
        if not verb.startswith("review"):
            return
        items = getattr(result, "items", ())
        waiting = [each for each in items if each.review.state == "open"]
        if waiting:
            self._choose(waiting)
        elif verb == "review list":
            from amgs_tui.screens.dialog import Confirm

            words = "Nothing waits for a verdict. Hold all blocks of one subject against each other now?"
            self.workstation.push_screen(Confirm("Look for conflicts?", words), self._scan)

    def _scan(self, yes: bool | None) -> None:
        if yes:
            self.ask("review scan")

    def _choose(self, waiting: Sequence[ReviewItem]) -> None:
        from amgs_tui.screens.chooser import Choice, Chooser

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

        self.workstation.push_screen(Chooser(f"{plural(len(waiting), 'finding')}", choices), chose)

    def _judge(self, item: ReviewItem) -> None:
        from amgs_tui.screens.verdict import Verdict

        def judged(verdict: str | None) -> None:
            if verdict is not None:
                self.ask(f"review {verdict}", review=item.review.id)

        self.workstation.push_screen(Verdict(item), judged)

    def action_read(self) -> None:
        chosen = self.block_at_cursor()
        if chosen is not None:
            self.workstation.pick(chosen)
            self.workstation.action_peek()
