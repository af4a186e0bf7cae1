"""Trains LensNet: to say what detail is worth, to put entries in order, and to ask for no more than it gives.

MegaContext, "Training objectives". A warm start on guesses read off the text, then measured labels. Every step draws
its examples from (seed, step) alone, so a run can be stopped anywhere and resumed exactly.
"""

from __future__ import annotations

import math
import pickle
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch.nn import functional

from amgs_focus.errors import CheckpointError, TextError
from amgs_focus.evaluation.statistics import spearman
from amgs_focus.lens.lensnet import LensNet, LensShape
from amgs_focus.training.lens_examples import LensExample
from amgs_focus.training.lens_linear import solved

SLACK = 0.1  # of all positions that could be asked for or given back
STATE_FORMAT = "amgs-lensnet-training-2"


@dataclass(frozen=True, slots=True)
class LensTraining:
    """Settings of one run. The weights of the losses are the specification's but for `legality`.

    steps: the first `warm_steps` of them read guessed examples, the rest measured ones and, for a share of
    `rehearsal`, guessed ones. margin: worths that
    differ by less are no pair to rank. noise: standard deviation of what is added to embeddings, of theirs.
    """

    shape: LensShape
    warm_steps: int = 400
    steps: int = 500
    rehearsal: float = 0.5
    batch: int = 8
    seed: int = 0
    learning_rate: float = 3e-4
    weight_decay: float = 0.02
    clip: float = 1.0
    ranking: float = 0.5
    budget: float = 0.1
    legality: float = 0.03
    margin: float = 0.2
    noise: float = 0.3
    validate_every: int = 50
    save_every: int = 100


@dataclass(frozen=True, slots=True)
class LensReport:
    """What one step did; `validation` is empty on most steps."""

    step: int
    steps: int
    losses: dict[str, float]
    validation: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class LensTrainingState:
    """Everything that a run needs to go on. best: the step whose weights examined best, those weights, and their
    figure; until an examination the latest.
    """

    step: int
    net: LensNet
    optimizer: torch.optim.Optimizer
    best_step: int = 0
    best: dict[str, torch.Tensor] = field(default_factory=dict)
    best_figure: float = -math.inf

    def save(self, path: Path, settings: LensTraining) -> None:
        """Writes the state beside `path` and renames it into place."""
        partial = path.with_suffix(".partial")
        told = {"format": STATE_FORMAT, "step": self.step, "settings": _told(settings)}
        weights = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}
        best = {"best_step": self.best_step, "best": self.best, "best_figure": self.best_figure}
        torch.save({**told, **weights, **best}, partial)
        partial.replace(path)

    @classmethod
    def load(cls, path: Path, settings: LensTraining) -> LensTrainingState:
        """Reads what `save` wrote; raises CheckpointError when it was made with other settings."""
        try:
            stored = torch.load(path, weights_only=True)
        except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise CheckpointError(
                f"The training state {path.name} cannot be read.", way_out="Start the run again."
            ) from error
        if stored.get("format") != STATE_FORMAT or stored["settings"] != _told(settings):
            raise CheckpointError(
                f"The training state {path.name} belongs to a run with other settings.",
                way_out="Resume with the settings it was made with, or start a new run.",
            )
        state = start(settings)
        state.step = int(stored["step"])
        state.net.load_state_dict(stored["net"])
        state.optimizer.load_state_dict(stored["optimizer"])
        state.best_step, state.best = int(stored["best_step"]), stored["best"]
        state.best_figure = float(stored["best_figure"])
        return state

    def keep(self, figure: float) -> None:
        """Remember the weights as they are, if none examined better."""
        if figure > self.best_figure:
            self.best_step, self.best_figure = self.step, figure
            self.best = {name: value.detach().clone() for name, value in self.net.state_dict().items()}


def start(settings: LensTraining) -> LensTrainingState:
    """A fresh net that finds nothing worth anything, seeded."""
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        net = LensNet(settings.shape)
    matrices = [weight for weight in net.parameters() if weight.dim() > 1]
    net.weights.requires_grad_(False)  # solved, not learnt
    others = [weight for weight in net.parameters() if weight.dim() <= 1 and weight is not net.weights]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
    return LensTrainingState(0, net, optimizer)


def train(
    settings: LensTraining,
    warm: Sequence[LensExample],
    measured: Sequence[LensExample],
    held_out: Sequence[LensExample],
    progress: Callable[[LensReport], None],
    *,
    state: LensTrainingState | None = None,
    save: Callable[[LensTrainingState], None] | None = None,
) -> LensTrainingState:
    """Solves the features' weights, then runs the steps that are left: attention learns what they leave.

    The net ends with the weights that ranked the held-out snapshots best. Attention has to beat the solved features
    alone by the standard error of theirs, or they are kept without it. What `progress` raises stops the run between
    two steps. Raises TextError when there is nothing to train on.
    """
    if not measured or (settings.warm_steps and not warm):
        raise TextError("There are no labels to train on.", way_out="Measure labels first.", about="labels")
    if state is None:
        state = start(settings)
        with torch.no_grad():
            state.net.weights.copy_(solved(warm, measured))
        if held_out:
            solved_alone = evaluate(state.net, held_out)
            state.keep(solved_alone["spearman_within"])
            state.best_figure += solved_alone["error_within"]
    while state.step < settings.steps:
        for group in state.optimizer.param_groups:
            group["lr"] = _rate(settings, state.step)
        losses = _step(settings, warm, measured, state)
        state.step += 1
        due = state.step % settings.validate_every == 0 or state.step == settings.steps
        validation = evaluate(state.net, held_out) if due and held_out else {}
        if validation:
            state.keep(validation["spearman_within"])
        if save is not None and (state.step % settings.save_every == 0 or state.step == settings.steps):
            save(state)
        progress(LensReport(state.step, settings.steps, losses, validation))
    if state.best:
        state.net.load_state_dict(state.best)
    state.net.eval()
    return state


def evaluate(net: LensNet, examples: Sequence[LensExample]) -> dict[str, float]:
    """Spearman of predicted and measured worth: of all labels together, and as the mean over snapshots with its
    standard error, and so of sets of blocks; and the share of the measured worth that the best third by prediction
    holds, of what the best third holds.
    """
    net.eval()
    predicted, found, within, caught, joint = [], [], [], [], []
    with torch.no_grad():
        for example in examples:
            both = example.members @ net(example.given).sum(dim=1)
            said, worth = both[example.alone], example.target[example.alone]
            predicted.append(said)
            found.append(worth)
            if len(said) > 3:
                within.append(spearman(said.tolist(), worth.tolist()))
                third = max(1, len(said) // 3)
                mean = float(worth.mean())
                best = float(worth.topk(third).values.mean()) - mean
                taken = float(worth[said.topk(third).indices].mean()) - mean
                caught.append((taken, best))
            if len(both) - len(said) > 3:
                joint.append(spearman(both[~example.alone].tolist(), example.target[~example.alone].tolist()))
    share = sum(taken for taken, _ in caught) / max(1e-9, sum(best for _, best in caught))
    return {
        "spearman": spearman(torch.cat(predicted).tolist(), torch.cat(found).tolist()),
        "spearman_within": sum(within) / max(1, len(within)),
        "error_within": statistics.stdev(within) / len(within) ** 0.5 if len(within) > 1 else 0.0,
        "caught": share,
        "spearman_joint": sum(joint) / max(1, len(joint)),
    }


def lens_losses(
    settings: LensTraining, net: LensNet, example: LensExample, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """The specification's four losses of one example.

    The regression is on worths, Huber's, weighted by how sure a label is. Budget and legality are on the signed
    scores, worths less the settled entries' median, squashed.
    """
    given = example.given
    if settings.noise:
        shaken = torch.randn(given.rows.shape, generator=generator) * given.rows.std() * settings.noise
        given = type(given)(given.rows + shaken, given.features, given.end, given.kinds)
    worth = net(given).sum(dim=1)  # (N,)
    said = example.members @ worth  # (L,)
    errors = functional.huber_loss(said, example.target, reduction="none", delta=1.0)
    losses = {"regression": (errors * example.weight).sum() / example.weight.sum()}
    apart = example.target[:, None] - example.target[None, :]
    pairs = (apart > settings.margin) * apart.clamp(max=2.0)
    pairs = pairs * (example.weight[:, None] * example.weight[None, :]).sqrt()
    ranked = functional.softplus(-(said[:, None] - said[None, :])) * pairs
    losses["ranking"] = ranked.sum() / pairs.sum().clamp(min=1.0)
    middle = worth[example.settled].median() if bool(example.settled.any()) else worth.mean()
    score = torch.tanh(worth - middle) * example.settled
    asked = (example.gain * functional.relu(score)).sum()
    given_back = (example.refund * functional.relu(-score)).sum()
    # near no scores at all their balance is no matter, or its slope there would drown all other losses
    least = SLACK * (example.gain + example.refund).sum().clamp(min=1.0)
    losses["budget"] = ((asked - given_back) / (least + asked + given_back)) ** 2
    wrong = functional.relu(score) * (example.gain == 0) + functional.relu(-score) * (example.refund == 0)
    losses["legality"] = (wrong * example.settled).sum() / example.settled.sum().clamp(min=1)
    return losses


def _step(
    settings: LensTraining,
    warm: Sequence[LensExample],
    measured: Sequence[LensExample],
    state: LensTrainingState,
) -> dict[str, float]:
    """One optimizer step on a batch; the losses by name."""
    generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + state.step)
    chances = torch.rand(settings.batch, 2, generator=generator).tolist()
    drawn = []
    for guess, place in chances:
        guessed = warm and (state.step < settings.warm_steps or guess < settings.rehearsal)
        examples = warm if guessed else measured
        drawn.append(examples[int(place * len(examples))])
    state.net.train()
    state.optimizer.zero_grad()
    weights = {
        "regression": 1.0,
        "ranking": settings.ranking,
        "budget": settings.budget,
        "legality": settings.legality,
    }
    found = dict.fromkeys(weights, 0.0)
    for example in drawn:
        losses = lens_losses(settings, state.net, example, generator)
        total = sum((weights[name] * loss for name, loss in losses.items()), torch.zeros(()))
        (total / settings.batch).backward()  # type: ignore[no-untyped-call]
        for name, loss in losses.items():
            found[name] += float(loss.detach()) / settings.batch
    torch.nn.utils.clip_grad_norm_(state.net.parameters(), settings.clip)
    state.optimizer.step()
    return found


def _rate(settings: LensTraining, step: int) -> float:
    """A short warm-up and a cosine to nothing, once for the warm start and once, at half the rate, after it."""
    if step < settings.warm_steps:
        begin, length, rate = 0, settings.warm_steps, settings.learning_rate
    else:
        begin, length = settings.warm_steps, settings.steps - settings.warm_steps
        rate = settings.learning_rate * (0.5 if settings.warm_steps else 1.0)
    done = (step - begin) / max(1, length)
    return rate * min(1.0, (step - begin + 1) / 20) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))


def _told(settings: LensTraining) -> dict[str, object]:
    """The settings as plain values: what a state must agree with."""
    told = asdict(settings)
    told["shape"]["features"] = list(told["shape"]["features"])
    return told
