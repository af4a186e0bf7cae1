"""The similarity baseline: its parts add up, its sign means something, and it is a function of the tokens
alone.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.scoring import LensView, TailSimilarity
from amgs_focus.records import Segment
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest
from amgs_focus.window.working_context import WorkingContext, aggregate
from tests.focus.focus_world import MODEL


def tree_of(*texts: str) -> LifetimeTree:
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    for text in texts:
        tree.append_segment(Segment(text))
    return tree


def scored(
    tree: LifetimeTree, question: str = ""
) -> tuple[WorkingContext, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    context = coarsest(tree, 10**6, 2)
    view = LensView(context, tree, tuple(MODEL.encode(question)))
    return context, aggregate(context, TailSimilarity().score(view).values)


@given(st.text("abcdexyz ", max_size=150), st.text("abcxyz?", max_size=20))
def test_scores_are_signed_bounded_and_the_sum_of_their_parts(text: str, question: str) -> None:
    tree = tree_of(text)
    context = coarsest(tree, 10**6, 2)
    scores = TailSimilarity().score(LensView(context, tree, tuple(MODEL.encode(question))))
    assert len(scores.values) == len(context.codes()) - 4
    assert (np.abs(scores.values) <= 1).all()
    assert np.allclose(sum(scores.parts.values(), np.zeros(len(scores.values))), scores.values)


def test_the_span_that_holds_the_question_s_words_scores_highest_at_every_level() -> None:
    plain = "abab" * 4
    tree = tree_of(plain * 5, "abxqzbab", plain * 6, "abab" * 4)
    context, values = scored(tree, "xqz")
    best = context.entries()[int(np.argmax(values))]
    assert best.start <= 80 < best.end
    assert values.max() > 0.2
    others = [value for value, entry in zip(values, context.entries(), strict=True) if entry is not best]
    assert max(others) < values.max()
