"""Trains GistNet: a frozen model that reads gists must predict what follows as if it had read their blocks.

One pass of the teacher over a window serves several students, each reading another prefix of it as gists.
Every step draws its windows from (seed, step) alone, so a run can be stopped anywhere and resumed exactly.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import nn

from amgs_focus.errors import CheckpointError
from amgs_focus.gist.gistnet import GistEncoder, GistNet
from amgs_focus.model.base_model import BaseModel
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.data_parallel import SINGLE, DataParallel
from amgs_focus.training.gist_evaluator import GistEvaluator
from amgs_focus.training.gist_objective import step_loss
from amgs_focus.training.gist_plan import GistTraining, learning_rate
from amgs_focus.training.muon import Muon

STATE_FORMAT = "amgs-gistnet-training-1"


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did. `losses` by name, in nats where they are; `validation` is empty on most steps."""

    step: int
    steps: int
    learning_rate: float
    losses: dict[str, float]
    validation: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class TrainingState:
    """Everything that a run needs to go on."""

    step: int
    net: GistNet
    head: nn.Linear
    optimizers: tuple[torch.optim.Optimizer, ...]

    def to(self, device: torch.device) -> None:
        """Moves the nets, and what the optimisers remember of them, to the device that the model computes on."""
        self.net.to(device)
        self.head.to(device)
        for optimizer in self.optimizers:
            for kept in optimizer.state.values():
                kept |= {n: v.to(device) for n, v in kept.items() if isinstance(v, torch.Tensor)}

    def save(self, path: Path, settings: GistTraining) -> None:
        """Writes the state beside `path` and renames it into place."""
        partial = path.with_suffix(".partial")
        torch.save(
            {
                "format": STATE_FORMAT,
                "step": self.step,
                "shape": asdict(settings.shape),
                "seed": settings.seed,
                "net": self.net.state_dict(),
                "head": self.head.state_dict(),
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            },
            partial,
        )
        partial.replace(path)

    @classmethod
    def load(cls, path: Path, settings: GistTraining, parallel: DataParallel = SINGLE) -> TrainingState:
        """Reads what `save` wrote; raises CheckpointError when it belongs to another shape or seed."""
        try:
            stored = torch.load(path, weights_only=True, map_location="cpu")
        except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise CheckpointError(
                f"The training state {path.name} cannot be read.", way_out="Start the run again."
            ) from error
        if stored.get("format") != STATE_FORMAT or stored["shape"] != asdict(settings.shape):
            raise CheckpointError(
                f"The training state {path.name} belongs to a net of another shape.",
                way_out="Resume with the settings it was made with, or start a new run.",
            )
        if stored["seed"] != settings.seed:
            raise CheckpointError(
                f"The training state {path.name} was made with seed {stored['seed']}, not {settings.seed}.",
                way_out="Resume with the seed it was made with.",
            )
        state = start(settings, parallel=parallel)
        state.step = int(stored["step"])
        state.net.load_state_dict(stored["net"])
        state.head.load_state_dict(stored["head"])
        for optimizer, kept in zip(state.optimizers, stored["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
        return state


def start(
    settings: GistTraining, trained: GistNet | None = None, parallel: DataParallel = SINGLE
) -> TrainingState:
    """A fresh net that equals its pointer, seeded; or a copy of a `trained` one, to go on from a checkpoint.

    Raises CheckpointError when the trained net has another shape.
    """
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        net = GistNet(settings.shape)
        head = nn.Linear(settings.shape.width, settings.shape.width, bias=False)
        nn.init.eye_(head.weight)
    if trained is not None:
        if trained.shape != settings.shape:
            raise CheckpointError(
                "The trained net has another shape than the settings ask for.",
                way_out="Use the checkpoint's own shape, or start from scratch.",
            )
        net.load_state_dict(trained.state_dict())
    matrices = [p for name, p in net.named_parameters() if name.endswith("weight") and p.dim() == 2]
    known = {id(p) for p in matrices}
    others = [p for p in net.parameters() if id(p) not in known]
    adam = torch.optim.AdamW(
        [*others, *head.parameters()],
        lr=settings.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=0.0,
        fused=True,
    )
    muon = Muon(matrices, settings.learning_rate, settings.weight_decay, parallel=parallel)
    return TrainingState(0, net, head, (muon, adam))


def train(
    settings: GistTraining,
    corpus: TrainingCorpus,
    model: BaseModel,
    progress: Callable[[StepReport], None],
    *,
    state: TrainingState | None = None,
    lower: GistEncoder | None = None,
    save: Callable[[TrainingState], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
    parallel: DataParallel = SINGLE,
) -> TrainingState:
    """Runs the steps that are left and returns the state, with the net ready to be exported.

    Level 2 trains the net for gists on the frozen `lower` encoder. `progress` is called after every step,
    `save` every `save_every` steps and at the end; `stopped` is asked between steps. With several workers each
    calls this, with a state that was begun or loaded by all of them, and stops when one of them is stopped.
    """
    if settings.level > 1 and lower is None:
        raise CheckpointError(
            "The net for gists needs a trained net for tokens below it.", way_out="Train level 1 first."
        )
    state = state or start(settings, parallel=parallel)
    state.to(model.embed(torch.tensor(model.sinks())).device)
    evaluator = GistEvaluator(settings, corpus, model, lower, parallel)
    unsaved = False
    while state.step < settings.steps and not parallel.any(stopped()):
        rate = learning_rate(settings, state.step)
        for optimizer in state.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
        state.net.train()
        losses = _step(settings, corpus, model, state, lower, parallel)
        state.step += 1
        last = state.step == settings.steps
        unsaved = True
        due = state.step % settings.validate_every == 0 or last
        validation = evaluator.evaluate(state.net) if due else {}
        progress(StepReport(state.step, settings.steps, rate, losses, validation))
        if save is not None and state.step % settings.save_every == 0:
            save(state)
            unsaved = False
    if save is not None and unsaved:
        save(state)
    state.net.eval()
    return state


def _step(
    settings: GistTraining,
    corpus: TrainingCorpus,
    model: BaseModel,
    state: TrainingState,
    lower: GistEncoder | None,
    parallel: DataParallel,
) -> dict[str, float]:
    """One optimizer step; the losses by name."""
    loss, parts = step_loss(settings, corpus, model, state.net, state.head, state.step, lower, parallel)
    for optimizer in state.optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    trained = [*state.net.parameters(), *state.head.parameters()]
    parallel.average([parameter.grad for parameter in trained if parameter.grad is not None])
    norm = nn.utils.clip_grad_norm_(state.net.parameters(), settings.clip)
    for optimizer in state.optimizers:
        optimizer.step()
    told = {name: value.detach().float() for name, value in {**parts, "loss": loss}.items()}
    parallel.average(list(told.values()))
    return {name: float(value) for name, value in {**told, "gradient": norm}.items()}
