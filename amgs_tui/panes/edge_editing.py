"""Edges corrected in the graph pane: cut, confirmed, weighed and added as a draft, then applied as one change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.render.figures.format import share
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.steps import stepped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amgs.types import Edge, EdgeKey, Neighbourhood
    from amgs.types.edge_draft import EdgeDraft, EdgeEdit
    from amgs_app.results.memory import EdgesApplied
    from amgs_tui.host import Host

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
    hide(
        "left", "walk_edges(-1)", "edge before", "graph.edge_before", "Previous edge, or the neighbour before"
    ),
    show("x", "cut", "cut", "graph.cut", "Draft: cut this edge, or keep it again"),
    show(
        "u",
        "confirm",
        "confirm",
        "graph.confirm",
        "Draft: this edge is right, its confidence 1, its decay begins anew",
    ),
    show(
        "plus,equals_sign",
        "weigh(1)",
        "weigh",
        "graph.heavier",
        "Draft: more weight for this edge",
        key_display="+ −",
    ),
    hide("minus", "weigh(-1)", "weigh", "graph.lighter", "Draft: less weight for this edge"),
    show(
        "i",
        "add_edge",
        "add edge",
        "graph.add_edge",
        "Draft: an edge from this block to another, found by its words",
    ),
    hide("0", "as_it_is", "as it is", "graph.as_it_is", "Take the correction of this edge back"),
]


class EdgeEditing(ListPane):
    """A pane over a neighbourhood whose edges are corrected.

    found: the neighbourhood. draft: the corrections that are not applied yet. edge: which of the edges between the
    centre and the neighbour under the cursor the keys mean, the strongest first.
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.found: Neighbourhood | None = None
        self.draft: EdgeDraft | None = None
        self.edge = 0

    @property
    def drafted(self) -> str:
        return "" if self.draft is None else f"corrections to {plural(len(self.draft.edits), 'edge')}"

    @property
    def neighbours(self) -> Sequence[str]:
        """Ids around the centre in the order of the cursor."""
        return ()

    def take_edited(self, result: EdgeDraft | EdgesApplied) -> None:
        """Keep the draft; what was applied or discarded is none."""
        from amgs.types.edge_draft import EdgeDraft

        self.draft = result if isinstance(result, EdgeDraft) and result.edits else None

    def take_draft(self, edits: tuple[EdgeEdit, ...], at: datetime) -> None:
        """Go on with the corrections that an earlier session left."""
        from amgs.types.edge_draft import EdgeDraft

        self.draft = EdgeDraft(edits, at)
        self.redraw()

    # --- the edge that keys mean --------------------------------------------------------------------------

    @property
    def edges_at_cursor(self) -> list[Edge]:
        """The edges between the centre and the neighbour under the cursor, the strongest first, drafted ones last."""
        ids = self.neighbours
        if self.found is None or not 0 <= self.cursor < len(ids):
            return []
        ends = {self.found.center.id, ids[self.cursor]}
        between = [live for live in self.found.edges if {live.edge.source_id, live.edge.target_id} == ends]
        edges = [live.edge for live in sorted(between, key=lambda one: (-one.strength, one.edge.key))]
        known = {edge.key for edge in edges}
        drafted = [edit.after for edit in self.draft.edits] if self.draft is not None else []
        return edges + [one for one in drafted if one and {*one.key[:2]} == ends and one.key not in known]

    @property
    def edge_at_cursor(self) -> Edge | None:
        """The edge that keys mean, as it is in the store or drafted as new; None where the neighbour is farther."""
        edges = self.edges_at_cursor
        return edges[min(self.edge, len(edges) - 1)] if edges else None

    def told_of_edge(self) -> str:
        """What is drafted for the edge under the cursor."""
        edge = self.edge_at_cursor
        edit = self.draft.edit_of(edge.key) if self.draft is not None and edge is not None else None
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
                return bool(self.told_of_edge())
            case "apply" | "discard":
                return self.draft is not None
            case "add_edge":
                return self.found is not None
            case "walk_edges":
                return bool(self.neighbours)
        return None

    # --- what the keys do -----------------------------------------------------------------------------------

    def action_walk_edges(self, by: int) -> None:
        """The next edge of the neighbour; past the last one, the next neighbour."""
        place = min(self.edge, max(0, len(self.edges_at_cursor) - 1)) + by
        if 0 <= place < len(self.edges_at_cursor):
            self.edge = place
            self._say()
            self.repaint()
        elif 0 <= self.cursor + by < len(self.neighbours):
            self.move_to(self.cursor + by)
            self.edge = 0 if by > 0 else max(0, len(self.edges_at_cursor) - 1)
            self._say()
            self.repaint()

    def _edit(self, key: EdgeKey, **how: Any) -> None:
        self.ask(operations.edge.edit(key[0], key[1], kind=key[2], **how))

    def action_cut(self) -> None:
        """Draft that the edge goes, or that it stays after all."""
        edge = self.edge_at_cursor
        if edge is None:
            return
        edit = self.draft.edit_of(edge.key) if self.draft is not None else None
        if edit is not None and edit.after is None:
            self._edit(edge.key, reset=True)
        else:
            self._edit(edge.key, cut=True)

    def action_confirm(self) -> None:
        edge = self.edge_at_cursor
        if edge is not None:
            self._edit(edge.key, confirm=True)

    def action_weigh(self, by: int) -> None:
        """Weight of the edge, a step up or down from what is drafted."""
        edge = self.edge_at_cursor
        if edge is None:
            return
        edit = self.draft.edit_of(edge.key) if self.draft is not None else None
        present = edit.after if edit is not None and edit.after is not None else edge
        self._edit(edge.key, weight=stepped(present.weight, by))

    def action_as_it_is(self) -> None:
        edge = self.edge_at_cursor
        if edge is not None:
            self._edit(edge.key, reset=True)

    def action_apply(self) -> None:
        self.ask(operations.edge.apply())

    def action_discard(self) -> None:
        self.ask(operations.edge.discard())

    def action_add_edge(self) -> None:
        """Find the other block, the neighbours first, then choose what joins the two."""
        if self.found is None:
            return
        start, by_id = self.found.center, {block.id: block for block in self.found.blocks}
        near = [by_id[each] for each in self.neighbours]
        rest = near[self.cursor :] + near[: self.cursor]
        self.host.find_block(
            f"New edge from “{start.title}” to", lambda goal: self._choose_kind(start.id, goal), rest
        )

    def _choose_kind(self, start: str, goal: str) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        here = (
            sorted({live.edge.relation_type for live in self.found.edges}) if self.found is not None else []
        )
        choices = [Choice(name, name) for name in dict.fromkeys((*KINDS, *here))]
        own = Choice(OWN, "other …", "a type of your own")

        def chose(kind: str | None) -> None:
            if kind == OWN:
                self.host.command(f"edge edit {start[:12]} {goal[:12]} --kind ")
            elif kind is not None:
                self._edit((start, goal, kind))

        self.app.push_screen(Chooser("What joins them?", [*choices, own]), chose)
