"""Fields by which each pane's rows can be filtered and sorted, and the words for a candidate's outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from amgs.wing_registry import loaded
from amgs_app.panes.row_filter import ListFilter, Listing, Row, filter_rows
from amgs_app.wing_views import views

if TYPE_CHECKING:
    from amgs.types import Block, Candidate, Fate, Frame, Neighbourhood
    from amgs_app.panes.layout import Pane

MEASURES = ("degree", "pagerank", "eigenvector", "betweenness")
"""Centrality measures of a block."""

_LISTINGS: dict[Pane, Listing] = {
    "graph": Listing(
        ("title", "content", "category", "relation"),
        ("strength", "hops", *MEASURES),
        ("strength", "title", "relation", "pagerank", "betweenness"),
    )
}
LISTINGS = {
    "inbox": "amgs_app.lifecycle.rows:LISTING",
    "frame": "amgs_app.render.candidates:LISTING",
    "calibration": "amgs_app.calibration.rows:LISTING",
    "overview": "amgs_app.render.journal:LISTING",
    "decay": "amgs_app.decay.rows:LISTING",
    "focus": "amgs_app.focus.rows:LISTING",
    "conversation": "amgs_app.conversation.rows:LISTING",
}


@cache
def listings() -> Mapping[Pane, Listing]:
    """Return the fields of the rows of each pane that has a list; the modules are imported on first use."""
    modules = LISTINGS | {name: view.listing for name, view in views().items() if view.listing}
    return _LISTINGS | {name: loaded(place) for name, place in modules.items()}


def state_of(block: Block) -> str:
    """Return a warning about a block for its reader: not consolidated, or superseded; "" for none."""
    return "raw: not consolidated" if block.status == "raw" else "superseded" if block.superseded else ""


FATES: Mapping[Fate, str] = {
    "selected": "",
    "over_budget": "over budget",
    "duplicate": "duplicate",
    "below_threshold": "below threshold",
    "not_in_top_k": "not in top k",
    "child_dropped": "child dropped",
}
"""Why a candidate was left out, in words."""


def listed(frame: Frame) -> tuple[Candidate, ...]:
    """Return a frame's candidates in display order: part by part, parts chosen for the question first, and selected
    ones first in each.
    """
    unasked = {part.name for part in frame.parts if not part.asks}
    names = sorted(dict.fromkeys(candidate.child for candidate in frame.candidates), key=lambda name: name in unasked)
    turn = {name: place for place, name in enumerate(names)}
    return tuple(sorted(frame.candidates, key=lambda candidate: (turn[candidate.child], candidate.fate != "selected")))


def fate_of(candidate: Candidate) -> str:
    """In or out."""
    return "in" if candidate.fate == "selected" else "out"


def reason_of(candidate: Candidate) -> str:
    """Return why a candidate is in or out, in a few words."""
    word, because = FATES[candidate.fate], " ".join(candidate.because.split())
    if not word or because.startswith(word) or (because and candidate.fate == "duplicate"):
        return because
    return f"{word} ({because})" if because else word


def list_neighbour_ids(neighbourhood: Neighbourhood, sift: ListFilter) -> list[str]:
    """Return the ids of the neighbours that pass the filter, in its order; by default near before far, then strong
    before weak.
    """
    rows = neighbour_rows(neighbourhood)
    around = [block.id for block in neighbourhood.blocks if block.id != neighbourhood.center.id]
    indexes = list(visible_rows("graph", rows, sift))
    if not sift.order:
        indexes.sort(key=lambda at: (rows[at]["hops"] or 9, -float(rows[at]["strength"] or 0), around[at]))
    return [around[place] for place in indexes]


def neighbour_rows(neighbourhood: Neighbourhood) -> list[Row]:
    """Return a row for each block of a neighbourhood except the centre.

    strength: of the strongest edge at the block. hops: distance from the centre.
    """
    strength: dict[str, float] = {}
    relations: dict[str, set[str]] = {}
    for live in neighbourhood.edges:
        for end in (live.edge.source_id, live.edge.target_id):
            strength[end] = max(strength.get(end, 0.0), live.strength)
            relations.setdefault(end, set()).add(live.edge.relation_type)
    rows: list[Row] = []
    for block in neighbourhood.blocks:
        if block.id == neighbourhood.center.id:
            continue
        place = neighbourhood.centrality.get(block.id)
        measures = {} if place is None else {name: getattr(place, name) for name in MEASURES}
        rows.append(
            {
                **_of_block(block),
                "relation": " ".join(sorted(relations.get(block.id, ()))),
                "strength": strength.get(block.id, 0.0),
                "hops": neighbourhood.distances.get(block.id),
                **measures,
            }
        )
    return rows


def visible_rows(pane: Pane, rows: Sequence[Row], sift: ListFilter) -> tuple[int, ...]:
    """Return the indexes of the rows that a pane shows, in its order."""
    return filter_rows(rows, listings()[pane], sift) if sift else tuple(range(len(rows)))


def _of_block(block: Block) -> Row:
    return {"title": block.title, "content": block.content, "category": block.category}
