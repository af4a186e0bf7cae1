"""Trains GistNet: a frozen model that reads gists must predict what follows as if it had read their blocks.

One pass of the teacher over a window serves several students, each reading another prefix of it as gists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.gist.gistnet import GistEncoder, GistNet
from amgs_focus.model.base_model import BaseModel
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.data_parallel import SINGLE, DataParallel
from amgs_focus.training.gist_evaluator import GistEvaluator
from amgs_focus.training.gist_objective import Cues, step_loss
from amgs_focus.training.gist_plan import GistTraining, learning_rate
from amgs_focus.training.muon import Muon
from amgs_focus.training.trainer import StepReport, Trainer, TrainerSettings
from amgs_focus.training.training_state import TrainingState

CUES = "cues"  # entries that only students read
BEST_BY = {1: "content_", 2: "-harm_"}  # what judges the net of a level

GistState = TrainingState[GistNet]


def start(
    settings: GistTraining, trained: GistNet | None = None, parallel: DataParallel = SINGLE
) -> GistState:
    """A fresh net that equals its pointer, seeded; or a copy of a `trained` one, to go on from a checkpoint.

    Raises CheckpointError when the trained net has another shape.
    """
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        net = GistNet(settings.shape)
        cues = Cues(settings.shape.width)
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
        [*others, *cues.parameters()],
        lr=settings.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=0.0,
        fused=True,
    )
    muon = Muon(matrices, settings.learning_rate, settings.weight_decay, parallel=parallel)
    told = {"level": settings.level, "seed": settings.seed, "shape": asdict(settings.shape)}
    return TrainingState(net, (muon, adam), told, beside={CUES: cues})


def cues_of(state: GistState) -> Cues:
    """What its students read besides gists."""
    cues = state.beside[CUES]
    assert isinstance(cues, Cues)
    return cues


def resumed(path: Path, settings: GistTraining, parallel: DataParallel = SINGLE) -> GistState:
    """The state in a file. Raises CheckpointError when it is damaged or of another shape or seed."""
    state = start(settings, parallel=parallel)
    state.load(path)
    return state


def train(
    settings: GistTraining,
    corpus: TrainingCorpus,
    model: BaseModel,
    progress: Callable[[StepReport], None],
    *,
    state: GistState | None = None,
    lower: GistEncoder | None = None,
    save: Callable[[GistState], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
    parallel: DataParallel = SINGLE,
) -> GistState:
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
    plan = TrainerSettings(
        steps=settings.steps,
        clip=settings.clip,
        validate_every=settings.validate_every,
        save_every=settings.save_every,
        accumulate=settings.accumulate,
        best_by=BEST_BY[settings.level],
    )
    objective = _GistObjective(settings, corpus, model, state, lower, parallel)
    Trainer(plan, state, objective, parallel).run(progress, save=save, stopped=stopped)
    state.net.eval()
    return state


class _GistObjective:
    """What the frozen model loses by reading gists."""

    def __init__(
        self,
        settings: GistTraining,
        corpus: TrainingCorpus,
        model: BaseModel,
        state: GistState,
        lower: GistEncoder | None,
        parallel: DataParallel,
    ) -> None:
        self._settings, self._corpus, self._model, self._lower = settings, corpus, model, lower
        self._net, self._cues = state.net, cues_of(state)
        self._evaluator = GistEvaluator(settings, corpus, model, lower, parallel)

    def rate(self, step: int) -> float:
        return learning_rate(self._settings, step)

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        self._net.train()
        return step_loss(
            self._settings, self._corpus, self._model, self._net, self._cues, step, self._lower, part
        )

    def validation(self) -> dict[str, float]:
        return self._evaluator.evaluate(self._net)
