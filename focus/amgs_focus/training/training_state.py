"""What a training needs to go on bit for bit: weights, optimisers, the step, and the best weights so far."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import nn

from amgs_focus.errors import CheckpointError

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
                about="run",
            ) from error


# what a reader of damaged bytes is known to raise
_TORN = (
    pickle.UnpicklingError,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)
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
            f"The training state {path.name} cannot be read.", way_out="Start the run again.", about="run"
        ) from error
    if known != STATE_FORMAT:
        whose = "an earlier version" if known in EARLIER else "another program"
        raise CheckpointError(
            f"The training state {path.name} was written by {whose}.",
            way_out="Finish the run with what began it, or start it again in another folder.",
            about="run",
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
                about="run",
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
