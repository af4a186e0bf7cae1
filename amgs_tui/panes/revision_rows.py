"""A revision in the inbox: what becomes of each text of a source, in the place of the raw blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs_tui.panes.base import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from amgs.lifecycle.revision import RevisionPlan
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.render.figures.revision import RevisionRow
    from amgs_tui.host import Host


class RevisionRows(Pane):
    """A pane that shows a revision until the operator goes back; one that only adds texts is not worth it."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.revision: RevisionPlan | None = None
        self._carried_out: int | None = None

    def take_revision(self, result: Any) -> None:
        """Keep a plan, or what was carried out of one; anything else lets the raw blocks be seen."""
        from amgs.lifecycle.revision import Revision, RevisionPlan

        self.revision = self._carried_out = None
        if isinstance(result, RevisionPlan) and not result.empty:
            self.revision = result
        elif isinstance(result, Revision) and result.operation is not None and not result.plan.only_adds:
            self.revision, self._carried_out = result.plan, result.operation.id

    @property
    def revised(self) -> Sequence[RevisionRow]:
        """The rows of the revision."""
        from amgs_app.render.figures.revision import rows_of

        return rows_of(self.revision) if self.revision is not None else ()

    def told_of_revision(self) -> str:
        """What stands at the lower edge while a revision is shown."""
        if self._carried_out is not None:
            return f"revision #{self._carried_out} · d back to the raw blocks"
        return "plan: nothing has changed yet · d back to the raw blocks"

    def draw_revision(self, canvas: Canvas, plan: RevisionPlan, cursor: int) -> Text:
        from amgs_app.render.figures.revision import revision

        return revision(plan, canvas, operation=self._carried_out, cursor=cursor)
