"""The loop of every training: gists, lenses and adapters differ in their loss, their rate and what judges them.

A step draws from (seed, step) alone, so that a training can be stopped anywhere and resumed bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol

import torch
from torch import nn

from amgs_focus.training.data_parallel import SINGLE, DataParallel
from amgs_focus.training.training_state import Net, TrainingState


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    """How a loop goes, whatever it trains.

    accumulate: passes whose mean gradient makes a step. clip: norm of the net's gradient above which it is scaled
    down. best_by: the weights kept are those of the greatest mean of the metrics whose names begin so; a leading
    "-" means the least; "" keeps none. patience: validations without gain that end the training, 0 none.
    """

    steps: int
    clip: float
    validate_every: int
    save_every: int
    accumulate: int = 1
    best_by: str = ""
    patience: int = 0


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did. `losses` by name, in nats where they are; `validation` is empty on most steps."""

    step: int
    steps: int
    learning_rate: float
    losses: dict[str, float]
    validation: dict[str, float] = field(default_factory=dict)


class Objective(Protocol):
    """What a training is towards."""

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        ...

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The loss of one pass of a step with its graph, and its parts by name. part: which of all its passes."""
        ...

    def validation(self) -> dict[str, float]:
        """Metric name -> value on what was kept apart, equal at all workers; empty where nothing was."""
        ...


class Trainer(Generic[Net]):
    """Runs the steps that are left of a training.

    With several workers each runs one, with a state that was begun or loaded by all of them.
    """

    def __init__(
        self,
        settings: TrainerSettings,
        state: TrainingState[Net],
        objective: Objective,
        parallel: DataParallel = SINGLE,
    ) -> None:
        self._settings, self._objective, self._parallel = settings, objective, parallel
        self.state = state

    @property
    def over(self) -> bool:
        """Whether no step is left, or patience is."""
        settings, state = self._settings, self.state
        return state.step >= settings.steps or 0 < settings.patience <= state.waited

    def run(
        self,
        progress: Callable[[StepReport], None],
        *,
        save: Callable[[TrainingState[Net]], None] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Whether the training is over; False when it was stopped before.

        `stopped` is asked between steps, by one worker for all. `progress` is called after every step and `save`
        every `save_every` steps, at the end, and before an error of `progress` goes on.
        """
        settings, state = self._settings, self.state
        saved = True
        while not self.over and not self._parallel.any(stopped()):
            rate = self._objective.rate(state.step)
            losses = self._step(rate)
            state.step += 1
            validation: dict[str, float] = {}
            if state.step % settings.validate_every == 0 or state.step == settings.steps:
                validation = self._objective.validation()
                found = score(validation, settings.best_by)
                if found is not None:
                    state.keep(found)
            saved = save is None
            if save is not None and state.step % settings.save_every == 0:
                save(state)
                saved = True
            try:
                progress(StepReport(state.step, settings.steps, rate, losses, validation))
            except BaseException:
                if save is not None and not saved:
                    save(state)
                raise
        if save is not None and not saved:
            save(state)
        return self.over

    def _step(self, rate: float) -> dict[str, float]:
        """One step of the optimisers; the losses by name."""
        state, passes = self.state, self._settings.accumulate
        for optimizer in state.optimizers:
            optimizer.zero_grad(set_to_none=True)
            for group in optimizer.param_groups:
                group["lr"] = rate
        losses: dict[str, torch.Tensor] = {}
        for number in range(passes):
            loss, parts = self._objective.loss(state.step, self._parallel.part(number, passes))
            (loss / passes).backward()  # type: ignore[no-untyped-call]
            for name, value in {**parts, "loss": loss}.items():
                mean = value.detach().float() / passes
                losses[name] = losses[name] + mean if name in losses else mean
        self._parallel.average([one.grad for one in state.parameters() if one.grad is not None])
        norm = nn.utils.clip_grad_norm_(state.net.parameters(), self._settings.clip)
        for optimizer in state.optimizers:
            optimizer.step()
        self._parallel.average(list(losses.values()))
        return {name: float(value) for name, value in {**losses, "gradient": norm}.items()}


def score(validation: Mapping[str, float], best_by: str) -> float | None:
    """The mean of the metrics that `best_by` names, higher where better; None where there is none."""
    prefix = best_by.removeprefix("-")
    found = [value for name, value in validation.items() if prefix and name.startswith(prefix)]
    if not found:
        return None
    return (-1.0 if best_by.startswith("-") else 1.0) * sum(found) / len(found)
