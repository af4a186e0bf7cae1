"""1 Inbox: raw blocks that wait for consolidation; its plan first, if the operator wants to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.panes.row_fields import of_draft, of_raw
from amgs_app.render.figures.canvas import Canvas
from amgs_app.render.figures.empty_state import notice
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.review_queue import REVIEW, Reviewing
from amgs_tui.panes.revision_rows import RevisionRows
from amgs_tui.panes.source_choosing import SOURCES, SourceChoosing
from amgs_tui.panes.steps import stepped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.types import ConsolidationItem
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_app.results.memory import Inbox
    from amgs_tui.host import Host

PAGE = 400
"""Raw blocks that are fetched at a time: the list is as long as the inbox, what is near the cursor is here."""
EDGE = 60
"""Rows from the end of what is here at which the next are fetched."""
DRAFTED = 2000
"""Blocks that one draft holds at most: what an operator may still look through."""
OWN = "(own)"
"""The choice of a category that is typed."""


class InboxPane(Reviewing, SourceChoosing, RevisionRows, ListPane):
    """Raw blocks, the draft of what consolidation would make of them, or a revision of sources."""

    NAME = "inbox"
    SHOWS = frozenset(
        {
            "inbox list",
            "consolidate",
            "consolidate plan",
            "consolidate edit",
            "consolidate apply",
            "ingest",
            "source list",
            "source update",
            "source delete",
            "source watch",
            "review list",
            "review scan",
        }
    )
    PURPOSE = """\
Notes and turns of dialogue that were ingested but not consolidated yet. Consolidation gives each block a category, an
embedding, entities, edges to related blocks, and a decay profile. d drafts it: read the changes and correct them block
by block (e category, x leave out, arrows to an edge, x drops it, + and − confidence, 0 reset). c applies the draft in
one transaction, which the overview can undo. s lists the sources; what one says now is shown as a plan first."""

    BINDINGS: ClassVar[list[Any]] = [
        show(
            "c",
            "consolidate",
            "consolidate",
            "inbox.consolidate",
            "Consolidate: apply the draft, else consolidate the whole inbox",
        ),
        show(
            "d",
            "plan",
            "draft",
            "inbox.plan",
            "Draft the consolidation to review it first, or back to the list",
        ),
        show(
            "e",
            "recategorise",
            "category",
            "inbox.category",
            "Change the category of this block of the draft",
        ),
        show(
            "x",
            "leave_out",
            "leave out",
            "inbox.leave_out",
            "Leave out the block or the chosen edge, or include it again",
        ),
        show(
            "plus,equals_sign", "surer(1)", "surer", "inbox.surer", "More confidence in the block or the edge"
        ),
        hide(
            "minus", "surer(-1)", "less sure", "inbox.less_sure", "Less confidence in the block or the edge"
        ),
        show("right", "walk_edges(1)", "edge", "inbox.edge", "Next edge of this block", key_display="←→"),
        hide(
            "left",
            "walk_edges(-1)",
            "edge before",
            "inbox.edge_before",
            "Previous edge, or back to the block",
        ),
        hide("0", "as_proposed", "as proposed", "inbox.as_proposed", "Reset the corrections to this block"),
        show("i", "ingest", "ingest", "inbox.ingest", "Ingest a file, a folder or a text"),
        SOURCES,
        REVIEW,
        show("enter", "read", "read", "inbox.read", "Select this block and read it"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.inbox: Inbox | None = None
        self.draft: PlanDraft | None = None
        self.edge: int | None = None  # the edge of the block under the cursor that keys mean; None: the block
        self._drafted: tuple[PlanDraft, Sequence[Row]] | None = None  # the rows of a draft, made once
        self._correctable = False  # the session holds this draft; what only a dry run showed it does not
        self._owed = False  # the cursor went where no block was fetched yet; it is picked when it comes

    def asks(self) -> Iterable[Call[Any]]:
        sift, offset = self.sift, max(0, self._place - PAGE // 2)
        only = list(sift.terms) or None
        return [
            operations.lifecycle.inbox(
                limit=PAGE, offset=offset, only=only, by=sift.order, reverse=sift.reverse
            )
        ]

    def take(self, result: Any) -> None:
        from amgs.lifecycle.plan_editing import PlanDraft
        from amgs.lifecycle.revision import Revision, RevisionPlan
        from amgs.types import ConsolidationPlan, IngestReport
        from amgs_app.results.memory import Consolidated, Inbox, Untouched

        match result:
            case Inbox():
                self.inbox = result
            case IngestReport() | RevisionPlan() | Revision():
                self.take_revision(result)
                self.cursor = 0 if self.revision is not None else self.cursor
            case PlanDraft():
                fresh, self.draft, self._correctable = self.draft is None, result, True
                self.revision = None
                self.cursor = 0 if fresh else self.cursor
            case ConsolidationPlan() | Consolidated() | Untouched():
                self.draft = PlanDraft(result) if isinstance(result, ConsolidationPlan) else None
                self._correctable, self.revision = False, None
                self.cursor, self.edge = 0, None
        self.cursor = max(0, min(self.cursor, self.rows - 1))
        if isinstance(result, Inbox) and self.draft is None and self.revision is None:
            if result.total and not result.blocks:  # the list became shorter than where it was read from
                self.look()
            elif self._owed and self.block_at_cursor() is not None:
                self.follow_cursor()

    @property
    def drafted(self) -> str:
        corrected = len(self.draft.edits) if self.draft is not None else 0
        return f"corrections to {plural(corrected, 'block')}" if corrected else ""

    @property
    def empty(self) -> bool:
        shows_plan = self.draft is not None or self.revision is not None
        return self.inbox is not None and not self.inbox.waiting and not shows_plan

    # --- the rows -----------------------------------------------------------------------------------------

    def all_rows(self) -> Sequence[Row]:
        """What the draft holds; of a long inbox the part that is here."""
        now = self.host.now()
        if self.draft is not None:
            if self._drafted is None or self._drafted[0] is not self.draft:
                self._drafted = self.draft, of_draft(self.draft, now)
            return self._drafted[1]
        return of_raw(self.inbox.blocks, now) if self.inbox is not None else ()

    def follow_filter(self) -> None:
        """A draft is here as a whole; the inbox is filtered and sorted where it lies."""
        self.cursor, self.edge = 0, None
        if self.draft is None:
            self.look()
        else:
            self.follow_cursor()

    @property
    def items(self) -> Sequence[ConsolidationItem]:
        """The blocks of the draft that the filter leaves, as proposed, in its order."""
        every = self.draft.proposed.items if self.draft is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def _place(self) -> int:
        """Where the list of raw blocks is read: a draft has a cursor of its own."""
        return self.cursor if self.draft is None and self.revision is None else 0

    @property
    def rows(self) -> int:
        if self.revision is not None:
            return len(self.revised)
        if self.draft is not None:
            return len(self.items)
        return self.inbox.total if self.inbox is not None else 0

    def subtitle(self) -> str:
        if self.revision is not None:
            return self.told_of_revision()
        if self.draft is not None:
            waiting = self.inbox.waiting if self.inbox is not None else 0
            drafted = len(self.draft.proposed.items)
            blocks = plural(drafted - len(self.draft.left_out), "block")
            of = f" of {waiting:,}" if waiting > drafted else ""
            return f"draft for {blocks}{of} · c applies it · d back"
        if self.inbox is None or not self.inbox.total:
            return ""
        of = f" of {self.inbox.waiting:,}" if self.sift else ""
        return f"{self.inbox.total:,}{of} raw · press c to consolidate"

    def block_at_cursor(self) -> str | None:
        """The block under the cursor."""
        if not self.rows:
            return None
        if self.revision is not None:
            return self.revised[self.cursor].block_id or None
        if self.draft is not None:
            return self.items[self.cursor].block.id
        here = self.inbox.blocks if self.inbox is not None else ()
        place = self.cursor - self.inbox.offset if self.inbox is not None else 0
        return here[place].id if 0 <= place < len(here) else None

    def follow_cursor(self) -> None:
        self.edge = None
        if self.draft is None and self.revision is None and self.inbox is not None:
            first, last = self.inbox.offset, self.inbox.offset + len(self.inbox.blocks)
            above, below = first > 0 and self.cursor < first + EDGE, last < self.inbox.total
            if above or (below and self.cursor >= last - EDGE):
                for call in self.asks():
                    self.ask(call, origin="screen")
        chosen = self.block_at_cursor()
        self._owed = chosen is None
        if chosen is not None:
            self.post_message(self.Picked(chosen))

    def selection_changed(self, block_id: str | None) -> None:
        if self.revision is not None:
            return
        if self.draft is not None:
            items = enumerate(self.items)
            place = next((place for place, item in items if item.block.id == block_id), self.cursor)
            self.edge = self.edge if place == self.cursor else None
            self.cursor = place
        elif self.inbox is not None:
            here = enumerate(self.inbox.blocks, self.inbox.offset)
            self.cursor = next((place for place, block in here if block.id == block_id), self.cursor)
        self.repaint()

    def draw(self, canvas: Canvas) -> Text:
        if self.revision is not None:
            return self.draw_revision(canvas, self.revision, self.cursor)
        if self.draft is not None:
            from amgs_app.render.figures.plan import plan

            chosen, titles = self.block_at_cursor(), self.host.titles
            shown_ = self.places if self.sift else None
            return plan(self.draft, canvas, selected=chosen, edge=self.edge, titles=titles, shown=shown_)
        if self.inbox is None:
            return notice(
                canvas, "Opening the memory", (), "The store is opening in the background; keys already work."
            )
        if not self.inbox.total:
            return self._nothing(canvas)
        from amgs_app.render.figures import inbox

        return inbox.inbox(
            self.inbox.blocks,
            canvas,
            now=self.inbox.now,
            selected=self.block_at_cursor(),
            total=self.inbox.total,
            before=self.inbox.offset,
            oldest=self.inbox.oldest,
        )

    def _nothing(self, canvas: Canvas) -> Text:
        """An empty inbox, in an empty store or in one that is all consolidated."""
        overview = self.host.overview
        if self.sift and self.inbox is not None and self.inbox.waiting:
            words = f"{plural(self.inbox.waiting, 'block')} wait, none of them matches the filter."
            return notice(canvas, "No row matches the filter", ["F  another filter, or none"], words)
        if overview is None:
            return notice(canvas, "Inbox", (), self.waits)
        if not sum(overview.store.blocks.values()):
            sentence = "New notes arrive here first, unprocessed."
            return notice(canvas, "The memory is empty", ["i  ingest a file, a folder or a text"], sentence)
        keys = ["2  assemble a frame for a question", "i  ingest more"]
        return notice(canvas, "The inbox is empty", keys, "Everything is consolidated.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("recategorise", "leave_out", "surer", "walk_edges", "as_proposed"):
            return self.draft is not None and self.revision is None and self._correctable and self.rows > 0
        if action == "consolidate" and self.revision is not None:
            return self.draft is None  # a draft that is not seen is not applied
        return not (action in ("ingest", "sources", "review") and self.draft is not None)

    def action_consolidate(self) -> None:
        if self.draft is not None and self._correctable:
            self.ask(operations.consolidation_plan.apply())
        else:
            self.draft = None
            self.ask(operations.lifecycle.consolidate())

    def action_plan(self) -> None:
        if self.draft is None and self.revision is None:
            waiting = self.inbox.waiting if self.inbox is not None else 0
            self.ask(operations.consolidation_plan.plan(limit=DRAFTED if waiting > DRAFTED else None))
            return
        self.draft, self.revision, self.edge = None, None, None
        self.selection_changed(self.host.selected)
        self.cursor = max(0, min(self.cursor, self.rows - 1))
        self._say()
        self.repaint()
        self.refresh_bindings()

    # --- correcting the draft -----------------------------------------------------------------------------

    @property
    def _item(self) -> ConsolidationItem | None:
        """What the draft proposes for the block under the cursor."""
        return self.items[self.cursor] if self.draft is not None and self.rows else None

    def action_walk_edges(self, by: int) -> None:
        item = self._item
        edges = len(item.edges) if item is not None else 0
        place = (-1 if self.edge is None else self.edge) + by
        self.edge = None if place < 0 or not edges else min(place, edges - 1)
        self.repaint()

    def action_leave_out(self) -> None:
        """The chosen edge, else the block: out, or back in."""
        item = self._item
        if self.draft is None or item is None:
            return
        block, edit, correct = (
            item.block.id,
            self.draft.edit_of(item.block.id),
            operations.consolidation_plan.edit,
        )
        if self.edge is None:
            self.ask(correct(block, take="yes" if edit.left_out else "no"))
        elif item.edges[self.edge].key in edit.dropped:
            self.ask(correct(block, keep=[str(self.edge + 1)]))
        else:
            self.ask(correct(block, drop=[str(self.edge + 1)]))

    def action_surer(self, by: int) -> None:
        """Confidence of the chosen edge, else of the block, a step up or down."""
        item = self._item
        if self.draft is None or item is None:
            return
        block, edit, correct = (
            item.block.id,
            self.draft.edit_of(item.block.id),
            operations.consolidation_plan.edit,
        )
        if self.edge is None:
            present = item.confidence if edit.confidence is None else edit.confidence
            self.ask(correct(block, confidence=stepped(present, by)))
        else:
            edge = item.edges[self.edge]
            present = dict(edit.sure).get(edge.key, edge.confidence)
            self.ask(correct(block, sure=[f"{self.edge + 1}={stepped(present, by):g}"]))

    def action_as_proposed(self) -> None:
        if self._item is not None:
            self.ask(operations.consolidation_plan.edit(self._item.block.id, reset=True))

    def action_recategorise(self) -> None:
        """Choose among the categories there are; one of the operator's own is typed."""
        from amgs.lifecycle.categories import CATEGORIES
        from amgs_tui.dialogs.chooser import Choice, Chooser

        item = self._item
        if self.draft is None or item is None:
            return
        overview = self.host.overview
        held = overview.store.categories if overview is not None else {}
        present = self.draft.edit_of(item.block.id).category or item.category
        names = dict.fromkeys((*CATEGORIES, *held, present))
        choices = [
            Choice(name, name, "proposed" if name == item.category else "", name == present) for name in names
        ]

        def chose(name: str | None) -> None:
            if name == OWN:
                self.host.command(f"consolidate edit {item.block.id[:12]} --new --category ")
            elif name is not None:
                self.ask(operations.consolidation_plan.edit(item.block.id, category=name))

        own = Choice(OWN, "other …", "a category of your own")
        self.app.push_screen(Chooser("Category", [*choices, own]), chose)

    def action_ingest(self) -> None:
        self.host.command("ingest ")

    def action_read(self) -> None:
        chosen = self.block_at_cursor()
        if chosen is not None:
            self.host.pick(chosen)
            self.host.read_block()
