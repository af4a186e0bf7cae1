"""1 Inbox: raw blocks that wait for consolidation, a draft of it on request, and the sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rich.text import Text

from amgs.text.words import plural
from amgs_app import operations
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.catalogue import list_of
from amgs_app.render.format import ago
from amgs_app.render.glyphs import notice
from amgs_app.terminal.line import quote
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import show
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.proposals import CORRECTING, REVIEW, PlanCorrecting, ReviewQueue

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from amgs.api.sources import SourceSummary
    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.types import ConsolidationItem
    from amgs_app.calls.call import Call
    from amgs_app.render.rows import RowList
    from amgs_app.results.memory import Inbox, SourceList
    from amgs_tui.host import Host
    from amgs_tui.panes.base import Pane


MOST = 1000
"""Sources that the list shows at most."""

SOURCES = show(
    "s", "sources", "sources", "inbox.sources", "List the sources: show a source, read it again, watch its folder"
)


@dataclass(eq=False)
class SourceChoosing:
    """Opens the sources from a pane."""

    pane: Pane
    _offered: str = field(default="", init=False)
    """The source whose update is being planned for the operator."""

    def action_sources(self) -> None:
        self.pane.ask(operations.source.sources(limit=MOST))

    def show(self, command: str, result: object) -> bool:
        """Offer the sources as a list; put an update of the chosen source into the command line while its plan is read.

        Return whether the result was among these.
        """
        from amgs.lifecycle.revision import RevisionPlan
        from amgs_app.results.memory import SourceList

        if isinstance(result, SourceList):
            self._choose_source(result)
        elif command == "source update" and self._offered:
            name, self._offered = self._offered, ""
            if isinstance(result, RevisionPlan) and not result.empty:
                self.pane.host.command(f"source update {quote(name)}")
        else:
            return False
        return True

    def _choose_source(self, listing: SourceList) -> None:
        if not listing.sources:
            self.pane.notify("Ingest a file, a folder or a text with i.", title="The memory has no sources")
            return
        now = self.pane.host.now()
        choices = [Choice(source.name, source.name, _describe(source, now)) for source in listing.sources]
        by_name = {source.name: source for source in listing.sources}
        more = f", the first {len(choices):,}" if len(choices) < listing.total else ""
        title = f"{plural(listing.total, 'source')}{more}"
        self.pane.choose(title, choices, lambda name: self._choose_step(by_name[name]))

    def _choose_step(self, source: SourceSummary) -> None:
        """Offer the actions for a source; a change is a plan first, or a line to be entered."""
        name = source.name
        choices = [Choice("show", "show", "what it holds now and held before")]
        if source.place:
            choices += [
                Choice("update", "update", "read its file again: the plan first"),
                Choice("watch", "watch", "keep its folder in sync until stopped"),
            ]
        else:
            choices.append(Choice("update", "update", "give it another text"))
        choices.append(Choice("delete", "delete", "archive what only this source holds"))

        def take(step: str) -> None:
            match step:
                case "show":
                    self.pane.ask(operations.source.sources(name, pieces=True))
                case "update" if source.place:
                    self._offered = name
                    self.pane.ask(operations.source.update(name, dry_run=True))
                case "watch":
                    self.pane.host.command(f"source watch {quote(str(Path(source.place).parent))}")
                case "update" | "delete":
                    self.pane.host.command(f"source {step} {quote(name)} ")

        self.pane.choose(name, choices, take)


def _describe(source: SourceSummary, now: datetime) -> str:
    return f"{plural(source.pieces, 'piece')}, {ago(source.since, now)}"


PAGE = 400
"""Raw blocks that are loaded at a time, around the cursor; the list itself is as long as the inbox."""
EDGE = 60
"""Distance from the end of the loaded rows at which further ones are loaded."""
DRAFTED = 2000
"""Most blocks of a draft, as many as an operator may still review."""


class InboxPane(ListPane):
    """Raw blocks, the draft of their consolidation, or a revision of sources."""

    NAME = "inbox"
    SHOWS = frozenset(
        {
            "inbox list",
            "consolidate",
            "consolidate plan",
            "consolidate edit",
            "ingest",
            "source list",
            "source update",
            "source delete",
            "source watch",
            "review",
        }
    )
    PURPOSE = """\
Notes and turns of dialogue that were ingested but not consolidated yet. Consolidation gives each block a category, an
embedding, entities, edges to related blocks, and a decay profile. d drafts it: read the changes and correct them block
by block (e category, x leave out, arrows to an edge, x drops it, + and − confidence, 0 reset). c applies the draft in
one transaction, which the overview can undo. s lists the sources; what one says now is shown as a plan first."""

    BINDINGS: ClassVar[list[Any]] = [
        show("c", "consolidate", "consolidate", "inbox.consolidate", "Apply the draft, else consolidate all"),
        show("d", "plan", "draft", "inbox.plan", "Draft the consolidation to review it first, or back to the list"),
        *CORRECTING,
        show("i", "type('ingest ')", "ingest", "inbox.ingest", "Ingest a file, a folder or a text"),
        SOURCES,
        REVIEW,
        show("enter", "read", "read", "inbox.read", "Select this block and read it"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.inbox: Inbox | None = None
        self.revision: RowList[Any] | None = None
        self._raw: RowList[Any] | None = None
        self._carried_out: int | None = None
        self._draft: tuple[object, RowList[Any]] | None = None
        self.correcting = PlanCorrecting(self, lambda: self.item)
        self.sources, self.reviews = SourceChoosing(self), ReviewQueue(self)
        for part in (self.correcting, self.sources, self.reviews):
            self.adopt(part)
        self._owed = False  # the block under the cursor is not loaded; select it when it is

    @property
    def draft(self) -> PlanDraft | None:
        """The draft of a consolidation, or None."""
        return self.correcting.draft

    @property
    def shows(self) -> Literal["raw", "draft", "revision"]:
        """Which of the three lists is shown."""
        if self.revision is not None:
            return "revision"
        return "raw" if self.draft is None else "draft"

    def asks(self) -> Iterable[Call[Any]]:
        sift, place = self.sift, self.cursor if self.shows == "raw" else 0
        offset, only = max(0, place - PAGE // 2), list(sift.terms) or None
        return [operations.lifecycle.inbox(limit=PAGE, offset=offset, only=only, by=sift.order, reverse=sift.reverse)]

    def take(self, result: object) -> None:
        from amgs.lifecycle.plan_editing import PlanDraft
        from amgs.lifecycle.revision import Revision, RevisionPlan
        from amgs.types import ConsolidationPlan, IngestReport
        from amgs_app.results.memory import Consolidated, Inbox, Untouched

        match result:
            case Inbox():
                self.inbox, self._raw = result, list_of(result)
            case RevisionPlan() if not result.empty:
                self.revision, self._carried_out, self.cursor = list_of(result), None, 0
            case Revision() if result.operation is not None and not result.plan.only_adds:
                self.revision, self._carried_out, self.cursor = list_of(result), result.operation.id, 0
            case IngestReport() | RevisionPlan() | Revision():
                self.revision = None  # a revision that only adds texts does not replace the raw blocks
            case PlanDraft():
                self.revision = None
                self.cursor = 0 if self.correcting.take(result) else self.cursor
            case ConsolidationPlan() | Consolidated() | Untouched():
                self.correcting.look_at(result if isinstance(result, ConsolidationPlan) else None)
                self.revision, self.cursor = None, 0
        self.clip_cursor()
        if isinstance(result, Inbox) and self.shows == "raw":
            if result.total and not result.blocks:  # the list is now shorter than the requested offset
                self.look()
            elif self._owed and self.block_at_cursor() is not None:
                self.follow_cursor()

    @property
    def drafted(self) -> str:
        return str(self.correcting)

    @property
    def empty(self) -> bool:
        return self.shows == "raw" and self.inbox is not None and not self.inbox.waiting

    # --- the rows -----------------------------------------------------------------------------------------

    @property
    def page(self) -> RowList[Any] | None:
        """Rows of the revision or the draft; of the raw blocks the loaded part."""
        from amgs_app.lifecycle.rows import list_draft

        if self.revision is not None:
            return self.revision
        if self.draft is None:
            return self._raw
        if self._draft is None or self._draft[0] is not self.draft:
            self._draft = self.draft, list_draft(self.draft, self.host.now(), self.host.titles)
        return self._draft[1]

    @property
    def shown_places(self) -> tuple[int, ...] | None:
        """Rows of the draft that the filter leaves; None otherwise, since the store filters raw blocks."""
        return super().shown_places if self.shows == "draft" else None

    def follow_filter(self) -> None:
        """Filter the draft here; of raw blocks, request those that the store filters and sorts."""
        self.cursor, self.correcting.edge = 0, None
        if self.draft is None:
            self.look()
        else:
            self.follow_cursor()

    @property
    def item(self) -> ConsolidationItem | None:
        """Proposal of the draft for the block under the cursor."""
        return self.row.proposed if self.shows == "draft" and self.row else None

    def subtitle(self) -> str:
        if self.revision is not None:
            done = f"revision #{self._carried_out}" if self._carried_out else "plan: nothing has changed yet"
            return f"{done} · d back to the raw blocks"
        if self.draft is not None:
            return "c applies it · d back"
        if self.inbox is None or not self.inbox.total:
            return ""
        shown = f"{self.inbox.total:,} of {self.inbox.waiting:,} " if self.sift else ""
        return f"{shown}raw · press c to consolidate"

    def follow_cursor(self) -> None:
        self.correcting.edge = None
        if self.shows == "raw" and self.inbox is not None:
            first, last = self.inbox.offset, self.inbox.offset + len(self.inbox.blocks)
            above, below = first > 0 and self.cursor < first + EDGE, last < self.inbox.total
            if above or (below and self.cursor >= last - EDGE):
                for call in self.asks():
                    self.ask(call, origin="screen")
        self._owed = self.block_at_cursor() is None
        super().follow_cursor()

    def selection_changed(self, block_id: str | None) -> None:
        if self.revision is not None:
            return
        before, place = self.cursor, self.shown_rows.place_of(block_id) if self.shown_rows is not None else None
        self.cursor = before if place is None else place
        self.correcting.edge = self.correcting.edge if self.cursor == before else None
        self.repaint()

    def figure(self, canvas: Canvas) -> Figure | None:
        edge = self.correcting.edge
        if self.shown_rows is None or edge is None:
            return super().figure(canvas)
        return self.shown_rows.draw(canvas, self.cursor, filtered=bool(self.sift), marked=str(edge + 1))

    def draw(self, canvas: Canvas) -> Text:
        """Return the list, or a notice if the inbox or the memory is empty."""
        overview = self.host.overview
        if self.page is not self._raw or self.sift or self.rows or overview is None:
            return super().draw(canvas)
        if not sum(overview.store.blocks.values()):
            sentence = "New notes arrive here first, unprocessed."
            return notice(canvas, "The memory is empty", ["i  ingest a file, a folder or a text"], sentence)
        keys = ["2  assemble a frame for a question", "i  ingest more"]
        return notice(canvas, "The inbox is empty", keys, "Everything is consolidated.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("recategorise", "leave_out", "surer", "walk_edges", "as_proposed"):
            return self.shows == "draft" and self.correcting.correctable and self.rows > 0
        if action == "consolidate" and self.shows == "revision":
            return self.draft is None  # do not apply a draft that is not on view
        return not (action in ("type", "sources", "review") and self.draft is not None)

    def action_consolidate(self) -> None:
        if self.draft is not None and self.correcting.correctable:
            self.ask(operations.lifecycle.consolidate(draft=True))
        else:
            self.correcting.draft = None
            self.ask(operations.lifecycle.consolidate())

    def action_plan(self) -> None:
        if self.shows == "raw":
            waiting = self.inbox.waiting if self.inbox is not None else 0
            self.ask(operations.consolidation_plan.plan(limit=DRAFTED if waiting > DRAFTED else None))
            return
        self.correcting.draft, self.revision, self.correcting.edge = None, None, None
        self.selection_changed(self.host.selected)
        self.clip_cursor()
        self.show_change()

    def show_to_operator(self, command: str, result: object) -> None:
        """Offer the sources or the findings as choices."""
        if not self.sources.show(command, result):
            self.reviews.show(result)
