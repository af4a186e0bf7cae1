"""Decoding without a working context: the likeliest token each time."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from amgs_focus.model.base_model import BaseModel


def greedy(model: BaseModel, rows: torch.Tensor, most: int) -> Iterator[int]:
    """At most so many tokens after the entries, (W, d), up to where the answer ends; the stop is not among them."""
    with torch.no_grad():
        cache = model.new_cache()
        entries = rows[None]
        for _ in range(most):
            hidden = model.forward(entries, cache)
            token = int(model.logits(hidden[0, -1:]).argmax())
            if token in model.stops:
                return
            yield token
            entries = model.embed(torch.tensor([[token]], dtype=torch.int64)).to(rows)
