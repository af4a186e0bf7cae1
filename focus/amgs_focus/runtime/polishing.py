"""Which gists of a lifetime are polished first, and the act that puts better ones in their place."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.gist.polish import PLAN, PolishPlan, polished
from amgs_focus.records import NodeRef
from amgs_focus.runtime.state import FocusState
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.metadata_store import overlapping
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.span_metadata import Act


def likely(state: FocusState, tree: LifetimeTree) -> tuple[int, ...]:
    """Blocks without a polished gist, the likeliest to be read as one first: those that the window reads so, the pinned
    before the others and these by falling score; those that it reads as tokens, the latest first; and those below its
    coarser gists, the pinned and the highest scores of these first, under each what was opened most.
    """
    size, gone = tree.block_size, tree.catalogue.gone(0)
    opened = tree.catalogue.usage.table(1).rows(0, tree.count(1))["opened"].tolist()
    ranked: list[tuple[tuple[int, bool, float, int, int], int]] = []
    for entry in state.context.entries():
        pinned = state.allocator.overrides.get(entry.node) == "pin"
        score = state.scores.get(entry.node, 0.0) if entry.level else 0.0
        turn = {0: 1, 1: 0}.get(entry.level, 2)
        for block in range(entry.start // size, min(entry.end // size, tree.count(1))):
            hot = opened[block] if entry.level > 1 else 0
            if block not in state.polished:
                ranked.append(((turn, not pinned, -score, -hot, -block), block))
    return tuple(block for _, block in sorted(ranked) if not overlapping(gone, block * size, (block + 1) * size))


def polish(
    tree: LifetimeTree,
    blocks: Sequence[int],
    *,
    at: str,
    by: str,
    plan: PolishPlan = PLAN,
    check: Callable[[], None] = lambda: None,
) -> Act | None:
    """The act that gives these blocks better gists; nothing is changed yet. check: called many times a second, raises
    to cancel. The tree may change while it is called: blocks that are no longer what they were are left out; None where
    no other is left.

    Raises FocusError where a gist becomes a value that is not a number.
    """
    size, blocks = tree.block_size, sorted(blocks)
    known = [_tokens(tree, block) for block in blocks]
    ids = torch.from_numpy(np.stack(known).astype(np.int64))
    last = tree.count(1) - 1
    before, own, after = (
        torch.cat([tree.gists(1, near, near + 1) for near in (max(0, min(last, b + step)) for b in blocks)])
        for step in (-1, 0, 1)
    )
    rows, apart = polished(tree.model, ids, own, (before, after), plan, check)
    gone, places = tree.catalogue.gone(0), range(len(blocks))
    kept = [
        at
        for at in places
        if np.array_equal(_tokens(tree, blocks[at]), known[at])
        and not overlapping(gone, blocks[at] * size, (blocks[at] + 1) * size)
    ]
    if not kept:
        return None
    made = rows[kept].numpy().reshape(len(kept), -1).astype("<f2")
    if not np.isfinite(made).all():
        raise FocusError(
            "Polishing a gist led to a value that is not a number.", way_out="The gists stay as they were."
        )
    nodes = NodeSet.of(NodeRef(1, blocks[at]) for at in kept)
    measured = tuple((round(a, 4), round(b, 4), round(c, 4)) for a, b, c in apart[kept].tolist())
    told = base64.b64encode(made.tobytes()).decode()
    number = tree.catalogue.span_metadata.next_id
    return Act(number, "polish", nodes, at, by, "likely to be read", gists=told, distances=measured)


def _tokens(tree: LifetimeTree, block: int) -> NDArray[np.uint32]:
    """Those of a block; fewer where the lifetime ends in it."""
    size, length = tree.block_size, tree.length
    return tree.tokens(min(block * size, length), min((block + 1) * size, length))


def taken_back(tree: LifetimeTree, *, at: str, by: str) -> Act | None:
    """The act after which every gist is the encoder's again; None where all are."""
    known = tree.catalogue.span_metadata
    nodes = NodeSet.of(NodeRef(1, block) for block in known.polished)
    return Act(known.next_id, "polish", nodes, at, by, "made anew") if nodes.runs else None
