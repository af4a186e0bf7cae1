"""Edges corrected in the graph pane: cut, confirmed, weighed and added, each at once; undo takes each back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.weight_editor import step_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amgs.types import Block, Edge, Neighbourhood
    from amgs_tui.panes.lists import ListPane

KINDS: Final = ("related", "depends_on", "links_to", "caused", "contradicts", "part_of")
"""Types that are offered for a new edge, beside those that are here."""
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
    """Corrections of the edges around a block, and which of the edges the keys mean.

    found: the neighbourhood that a pane shows. neighbours: ids around its centre in the order of the cursor. edge:
    which of the edges between the centre and the neighbour under the cursor, the strongest first.
    """

    pane: ListPane
    found: Callable[[], Neighbourhood | None]
    neighbours: Callable[[], Sequence[str]]
    edge: int = 0

    @property
    def edges_at_cursor(self) -> list[Edge]:
        """Edges between the centre and the neighbour under the cursor, the strongest first."""
        neighbourhood, ids, cursor = self.found(), self.neighbours(), self.pane.cursor
        if neighbourhood is None or not 0 <= cursor < len(ids):
            return []
        ends = {neighbourhood.center.id, ids[cursor]}
        between = [live for live in neighbourhood.edges if {live.edge.source_id, live.edge.target_id} == ends]
        return [live.edge for live in sorted(between, key=lambda live: (-live.strength, live.edge.key))]

    @property
    def edge_at_cursor(self) -> Edge | None:
        """Edge that keys act on; None where the neighbour is farther."""
        edges = self.edges_at_cursor
        return edges[min(self.edge, len(edges) - 1)] if edges else None

    def offers(self, action: str) -> bool | None:
        """Return whether a key of the correction is offered now; None for keys of others."""
        match action:
            case "cut" | "confirm" | "weigh":
                return self.edge_at_cursor is not None
            case "add_edge":
                return self.found() is not None
            case "walk_edges":
                return bool(self.neighbours())
        return None

    def action_walk_edges(self, by: int) -> None:
        """Go to the next edge of the neighbour; past the last one, to the next neighbour."""
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
        """Weigh the edge a step more or less."""
        if (edge := self.edge_at_cursor) is not None:
            ends, weight = edge.key[:2], step_value(edge.weight, by)
            add = operations.edge.set_edge
            self.pane.ask(add(*ends, kind=edge.relation_type, weight=weight, confidence=edge.confidence))

    def action_add_edge(self) -> None:
        """Find the other block, the neighbours first, then choose what joins the two."""
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
        here = sorted({live.edge.relation_type for live in neighbourhood.edges}) if neighbourhood is not None else []
        choices = [Choice(name, name) for name in dict.fromkeys((*KINDS, *here))]
        self.pane.choose_or_type(
            "What joins them?",
            choices,
            lambda kind: self.pane.ask(operations.edge.set_edge(start, goal, kind=kind)),
            "a type of your own",
            f"edge set {start[:12]} {goal[:12]} --kind ",
        )
