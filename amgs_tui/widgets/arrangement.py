"""Layout of the panes: a pure function from the terminal's size to boxes that tile the body."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from textual.containers import Container
from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement

from amgs_app.panes.layout import PANES
from amgs_tui.wing_panes import wing_panes

if TYPE_CHECKING:
    from textual.widget import Widget


COMPANIONS: dict[str, tuple[str, str, str]] = {
    "inbox": ("overview", "graph", "decay"),
    "frame": ("graph", "decay", "calibration"),
    "graph": ("decay", "inbox", "frame"),
    "decay": ("graph", "calibration", "inbox"),
    "calibration": ("decay", "overview", "frame"),
    "focus": ("frame", "graph", "decay"),
    "overview": ("inbox", "calibration", "graph"),
    "conversation": ("graph", "decay", "frame"),
    **{name: wing.companions for name, wing in wing_panes().items()},
}
"""Panes shown below a large pane if there is room: those related to its question."""

TILED_WIDTH, TILED_HEIGHT = 180, 44
SPLIT_WIDTH, SPLIT_HEIGHT = 110, 30
THREE_WIDTH = 140
EMPTY_HEIGHT = 6
"""Lines of a pane with nothing to show: its edges, what it is, why it is empty, the next step."""
LEAST_WIDTH, LEAST_HEIGHT = 40, 11
"""On smaller terminals no pane is readable, and the screen says so instead."""

Mode = Literal["tiny", "single", "split", "tiled"]


class Box(NamedTuple):
    """A rectangle in cells, relative to the body."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A mode and the box of every visible pane."""

    mode: Mode
    boxes: dict[str, Box]


def mode_for(width: int, height: int) -> Mode:
    """Return the mode for a terminal of width × height cells (the whole terminal, not the body)."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return "tiny"
    if width >= TILED_WIDTH and height >= TILED_HEIGHT:
        return "tiled"
    if width >= SPLIT_WIDTH and height >= SPLIT_HEIGHT:
        return "split"
    return "single"


def arrange(
    mode: Mode,
    width: int,
    height: int,
    main: str,
    beside: tuple[str, ...] = (),
    *,
    maximised: bool = False,
    empty: Collection[str] = (),
) -> Arrangement:
    """Return boxes that tile width × height cells of the body; `main` is always visible.

    beside: panes that the operator wants below it; default: its companions. empty: panes with nothing to show, hidden
    unless the operator wants them.
    """
    if mode == "tiny":
        return Arrangement(mode, {})
    if mode == "single" or maximised:
        return Arrangement(mode, {main: Box(0, 0, width, height)})
    if mode == "tiled":
        return Arrangement(mode, _tile_panes(width, height, main, empty))
    wanted = tuple(name for name in beside if name != main)
    if not wanted:
        known = (*COMPANIONS[main], *(name for name in PANES if name != main))
        ranked = sorted(dict.fromkeys(known), key=lambda name: name in empty)
        wanted = tuple(ranked[: len(COMPANIONS[main])])
    return Arrangement(mode, _split(width, height, main, wanted, gives_way=main in empty))


def _split(width: int, height: int, main: str, wanted: tuple[str, ...], *, gives_way: bool = False) -> dict[str, Box]:
    """Return the main pane above two or three companions, since tables and maps need the full width.

    gives_way: the main pane has little to show, and leaves room to those with content.
    """
    small = wanted[: 3 if width >= THREE_WIDTH else 2]
    top = EMPTY_HEIGHT if gives_way else height - max(12, round(height * 0.36))
    return {main: Box(0, 0, width, top)} | _row(small, (1.0,) * len(small), width, top, height - top)


def _tile_panes(width: int, height: int, main: str, empty: Collection[str]) -> dict[str, Box]:
    """Return all panes but empty ones; working context, conversation and the wings' panes share the bottom, which has
    only a few lines if all of them are empty.
    """
    gone = {*empty} - {main}
    wings = wing_panes()
    shares = (0.36, 0.32, *(wing.share for wing in wings.values()))
    shared = _drop_closed_panes(("focus", "conversation", *wings), shares, gone)
    says_little = {*shared[0]} <= {*empty}
    foot = EMPTY_HEIGHT if says_little else height - round(height * 0.34) - round(height * 0.28)
    top = round((height - foot) * 0.34 / (0.34 + 0.28))
    middle = height - foot - top
    return (
        _row(*_drop_closed_panes(("inbox", "frame", "overview"), (0.26, 0.46, 0.28), gone), width, 0, top)
        | _row(*_drop_closed_panes(("graph", "decay", "calibration"), (0.34, 0.33, 0.33), gone), width, top, middle)
        | _row(*shared, width, top + middle, foot)
    )


def _drop_closed_panes(
    names: tuple[str, ...], shares: tuple[float, ...], gone: Collection[str]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return a row without the closed panes; never an empty row."""
    panes = [(name, share) for name, share in zip(names, shares, strict=True) if name not in gone]
    panes = panes or list(zip(names, shares, strict=True))
    return tuple(name for name, _ in panes), tuple(share for _, share in panes)


def _row(names: tuple[str, ...], shares: tuple[float, ...], width: int, y: int, height: int) -> dict[str, Box]:
    """Return panes side by side by their shares; the last takes the remainder of rounding."""
    boxes: dict[str, Box] = {}
    x, total = 0, sum(shares)
    for position, (name, share) in enumerate(zip(names, shares, strict=True)):
        last = position == len(names) - 1
        wide = width - x if last else round(width * share / total)
        boxes[name] = Box(x, y, wide, height)
        x += wide
    return boxes


class BoxLayout(Layout):
    """Places children by the arrangement of their Body; a child without a box is hidden."""

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
    """Contains all panes; `main` has the large place, or with `maximised` the whole body, `beside` are wanted below it,
    `empty` have nothing to show.
    """

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
        """Layout of the panes by the arrangement, whatever a style sheet says."""
        return self._boxes

    @property
    def mode(self) -> Mode:
        """Mode that the terminal's size allows."""
        return mode_for(*self.app.size)

    def arrangement(self, size: Size | None = None) -> Arrangement:
        """Return the arrangement in a body of this size (default: the present body)."""
        width, height = size or self.size
        large = self.maximised
        return arrange(self.mode, width, height, self.main, self.beside, maximised=large, empty=self.empty)

    def rearrange(self) -> None:
        """Place the panes again; requested from a child, since a container caches its arrangement."""
        for child in self.children:
            child.refresh(layout=True)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the visible panes, in reading order."""
        boxes = self.arrangement().boxes
        return tuple(sorted(boxes, key=lambda name: (boxes[name].y, boxes[name].x)))
