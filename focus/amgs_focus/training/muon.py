"""Muon: momentum with orthogonal updates, for the matrices of a net."""

from __future__ import annotations

import math

import torch
from torch import nn

from amgs_focus.training.data_parallel import SINGLE, DataParallel


class Muon(torch.optim.Optimizer):
    """Momentum with orthogonal matrix updates, scaled to the size of an Adam step (Jordan et al., 2024).

    On one processor a step of the frozen model costs so much more than the orthogonalisation that learning
    more from each step pays.
    """

    COEFFICIENTS = (3.4445, -4.7750, 2.0315)
    ROUNDS = 5

    def __init__(
        self,
        matrices: list[nn.Parameter],
        lr: float,
        weight_decay: float,
        momentum: float = 0.95,
        parallel: DataParallel = SINGLE,
    ) -> None:
        self._parallel = parallel
        self._owners = _owners(matrices, parallel.count)
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of every matrix that has a gradient; parallel workers each compute their own."""
        del closure
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                kept = self.state[matrix]
                if "momentum" not in kept:
                    kept["momentum"] = torch.zeros_like(matrix)
                kept["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
                if self._owners[matrix] != self._parallel.rank:
                    continue
                update = self._orthogonal(matrix.grad.lerp(kept["momentum"], group["momentum"]))
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update, alpha=-group["lr"] * 0.2 * math.sqrt(max(matrix.shape)))
        self._parallel.share(self._owners)

    def _orthogonal(self, matrix: torch.Tensor) -> torch.Tensor:
        """(m, n) -> nearly its polar factor, by a quintic Newton–Schulz iteration."""
        tall = matrix.shape[0] > matrix.shape[1]
        x = matrix.T if tall else matrix
        x = x / (x.norm() + 1e-7)
        first, second, third = self.COEFFICIENTS
        for _ in range(self.ROUNDS):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=second, alpha=third), x, beta=first)
        return x.T if tall else x


def _owners(matrices: list[nn.Parameter], count: int) -> dict[torch.Tensor, int]:
    """Which worker orthogonalises which matrix, so that each has about the same work."""
    load = [0] * count
    owners: dict[torch.Tensor, int] = {}
    for matrix in matrices:
        short, long = sorted(matrix.shape)
        owner = min(range(count), key=load.__getitem__)
        load[owner] += 2 * short * short * long + short**3
        owners[matrix] = owner
    return owners
