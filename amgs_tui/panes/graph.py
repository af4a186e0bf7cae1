"""3 Graph: the neighbourhood of the selected block, a path to another block, and corrections of edges, each of which
can be undone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual import events

from amgs_app import operations
from amgs_app.panes.row_filter import list_neighbour_ids, neighbour_rows
from amgs_app.render.canvas import Canvas
from amgs_app.render.glyphs import notice
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.weight_editor import step_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from amgs.types import Block, Edge, GraphStats, Neighbourhood
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_tui.host import Host


KINDS: Final = ("related", "depends_on", "links_to", "caused", "contradicts", "part_of")
"""Types offered for a new edge, beside those of the neighbourhood."""
EDITING: Final[list[Any]] = [
    show("right", "walk_edges(1)", "edge", "graph.edge", "Next edge, then the next neighbour", key_display="←→"),
    hide("left", "walk_edges(-1)", "edge before", "graph.edge_before", "Previous edge, or the neighbour before"),
    show("x", "cut", "cut", "graph.cut", "Cut this edge; undo brings it back"),
    show("u", "confirm", "confirm", "graph.confirm", "This edge is right: its confidence is 1, its decay begins anew"),
    show("plus,equals_sign", "weigh(1)", "weigh", "graph.heavier", "More weight for this edge", key_display="+ −"),
    hide("minus", "weigh(-1)", "weigh", "graph.lighter", "Less weight for this edge"),
    show("i", "add_edge", "add edge", "graph.add_edge", "Add an edge to another block, found by its words"),
]


@dataclass(eq=False)
class EdgeEditing:
    """Corrections of the edges around a block.

    found: the neighbourhood on view. neighbours: ids around its centre in the order of the cursor. edge: index of the
    edge that the keys act on, among those between the centre and the neighbour under the cursor, strongest first.
    """

    pane: ListPane
    found: Callable[[], Neighbourhood | None]
    neighbours: Callable[[], Sequence[str]]
    edge: int = 0

    @property
    def edges_at_cursor(self) -> list[Edge]:
        """Edges between the centre and the neighbour under the cursor, strongest first."""
        neighbourhood, ids, cursor = self.found(), self.neighbours(), self.pane.cursor
        if neighbourhood is None or not 0 <= cursor < len(ids):
            return []
        ends = {neighbourhood.center.id, ids[cursor]}
        between = [live for live in neighbourhood.edges if {live.edge.source_id, live.edge.target_id} == ends]
        return [live.edge for live in sorted(between, key=lambda live: (-live.strength, live.edge.key))]

    @property
    def edge_at_cursor(self) -> Edge | None:
        """The edge that the keys act on; None if the neighbour has no edge to the centre."""
        edges = self.edges_at_cursor
        return edges[min(self.edge, len(edges) - 1)] if edges else None

    def offers(self, action: str) -> bool | None:
        """Return whether an action is available now; None for actions of others."""
        match action:
            case "cut" | "confirm" | "weigh":
                return self.edge_at_cursor is not None
            case "add_edge":
                return self.found() is not None
            case "walk_edges":
                return bool(self.neighbours())
        return None

    def action_walk_edges(self, by: int) -> None:
        """Go to the neighbour's next edge; after its last, to the next neighbour."""
        pane, edges = self.pane, len(self.edges_at_cursor)
        place = min(self.edge, max(0, edges - 1)) + by
        if 0 <= place < edges:
            self.edge = place
        elif 0 <= pane.cursor + by < len(self.neighbours()):
            pane.move_to(pane.cursor + by)
            self.edge = 0 if by > 0 else max(0, len(self.edges_at_cursor) - 1)
        pane.show_change()

    def action_cut(self) -> None:
        if (edge := self.edge_at_cursor) is not None:
            self.pane.ask(operations.edge.remove(edge.source_id, edge.target_id, kind=edge.relation_type))

    def action_confirm(self) -> None:
        if (edge := self.edge_at_cursor) is not None:
            self.pane.ask(
                operations.edge.set_edge(edge.source_id, edge.target_id, kind=edge.relation_type, confirm=True)
            )

    def action_weigh(self, by: int) -> None:
        """Change the edge's weight by a step."""
        if (edge := self.edge_at_cursor) is not None:
            ends, weight = edge.key[:2], step_value(edge.weight, by)
            add = operations.edge.set_edge
            self.pane.ask(add(*ends, kind=edge.relation_type, weight=weight, confidence=edge.confidence))

    def action_add_edge(self) -> None:
        """Find the other block, with the neighbours offered first, then choose the type of the edge."""
        neighbourhood = self.found()
        if neighbourhood is not None:
            start = neighbourhood.center
            self.pane.host.find_block(
                f"New edge from “{start.title}” to", lambda goal: self._choose_kind(start.id, goal), self.rest
            )

    @property
    def rest(self) -> list[Block]:
        """Neighbours from the cursor on, then those before it."""
        neighbourhood, cursor = self.found(), self.pane.cursor
        by_id = {block.id: block for block in neighbourhood.blocks} if neighbourhood is not None else {}
        near = [by_id[block_id] for block_id in self.neighbours()]
        return near[cursor:] + near[:cursor]

    def _choose_kind(self, start: str, goal: str) -> None:
        neighbourhood = self.found()
        present = sorted({live.edge.relation_type for live in neighbourhood.edges}) if neighbourhood is not None else []
        choices = [Choice(name, name) for name in dict.fromkeys((*KINDS, *present))]
        self.pane.choose_or_type(
            "What joins them?",
            choices,
            lambda kind: self.pane.ask(operations.edge.set_edge(start, goal, kind=kind)),
            "a type of your own",
            f"edge set {start[:12]} {goal[:12]} --kind ",
        )


MOST_HOPS = 3
LABEL = re.compile(r"(?<!\S)(\d{1,3}) [^\W\d]\S*(?: [^\s●◉\u2800-\u28ff]\S*)*")
"""A neighbour's number and title in the picture, up to the next dot or stroke."""


def find_label_number(line: str, x: int, most: int) -> int | None:
    """Return the number (1 to `most`) of the label nearest to cell x of a line; None without a label."""
    labels = [
        (abs(x - (match.start() + len(match[0]) / 2)), int(match[1]))
        for match in LABEL.finditer(line)
        if 1 <= int(match[1]) <= most
    ]
    return min(labels)[1] if labels else None


class GraphPane(ListPane):
    """The neighbourhood of the selection; without a selection, the shape of the whole graph."""

    NAME = "graph"
    SHOWS = frozenset({"graph neighbours", "graph inspect", "graph stats"})
    PURPOSE = """\
The selected block and the blocks linked to it. An edge has a type and a strength: its weight × its confidence, decayed
since it was last used. ↑ and ↓ walk the neighbours, ← and → the edges; enter selects a neighbour and centres the graph
on it, backspace goes back. Correct the edge under the cursor: x cuts it, u confirms it, + and − change its weight; i
adds one; U undoes it. w finds the strongest path to any other block."""

    BINDINGS: ClassVar[list[Any]] = [
        show("enter", "enter", "centre", "graph.walk", "Select this neighbour and centre the graph on it"),
        *EDITING,
        show("backspace", "back", "back", "graph.back", "Back to the previous centre"),
        show("h", "hops", "hops", "graph.hops", "Show one, two or three hops"),
        show("f", "filter", "relation", "graph.filter", "Show only one type of edge, or all"),
        show("w", "way", "path to", "graph.way", "Show the strongest path to another block"),
        show(
            "v",
            "run('graph stats --communities')",
            "communities",
            "graph.communities",
            "Find communities in the whole graph",
        ),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.found: Neighbourhood | None = None
        self.edges = EdgeEditing(self, lambda: self.found, lambda: self.neighbours)
        self.adopt(self.edges)
        self.stats: GraphStats | None = None
        self.hops = 1
        self.relation: str | None = None
        self.trail: list[str] = []

    def asks(self) -> Iterable[Call[Any]]:
        selected = self.host.selected
        if selected is None:
            return [operations.graph.stats()]
        only = None if self.relation is None else [self.relation]
        return [operations.graph.neighbours(selected, hops=self.hops, relation=only)]

    def take(self, result: object) -> None:
        from amgs.types import GraphStats, Neighbourhood
        from amgs_app.results.memory import Inspection

        match result:
            case GraphStats():
                self.stats = result
            case Inspection():
                self.take(result.neighbourhood)
            case Neighbourhood():
                self.found, self.hops = result, result.hops
                self.cursor = self.edges.edge = 0

    @property
    def neighbours(self) -> list[str]:
        """Ids around the centre in the order of the arrows."""
        return list_neighbour_ids(self.found, self.sift) if self.found is not None else []

    def all_rows(self) -> Sequence[Row]:
        return neighbour_rows(self.found) if self.found is not None else ()

    def follow_cursor(self) -> None:
        self.edges.edge = 0
        self.refresh_bindings()

    @property
    def rows(self) -> int:
        return len(self.neighbours)

    def subtitle(self) -> str:
        return f"only {self.relation}, f changes it" if self.found is not None and self.relation is not None else ""

    def selection_changed(self, block_id: str | None) -> None:
        if self.found is not None and block_id != self.found.center.id:
            self.trail = [*self.trail[-49:], self.found.center.id]
        self.look()

    def draw(self, canvas: Canvas) -> Text:
        selected = self.host.selected
        if self.found is None and self.stats is None:
            return notice(canvas, "The graph", (), self.waits)
        from amgs_app.graph import figure as graph

        if selected is None or self.found is None:
            if self.stats is None or not self.stats.nodes:
                keys = ("1  the inbox", "c  consolidate it there")
                return notice(canvas, "No graph yet", keys, "Consolidating the inbox creates the edges.")
            return graph.stats(self.stats, canvas)
        ids, edge = self.neighbours, self.edges.edge_at_cursor
        return graph.neighbourhood(
            self.found,
            canvas,
            selected=ids[self.cursor] if ids else None,
            now=self.host.now(),
            shown=ids if self.sift else None,
            edge=edge.key if edge is not None else None,
        )

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a neighbour after a click near its number, on the map or in the table."""
        event.prevent_default()
        offset = event.get_content_offset(self)
        if offset is None or self.found is None:
            return
        place = find_label_number(self.draw(self.canvas()).plain.split("\n")[offset.y], offset.x, self.rows)
        if place is not None:
            self.move_to(place - 1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "back":
            return bool(self.trail)
        offered = self.edges.offers(action)
        if offered is not None:
            return offered
        return self.found is not None if action in ("hops", "enter", "filter", "way") else True

    def action_enter(self) -> None:
        ids = self.neighbours
        if ids:
            self.post_message(self.Picked(ids[self.cursor]))

    def action_back(self) -> None:
        if self.trail:
            before = self.trail.pop()
            self.found = None
            self.post_message(self.Picked(before))

    def action_filter(self) -> None:
        """Let the operator choose a type of edges."""
        if self.found is None:
            return
        known = sorted({live.edge.relation_type for live in self.found.edges} | {self.relation or ""} - {""})
        choices = [Choice("", "all", "every type of edge", marked=self.relation is None)]
        choices += [Choice(name, name, marked=name == self.relation) for name in known]
        self.choose("Show which edges?", choices, self._show_only)

    def _show_only(self, relation: str) -> None:
        self.relation = relation or None
        self.look()

    def action_way(self) -> None:
        """Ask for the path to a block found by its words; offer the neighbours first, from the cursor on."""
        if self.found is not None:
            start = self.found.center
            self.host.find_block(
                f"Path from “{start.title}” to",
                lambda goal: self.ask(operations.graph.path(start.id, goal)),
                self.edges.rest,
            )

    def action_hops(self) -> None:
        self.hops = self.hops % MOST_HOPS + 1
        self.look()
