"""Fields that filter and sort the rows of the panes' lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from amgs.wing_registry import loaded
from amgs_app.panes.row_filter import ListFilter, Listing, Row, places
from amgs_app.wing_views import views

if TYPE_CHECKING:
    from amgs.types import Block, Candidate, Fate, Frame, Neighbourhood
    from amgs_app.panes.layout import Pane

MEASURES = ("degree", "pagerank", "eigenvector", "betweenness")
"""The centralities of a block."""

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
    """Return the panes that hold a list, and the fields of its rows; read when they are first asked for."""
    places = LISTINGS | {name: view.listing for name, view in views().items() if view.listing}
    return _LISTINGS | {name: loaded(place) for name, place in places.items()}


def state_of(block: Block) -> str:
    """Return what a reader should know of a block before trusting it as part of the memory; empty for nothing."""
    return "raw: not consolidated" if block.status == "raw" else "superseded" if block.superseded else ""


FATES: Mapping[Fate, str] = {
    "selected": "",
    "over_budget": "over budget",
    "duplicate": "duplicate",
    "below_threshold": "below threshold",
    "not_in_top_k": "not in top k",
    "child_dropped": "child dropped",
}
"""Why a candidate is out, in the words that the screen shows."""


def listed(frame: Frame) -> tuple[Candidate, ...]:
    """Return a frame's candidates as they are listed: part by part, those that the question brought first, and in each
    part what is in before what is out.
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


def list_neighbours(neighbourhood: Neighbourhood, sift: ListFilter) -> list[str]:
    """Return ids around the centre that a filter leaves, in its order, else near before far and strong before weak."""
    rows = of_neighbours(neighbourhood)
    around = [block.id for block in neighbourhood.blocks if block.id != neighbourhood.center.id]
    places = list(shown("graph", rows, sift))
    if not sift.order:
        places.sort(key=lambda at: (rows[at]["hops"] or 9, -float(rows[at]["strength"] or 0), around[at]))
    return [around[place] for place in places]


def of_neighbours(neighbourhood: Neighbourhood) -> list[Row]:
    """Return the rows of a neighbourhood: one for each of its blocks without the centre, in their order there.

    strength: of the strongest edge that touches it. hops: from the centre.
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


def shown(pane: Pane, rows: Sequence[Row], sift: ListFilter) -> tuple[int, ...]:
    """Return the places of the rows that a pane shows, in its order."""
    return places(rows, listings()[pane], sift) if sift else tuple(range(len(rows)))


def _of_block(block: Block) -> Row:
    return {"title": block.title, "content": block.content, "category": block.category}
