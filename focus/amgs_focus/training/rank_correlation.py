"""Spearman's rank correlation."""

from __future__ import annotations

import torch


def spearman(one: torch.Tensor, other: torch.Tensor) -> float:
    """Rank correlation of two (n,) tensors, ties sharing their mean rank; 0 where one is constant."""
    ranks = [_ranks(values.double()) for values in (one, other)]
    centred = [values - values.mean() for values in ranks]
    scale = float(centred[0].norm() * centred[1].norm())
    return float(centred[0] @ centred[1]) / scale if scale > 0 else 0.0


def _ranks(values: torch.Tensor) -> torch.Tensor:
    """(n,) -> (n,) mean ranks."""
    below = (values[None, :] < values[:, None]).sum(dim=1)
    alike = (values[None, :] == values[:, None]).sum(dim=1)
    return below.double() + (alike.double() - 1) / 2
