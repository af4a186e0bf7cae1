"""Labels are the exact ΔNLL of legal actions, whatever was reused to compute them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import FocusError
from amgs_focus.records import NodeRef
from amgs_focus.runtime.utility import measure
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest
from amgs_focus.window.working_context import WorkingContext, gist_entry
from benchmarks.focus_training.counterfactuals import LabelSnapshot, candidates, counterfactuals
from tests.focus.focus_world import StillClock, small_tree


def snapshot_at(length: int, horizon: int = 8, tail_blocks: int = 2) -> tuple[WorkingContext, LabelSnapshot]:
    """A coarse context with its first gist open, and what comes next in the letters."""
    whole, tree = small_tree(length + horizon), small_tree(length)
    context = coarsest(tree, 10**6, tail_blocks)
    if context.entries()[0].level:
        context, _ = context.expand(0)
    future = tuple(int(token) for token in whole.tokens(length, length + horizon))
    return context, LabelSnapshot(context, tree, future)


def test_a_label_is_what_two_full_passes_over_the_grown_lifetime_give() -> None:
    """The slow twin: the future as part of the lifetime, both contexts from nothing, no cache."""
    context, snapshot = snapshot_at(100)
    grown: LifetimeTree = small_tree(108)
    after = context.extend_lifetime(108)
    for label in counterfactuals(snapshot):
        if label.kind == "expand":
            place = after.position(label.node)
            assert place is not None
            expected = measure(after, grown, place, 8, StillClock())
        else:
            place = after.position(context.children(gist_entry(label.node, 4))[0].node)
            assert place is not None
            expected = measure(after, grown, place, 8, StillClock(), "collapse")
        assert expected.node == label.node
        assert label.gain == pytest.approx(expected.gain, abs=1e-6)
        assert label.error == pytest.approx(expected.error, abs=1e-6)
        assert label.horizon == 8


@given(st.integers(1, 200), st.integers(0, 3))
def test_candidates_are_all_the_legal_actions_and_no_other(length: int, tail_blocks: int) -> None:
    context, snapshot = snapshot_at(length, tail_blocks=tail_blocks)
    found = candidates(context, snapshot.tree)
    opened = [action.node for action in found if action.kind == "expand"]
    assert opened == [entry.node for entry in context.entries() if entry.level]
    closed = set()
    for level in range(1, snapshot.tree.depth + 1):
        for index in range(snapshot.tree.count(level)):
            try:
                context.collapse(NodeRef(level, index))[0].check()
            except FocusError:
                continue
            closed.add(NodeRef(level, index))
    assert {action.node for action in found if action.kind == "collapse"} == closed
    for action in found:
        assert (action.context.codes()[: action.keep] == context.codes()[: action.keep]).all()
