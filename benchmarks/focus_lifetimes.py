"""Lifetimes that a bench builds once and keeps on disk: their gists take minutes, asking takes seconds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.focus_rig import FocusRig

STEP = 16_384
"""Tokens a step of building: a build that was cut short goes on from the last whole one."""


def kept_lifetime(rig: FocusRig, name: str, tokens: Sequence[int], block_size: int) -> LifetimeTree:
    """The lifetime of these tokens, built as far as it was not yet. Raises CtxError as the tree does."""
    card, encoder, mark = rig.model.card, rig.encoder, rig.corpus.mark
    told = f"{card.name}|{card.precision}|{encoder.version}|{encoder.slots}|{mark}|{block_size}|{name}"
    place = rig.out / "lifetimes" / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:10]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    tree = LifetimeTree.open(place, rig.model, encoder, block_size=block_size, mend=True)
    try:
        if tree.length > len(tokens) or not np.array_equal(
            tree.tokens(0, tree.length), np.asarray(tokens[: tree.length], np.uint32)
        ):
            tree.truncate(0)
        for start in range(tree.length, len(tokens), STEP):
            rig.progress(start, len(tokens), f"gists of {name}")
            tree.append(tokens[start : start + STEP])
    except BaseException:
        tree.close()
        raise
    return tree
