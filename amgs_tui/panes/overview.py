"""7 Overview: the memory's loop with its counts, the state of each side of the memory, and the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events

from amgs.text.words import plural
from amgs_app import operations
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.rows import list_journal
from amgs_app.workplace.rows import PANE_OF, STATIONS
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amgs.types import JournalEntry
    from amgs_app.calls.call import Call
    from amgs_app.render.rows import RowList
    from amgs_app.results.overview import Overview
    from amgs_tui.host import Host

JOURNAL = 500
"""Most journal entries in the pane."""


class OverviewPane(ListPane):
    """Status, health and journal, with a cursor in the journal."""

    NAME = "overview"
    SHOWS = frozenset({"status", "operations", "undo"})
    PURPOSE = """\
One look at everything: the loop from notes to decoded tokens and back, with its counts and the next step; the health of
each area of the memory (✓ well, ◆ worth a look, ✗ needs attention) with the command for it; and the journal of changes.
For a memory in a database: its namespace among those that you may use. Blocks of other namespaces are counted as
PostgreSQL last estimated them.
A click on a step of the loop opens its pane; ← and → move through the steps, and enter opens its pane. U asks,
then undoes the change under the cursor; later changes that depend on it have to be undone first."""

    BINDINGS: ClassVar[list[Any]] = [
        show("U", "undo", "undo", "overview.undo", "Undo the change under the cursor"),
        show("enter", "open", "open", "overview.open", "Open the station's pane; of a change: what it did"),
        show("n", "next", "next step", "overview.next", "Type the command of the next step"),
        show("m", "type('metrics ')", "measure", "overview.measure", "Measure the memory: success metrics and drift"),
        show("right", "station(1)", "station", "overview.station", "Next station of the loop", key_display="←→"),
        hide("left", "station(-1)", "station", "overview.station_before", "Previous station of the loop"),
        show("V", "run('verify')", "verify", "overview.verify", "Check the whole store for faults"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.overview: Overview | None = None
        self.journal: RowList[JournalEntry] | None = None
        self.station: int | None = None
        """Index of the chosen station of the loop; None for a row of the journal."""

    def asks(self) -> Iterable[Call[Any]]:
        return [operations.lifecycle.operations(limit=JOURNAL), operations.general.status()]

    def take(self, result: object) -> None:
        from amgs_app.results.memory import OperationList
        from amgs_app.results.overview import Overview

        match result:
            case Overview():
                self.overview = result
            case OperationList():
                self.journal = list_journal(result.operations, self.host.now())
                self.cursor = 0
                self.place_on(not entry.undone for entry in self.items)

    # --- the journal ----------------------------------------------------------------------------------------

    @property
    def page(self) -> RowList[JournalEntry] | None:
        return self.journal

    @property
    def chosen(self) -> JournalEntry | None:
        """The change under the cursor."""
        return cast("JournalEntry | None", self.row)

    def move_to(self, row: int) -> None:
        """Move the cursor to a row of the journal, and leave the loop."""
        self.station = None
        super().move_to(row)

    def follow_cursor(self) -> None:
        self.refresh_bindings()

    def subtitle(self) -> str:
        if self.station is not None:
            return f"enter opens {STATIONS[self.station]} · ↑ ↓ the journal"
        chosen = self.chosen
        if chosen is None:
            return ""
        return f"#{chosen.id} is undone" if chosen.undone else f"U undoes #{chosen.id} {chosen.kind}"

    # --- drawing --------------------------------------------------------------------------------------------

    def figure(self, canvas: Canvas) -> Figure | None:
        if self.overview is None:
            return None
        from amgs_app.workplace import figure as overview

        return overview.overview(
            self.overview.store,
            canvas,
            journal=self.shown_rows,
            cursor=self.cursor if self.rows and self.station is None else None,
            station=self.station,
            health=self.overview.health,
            frame=self.host.last_frame,
            focus=self.host.lifetime,
            namespaces=self.overview.namespaces,
        )

    # --- what the keys and the mouse do ---------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Open the pane of a clicked station of the loop; elsewhere put the cursor on a row."""
        offset = event.get_content_offset(self)
        if offset is None or self.overview is None:
            return
        from amgs_app.workplace.figure import pane_at

        host = self.host
        pane = pane_at(*offset, self.canvas(), self.overview.store, host.last_frame, host.lifetime)
        if pane is not None:
            event.prevent_default()
            host.go(pane)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "undo":
            return self.station is None and self.chosen is not None and not self.chosen.undone
        if action == "open":
            return self.station is not None or self.chosen is not None
        return True

    def action_station(self, by: int) -> None:
        """Go to the next station of the loop; from the journal to the first, or the last."""
        if self.station is None:
            self.station = 0 if by > 0 else len(STATIONS) - 1
        else:
            self.station = (self.station + by) % len(STATIONS)
        self.show_change()

    def action_open(self) -> None:
        """Open the station's pane, or show what the change did."""
        if self.station is not None:
            self.host.go(PANE_OF[STATIONS[self.station]])
        elif self.chosen is not None:
            self.ask(operations.lifecycle.operations(self.chosen.id))

    def action_undo(self) -> None:
        """Undo the change under the cursor; the workstation asks first."""
        if self.chosen is not None:
            self.ask(operations.lifecycle.undo(self.chosen.id))

    def show_to_operator(self, command: str, result: object) -> None:
        """Offer the blocks of a change as choices; the chosen one is selected in every pane."""
        del command
        from amgs.types import JournalEntryDetail

        if not isinstance(result, JournalEntryDetail):
            return
        done, blocks = result.operation, result.blocks
        if not blocks:
            self.notify(f"It changed no blocks and {plural(done.edges, 'edge')}.", title=f"#{done.id} {done.kind}")
            return
        more = f", the first {len(blocks)} of {done.blocks:,}" if len(blocks) < done.blocks else ""
        choices = [Choice(block.id, block.title or block.id[:12], block.told) for block in blocks]
        title = f"#{done.id} {done.kind}: {plural(done.blocks, 'block')}{more} · {plural(done.edges, 'edge')}"
        self.choose(title, choices, self.host.pick)

    def action_next(self) -> None:
        """Put the command of the next step into the command line."""
        if self.overview is not None:
            from amgs_app.workplace.figure import next_step

            line = next_step(self.overview.store, self.host.last_frame, self.host.lifetime)
            self.host.command(line)
