"""Floating-point operations of a decoded block, counted by running it, to compare systems at equal cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from amgs_focus.model.base_model import BaseModel


@dataclass(frozen=True, slots=True)
class ModelCost:
    """fixed: operations of one token at no context, the output matrix included. each: for every entry it sees."""

    fixed: float
    each: float

    def tokens(self, first: int, count: int) -> float:
        """Operations of `count` tokens of which the first sees `first` entries, itself included."""
        return count * self.fixed + self.each * (count * first + count * (count - 1) / 2)

    def window(self, operations: float, count: int) -> int:
        """The window in which decoding `count` tokens, one by one with everything kept, costs so much."""
        return max(1, int((operations / count - self.fixed) / self.each))


def model_cost(model: BaseModel) -> ModelCost:
    """Counted for one token; what attention adds for each entry is 4 · layers · width (scores and their sum)."""
    with torch.no_grad():
        row = model.embed(torch.tensor([[model.sinks()[0]]], dtype=torch.int64))
        fixed = counted(lambda: model.logits(model.forward(row)[0]))
    return ModelCost(fixed, 4.0 * model.card.layers * model.card.width)


def counted(run: Callable[[], object]) -> float:
    """Operations of the matrix products in a call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return float(counter.get_total_flops())
