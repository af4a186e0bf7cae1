"""Edit a consolidation plan before it is applied. A draft is never changed: each edit returns a new draft.

A draft has the proposed plan and, apart from it, the operator's edits, so that each can be taken back.
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
    """Edits of a block in a plan; None or empty: as proposed.

    A category sets decay_lambda and is_self_component too. left_out: the block stays raw. dropped: edges that are not
    made. sure: the confidence of edges.
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
    """A proposed plan and its edits, at most one for each block. whose: the memory's owner, whose values are self."""

    proposed: ConsolidationPlan
    edits: tuple[ItemEdit, ...] = ()
    whose: str = ""

    def edit_of(self, block_id: str) -> ItemEdit:
        """Return the edits of a block; empty ones where there are none."""
        return next((e for e in self.edits if e.block_id == block_id), ItemEdit(block_id))

    @property
    def left_out(self) -> frozenset[str]:
        """Ids of the blocks that stay raw."""
        return frozenset(e.block_id for e in self.edits if e.left_out)

    @property
    def plan(self) -> ConsolidationPlan:
        """The plan with its edits, as it will be applied. An edge to a block that is left out is dropped."""
        edits, out = {e.block_id: e for e in self.edits}, self.left_out
        items = tuple(
            _revise_item(item, edits.get(item.block.id), out)
            for item in self.proposed.items
            if item.block.id not in out
        )
        return replace(self.proposed, items=items)


def edit_draft(
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
    """Return the draft with a block edited; None leaves a field as it was.

    known: categories that exist; None allows a new category. drop, keep, sure: edges, each by its number in the plan
    from 1 or the beginning of the other block's id. Raises UsageError for a block that is not in the plan, an unknown
    category or edge, and a confidence out of [0, 1].
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
        raise UsageError("An edge cannot be both dropped and retained.", way_out="Name it once.")
    edit = replace(edit, dropped=(edit.dropped | gone) - back)
    if sure:
        proposed = {e.key: e.confidence for e in item.edges}
        confidences = {find_edge(item, word): check_confidence(value) for word, value in sure.items()}
        corrections = {k: v for k, v in {**dict(edit.sure), **confidences}.items() if v != proposed[k]}
        edit = replace(edit, sure=tuple(sorted(corrections.items())))
    return _with_edit(draft, edit)


def reset_block(draft: PlanDraft, block_id: str) -> PlanDraft:
    """Return the draft without the edits of a block; raise UsageError for a block that is not in the plan."""
    item_of(draft.proposed, block_id)
    return _with_edit(draft, ItemEdit(block_id))


def carry_edits_over(edits: Sequence[ItemEdit], fresh: PlanDraft) -> PlanDraft:
    """Return a new draft with the edits that still fit it; edits of blocks and edges that are gone are dropped."""
    draft = fresh
    for edit in edits:
        item = next((i for i in fresh.proposed.items if i.block.id == edit.block_id), None)
        if item is not None:
            edges = {e.key for e in item.edges}
            sure = tuple((k, v) for k, v in edit.sure if k in edges)
            draft = _with_edit(draft, replace(edit, dropped=edit.dropped & edges, sure=sure))
    return draft


def item_of(plan: ConsolidationPlan, block_id: str) -> ConsolidationItem:
    """Return a block's item in a plan; raise UsageError where it has none."""
    for item in plan.items:
        if item.block.id == block_id:
            return item
    raise UsageError(
        f"The plan has no block {block_id[:12]}.",
        way_out=f"Choose among its {len(plan.items)} raw blocks.",
        about="draft",
    )


def find_edge(item: ConsolidationItem, word: str) -> EdgeKey:
    """Return the key of an item's edge. word: its number from 1, or the beginning of the other block's id.

    Raises UsageError where no edge matches, or several do.
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


# --- an item ---------------------------------------------------------------------------------------------


def find_category(category: str, known: Collection[str], *, adds: bool = False) -> str:
    """Return the name of a category. adds: whether a new category could be allowed. Raises UsageError, which names
    those that are like it, else all, for an unknown category.
    """
    name = check_category(category)
    if name in known:
        return name
    near = get_close_matches(name, sorted(known), n=2, cutoff=0.6)
    meant = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(sorted(known))}."
    fault = f"There is no category {name!r}."
    if adds:
        raise UsageError(fault, way_out=f"{meant} A new category has to be allowed.", about="category")
    raise UsageError(fault, way_out=meant)


def _set_category(
    edit: ItemEdit, item: ConsolidationItem, category: str, owner_name: str, profiles: ProfileSettings
) -> ItemEdit:
    """Return the edit with a category and what follows from it; without them where it is the proposed category."""
    if category == item.category:
        return replace(edit, category=None, decay_lambda=None, is_self_component=None)
    return replace(
        edit,
        category=category,
        decay_lambda=decay_of(category, profiles),
        # Setting the category by hand counts as much as a tag.
        is_self_component=is_self_component(category, 1.0, {**item.block.meta, "kind": category}, owner_name),
    )


def _revise_item(item: ConsolidationItem, edit: ItemEdit | None, out: frozenset[str]) -> ConsolidationItem:
    """Return an item, and the block in it, with its edits and without edges to blocks that are left out (`out`)."""
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


def _with_edit(draft: PlanDraft, edit: ItemEdit) -> PlanDraft:
    """Return the draft with this edit in place of the block's earlier edit; an empty edit is removed."""
    edits = {e.block_id: e for e in draft.edits}
    edits[edit.block_id] = edit
    real_edits = tuple(e for e in edits.values() if e != ItemEdit(e.block_id))
    return replace(draft, edits=real_edits)
