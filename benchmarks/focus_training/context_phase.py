"""One phase of the joint schedule: one module learns on working contexts while the others stay as they are.

B1 trains the net for tokens on the blocks that the policy left as gists, B3 a LoRA adapter on the base. Both read what
the frozen base says after the full text; B1 is held near the net it began with, and tokens beside the edge of a block
can count more. A phase can stop after any step and go on, bit for bit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from amgs_focus.errors import CheckpointError
from amgs_focus.gist import GistEncoder, GistNetEncoder, states_for
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.adapter import Adapter
from amgs_focus.model.base_model import BaseModel
from amgs_focus.settings import FocusSettings
from benchmarks.focus_training.contexts import (
    HeldOut,
    HeldOutResult,
    TrainingContext,
    context_rows,
    divergence,
    edge_weights,
    effect,
    gist_blocks,
    situation,
    teacher_logits,
)
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.data_parallel import DataParallel
from benchmarks.focus_training.joint_config import ContextPhaseConfig
from benchmarks.focus_training.records import Effect
from benchmarks.focus_training.trainer import StepReport, Trainable, Trainer, TrainerSettings, TrainingState, Weights


class Trainee(Trainable, Protocol):
    """The module that a phase trains. drift: how far its weights moved, as a loss."""

    def rows(self, case: TrainingContext) -> torch.Tensor: ...

    def drift(self, cases: list[TrainingContext]) -> torch.Tensor: ...

    def teaching(self) -> AbstractContextManager[None]: ...

    def encoder(self) -> GistEncoder:
        """The gists to lay contexts out with, as they are now."""
        ...


class GistTrainee:
    """B1: the net for tokens of an encoder; the net for gists and everything else stay."""

    def __init__(self, encoder: GistEncoder) -> None:
        """Raises CheckpointError for gists that no net makes."""
        if not isinstance(encoder, GistNetEncoder):
            raise CheckpointError(
                f"The {encoder.name} gists have no net to train.", way_out="Train one first: train-gistnet."
            )
        self._upper, self._model = encoder.gist_net, encoder.model
        self.net = copy.deepcopy(encoder.token_net).requires_grad_(True)
        self._begun = copy.deepcopy(encoder.token_net).requires_grad_(False)

    def parameters(self) -> list[nn.Parameter]:
        return list(self.net.parameters())

    def state_dict(self) -> Weights:
        return {name: value.detach().clone() for name, value in self.net.state_dict().items()}

    def load_state_dict(self, state_dict: Mapping[str, torch.Tensor], /) -> None:
        self.net.load_state_dict(state_dict)

    def rows(self, case: TrainingContext) -> torch.Tensor:
        """(W, d) with gists from the net in training."""
        return context_rows(case, self.net)

    def drift(self, cases: list[TrainingContext]) -> torch.Tensor:
        """Mean squared distance of its gists from those of the net it began as."""
        blocks = torch.cat([gist_blocks(case) for case in cases])
        if not len(blocks):
            return torch.zeros(())
        states = states_for(self.net, cases[0].tree.model, blocks)
        blocks = blocks.to(self.net.read.weight)
        with torch.no_grad():
            before = self._begun(blocks, states)
        return nn.functional.mse_loss(self.net(blocks, states), before)

    def teaching(self) -> AbstractContextManager[None]:
        return nullcontext()

    def encoder(self) -> GistEncoder:
        net = copy.deepcopy(self.net).requires_grad_(False)
        return GistNetEncoder(net, self._upper, name="training", version=1, model=self._model)


class LoraTrainee:
    """B3: an adapter on the base; gists come from embeddings, which it leaves alone."""

    def __init__(self, adapter: Adapter, gist: GistEncoder) -> None:
        self.adapter = adapter
        self._gist = gist
        self._begun = [parameter.detach().clone() for parameter in adapter.parameters()]

    def parameters(self) -> list[nn.Parameter]:
        return self.adapter.parameters()

    def state_dict(self) -> Weights:
        return {name: value.clone() for name, value in self.adapter.weights().items()}

    def load_state_dict(self, state_dict: Mapping[str, torch.Tensor], /) -> None:
        self.adapter.load_weights(dict(state_dict))

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
        return self.adapter.disable()

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
    begun = trainee.state_dict()
    objective = _ContextObjective(stage, plan, trainee)
    state = TrainingState(trainee, (optimizer,), {"phase": stage.name, "seed": stage.seed})
    if path.exists():
        state.load(path)
    else:
        state.keep(-objective.examined().loss_at_h)  # what the phase has to beat
    settings = TrainerSettings(
        steps=plan.steps,
        clip=plan.clip,
        validate_every=plan.validate_every,
        save_every=plan.validate_every,
        accumulate=plan.accumulate,
        best_by="-loss_at_h",
        patience=plan.patience,
    )
    if not Trainer(settings, state, objective).run(report, save=lambda now: now.save(path), stopped=stopped):
        return None
    trainee.load_state_dict(begun)
    before = stage.judge.sit(stage.model, trainee.encoder(), stage.scorer)
    state.take_best()
    after = stage.judge.sit(stage.model, trainee.encoder(), stage.scorer)
    found = effect(stage.name, before, after, stage.seed)
    if found.verdict != "better":
        trainee.load_state_dict(begun)
    return found


class _ContextObjective:
    """What the frozen base on the full text knows better than the working context."""

    def __init__(self, stage: ContextPhase, plan: ContextPhaseConfig, trainee: Trainee) -> None:
        self._stage, self._plan, self._trainee = stage, plan, trainee

    def rate(self, step: int) -> float:
        """Linear warm-up, then a cosine down to a tenth."""
        plan = self._plan
        if step < plan.warmup:
            return plan.learning_rate * (step + 1) / plan.warmup
        done = (step - plan.warmup) / max(1, plan.steps - plan.warmup)
        return plan.learning_rate * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * done)))

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """On fresh lifetimes."""
        stage, plan, trainee = self._stage, self._plan, self._trainee
        stream = stage.seed * part.count + part.rank
        generator = torch.Generator().manual_seed(stream * 1_000_003 + step)
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
        return loss, parts

    def validation(self) -> dict[str, float]:
        return dict(self.examined().telemetry)

    def examined(self) -> HeldOutResult:
        """On the windows that say when the phase ends."""
        stage = self._stage
        return stage.stopper.sit(stage.model, self._trainee.encoder(), stage.scorer, plain_too=False)
