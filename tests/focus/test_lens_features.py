"""What a lens is told of each entry: numbers with names, from the tokens and the layout alone."""

from __future__ import annotations

import numpy as np

from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.lens.features import NAMES, LensFeatures
from amgs_focus.lens.scoring import LensView
from amgs_focus.records import Segment
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import coarsest
from tests.focus.focus_world import MODEL


def asked(question: str, *, window: int = 10**6) -> LensView:
    """One lifetime with a question at its end, which the tail holds."""
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    for text in ("the lamp is red. ", "abcd" * 20, "the kite is blue. ", "efgh" * 20):
        tree.append_segment(Segment(text))
    tree.append(MODEL.encode(MODEL.turn(question)))
    return LensView(coarsest(tree, window, 12), tree, tuple(MODEL.encode(question)))


def test_features_have_a_name_each_and_lie_near_0_to_1() -> None:
    view = asked("is the lamp red?")
    found = LensFeatures(view.tree).of(view)
    assert found.shape == (len(view.context.entries()), len(NAMES))
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= 2
