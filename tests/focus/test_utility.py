"""Counterfactual ΔNLL equals what the definition gives, and refuses what it cannot measure."""

from __future__ import annotations

import pytest
import torch

from amgs_focus.errors import FocusError
from amgs_focus.records import NodeRef
from amgs_focus.runtime.utility import measure
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest
from amgs_focus.window.working_context import WorkingContext
from tests.focus.focus_world import MODEL, StillClock, small_tree


def nll(context: WorkingContext, tree: LifetimeTree, count: int) -> list[float]:
    """−log p of the last tokens one by one, each from a pass over what stands before it."""
    losses = []
    for token in range(tree.length - count, tree.length):
        position = context.used - (tree.length - token)
        rows = context.embeddings(tree, 0, position)
        logits = MODEL.logits(MODEL.forward(rows[None])[0, -1:])[0].double()
        losses.append(-float(logits.log_softmax(-1)[int(tree.tokens(token, token + 1)[0])]))
    return losses


def test_a_gain_is_the_nll_it_saves_over_the_horizon() -> None:
    tree = small_tree(90)
    context = coarsest(tree, 999, 2)
    found = measure(context, tree, 0, 8, StillClock())
    fine, _ = context.expand(0)
    expected = [coarse - open_ for coarse, open_ in zip(nll(context, tree, 8), nll(fine, tree, 8), strict=True)]
    assert found.gain == pytest.approx(sum(expected) / 8, abs=1e-5)
    assert found.error == pytest.approx(float(torch.tensor(expected).std() / 8**0.5), abs=1e-5)
    assert (found.kind, found.horizon, found.node) == ("expand", 8, NodeRef(3, 0))
    assert found.gain == pytest.approx(found.nll_coarse - found.nll_fine)


def test_what_cannot_be_measured_is_refused() -> None:
    tree = small_tree(90)
    context = coarsest(tree, 999, 2)
    last = len(context.entries()) - 1
    with pytest.raises(FocusError, match="in the tail"):
        measure(context, tree, last, 8, StillClock())
    with pytest.raises(FocusError, match="tail or not complete"):
        measure(context, tree, 0, 8, StillClock(), "collapse")
    tailless = coarsest(small_tree(8), 99, 0)
    with pytest.raises(FocusError, match="No tokens follow"):
        measure(tailless, small_tree(8), 1, 8, StillClock())


def test_the_horizon_never_reaches_into_what_is_measured() -> None:
    tree = small_tree(40)
    context = coarsest(tree, 999, 1)
    place = len(context.entries()) - 2
    assert measure(context, tree, place, 1000, StillClock()).horizon == 4
