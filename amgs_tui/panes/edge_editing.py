"""Edges corrected in the graph pane: cut, confirmed, weighed and added as a draft, then applied as one change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.render.format import share
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import hide, show
from amgs_tui.panes.weight_editor import step_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from amgs.types import Block, Edge, Neighbourhood
    from amgs.types.edge_draft import EdgeDraft, EdgeEdit
    from amgs_app.results.memory import EdgesApplied
    from amgs_tui.panes.lists import ListPane

KINDS: Final = ("related", "depends_on", "links_to", "caused", "contradicts", "part_of")
"""Types that are offered for a new edge, beside those that are here."""
OWN: Final = "(own)"
"""The choice of a type that is typed."""
EDITING: Final[list[Any]] = [
    show("c", "apply", "apply", "graph.apply", "Apply the draft of edges; undo reverts it"),
    show("d", "discard", "discard", "graph.discard", "Discard the draft of edges"),
    show(
        "right",
        "walk_edges(1)",
        "edge",
        "graph.edge",
        "Next edge of this neighbour, then the next neighbour",
        key_display="←→",
    ),
    hide("left", "walk_edges(-1)", "edge before", "graph.edge_before", "Previous edge, or the neighbour before"),
    show("x", "cut", "cut", "graph.cut", "Draft: cut this edge, or keep it again"),
    show(
        "u", "confirm", "confirm", "graph.confirm", "Draft: this edge is right, its confidence 1, its decay begins anew"
    ),
    show(
        "plus,equals_sign", "weigh(1)", "weigh", "graph.heavier", "Draft: more weight for this edge", key_display="+ −"
    ),
    hide("minus", "weigh(-1)", "weigh", "graph.lighter", "Draft: less weight for this edge"),
    show(
        "i", "add_edge", "add edge", "graph.add_edge", "Draft: an edge from this block to another, found by its words"
    ),
    hide("0", "as_it_is", "as it is", "graph.as_it_is", "Take the correction of this edge back"),
]


@dataclass(eq=False)
class EdgeDrafting:
    """The corrections of the edges around a block, and which of the edges the keys mean.

    found: the neighbourhood that a pane shows. neighbours: ids around its centre in the order of the cursor. draft: the
    corrections that are not applied yet. edge: which of the edges between the centre and the neighbour under the
    cursor, the strongest first.
    """

    pane: ListPane
    found: Callable[[], Neighbourhood | None]
    neighbours: Callable[[], Sequence[str]]
    draft: EdgeDraft | None = None
    edge: int = 0

    def __str__(self) -> str:
        """What is drafted; "" for nothing."""
        return "" if self.draft is None else f"corrections to {plural(len(self.draft.edits), 'edge')}"

    def take(self, result: EdgeDraft | EdgesApplied) -> None:
        """Keep the draft; what was applied or discarded is none."""
        from amgs.types.edge_draft import EdgeDraft

        self.draft = result if isinstance(result, EdgeDraft) and result.edits else None

    def take_draft(self, edits: tuple[EdgeEdit, ...], at: datetime) -> None:
        """Go on with the corrections that an earlier session left."""
        from amgs.types.edge_draft import EdgeDraft

        self.draft = EdgeDraft(edits, at)
        self.pane.redraw()

    # --- the edge that keys mean --------------------------------------------------------------------------

    @property
    def edges_at_cursor(self) -> list[Edge]:
        """The edges between the centre and the neighbour under the cursor, the strongest first, drafted ones last."""
        found, ids, cursor = self.found(), self.neighbours(), self.pane.cursor
        if found is None or not 0 <= cursor < len(ids):
            return []
        ends = {found.center.id, ids[cursor]}
        between = [live for live in found.edges if {live.edge.source_id, live.edge.target_id} == ends]
        edges = [live.edge for live in sorted(between, key=lambda one: (-one.strength, one.edge.key))]
        known = {edge.key for edge in edges}
        drafted = [edit.after for edit in self.draft.edits] if self.draft is not None else []
        return edges + [one for one in drafted if one and {*one.key[:2]} == ends and one.key not in known]

    @property
    def edge_at_cursor(self) -> Edge | None:
        """The edge that keys mean, as it is in the store or drafted as new; None where the neighbour is farther."""
        edges = self.edges_at_cursor
        return edges[min(self.edge, len(edges) - 1)] if edges else None

    def _edit_of(self, edge: Edge | None) -> EdgeEdit | None:
        """What is drafted for an edge."""
        return self.draft.edit_of(edge.key) if self.draft is not None and edge is not None else None

    def describe_edit(self) -> str:
        """What is drafted for the edge under the cursor, in words; "" for nothing."""
        edit = self._edit_of(self.edge_at_cursor)
        if edit is None:
            return ""
        if edit.after is None:
            return "cut: c applies it · 0 keeps it"
        if edit.before is None:
            return f"new, weight {share(edit.after.weight)}: c applies it · 0 drops it"
        told = [
            f"{name} {share(old)} → {share(new)}"
            for name, old, new in (
                ("weight", edit.before.weight, edit.after.weight),
                ("confidence", edit.before.confidence, edit.after.confidence),
            )
            if old != new
        ]
        return f"{', '.join(told) or 'confirmed'}: c applies it · 0 takes it back"

    def offers(self, action: str) -> bool | None:
        """Whether a key of the correction is offered now; None for keys of others."""
        match action:
            case "cut" | "confirm" | "weigh":
                return self.edge_at_cursor is not None
            case "as_it_is":
                return bool(self.describe_edit())
            case "apply" | "discard":
                return self.draft is not None
            case "add_edge":
                return self.found() is not None
            case "walk_edges":
                return bool(self.neighbours())
        return None

    # --- what the keys do -----------------------------------------------------------------------------------

    def action_walk_edges(self, by: int) -> None:
        """The next edge of the neighbour; past the last one, the next neighbour."""
        pane, edges = self.pane, len(self.edges_at_cursor)
        place = min(self.edge, max(0, edges - 1)) + by
        if 0 <= place < edges:
            self.edge = place
        elif 0 <= pane.cursor + by < len(self.neighbours()):
            pane.move_to(pane.cursor + by)
            self.edge = 0 if by > 0 else max(0, len(self.edges_at_cursor) - 1)
        pane.show_change()

    def _edit(self, edge: Edge | None, **how: Any) -> None:
        """Draft something for an edge; None for no edge."""
        if edge is not None:
            self.pane.ask(operations.edge.edit(edge.source_id, edge.target_id, kind=edge.relation_type, **how))

    def action_cut(self) -> None:
        """Draft that the edge goes, or that it stays after all."""
        edge = self.edge_at_cursor
        edit = self._edit_of(edge)
        is_cut = edit is not None and edit.after is None
        self._edit(edge, cut=not is_cut, reset=is_cut)

    def action_confirm(self) -> None:
        self._edit(self.edge_at_cursor, confirm=True)

    def action_weigh(self, by: int) -> None:
        """Weight of the edge, a step up or down from what is drafted."""
        edge = self.edge_at_cursor
        edit = self._edit_of(edge)
        present = edit.after if edit is not None and edit.after is not None else edge
        if present is not None:
            self._edit(edge, weight=step_value(present.weight, by))

    def action_as_it_is(self) -> None:
        self._edit(self.edge_at_cursor, reset=True)

    def action_apply(self) -> None:
        self.pane.ask(operations.edge.apply())

    def action_discard(self) -> None:
        self.pane.ask(operations.edge.apply(discard=True))

    def action_add_edge(self) -> None:
        """Find the other block, the neighbours first, then choose what joins the two."""
        found = self.found()
        if found is not None:
            start = found.center
            self.pane.host.find_block(
                f"New edge from “{start.title}” to", lambda goal: self._choose_kind(start.id, goal), self.rest
            )

    @property
    def rest(self) -> list[Block]:
        """The neighbours from the cursor on, then those before it."""
        found, cursor = self.found(), self.pane.cursor
        by_id = {block.id: block for block in found.blocks} if found is not None else {}
        near = [by_id[each] for each in self.neighbours()]
        return near[cursor:] + near[:cursor]

    def _choose_kind(self, start: str, goal: str) -> None:
        found = self.found()
        here = sorted({live.edge.relation_type for live in found.edges}) if found is not None else []
        choices = [Choice(name, name) for name in dict.fromkeys((*KINDS, *here))]
        own = Choice(OWN, "other …", "a type of your own")

        def join(kind: str) -> None:
            if kind == OWN:
                self.pane.host.command(f"edge edit {start[:12]} {goal[:12]} --kind ")
            else:
                self.pane.ask(operations.edge.edit(start, goal, kind=kind))

        self.pane.choose("What joins them?", [*choices, own], join)
