"""What figures are drawn with besides their result: the rows that a filter leaves, titles, the view of another pane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types import Edge
    from amgs_app.operations.operation import Pane
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.row_filter import Row
    from amgs_app.session import Session
    from amgs_focus.records import SpanSource
    from amgs_focus.views import FocusView


def places(session: Session, pane: Pane, rows: Sequence[Row]) -> Sequence[int] | None:
    """The places of the rows that the pane's filter leaves, in its order; None where it has neither."""
    from amgs_app.row_fields import shown

    sift = session.layout.sifts.get(pane)
    return shown(pane, rows, sift) if sift else None


def titles_of_edges(session: Session, edges: Iterable[Edge]) -> dict[str, str]:
    """The titles of the blocks at the ends of edges, by id."""
    return session.memory.titles({end for edge in edges for end in (edge.source_id, edge.target_id)})


def titles_of_view(
    session: Session, view: FocusView | None, more: Sequence[SpanSource] = ()
) -> dict[str, str]:
    """The titles of the blocks that a working context comes from, by id."""
    ids = {one.source for one in more}
    if view is not None:
        ids |= {one.source for one in view.sources} | {one.source for one in view.entries}
    return session.memory.titles({one for one in ids if one})


def drawn_view(session: Session, result: FocusView | None, canvas: Canvas) -> Text:
    """The figure of a working context; None where nothing is open."""
    from amgs_app.render.figures.focus import focus

    return focus(result, canvas, titles=titles_of_view(session, result))


def with_view(session: Session, result: Any, canvas: Canvas) -> Text:
    """The figure of a result that says how the working context stands after it."""
    return drawn_view(session, result.view, canvas)


def current(name: str) -> Callable[[Session, Any, Canvas], Text]:
    """The figure of another command's result as it is now: a report has none of its own."""

    def drawn(session: Session, result: Any, canvas: Canvas) -> Text:
        from amgs_app.operations.standard import standard
        from amgs_app.render.catalogue import draw

        del result
        call = standard().call(name)
        return draw(session, call.run(session), canvas)

    return drawn
