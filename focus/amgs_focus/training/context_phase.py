"""One phase of the joint schedule: one module learns on working contexts while the others stay as they are.

B1 trains the net for tokens on the blocks that the policy left as gists, B3 a LoRA adapter on the base. Both read what
the frozen base says after the full text; B1 is held near the net it began with, and tokens beside the edge of a block
can count more. A phase can stop after any step and go on, bit for bit.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from amgs_focus.errors import CheckpointError
from amgs_focus.gist.gistnet import GistEncoder, GistNetEncoder
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.adapter import Adapter
from amgs_focus.model.base_model import BaseModel
from amgs_focus.settings import FocusSettings
from amgs_focus.training.contexts import (
    TrainingContext,
    context_rows,
    divergence,
    edge_weights,
    gist_blocks,
    situation,
    teacher_logits,
)
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.gistnet import StepReport
from amgs_focus.training.held_out import HeldOut, HeldOutResult, effect
from amgs_focus.training.records import Effect
from amgs_focus.training.run_config import ContextPhaseConfig

STATE_FORMAT = "amgs-context-phase-1"

Weights = dict[str, torch.Tensor]


class Trainee(Protocol):
    """The module that a phase trains. drift: how far its weights moved, as a loss."""

    def parameters(self) -> list[nn.Parameter]: ...

    def weights(self) -> Weights: ...

    def load(self, weights: Weights) -> None: ...

    def rows(self, case: TrainingContext) -> torch.Tensor: ...

    def drift(self, cases: list[TrainingContext]) -> torch.Tensor: ...

    def teaching(self) -> AbstractContextManager[None]: ...

    def encoder(self) -> GistEncoder:
        """The gists to lay contexts out with, as they are now."""
        ...


class GistTrainee:
    """B1: the net for tokens of an encoder; the net for gists and everything else stay."""

    def __init__(self, encoder: GistEncoder) -> None:
        """Raises CheckpointError for gists that no net makes, or only some of which it makes."""
        if not isinstance(encoder, GistNetEncoder):
            raise CheckpointError(
                f"The {encoder.name} gists have no net to train.",
                way_out="Train one first: focus train gistnet.",
            )
        if encoder.slots != encoder.trained_slots:
            raise CheckpointError(
                f"Of {encoder.slots} gists a block the net of {encoder.name} makes {encoder.trained_slots}.",
                way_out=f"Set gistnet.slots to {encoder.trained_slots}, or train a net for {encoder.slots} first.",
            )
        self._upper = encoder.gist_net
        self.net = copy.deepcopy(encoder.token_net).requires_grad_(True)
        self._begun = copy.deepcopy(encoder.token_net).requires_grad_(False)

    def parameters(self) -> list[nn.Parameter]:
        return list(self.net.parameters())

    def weights(self) -> Weights:
        return {name: value.detach().clone() for name, value in self.net.state_dict().items()}

    def load(self, weights: Weights) -> None:
        self.net.load_state_dict(weights)

    def rows(self, case: TrainingContext) -> torch.Tensor:
        """(W, d) with gists from the net in training."""
        return context_rows(case, self.net)

    def drift(self, cases: list[TrainingContext]) -> torch.Tensor:
        """Mean squared distance of its gists from those of the net it began as."""
        blocks = torch.cat([gist_blocks(case) for case in cases]).to(self.net.read.weight)
        if not len(blocks):
            return torch.zeros(())
        with torch.no_grad():
            before = self._begun(blocks)
        return nn.functional.mse_loss(self.net(blocks), before)

    def teaching(self) -> AbstractContextManager[None]:
        return nullcontext()

    def encoder(self) -> GistEncoder:
        net = copy.deepcopy(self.net).requires_grad_(False)
        return GistNetEncoder(net, self._upper, name="training", version=1)


class LoraTrainee:
    """B3: an adapter on the base; gists come from embeddings, which it leaves alone."""

    def __init__(self, adapter: Adapter, gist: GistEncoder) -> None:
        self.adapter = adapter
        self._gist = gist
        self._begun = [parameter.detach().clone() for parameter in adapter.parameters()]

    def parameters(self) -> list[nn.Parameter]:
        return self.adapter.parameters()

    def weights(self) -> Weights:
        return {name: value.clone() for name, value in self.adapter.weights().items()}

    def load(self, weights: Weights) -> None:
        self.adapter.load_weights(weights)

    def rows(self, case: TrainingContext) -> torch.Tensor:
        """(W, d) as the frozen gists make them."""
        return context_rows(case)

    def drift(self, cases: list[TrainingContext]) -> torch.Tensor:
        """Mean squared distance of its weights from those it began with."""
        del cases
        pairs = zip(self.adapter.parameters(), self._begun, strict=True)
        return torch.stack([nn.functional.mse_loss(now, before) for now, before in pairs]).mean()

    def teaching(self) -> AbstractContextManager[None]:
        """The teacher is the base alone."""
        return self.adapter.disabled()

    def encoder(self) -> GistEncoder:
        return self._gist


@dataclass(frozen=True, slots=True)
class ContextPhase:
    """What stays fixed in a phase. name: such as "b3". judge: windows for its effect; stopper: for its end."""

    name: str
    model: BaseModel
    gist: GistEncoder
    scorer: FocusScorer
    corpus: TrainingCorpus
    focus: FocusSettings
    lifetime: int
    judge: HeldOut
    stopper: HeldOut
    seed: int


@dataclass(slots=True)
class PhaseState:
    """What a phase needs to go on. best: weights of the best validation so far; waited: validations since."""

    step: int
    begun: Weights
    best: Weights
    best_loss: float = math.inf
    waited: int = 0
    done: bool = False


def train_phase(
    stage: ContextPhase,
    plan: ContextPhaseConfig,
    trainee: Trainee,
    path: Path,
    report: Callable[[StepReport], None],
    stopped: Callable[[], bool] = lambda: False,
) -> Effect | None:
    """Trains what is left of a phase and measures its effect; None when it was stopped before its end.

    The trainee ends with the weights of its best validation, on windows that do not judge it, where these beat the
    weights it began with, and else with those. The state in `path` holds everything to go on from.
    """
    optimizer = torch.optim.AdamW(
        trainee.parameters(), lr=plan.learning_rate, betas=(0.9, 0.98), weight_decay=plan.weight_decay
    )
    state = _load(path, trainee, optimizer) if path.exists() else _fresh(stage, trainee)
    while not state.done and state.step < plan.steps:
        if stopped():
            _save(path, state, trainee, optimizer)
            return None
        rate = _rate(plan, state.step)
        for group in optimizer.param_groups:
            group["lr"] = rate
        losses = _step(stage, plan, trainee, optimizer, state.step)
        state.step += 1
        validation: dict[str, float] = {}
        if state.step % plan.validate_every == 0 or state.step == plan.steps:
            sat = _stop_sit(stage, trainee)
            validation = sat.telemetry
            _remember(state, sat.loss_at_h, trainee, plan.patience)
            _save(path, state, trainee, optimizer)
        report(StepReport(state.step, plan.steps, rate, losses, validation))
    state.done = True
    _save(path, state, trainee, optimizer)
    trainee.load(state.begun)
    before = stage.judge.sit(stage.model, trainee.encoder(), stage.scorer)
    trainee.load(state.best)
    after = stage.judge.sit(stage.model, trainee.encoder(), stage.scorer)
    found = effect(stage.name, before, after, stage.seed)
    if found.verdict != "better":
        trainee.load(state.begun)
    return found


def step_of(path: Path) -> int:
    """The step that a phase's state was saved at; 0 where there is none. Raises CheckpointError."""
    return int(_read(path)["step"]) if path.exists() else 0


def _step(
    stage: ContextPhase,
    plan: ContextPhaseConfig,
    trainee: Trainee,
    optimizer: torch.optim.Optimizer,
    step: int,
) -> dict[str, float]:
    """One step on fresh lifetimes; the losses by name."""
    generator = torch.Generator().manual_seed(stage.seed * 1_000_003 + step)
    length = stage.lifetime + stage.focus.horizon
    windows = [stage.corpus.window(length, generator) for _ in range(plan.sequences)]
    cases = [situation(stage.model, stage.gist, stage.scorer, stage.focus, one) for one in windows]
    with trainee.teaching():
        teacher = teacher_logits(stage.model, cases)
    kl, nll = divergence(stage.model, [trainee.rows(case) for case in cases], cases, teacher)
    weights = edge_weights(cases, plan.boundary).to(kl)
    parts = {"kl": (kl * weights).mean(), "nll": (nll * weights).mean()}
    loss = plan.gap * parts["kl"] + plan.truth * parts["nll"]
    if plan.stability > 0:
        parts["drift"] = trainee.drift(cases)
        loss = loss + plan.stability * parts["drift"]
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    norm = nn.utils.clip_grad_norm_(trainee.parameters(), plan.clip)
    optimizer.step()
    return {name: float(value.detach()) for name, value in {**parts, "loss": loss, "gradient": norm}.items()}


def _stop_sit(stage: ContextPhase, trainee: Trainee) -> HeldOutResult:
    return stage.stopper.sit(stage.model, trainee.encoder(), stage.scorer, plain_too=False)


def _remember(state: PhaseState, loss: float, trainee: Trainee, patience: int) -> None:
    """Keeps the best weights; after `patience` validations without gain the phase is done."""
    if loss < state.best_loss:
        state.best_loss, state.best, state.waited = loss, trainee.weights(), 0
    else:
        state.waited += 1
        state.done = state.waited >= patience


def _rate(plan: ContextPhaseConfig, step: int) -> float:
    """Linear warm-up, then a cosine down to a tenth."""
    if step < plan.warmup:
        return plan.learning_rate * (step + 1) / plan.warmup
    done = (step - plan.warmup) / max(1, plan.steps - plan.warmup)
    return plan.learning_rate * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * done)))


def _fresh(stage: ContextPhase, trainee: Trainee) -> PhaseState:
    """A phase that has to beat the weights that it begins with."""
    begun = trainee.weights()
    return PhaseState(0, begun, begun, _stop_sit(stage, trainee).loss_at_h)


def _save(path: Path, state: PhaseState, trainee: Trainee, optimizer: torch.optim.Optimizer) -> None:
    partial = path.with_suffix(".partial")
    kept = {name: getattr(state, name) for name in PhaseState.__slots__}
    now = {"format": STATE_FORMAT, **kept, "weights": trainee.weights(), "optimizer": optimizer.state_dict()}
    torch.save(now, partial)
    partial.replace(path)


def _load(path: Path, trainee: Trainee, optimizer: torch.optim.Optimizer) -> PhaseState:
    kept = _read(path)
    try:
        trainee.load(kept.pop("weights"))
        optimizer.load_state_dict(kept.pop("optimizer"))
        return PhaseState(**kept)
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise _unfit(path) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = torch.load(path, weights_only=True)
        if kept.pop("format") != STATE_FORMAT:
            raise KeyError(STATE_FORMAT)
    except (OSError, RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError) as error:
        raise _unfit(path) from error
    return kept


def _unfit(path: Path) -> CheckpointError:
    return CheckpointError(
        f"The phase's state {path.name} cannot be read or belongs to another module.",
        way_out="Resume with the settings it was made with, or choose another folder.",
        about="run",
    )
