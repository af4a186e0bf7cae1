"""The loop of every training: passes and steps, the weights it keeps, its end, and the state it goes on from."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from benchmarks.focus_training.data_parallel import DataParallel
from benchmarks.focus_training.trainer import StepReport, Trainer, TrainerSettings, TrainingState


class Line:
    """A linear net against a fixed line, on points drawn anew for each pass."""

    def __init__(self, net: nn.Linear, judged: list[float]) -> None:
        self.net, self.judged = net, judged
        self.passes: list[tuple[int, int, int]] = []

    def rate(self, step: int) -> float:
        return 0.1 / (1 + step)

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        self.passes.append((step, part.rank, part.count))
        x = torch.randn(4, 3, generator=torch.Generator().manual_seed(100 * step + part.rank))
        error = (self.net(x)[:, 0] - x.sum(dim=1)).square().mean()
        return error, {"error": error}

    def validation(self) -> dict[str, float]:
        return {"share_a": self.judged.pop(0), "other": 9.0} if self.judged else {}


def begun() -> TrainingState[nn.Linear]:
    net = nn.Linear(3, 1)
    nn.init.zeros_(net.weight)
    nn.init.zeros_(net.bias)
    return TrainingState(net, (torch.optim.AdamW(net.parameters()),), {"seed": 1, "shape": {"width": 3}})


def plan(
    steps: int = 6, accumulate: int = 1, best_by: str = "share_", patience: int = 0, save_every: int = 4
) -> TrainerSettings:
    return TrainerSettings(
        steps=steps,
        clip=100.0,
        validate_every=1,
        save_every=save_every,
        accumulate=accumulate,
        best_by=best_by,
        patience=patience,
    )


def trainer(settings: TrainerSettings, *judged: float) -> tuple[Trainer[nn.Linear], Line]:
    state = begun()
    line = Line(state.net, list(judged))
    return Trainer(settings, state, line), line


def quiet(report: StepReport) -> None:
    del report


def test_a_step_is_the_mean_of_its_passes() -> None:
    parted, line = trainer(plan(steps=1, accumulate=3))
    parted.run(quiet)
    assert line.passes == [(0, 0, 3), (0, 1, 3), (0, 2, 3)]
    state = begun()
    slow = Line(state.net, [])
    loss = sum((slow.loss(0, DataParallel(rank, 3))[0] for rank in range(3)), torch.zeros(())) / 3
    loss.backward()  # type: ignore[no-untyped-call]
    for group in state.optimizers[0].param_groups:
        group["lr"] = slow.rate(0)
    state.optimizers[0].step()
    torch.testing.assert_close(parted.state.net.weight, state.net.weight)


def test_what_was_stopped_goes_on_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "line.state"
    straight, _ = trainer(plan(accumulate=2), 0.3, 0.2, 0.6, 0.1, 0.2, 0.3)
    assert straight.run(quiet)
    begun_only, _ = trainer(plan(accumulate=2), 0.3, 0.2, 0.6)
    assert not begun_only.run(quiet, save=lambda state: state.save(path), stopped=lambda: begun_only.state.step == 3)
    ended, _ = trainer(plan(accumulate=2), 0.1, 0.2, 0.3)
    ended.state.load(path)
    assert ended.run(quiet)
    assert torch.equal(ended.state.net.weight, straight.state.net.weight)
    assert (ended.state.best_step, ended.state.waited) == (straight.state.best_step, straight.state.waited) == (3, 3)
