"""7 Overview: the health of the memory, the whole loop with its counts, and what was done last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs_tui.keys import shown
from amgs_tui.panes.base import Ask, Pane
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amgs.model import Operation
    from amgs_tui.verbs.results import OperationList, Overview


class OverviewPane(Pane):
    """Status and journal."""

    NAME = "overview"
    SHOWS = frozenset({"status", "operations", "undo"})
    PURPOSE = """\
One look at everything: how many blocks are in which state, the loop from notes to decoded tokens and back
with its counts, and the journal of changes. U takes the latest change back that still stands."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("U", "undo", "undo", "overview.undo", "Take back the latest change that still stands"),
        shown("m", "metrics", "metrics", "overview.metrics", "How good the memory is, by six measures"),
        shown("d", "drift", "drift", "overview.drift", "What has drifted: centrality, entropy, attention"),
        shown("V", "verify", "verify", "overview.verify", "Check the store from end to end"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.overview: Overview | None = None
        self.journal: OperationList | None = None

    def asks(self) -> Iterable[Ask]:
        return [("operations", {})]

    def take(self, verb: str, result: Any) -> None:
        if verb == "status":
            self.overview = result
        elif verb == "operations":
            self.journal = result

    @property
    def undoable(self) -> Operation | None:
        """The latest change that still stands."""
        journal = self.journal.operations if self.journal is not None else ()
        return next((each for each in journal if not each.undone), None)

    def subtitle(self) -> str:
        last = self.undoable
        return f"U undoes #{last.id} {last.kind}" if last is not None else ""

    def draw(self, canvas: Canvas) -> Text:
        if self.overview is None:
            return notice(canvas, "Overview", (), "Waiting for the memory …")
        from amgs_tui.pictures import overview

        frame = self.workstation.last_frame
        return overview.overview(
            self.overview.store,
            canvas,
            operations=self.journal.operations if self.journal is not None else (),
            frame=frame,
            focus=self.workstation.lifetime,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return self.undoable is not None if action == "undo" else True

    def action_undo(self) -> None:
        self.ask("undo")

    def action_metrics(self) -> None:
        self.workstation.action_command("metrics ")

    def action_drift(self) -> None:
        self.ask("monitor")

    def action_verify(self) -> None:
        self.ask("verify")
