"""The panes' place: a container that puts each pane into the box that the arrangement gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container
from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement

from amgs_tui.widgets.arrangement import Arrangement, Mode, arrange, mode_for

if TYPE_CHECKING:
    from textual.widget import Widget


class BoxLayout(Layout):
    """Places children by the arrangement of their Body; a child without a box is not shown."""

    name = "boxes"

    def arrange(
        self,
        parent: Widget,
        children: list[Widget],
        size: Size,
        greedy: bool = True,  # noqa: ARG002 - the boxes leave nothing to negotiate
    ) -> ArrangeResult:
        parent.pre_layout(self)
        boxes = parent.arrangement(size).boxes if isinstance(parent, Body) else {}
        return [
            WidgetPlacement(Region(*boxes[child.id]), Offset(), Spacing(), child)
            for child in children
            if child.id in boxes
        ]


class Body(Container):
    """Holds all panes; `main` is the one in the large place, `maximised` gives it the whole body, `beside` are
    the panes wanted under it, `empty` those with nothing to show."""

    DEFAULT_CSS = """
    Body { height: 1fr; width: 1fr; overflow: hidden hidden; background: $background; }
    """

    def __init__(self, *panes: Widget, main: str) -> None:
        super().__init__(*panes, id="body")
        self.main = main
        self.maximised = False
        self.beside: tuple[str, ...] = ()
        self.empty: frozenset[str] = frozenset()
        self._boxes = BoxLayout()

    @property
    def layout(self) -> Layout:
        """The panes are placed by the arrangement, whatever a style sheet says."""
        return self._boxes

    @property
    def mode(self) -> Mode:
        """The layout that the terminal's size allows."""
        return mode_for(*self.app.size)

    def arrangement(self, size: Size | None = None) -> Arrangement:
        """Where the panes stand in a body of this size (of the present size)."""
        width, height = size or self.size
        large = self.maximised
        return arrange(self.mode, width, height, self.main, self.beside, maximised=large, empty=self.empty)

    def rearrange(self) -> None:
        """Place the panes anew; asked of a child, because a container remembers its arrangement."""
        for child in self.children:
            child.refresh(layout=True)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the panes that have a box, in reading order."""
        boxes = self.arrangement().boxes
        return tuple(sorted(boxes, key=lambda name: (boxes[name].y, boxes[name].x)))
