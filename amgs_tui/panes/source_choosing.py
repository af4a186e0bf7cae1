"""The sources from the inbox: a list to choose from, and what can be done with the chosen one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.render.format import ago
from amgs_app.terminal.line import quote
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import show

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.api.sources import SourceSummary
    from amgs_app.results.memory import SourceList
    from amgs_tui.panes.base import Pane

MOST = 1000
"""Sources that the list shows at most."""

SOURCES = show(
    "s", "sources", "sources", "inbox.sources", "List the sources: show one, read it again, watch its folder"
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
        """Offer the sources as a list; put an update of the chosen one into the command line while its plan is read.

        Return whether the result was one of these.
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
