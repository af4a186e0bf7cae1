"""Which gists of a lifetime are polished first, and the act that puts better ones in their place."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import numpy as np
import torch

from amgs_focus.errors import FocusError
from amgs_focus.gist.polish import PLAN, PolishPlan, polished
from amgs_focus.records import NodeRef
from amgs_focus.runtime.state import FocusState
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.metadata_store import overlapping
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.span_metadata import Act


def likely(state: FocusState, tree: LifetimeTree) -> tuple[int, ...]:
    """Blocks of the window without a polished gist, the likeliest to be read as one first: those that it reads so, the
    pinned before the others and these by falling score, then those that it reads as tokens, the latest first.
    """
    gone = tree.catalogue.gone(0)
    entries = [
        entry
        for entry in state.context.entries()
        if entry.level < 2 and entry.index < tree.count(1) and entry.index not in state.polished
    ]

    def rank(node: NodeRef) -> tuple[bool, bool, float, int]:
        pinned = state.allocator.overrides.get(node) == "pin"
        score = state.scores.get(node, 0.0) if node.level else 0.0
        return not node.level, not pinned, -score, -node.index

    return tuple(
        entry.index
        for entry in sorted(entries, key=lambda entry: rank(entry.node))
        if not overlapping(gone, entry.start, entry.end)
    )


def polish(
    tree: LifetimeTree,
    blocks: Sequence[int],
    *,
    at: str,
    by: str,
    plan: PolishPlan = PLAN,
    check: Callable[[], None] = lambda: None,
) -> Act:
    """The act that gives these blocks better gists; nothing is changed yet. check: called at every step, raises to
    cancel.

    Raises FocusError where a gist becomes a value that is not a number.
    """
    size, blocks = tree.block_size, sorted(blocks)
    ids = torch.stack(
        [torch.from_numpy(tree.tokens(block * size, (block + 1) * size).astype(np.int64)) for block in blocks]
    )
    last = tree.count(1) - 1
    before, own, after = (
        torch.cat([tree.gists(1, near, near + 1) for near in (max(0, min(last, b + step)) for b in blocks)])
        for step in (-1, 0, 1)
    )
    rows = polished(tree.model, ids, own, (before, after), plan, check).numpy().reshape(len(blocks), -1)
    made = rows.astype("<f2")
    if not np.isfinite(made).all():
        raise FocusError(
            "Polishing a gist led to a value that is not a number.", way_out="The gists stay as they were."
        )
    nodes = NodeSet.of(NodeRef(1, block) for block in blocks)
    told = base64.b64encode(made.tobytes()).decode()
    return Act(tree.catalogue.span_metadata.next_id, "polish", nodes, at, by, "likely to be read", gists=told)


def taken_back(tree: LifetimeTree, *, at: str, by: str) -> Act | None:
    """The act after which every gist is the encoder's again; None where all are."""
    known = tree.catalogue.span_metadata
    nodes = NodeSet.of(NodeRef(1, block) for block in known.polished)
    return Act(known.next_id, "polish", nodes, at, by, "made anew") if nodes.runs else None
