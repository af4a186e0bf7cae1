"""The loop of every training: what a step is made of."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.focus_training.data_parallel import DataParallel
from benchmarks.focus_training.trainer import Trainer, TrainerSettings, TrainingState


class Line:
    """A linear net against a fixed line, on points drawn anew for each pass."""

    def __init__(self, net: nn.Linear) -> None:
        self.net = net
        self.passes: list[tuple[int, int, int]] = []

    def rate(self, step: int) -> float:
        return 0.1 / (1 + step)

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        self.passes.append((step, part.rank, part.count))
        x = torch.randn(4, 3, generator=torch.Generator().manual_seed(100 * step + part.rank))
        error = (self.net(x)[:, 0] - x.sum(dim=1)).square().mean()
        return error, {"error": error}

    def validation(self) -> dict[str, float]:
        return {}


def begun() -> TrainingState[nn.Linear]:
    net = nn.Linear(3, 1)
    nn.init.zeros_(net.weight)
    nn.init.zeros_(net.bias)
    return TrainingState(net, (torch.optim.AdamW(net.parameters()),), {"seed": 1, "shape": {"width": 3}})


def test_a_step_is_the_mean_of_its_passes() -> None:
    parted = begun()
    line = Line(parted.net)
    settings = TrainerSettings(
        steps=1, clip=100.0, validate_every=1, save_every=4, accumulate=3, best_by="share_", patience=0
    )
    Trainer(settings, parted, line).run(lambda report: None)
    assert line.passes == [(0, 0, 3), (0, 1, 3), (0, 2, 3)]
    state = begun()
    slow = Line(state.net)
    loss = sum((slow.loss(0, DataParallel(rank, 3))[0] for rank in range(3)), torch.zeros(())) / 3
    loss.backward()  # type: ignore[no-untyped-call]
    for group in state.optimizers[0].param_groups:
        group["lr"] = slow.rate(0)
    state.optimizers[0].step()
    torch.testing.assert_close(parted.net.weight, state.net.weight)
