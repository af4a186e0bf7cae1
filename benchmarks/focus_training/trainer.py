"""The loop of every training, and what it needs to go on bit for bit: weights, optimisers, the step, the best weights.

Gists, lenses and adapters differ in their loss, their rate and what judges them. A step draws from (seed, step) alone,
so that a training can be stopped anywhere and resumed.
"""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import nn

from amgs_focus.errors import CheckpointError
from benchmarks.focus_training.data_parallel import SINGLE, DataParallel

STATE_FORMAT = "amgs-training-1"
EARLIER = ("amgs-gistnet-training-1", "amgs-context-phase-1", "amgs-lensnet-training-2")

Weights = dict[str, torch.Tensor]


class Trainable(Protocol):
    """What a training changes: a module, or what stands for one."""

    def parameters(self) -> Iterable[nn.Parameter]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: Mapping[str, Any], /) -> object: ...


Net = TypeVar("Net", bound=Trainable)


@dataclass(slots=True)
class TrainingState(Generic[Net]):
    """Where a training is.

    net: what is trained, judged and exported. beside: heads that only the training reads, by name. told: what a file
    must agree with, as plain values. best: the net's weights of the best validation so far, that of `best_step`,
    empty until one counted. waited: validations since.
    """

    net: Net
    optimizers: tuple[torch.optim.Optimizer, ...]
    told: Mapping[str, Any]
    beside: Mapping[str, nn.Module] = field(default_factory=dict)
    step: int = 0
    best: Weights = field(default_factory=dict)
    best_step: int = 0
    best_score: float = -math.inf
    waited: int = 0

    def keep(self, score: float) -> None:
        """Remembers the net as it is, if no validation before scored as high."""
        if score > self.best_score:
            self.best = {name: value.detach().clone() for name, value in self.net.state_dict().items()}
            self.best_step, self.best_score, self.waited = self.step, score, 0
        else:
            self.waited += 1

    def take_best(self) -> None:
        """Gives the net its best weights; where no validation counted it stays as it is."""
        if self.best:
            self.net.load_state_dict(self.best)

    def parameters(self) -> list[nn.Parameter]:
        """Of the net and of what is beside it."""
        return [*self.net.parameters(), *(p for head in self.beside.values() for p in head.parameters())]

    def to(self, device: torch.device) -> None:
        """Moves all weights, and what the optimisers remember of them, to the device that the model computes on."""
        for module in (self.net, *self.beside.values()):
            if isinstance(module, nn.Module):
                module.to(device)
        for optimizer in self.optimizers:
            for kept in optimizer.state.values():
                kept |= {n: v.to(device) for n, v in kept.items() if isinstance(v, torch.Tensor)}

    def save(self, path: Path) -> None:
        """Writes the state beside `path` and renames it into place."""
        partial = path.with_suffix(".partial")
        torch.save(
            {
                "format": STATE_FORMAT,
                "told": _plain(self.told),
                "net": self.net.state_dict(),
                "beside": {name: head.state_dict() for name, head in self.beside.items()},
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
                **{name: getattr(self, name) for name in _PROGRESS},
            },
            partial,
        )
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Takes what `save` wrote. Raises CheckpointError for a file that is damaged or of another training."""
        stored = _read(path)
        _agree(path, stored["told"], _plain(self.told))
        try:
            self.net.load_state_dict(stored["net"])
            for name, head in self.beside.items():
                head.load_state_dict(stored["beside"][name])
            for optimizer, kept in zip(self.optimizers, stored["optimizers"], strict=True):
                optimizer.load_state_dict(kept)
            for name in _PROGRESS:
                setattr(self, name, stored[name])
        except (RuntimeError, ValueError, KeyError, TypeError, CheckpointError) as error:
            raise CheckpointError(
                f"The training state {path.name} belongs to another module.",
                way_out="Resume with the settings it was made with, or choose another folder.",
            ) from error


# what a reader of damaged bytes is known to raise
_TORN = (pickle.UnpicklingError, OSError, EOFError, RuntimeError, ValueError, LookupError, TypeError, AttributeError)
_PROGRESS = ("step", "best", "best_step", "best_score", "waited")


def saved_step(path: Path) -> int:
    """The step that a state was saved at; 0 where there is none. Raises CheckpointError for a damaged one."""
    return int(_read(path)["step"]) if path.exists() else 0


def _read(path: Path) -> dict[str, Any]:
    try:
        stored: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        known = stored["format"]
    except _TORN as error:
        raise CheckpointError(
            f"The training state {path.name} cannot be read.", way_out="Start the run again."
        ) from error
    if known != STATE_FORMAT:
        whose = "an earlier version" if known in EARLIER else "another program"
        raise CheckpointError(
            f"The training state {path.name} was written by {whose}.",
            way_out="Finish the run with what began it, or start it again in another folder.",
        )
    return stored


def _agree(path: Path, stored: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    """Raises CheckpointError that names the first setting by which two trainings differ."""
    before, now = _flat(stored), _flat(told)
    for name in (*now, *before):
        if before.get(name) != now.get(name):
            raise CheckpointError(
                f"The training state {path.name} was made with {name} {before.get(name, 'unset')}, "
                f"not {now.get(name, 'unset')}.",
                way_out="Resume with the settings it was made with, or start a new run.",
            )


def _plain(told: Mapping[str, Any]) -> dict[str, Any]:
    """The same with lists for tuples, as a file gives them back."""
    plain: dict[str, Any] = json.loads(json.dumps(told))
    return plain


def _flat(told: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by dotted name."""
    flat: dict[str, Any] = {}
    for name, value in told.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat


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
