"""A node of the gist tree as the specification draws it, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amgs_focus.errors import FocusError
from amgs_focus.records import NodeRef, parent_of, span_id

if TYPE_CHECKING:
    import torch

    from amgs_focus.tree.gist_tree import LifetimeTree


@dataclass(frozen=True, slots=True)
class GistNode:
    """A node and its place in the tree. MegaContext, "Suggested data structures"; ids as `span_id` makes
    them.
    """

    span_id: int
    level: str
    start_token: int
    end_token: int
    parent_id: int | None
    child_ids: tuple[int, ...]
    embedding: torch.Tensor | None


def node_of(tree: LifetimeTree, ref: NodeRef) -> GistNode:
    """The node as the specification draws it. Raises FocusError when it is not there."""
    if not tree.exists(ref):
        raise FocusError(f"{ref} is not in the lifetime.", way_out="Give a node of the map.")
    start, end = tree.span(ref)
    parent = parent_of(ref, tree.block_size)
    return GistNode(
        span_id=span_id(ref),
        level=f"L{ref.level}",
        start_token=start,
        end_token=end,
        parent_id=span_id(parent) if tree.exists(parent) else None,
        child_ids=tuple(span_id(child) for child in tree.children(ref)),
        embedding=tree.gists(ref.level, ref.index, ref.index + 1)[0] if ref.level else None,
    )
