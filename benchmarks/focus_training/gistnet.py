"""Trains GistNet: a frozen model that reads gists must predict what follows as if it had read their blocks.

One pass of the teacher over a window serves several students, each reading another prefix of it as gists. Matrices are
trained by Muon, momentum with orthogonal updates, and judged by the gap recovered on the texts kept apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import nn

from amgs_focus.errors import CheckpointError, TextError
from amgs_focus.gist import BLOCK, GistEncoder, GistNet, GistNetEncoder
from amgs_focus.model.base_model import BaseModel
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.data_parallel import SINGLE, DataParallel
from benchmarks.focus_training.gist_objective import Cues, span_gists, step_loss
from benchmarks.focus_training.run_config import GistTraining, learning_rate
from benchmarks.focus_training.trainer import StepReport, Trainer, TrainerSettings, TrainingState

Replacement = Literal["full", "drop", "gist", "shuffled"]
"""What stands for a span: itself, nothing, its gists, or those of another place of the text."""

READ_TOGETHER = 16
"""Windows in one pass of the model."""


class Muon(torch.optim.Optimizer):
    """Momentum with orthogonal matrix updates, scaled to the size of an Adam step (Jordan et al., 2024).

    On one processor a step of the frozen model costs so much more than the orthogonalisation that learning
    more from each step pays.
    """

    COEFFICIENTS = (3.4445, -4.7750, 2.0315)
    ROUNDS = 5

    def __init__(
        self,
        matrices: list[nn.Parameter],
        lr: float,
        weight_decay: float,
        momentum: float = 0.95,
        parallel: DataParallel = SINGLE,
    ) -> None:
        self._parallel = parallel
        self._owners = _owners(matrices, parallel.count)
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of every matrix that has a gradient; parallel workers each compute their own."""
        del closure
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                kept = self.state[matrix]
                if "momentum" not in kept:
                    kept["momentum"] = torch.zeros_like(matrix)
                kept["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
                if self._owners[matrix] != self._parallel.rank:
                    continue
                update = self._orthogonal(matrix.grad.lerp(kept["momentum"], group["momentum"]))
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update, alpha=-group["lr"] * 0.2 * math.sqrt(max(matrix.shape)))
        self._parallel.share(self._owners)

    def _orthogonal(self, matrix: torch.Tensor) -> torch.Tensor:
        """(m, n) -> nearly its polar factor, by a quintic Newton–Schulz iteration."""
        tall = matrix.shape[0] > matrix.shape[1]
        x = matrix.T if tall else matrix
        x = x / (x.norm() + 1e-7)
        first, second, third = self.COEFFICIENTS
        for _ in range(self.ROUNDS):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=second, alpha=third), x, beta=first)
        return x.T if tall else x


def _owners(matrices: list[nn.Parameter], count: int) -> dict[torch.Tensor, int]:
    """Which worker orthogonalises which matrix, so that each has about the same work."""
    load = [0] * count
    owners: dict[torch.Tensor, int] = {}
    for matrix in matrices:
        short, long = sorted(matrix.shape)
        owner = min(range(count), key=load.__getitem__)
        load[owner] += 2 * short * short * long + short**3
        owners[matrix] = owner
    return owners


class GistEvaluator:
    """Measures the gap recovered on what was kept apart; full and drop are measured once.

    Parallel workers share the texts among themselves.
    """

    CONDITIONS: Sequence[tuple[int, int, int]] = ((2, 0, 32), (4, 1, 64))

    def __init__(
        self,
        settings: GistTraining,
        corpus: TrainingCorpus,
        model: BaseModel,
        lower: GistEncoder | None,
        parallel: DataParallel = SINGLE,
    ) -> None:
        self._settings = settings
        self._parallel = parallel
        kept = [part for part in corpus.parts if len(part.validation)]
        self._parts = kept[parallel.rank :: parallel.count]
        self._model = model
        self._lower = lower
        self._known: dict[tuple[str, int], dict[Replacement, float]] = {}

    def evaluate(self, net: GistNet) -> dict[str, float]:
        """Metric name -> share of the gap, content share (level 1), or nats of harm (level 2)."""
        net.eval()
        settings = self._settings
        lower = self._lower or GistNetEncoder(net, net, name="training", version=1, model=self._model)
        encoder = _Stacked(lower, net) if settings.level > 1 else lower
        conditions = self.CONDITIONS if settings.level == 1 else ((1, 0, 32), (1, 1, 64))
        read: tuple[Replacement, ...] = ("gist", "shuffled") if settings.level == 1 else ("gist",)
        found: dict[str, float] = {}
        for part in self._parts:
            for blocks, tail, horizon in conditions:
                need = blocks * BLOCK**settings.level + tail * BLOCK + horizon
                if len(part.validation) < 2 * need:
                    continue
                key = (part.name, tail)
                fresh = key not in self._known
                means = replaced_nll(
                    self._model,
                    encoder,
                    part.validation.tolist(),
                    blocks=blocks,
                    tail=tail,
                    horizon=horizon,
                    windows=max(4, settings.validation_windows // (1 + tail)),
                    seed=settings.seed,
                    level=settings.level,
                    replacements=("full", "drop", *read) if fresh else read,
                )
                if fresh:
                    self._known[key] = means
                base = self._known[key]
                gap = base["drop"] - base["full"]
                label = f"{part.name}_{blocks}_{tail}_{horizon}"
                if "shuffled" in means and means["shuffled"] > base["full"]:
                    content = means["shuffled"] - means["gist"]
                    found[f"content_{label}"] = content / (means["shuffled"] - base["full"])
                found[f"harm_{label}"] = means["gist"] - base["drop"]
                if gap > 0:
                    found[f"recovered_{label}"] = (base["drop"] - means["gist"]) / gap
        return self._parallel.gather(found)


def replaced_nll(
    model: BaseModel,
    encoder: GistEncoder,
    tokens: Sequence[int],
    *,
    blocks: int,
    tail: int,
    horizon: int,
    windows: int,
    seed: int,
    level: int,
    replacements: Sequence[Replacement],
) -> dict[Replacement, float]:
    """By what stands for `blocks` spans of 32**level tokens, the NLL of what follows, in nats a token.

    The mean over `windows` places of a text drawn with `seed`. After the replacement come `tail` raw blocks of 32, then
    the horizon is read with teacher forcing. Raises TextError when the text cannot hold one window, or not a shuffled
    span beside it.
    """
    span = blocks * BLOCK**level
    need = span + tail * BLOCK + horizon
    offsets = draw_offsets(len(tokens), need, windows, seed)
    text = torch.tensor(tokens, dtype=torch.int64)
    found: dict[Replacement, list[float]] = {name: [] for name in replacements}
    with torch.no_grad():
        for start in range(0, len(offsets), READ_TOGETHER):
            places = offsets[start : start + READ_TOGETHER]
            taken = torch.stack([text[at : at + need] for at in places])
            rows = model.embed(taken[:, :-horizon])
            sinks = model.embed(torch.tensor([model.sinks()], device=rows.device)).expand(len(places), -1, -1)
            for name, nll in found.items():
                if name in ("full", "drop"):
                    middle = rows[:, : span if name == "full" else 0]
                else:
                    ids = taken[:, :span]
                    if name == "shuffled":
                        ids = torch.stack([elsewhere(tokens, at, need, span, seed) for at in places])
                    middle = span_gists(encoder, model.embed(ids), ids, level)
                prefix = torch.cat([sinks, middle, rows[:, span:]], dim=1)
                nll += horizon_nll(model, prefix, taken[:, -horizon:]).mean(dim=1).tolist()
    return {name: sum(nll) / len(nll) for name, nll in found.items()}


def draw_offsets(length: int, need: int, windows: int, seed: int) -> list[int]:
    """Sorted window starts, one in each of `windows` equal parts of the text, drawn with `seed`."""
    room = length - need
    if room < 0:
        raise TextError(f"The text has {length} tokens and one window needs {need}.", way_out="Give a longer text.")
    generator = torch.Generator().manual_seed(seed)
    places = (torch.arange(windows) + torch.rand(windows, generator=generator)) / windows
    return sorted({min(room, math.floor(float(place) * (room + 1))) for place in places})


def elsewhere(tokens: Sequence[int], at: int, need: int, span: int, seed: int) -> torch.Tensor:
    """(span,) ids of a text outside of its window of `need` tokens at `at`, from a place drawn with `seed` and `at`.

    The text is read as a ring. need: 0 for any place of the text. Raises TextError when it has no room for both.
    """
    room = len(tokens) - need - span
    if room < 0:
        raise TextError(
            f"The text has {len(tokens)} tokens; a window and a shuffled span beside it need {need + span}.",
            way_out="Give a longer text.",
        )
    start = at + need + int(np.random.default_rng((seed, at)).integers(room + 1))
    return torch.tensor([tokens[(start + place) % len(tokens)] for place in range(span)], dtype=torch.int64)


def horizon_nll(model: BaseModel, prefix: torch.Tensor, horizon: torch.Tensor) -> torch.Tensor:
    """(B, P, d) entries, (B, H) ids that follow -> (B, H) NLL in nats."""
    batch, length = horizon.shape
    hidden = model.forward(torch.cat([prefix, model.embed(horizon[:, :-1])], dim=1))
    logits = model.logits(hidden[:, -length:].reshape(batch * length, -1))
    chosen = logits.gather(1, horizon.reshape(-1, 1).to(logits.device))[:, 0]
    return (logits.logsumexp(dim=-1) - chosen).view(batch, length)


class _Stacked:
    """A trained lower encoder with the net in training above it."""

    def __init__(self, lower: GistEncoder, net: GistNet) -> None:
        self._lower = lower
        self._upper = GistNetEncoder(net, net, name="training", version=1)
        self.name, self.version = "training", 1

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """(B, 32, d), (B, 32) -> (B, d)."""
        return self._lower.encode_tokens(embeddings, tokens)

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """(B, n, d) -> (B, d)."""
        return self._upper.encode_gists(gists)


CUES = "cues"  # entries that only students read
BEST_BY = {1: "content_", 2: "-harm_"}  # what judges the net of a level

GistState = TrainingState[GistNet]


def start(settings: GistTraining, trained: GistNet | None = None, parallel: DataParallel = SINGLE) -> GistState:
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
        [*others, *cues.parameters()], lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True
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
        return step_loss(self._settings, self._corpus, self._model, self._net, self._cues, step, self._lower, part)

    def validation(self) -> dict[str, float]:
        return self._evaluator.evaluate(self._net)
