"""Trains LensNet: to say what detail is worth, to put entries in order, and to ask for no more than it gives.

MegaContext, "Training objectives". A warm start on guesses read off the text, then measured labels.

The features' own weights of a lens, solved at once: ridge regression of worths within each snapshot.

What is common to a snapshot is taken out, since only differences move detail; snapshots count by how alike their
worths are, so that a few with large effects do not decide alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.nn import functional

from amgs_focus.errors import TextError
from amgs_focus.lens.lensnet import LensNet, LensShape
from benchmarks.focus_evaluation.statistics import spearman
from benchmarks.focus_training.data_parallel import DataParallel
from benchmarks.focus_training.lens_examples import LensExample
from benchmarks.focus_training.trainer import StepReport, Trainer, TrainerSettings, TrainingState

RIDGE = 0.03  # of each feature's own scatter
LEAST = 0.02  # of the mean feature's scatter: what never varies gets no weight
SPREAD = 0.05  # variance of worths under which a snapshot counts no more
GUESSED = 0.1  # what a guessed example counts


def solved(warm: Sequence[LensExample], measured: Sequence[LensExample], ridge: float = RIDGE) -> torch.Tensor:
    """(F,) weights of the features in float32; 0 for all where there is nothing that varies."""
    count = measured[0].given.features.shape[1]
    scatter = torch.zeros(count, count, dtype=torch.float64)
    slope = torch.zeros(count, dtype=torch.float64)
    for share, examples in ((GUESSED, warm), (1.0, measured)):
        for example in examples:
            rows = (example.members @ example.given.features).double()  # (L, F)
            rows = rows - rows.mean(dim=0)
            target = (example.target - example.target.mean()).double()
            weight = share / (float((target**2).mean()) + SPREAD)
            scatter += weight * rows.T @ rows
            slope += weight * rows.T @ target
    own = scatter.diagonal()
    penalty = ridge * (own + LEAST * own.mean()) + 1e-9
    found: torch.Tensor = torch.linalg.solve(scatter + penalty.diag(), slope)
    return found.float()


SLACK = 0.1  # of all positions that could be asked for or given back

LensState = TrainingState[LensNet]


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


def start(settings: LensTraining) -> LensState:
    """A fresh net that finds nothing worth anything, seeded."""
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        net = LensNet(settings.shape)
    matrices = [weight for weight in net.parameters() if weight.dim() > 1]
    net.weights.requires_grad_(False)  # solved, not learnt
    others = [weight for weight in net.parameters() if weight.dim() <= 1 and weight is not net.weights]
    groups = [{"params": matrices, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
    return TrainingState(net, (optimizer,), asdict(settings))


def resumed(path: Path, settings: LensTraining) -> LensState:
    """The state in a file. Raises CheckpointError when it is damaged or was made with other settings."""
    state = start(settings)
    state.load(path)
    return state


def train(
    settings: LensTraining,
    warm: Sequence[LensExample],
    measured: Sequence[LensExample],
    held_out: Sequence[LensExample],
    progress: Callable[[StepReport], None],
    *,
    state: LensState | None = None,
    save: Callable[[LensState], None] | None = None,
) -> LensState:
    """Solves the features' weights, then runs the steps that are left: attention learns what they leave.

    The net ends with the weights that ranked the held-out snapshots best. Attention has to beat the solved features
    alone by the standard error of theirs, or they are kept without it. What `progress` raises stops the run between
    two steps. Raises TextError when there is nothing to train on.
    """
    if not measured or (settings.warm_steps and not warm):
        raise TextError(
            "There are no labels to train on.", way_out="Measure labels first: `python -m benchmarks label`."
        )
    if state is None:
        state = start(settings)
        with torch.no_grad():
            state.net.weights.copy_(solved(warm, measured))
        if held_out:
            solved_alone = evaluate(state.net, held_out)
            state.keep(solved_alone["spearman_within"] + solved_alone["error_within"])
    plan = TrainerSettings(
        steps=settings.steps,
        clip=settings.clip,
        validate_every=settings.validate_every,
        save_every=settings.save_every,
        accumulate=settings.batch,
        best_by="spearman_within",
    )
    objective = _LensObjective(settings, warm, measured, held_out, state.net)
    Trainer(plan, state, objective).run(progress, save=save)
    state.take_best()
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


class _LensObjective:
    """What a net says wrongly of examples."""

    def __init__(
        self,
        settings: LensTraining,
        warm: Sequence[LensExample],
        measured: Sequence[LensExample],
        held_out: Sequence[LensExample],
        net: LensNet,
    ) -> None:
        self._settings, self._net = settings, net
        self._warm, self._measured, self._held_out = warm, measured, held_out

    def rate(self, step: int) -> float:
        """A short warm-up and a cosine to nothing, once for the warm start and once, at half the rate, after it."""
        settings = self._settings
        if step < settings.warm_steps:
            begin, length, rate = 0, settings.warm_steps, settings.learning_rate
        else:
            begin, length = settings.warm_steps, settings.steps - settings.warm_steps
            rate = settings.learning_rate * (0.5 if settings.warm_steps else 1.0)
        done = (step - begin) / max(1, length)
        return rate * min(1.0, (step - begin + 1) / 20) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Of one example of the batch."""
        settings = self._settings
        stream = settings.seed * part.count + part.rank
        generator = torch.Generator().manual_seed(stream * 1_000_003 + step)
        guess, place = torch.rand(2, generator=generator).tolist()
        guessed = self._warm and (step < settings.warm_steps or guess < settings.rehearsal)
        examples = self._warm if guessed else self._measured
        self._net.train()
        parts = lens_losses(settings, self._net, examples[int(place * len(examples))], generator)
        weights = {
            "regression": 1.0,
            "ranking": settings.ranking,
            "budget": settings.budget,
            "legality": settings.legality,
        }
        return sum((weights[name] * loss for name, loss in parts.items()), torch.zeros(())), parts

    def validation(self) -> dict[str, float]:
        return evaluate(self._net, self._held_out) if self._held_out else {}
