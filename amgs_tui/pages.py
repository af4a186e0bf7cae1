"""Pages and questions above the panes: results that no pane shows, the block finder, the plan of an undo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from amgs_app import operations
from amgs_tui.dialogs.questions import confirm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType
    from textual.app import App

    from amgs.types import Block, UndoPlan
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.shell.script import Pipe
    from amgs_tui.command_log import RunCommand
    from amgs_tui.dialogs.chooser import Finder
    from amgs_tui.dialogs.newest_first import NewestFirst
    from amgs_tui.host import Host

LATEST: Final = 14
"""Blocks that the finder offers before typing: as many as fit a screen of 24 lines."""


@dataclass(eq=False)
class Pages:
    """Opens pages, and passes results to the block finder while it is open."""

    app: App[Any]
    host: Host
    _finder: Finder | None = field(default=None, init=False)
    _growing: list[NewestFirst[Any]] = field(default_factory=list, init=False)

    def read(self, title: str, result: Any) -> None:
        """Show a result on a page; those of blocks and diagnoses have keys."""
        from amgs.types.diagnosis import Diagnosis
        from amgs_app.render.catalogue import page_of, page_width
        from amgs_app.results.memory import BlockDetail
        from amgs_tui.dialogs.reader import BlockPage, DiagnosisPage, TextReader

        def draw(width: int) -> RenderableType:
            return page_of(result, self.host.canvas(width, 1), self.host.now())

        match result:
            case BlockDetail():
                page: TextReader = BlockPage(self.host, result.block, draw)
            case Diagnosis():
                page = DiagnosisPage(self.host, result, draw)
            case _:
                page = TextReader(title, draw, needs=page_width(result))
        self.app.push_screen(page)

    def read_as(self, title: str, result: Any, pipe: Pipe) -> None:
        """Show a result in the form into which its line was piped."""
        from amgs_app.render.encode import to_json
        from amgs_app.shell.output import as_text
        from amgs_tui.dialogs.reader import TextReader

        words = to_json(result) if pipe.form == "json" else as_text(result, pipe.form or "table")
        self.app.push_screen(TextReader(title, Content(words)))

    def traffic(self, events: Sequence[ServiceEvent]) -> None:
        """Show requests to the memory; the chosen line's block is selected."""
        from amgs_tui.dialogs.newest_first import Traffic

        self._open_growing(Traffic(events), self.host.pick)

    def history(self, entries: Sequence[RunCommand]) -> None:
        """Show the commands that were run; the chosen command is put into the command line."""
        from amgs_tui.dialogs.newest_first import CommandHistory

        self._open_growing(CommandHistory(entries), self.host.command)

    def _open_growing(self, page: NewestFirst[Any], then: Callable[[str], None]) -> None:
        """Open a list that grows while it is read; `then` receives what is chosen."""

        def end(chosen: str | None) -> None:
            self._growing.remove(page)
            if chosen is not None:
                then(chosen)

        self._growing.append(page)
        self.app.push_screen(page, end)

    def add(self, entry: ServiceEvent | RunCommand) -> None:
        """Add an entry to the open page that lists its kind."""
        for page in self._growing:
            if page.is_mounted and isinstance(entry, page.KIND):
                page.add(entry)

    def find_block(self, title: str, chosen: Callable[[str], None], first: Sequence[Block] = ()) -> None:
        """Let the operator find a block by its words; `chosen` is called with its id. first: offered before typing;
        default: the latest blocks.
        """
        from amgs_tui.dialogs.chooser import Finder

        def search(text: str) -> None:
            self.host.ask(operations.block.find(text), slot="finder", origin="screen")

        def end(block_id: str | None) -> None:
            self._finder = None
            if block_id is not None:
                chosen(block_id)

        self._finder = Finder(search, title, first)
        self.app.push_screen(self._finder, end)
        if not first:
            self.host.ask(operations.block.find(limit=LATEST), slot="finder", origin="screen")

    def type_ahead(self, letter: str) -> bool:
        """Pass the block finder a letter typed before its line was there; return False if it is closed."""
        if self._finder is None or self.app.screen is not self._finder:
            return False
        self._finder.type_ahead(letter)
        return True

    def offer_latest(self, blocks: tuple[Block, ...]) -> bool:
        """Pass the block finder the latest blocks; return False if it is closed."""
        if self._finder is None:
            return False
        self._finder.offer(blocks)
        return True

    def show_found(self, blocks: tuple[Block, ...]) -> bool:
        """Pass the block finder what was found; return False if it is closed."""
        if self._finder is None:
            return False
        self._finder.show_found(blocks)
        return True

    def ask_to_undo(self, plan: UndoPlan) -> None:
        """Show what an undo will revert, and do it after a yes; the engine refuses a change that others depend on."""
        from amgs_app.render.format import describe_undo

        def undo() -> None:
            self.host.ask(operations.lifecycle.undo(plan.operation.id, yes=True))

        if plan.later:
            undo()
        else:
            confirm(self.app, "Undo this change?", describe_undo(plan, self.host.now()), undo)
