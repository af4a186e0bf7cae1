"""Corrections to a consolidation plan before it is applied: draft × correction → draft, and nothing is written.

A draft keeps the proposal beside what the operator wants otherwise, so that each correction can be taken back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from amgs.errors import UsageError
from amgs.lifecycle.annotate import check_category, check_confidence, with_categories
from amgs.lifecycle.categories import decay_of
from amgs.lifecycle.self_detection import is_self_component
from amgs.settings import DEFAULT_PROFILES, ProfileSettings
from amgs.types import ConsolidationItem, ConsolidationPlan, Edge, EdgeKey

BY_HAND = "by hand"


@dataclass(frozen=True, slots=True)
class ItemEdit:
    """Correction of one block of a plan; None or empty leaves it as proposed.

    category brings decay_lambda and is_self_component with it. dropped: edges that are not made. sure: the
    confidence of edges.
    """

    block_id: str
    category: str | None = None
    decay_lambda: float | None = None
    is_self_component: bool | None = None
    confidence: float | None = None
    left_out: bool = False
    dropped: frozenset[EdgeKey] = frozenset()
    sure: tuple[tuple[EdgeKey, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A plan as it was proposed, and the corrections to it, one for each block that has some.

    whose: the owner of the memory, whose values are parts of the self.
    """

    proposed: ConsolidationPlan
    edits: tuple[ItemEdit, ...] = ()
    whose: str = ""

    def edit_of(self, block_id: str) -> ItemEdit:
        """Return the corrections to one block; empty ones where there are none."""
        return next((e for e in self.edits if e.block_id == block_id), ItemEdit(block_id))

    @property
    def left_out(self) -> frozenset[str]:
        """Ids of the blocks that stay raw."""
        return frozenset(e.block_id for e in self.edits if e.left_out)

    @property
    def plan(self) -> ConsolidationPlan:
        """Plan with the corrections applied, as it will be carried out. An edge to a left-out block is dropped."""
        edits, out = {e.block_id: e for e in self.edits}, self.left_out
        items = tuple(
            _revise_item(item, edits.get(item.block.id), out)
            for item in self.proposed.items
            if item.block.id not in out
        )
        return replace(self.proposed, items=items)


def edited(
    draft: PlanDraft,
    block_id: str,
    *,
    category: str | None = None,
    known: Collection[str] | None = None,
    confidence: float | None = None,
    left_out: bool | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    sure: Mapping[str, float] | None = None,
    profiles: ProfileSettings = DEFAULT_PROFILES,
) -> PlanDraft:
    """Return the draft with one block corrected; what is not given stays as it was.

    known: categories that exist, None to allow a new one. drop, keep, sure: edges by their number in the plan
    from 1, or by the beginning of the other block's id. Raises UsageError for a block that the plan does not
    have, an unknown category or edge, and a confidence out of [0, 1].
    """
    item = item_of(draft.proposed, block_id)
    edit = draft.edit_of(block_id)
    if category is not None:
        edit = _set_category(
            edit,
            item,
            check_category(category) if known is None else find_category(category, known, adds=True),
            draft.whose,
            profiles,
        )
    if confidence is not None:
        value = check_confidence(confidence)
        edit = replace(edit, confidence=None if value == item.confidence else value)
    if left_out is not None:
        edit = replace(edit, left_out=left_out)
    gone, back = {find_edge(item, w) for w in drop}, {find_edge(item, w) for w in keep}
    if gone & back:
        raise UsageError("An edge cannot be both dropped and kept.", way_out="Name it once.")
    edit = replace(edit, dropped=(edit.dropped | gone) - back)
    if sure:
        proposed = {e.key: e.confidence for e in item.edges}
        confidences = {find_edge(item, word): check_confidence(value) for word, value in sure.items()}
        corrections = {k: v for k, v in {**dict(edit.sure), **confidences}.items() if v != proposed[k]}
        edit = replace(edit, sure=tuple(sorted(corrections.items())))
    return _with(draft, edit)


def reset(draft: PlanDraft, block_id: str) -> PlanDraft:
    """Return the draft without the corrections to a block; raises UsageError for one that the plan does not have."""
    item_of(draft.proposed, block_id)
    return _with(draft, ItemEdit(block_id))


def carried(edits: Sequence[ItemEdit], fresh: PlanDraft) -> PlanDraft:
    """Return a fresh plan with the corrections that still fit it; those to blocks and edges that left are dropped."""
    draft = fresh
    for edit in edits:
        item = next((i for i in fresh.proposed.items if i.block.id == edit.block_id), None)
        if item is not None:
            edges = {e.key for e in item.edges}
            sure = tuple((k, v) for k, v in edit.sure if k in edges)
            draft = _with(draft, replace(edit, dropped=edit.dropped & edges, sure=sure))
    return draft


def item_of(plan: ConsolidationPlan, block_id: str) -> ConsolidationItem:
    """Return what a plan says of a block; raises UsageError where it says nothing."""
    for item in plan.items:
        if item.block.id == block_id:
            return item
    raise UsageError(
        f"The plan has no block {block_id[:12]}.",
        way_out=f"Choose one of its {len(plan.items)} raw blocks.",
        about="draft",
    )


def find_edge(item: ConsolidationItem, word: str) -> EdgeKey:
    """Return the key of an edge of an item: its number from 1, or the beginning of the other end's id.

    Raises UsageError for none and for several.
    """
    edges = item.edges
    if word.isdigit() and 1 <= int(word) <= len(edges):
        return edges[int(word) - 1].key
    matches = [e for e in edges if word and far_end(item, e).startswith(word.lower())]
    if len(matches) == 1:
        return matches[0].key
    if matches:
        numbers = ", ".join(str(edges.index(e) + 1) for e in matches)
        raise UsageError(
            f"{len(matches)} edges of {item.block.id[:8]} match {word}.", way_out=f"Name one by its number: {numbers}."
        )
    choices = f"numbers 1 to {len(edges)}" if edges else "no edges"
    raise UsageError(f"{item.block.id[:8]} has no edge {word!r} in the plan.", way_out=f"It has {choices} there.")


def far_end(item: ConsolidationItem, edge: Edge) -> str:
    """Return the id of the block at the other end of an item's edge."""
    return edge.target_id if edge.source_id == item.block.id else edge.source_id


# --- one item ---------------------------------------------------------------------------------------------


def find_category(category: str, known: Collection[str], *, adds: bool = False) -> str:
    """Return the name of a category. adds: whether a new one could be allowed. Raises UsageError, which names those
    that are like it, else all, for one that is not known.
    """
    name = check_category(category)
    if name in known:
        return name
    near = get_close_matches(name, sorted(known), n=2, cutoff=0.6)
    meant = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(sorted(known))}."
    fault = f"There is no category {name!r}."
    if adds:
        raise UsageError(fault, way_out=f"{meant} A new one has to be allowed.", about="category")
    raise UsageError(fault, way_out=meant)


def _set_category(
    edit: ItemEdit, item: ConsolidationItem, category: str, owner_name: str, profiles: ProfileSettings
) -> ItemEdit:
    if category == item.category:
        return replace(edit, category=None, decay_lambda=None, is_self_component=None)
    return replace(
        edit,
        category=category,
        decay_lambda=decay_of(category, profiles),
        # Who calls it a value by hand says so as much as a tag would.
        is_self_component=is_self_component(category, 1.0, {**item.block.meta, "kind": category}, owner_name),
    )


def _revise_item(item: ConsolidationItem, edit: ItemEdit | None, out: frozenset[str]) -> ConsolidationItem:
    """Return an item with its corrections; the block that will be written says the same as the item."""
    if edit is None:
        if not out or not any(out & {e.source_id, e.target_id} for e in item.edges):
            return item
        edit = ItemEdit(item.block.id)
    sure = dict(edit.sure)
    edges = tuple(
        replace(e, confidence=sure[e.key]) if e.key in sure else e
        for e in item.edges
        if e.key not in edit.dropped and not out & {e.source_id, e.target_id}
    )
    confidence = item.confidence if edit.confidence is None else edit.confidence
    block = replace(item.block, confidence=confidence)
    item = replace(item, edges=edges, confidence=confidence, block=block)
    if edit.category is None or edit.decay_lambda is None or edit.is_self_component is None:
        return item
    block = replace(
        with_categories(block, [edit.category]),
        decay_lambda=edit.decay_lambda,
        is_self_component=edit.is_self_component,
    )
    return replace(
        item,
        block=block,
        category=edit.category,
        category_confidence=1.0,
        category_because=BY_HAND,
        decay_lambda=edit.decay_lambda,
        is_self_component=edit.is_self_component,
    )


def _with(draft: PlanDraft, edit: ItemEdit) -> PlanDraft:
    """Return the draft with this correction in place of the one to the same block; an empty one falls away."""
    edits = {e.block_id: e for e in draft.edits}
    edits[edit.block_id] = edit
    real_edits = tuple(e for e in edits.values() if e != ItemEdit(e.block_id))
    return replace(draft, edits=real_edits)
