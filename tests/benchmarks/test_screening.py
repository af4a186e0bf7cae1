"""The gated pass reads the context as it is at closed gates, and its estimates are slopes there."""

from __future__ import annotations

import pytest
import torch

from amgs_focus.errors import FocusError
from amgs_focus.model.base_model import GatedModel
from amgs_focus.utility import LabelSnapshot, candidates
from amgs_focus.window.layout import coarsest
from amgs_focus.window.working_context import WorkingContext
from benchmarks.focus_training.screening import gated_loss, screen
from tests.focus.focus_world import MODEL, small_tree


def snapshot_of(length: int, seed: int = 1) -> LabelSnapshot:
    """All first-level gists, the first one open."""
    whole, tree = small_tree(length + 8, seed=seed), small_tree(length, seed=seed)
    context: WorkingContext = coarsest(tree, 10**6, 2)
    while any(entry.level > 1 for entry in context.entries()):
        place = next(at for at, entry in enumerate(context.entries()) if entry.level > 1)
        context, _ = context.expand(place)
    context, _ = context.expand(0)
    future = tuple(int(token) for token in whole.tokens(length, length + 8))
    return LabelSnapshot(context, tree, future)


def test_closed_gates_leave_the_context_as_it_is() -> None:
    snapshot = snapshot_of(60)
    actions = candidates(snapshot.context, snapshot.tree)
    rows = snapshot.context.embeddings(snapshot.tree, 0, snapshot.context.used)
    future = torch.tensor(snapshot.future)
    hidden = MODEL.forward(torch.cat([rows, MODEL.embed(future[:-1])])[None])[0, -8:]
    expected = torch.nn.functional.cross_entropy(MODEL.logits(hidden), future)
    closed = gated_loss(snapshot, actions, torch.zeros(len(actions)))
    assert float(closed) == pytest.approx(float(expected), abs=1e-5)


def test_a_screened_gain_is_the_slope_of_the_loss_at_its_gate() -> None:
    snapshot = snapshot_of(60)
    actions = candidates(snapshot.context, snapshot.tree)
    found = screen(snapshot, actions, opening=0.3)
    for number in (0, 1, 5, len(actions) - 1):
        losses = []
        for step in (-0.01, 0.01):
            gates = torch.full((len(actions),), 0.3)
            gates[number] += step
            losses.append(float(gated_loss(snapshot, actions, gates)))
        slope = (losses[1] - losses[0]) / 0.02
        expected = slope if actions[number].kind == "collapse" else -slope
        assert found[number] == pytest.approx(expected, rel=0.05, abs=2e-3)


def test_at_closed_gates_none_knows_of_the_others() -> None:
    snapshot = snapshot_of(60)
    actions = candidates(snapshot.context, snapshot.tree)
    together = screen(snapshot, actions, opening=1e-7)
    for number in (0, 4, len(actions) - 1):
        alone = screen(snapshot, [actions[number]], opening=1e-7)[0]
        assert alone == pytest.approx(together[number], rel=0.02, abs=1e-3)


def test_reading_with_gates_that_hide_nothing_is_reading() -> None:
    assert isinstance(MODEL, GatedModel)
    rows = MODEL.embed(torch.arange(40, 52))[None]
    causal = torch.zeros(12, 12).masked_fill(torch.ones(12, 12).triu(1).bool(), -torch.inf)
    cache = MODEL.new_cache()
    gated = [
        MODEL.forward_gated(rows[:, :5], cache, causal[:5, :5], torch.arange(5)),
        MODEL.forward_gated(rows[:, 5:], cache, causal[5:], torch.arange(5, 12)),
    ]
    assert torch.allclose(torch.cat(gated, dim=1), MODEL.forward(rows))


def test_what_cannot_be_screened_is_refused() -> None:
    snapshot = snapshot_of(60)
    assert screen(snapshot, []) == []
    tailless = coarsest(small_tree(64), 999, 0)
    with pytest.raises(FocusError, match="no tail"):
        screen(LabelSnapshot(tailless, small_tree(64), (97, 98)), candidates(tailless, small_tree(64)))
