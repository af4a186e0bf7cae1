"""Edges corrected by hand, several at a time: draft × correction → draft; nothing is written until it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from amgs.decay import relevance_at
from amgs.errors import UsageError
from amgs.lifecycle.annotate import DEFAULT_WEIGHT, EDGE, checked_confidence, follow_edges, joinable, made_edge
from amgs.lifecycle.change import Change, carry_out
from amgs.storage.store import Storage
from amgs.types import Edge, JournalEntry
from amgs.types.edge_draft import EdgeDraft, EdgeEdit

_PAST = {"add": "added", "cut": "removed", "confirm": "confirmed", "weigh": "weighed"}


def strength_of(edge: Edge | None, now: datetime) -> float:
    """Weight × confidence × relevance of an edge, from 0 to 1; 0 for none."""
    if edge is None:
        return 0.0
    return edge.weight * edge.confidence * relevance_at(edge.decay_lambda, edge.last_reinforced_at, now)


def edited(
    storage: Storage,
    edits: Sequence[EdgeEdit],
    source_id: str,
    target_id: str,
    now: datetime,
    *,
    kind: str = "related",
    weight: float | None = None,
    confidence: float | None = None,
    confirm: bool = False,
    cut: bool = False,
    reset: bool = False,
) -> EdgeDraft:
    """The draft with one edge corrected; an edge that is not there is to be added.

    weight, confidence: from 0 to 1, None as it is. confirm: the edge is right: its confidence is 1, and its decay
    begins anew. cut: it goes. reset: it stays as it is in the store. Raises UnknownBlockError, and UsageError for ends
    that cannot be joined, for values out of range, and for an edge that is to be confirmed or cut and is not there.
    """
    if sum((confirm, cut, reset)) > 1:
        raise UsageError("An edge is confirmed, cut or reset, one of them.", way_out="Give one of the three.")
    ends = joinable(storage, source_id, target_id, kind)
    key = (source_id, target_id, kind)
    before = storage.edges.get([key]).get(key)
    drafted = next((edit for edit in edits if edit.key == key), None)
    present = drafted.after if drafted is not None and drafted.after is not None else before
    after: Edge | None
    if reset:
        after = before
    elif cut or confirm:
        if present is None:
            raise UsageError(
                f"There is no {kind} edge from “{ends[0].title}” to “{ends[1].title}”.",
                way_out="An edge has a direction: try the other one, or list the neighbours of the block.",
            )
        after = None if cut else replace(present, confidence=1.0, last_reinforced_at=now)
    else:
        after = present or made_edge(source_id, target_id, kind, now)
    if after is not None and weight is not None:
        if not 0 <= weight <= 1:
            raise UsageError(
                f"The weight of an edge must be between 0 and 1, got {weight:g}.",
                way_out=f"A new edge has {DEFAULT_WEIGHT:g}.",
            )
        after = replace(after, weight=weight)
    if after is not None and confidence is not None:
        after = replace(after, confidence=checked_confidence(confidence))
    kept = [edit for edit in edits if edit.key != key]
    if after != before:
        sure = confirm or (drafted is not None and drafted.confirmed)
        fresh = EdgeEdit(before, after, ends[0].title, ends[1].title, sure)
        place = next((at for at, edit in enumerate(edits) if edit.key == key), len(kept))
        kept.insert(place, fresh)
    return EdgeDraft(tuple(kept), now)


def apply(storage: Storage, draft: EdgeDraft, now: datetime) -> JournalEntry:
    """Write a draft in one transaction with one journal entry.

    Raises UsageError for an empty draft, and where an edge is no longer as the draft saw it; nothing is written then.
    """
    if not draft.edits:
        raise UsageError("The draft corrects no edge.", way_out="Correct one first.")
    edges = tuple((edit.before, edit.after) for edit in draft.edits)
    change = Change(follow_edges(storage, edges, now), edges=edges)
    return carry_out(storage, EDGE, change, told(draft), now)


def told(draft: EdgeDraft) -> str:
    """What a draft does in one line: the edge by its ends where it is one, else how many of each."""
    if len(draft.edits) == 1:
        one = draft.edits[0]
        return f"{_PAST[one.act]} {one.source} → {one.target} ({one.key[2]})"
    counts = {act: sum(edit.act == act for edit in draft.edits) for act in _PAST}
    return ", ".join(f"{number} {_PAST[act]}" for act, number in counts.items() if number)
