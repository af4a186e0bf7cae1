"""A pass with a bias on what each row sees reads as the plain one where nothing is hidden."""

from __future__ import annotations

import torch

from amgs_focus.model.base_model import GatedModel
from tests.focus.focus_world import MODEL


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
