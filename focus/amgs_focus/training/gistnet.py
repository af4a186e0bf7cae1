"""Trains GistNet: a frozen model that reads gists must predict what follows as if it had read their blocks.

One pass of the teacher over a window serves several students, each reading another prefix of it as gists.
Every step draws its windows from (seed, step) alone, so a run can be stopped anywhere and resumed exactly.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from amgs_focus.base_model import BaseModel
from amgs_focus.errors import CheckpointError, TextError
from amgs_focus.evaluation.gist import gap_recovered, span_gists
from amgs_focus.gistnet import BLOCK, GistEncoder, GistNet, GistNetEncoder, GistShape

STATE_FORMAT = "amgs-gistnet-training-1"


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch of the curriculum, up to and without step `until`.

    Each of `sequences` windows has `blocks` blocks of its level. Its students read `least` to `blocks`
    of them as gists: `short` students continue for `short_horizon` tokens, `long` ones for `long_horizon`, so
    that the first part of a long continuation is the raw tail of the second. With probability `open_share` a
    student reads one of its blocks raw.
    """

    until: int
    sequences: int
    blocks: int
    short: int
    long: int
    least: int = 1
    short_horizon: int = BLOCK
    long_horizon: int = 3 * BLOCK
    open_share: float = 0.0


@dataclass(frozen=True, slots=True)
class GistTraining:
    """Settings of one run. Losses are in nats a token; `gap` weighs KL(teacher ‖ student)."""

    shape: GistShape
    phases: tuple[Phase, ...]
    level: Literal[1, 2] = 1
    steps: int = 2000
    seed: int = 0
    learning_rate: float = 6e-4
    warmup: int = 100
    decay: float = 0.35
    weight_decay: float = 0.01
    clip: float = 1.0
    gap: float = 1.0
    truth: float = 0.5
    hinge: float = 0.5
    hinge_every: int = 8
    reconstruction: float = 0.02
    separation: float = 0.05
    separation_margin: float = 0.5
    validate_every: int = 200
    validation_windows: int = 48
    save_every: int = 100


@dataclass(frozen=True, slots=True)
class Part:
    """One text of the corpus: how often windows come from it, what is trained on and what is kept apart."""

    name: str
    weight: float
    train: torch.Tensor
    validation: torch.Tensor


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts of a run, as token ids."""

    parts: tuple[Part, ...]

    def window(self, length: int, generator: torch.Generator) -> torch.Tensor:
        """(length,) ids from a random place of a text drawn by weight."""
        weights = torch.tensor([part.weight for part in self.parts])
        part = self.parts[int(torch.multinomial(weights, 1, generator=generator))]
        room = len(part.train) - length
        if room < 0:
            raise TextError(
                f"{part.name} has {len(part.train)} tokens and a window needs {length}.",
                way_out="Leave it out, or give a longer text.",
            )
        start = int(torch.randint(room + 1, (1,), generator=generator))
        return part.train[start : start + length]


def corpus_part(model: BaseModel, name: str, weight: float, text: str, held_out: float = 0.03) -> Part:
    """Encodes a text and keeps its last `held_out` share apart for validation."""
    tokens = torch.tensor(model.encode(text), dtype=torch.int32)
    cut = len(tokens) - int(len(tokens) * held_out)
    return Part(name, weight, tokens[:cut], tokens[cut:])


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
    def load(cls, path: Path, settings: GistTraining) -> TrainingState:
        """Reads what `save` wrote; raises CheckpointError when it belongs to another shape or seed."""
        try:
            stored = torch.load(path, weights_only=True)
        except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise CheckpointError(
                f"The training state {path.name} cannot be read.", way_out="Start the run anew."
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
        state = start(settings)
        state.step = int(stored["step"])
        state.net.load_state_dict(stored["net"])
        state.head.load_state_dict(stored["head"])
        for optimizer, kept in zip(state.optimizers, stored["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
        return state


def start(settings: GistTraining, trained: GistNet | None = None) -> TrainingState:
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
                way_out="Use the checkpoint's own shape, or start anew.",
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
    muon = Muon(matrices, settings.learning_rate, settings.weight_decay)
    return TrainingState(0, net, head, (muon, adam))


class Muon(torch.optim.Optimizer):
    """Momentum with orthogonal matrix updates, scaled to the size of an Adam step (Jordan et al., 2024).

    On one processor a step of the frozen model costs so much more than the orthogonalisation that learning
    more from each step pays.
    """

    COEFFICIENTS = (3.4445, -4.7750, 2.0315)
    ROUNDS = 5

    def __init__(
        self, matrices: list[nn.Parameter], lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of every matrix that has a gradient."""
        del closure
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                kept = self.state[matrix]
                if "momentum" not in kept:
                    kept["momentum"] = torch.zeros_like(matrix)
                kept["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
                update = self._orthogonal(matrix.grad.lerp(kept["momentum"], group["momentum"]))
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update, alpha=-group["lr"] * 0.2 * math.sqrt(max(matrix.shape)))

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


def learning_rate(settings: GistTraining, step: int) -> float:
    """Linear warm-up, a plateau, and a cosine down to a twentieth over the last `decay` of the steps."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    begin = settings.steps * (1 - settings.decay)
    if step < begin:
        return settings.learning_rate
    done = min(1.0, (step - begin) / max(1.0, settings.steps - begin))
    return settings.learning_rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))


def train(
    settings: GistTraining,
    corpus: Corpus,
    model: BaseModel,
    progress: Callable[[StepReport], None],
    *,
    state: TrainingState | None = None,
    lower: GistEncoder | None = None,
    save: Callable[[TrainingState], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> TrainingState:
    """Runs the steps that are left and returns the state, with the net ready to be exported.

    Level 2 trains the net for gists on the frozen `lower` encoder. `progress` is called after every step,
    `save` every `save_every` steps and at the end; `stopped` is asked between steps.
    """
    if settings.level > 1 and lower is None:
        raise CheckpointError(
            "The net for gists needs a trained net for tokens below it.", way_out="Train level 1 first."
        )
    state = state or start(settings)
    examiner = _Examiner(settings, corpus, model, lower)
    unsaved = False
    while state.step < settings.steps and not stopped():
        rate = learning_rate(settings, state.step)
        for optimizer in state.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
        state.net.train()
        losses = _step(settings, corpus, model, state, lower)
        state.step += 1
        last = state.step == settings.steps
        unsaved = True
        due = state.step % settings.validate_every == 0 or last
        validation = examiner.examine(state.net) if due else {}
        progress(StepReport(state.step, settings.steps, rate, losses, validation))
        if save is not None and state.step % settings.save_every == 0:
            save(state)
            unsaved = False
    if save is not None and unsaved:
        save(state)
    state.net.eval()
    return state


@dataclass(frozen=True, slots=True)
class _Student:
    """One reader of a window: `blocks` blocks as gists, `opened` of them raw, then `horizon` tokens."""

    sequence: int
    blocks: int
    horizon: int
    opened: int | None = None


def _phase(settings: GistTraining, step: int) -> Phase:
    for phase in settings.phases:
        if step < phase.until:
            return phase
    return settings.phases[-1]


def _draw(
    settings: GistTraining, corpus: Corpus, step: int
) -> tuple[torch.Tensor, list[list[_Student]], Phase]:
    """(S, blocks * span + horizon) ids, the students in groups of one horizon, and the phase."""
    phase = _phase(settings, step)
    generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
    horizon = phase.long_horizon if phase.long else phase.short_horizon
    span = BLOCK**settings.level
    windows = torch.stack(
        [corpus.window(phase.blocks * span + horizon, generator) for _ in range(phase.sequences)]
    )
    choices = phase.blocks - phase.least + 1
    groups: list[list[_Student]] = []
    for count, length in ((phase.short, phase.short_horizon), (phase.long, phase.long_horizon)):
        group: list[_Student] = []
        for sequence in range(phase.sequences):
            order = torch.randperm(choices, generator=generator).tolist()
            for place in range(count):
                blocks = phase.least + order[place % choices]
                chance = float(torch.rand(1, generator=generator))
                opened = int(torch.randint(blocks, (1,), generator=generator))
                group.append(
                    _Student(sequence, blocks, length, opened if chance < phase.open_share else None)
                )
        if group:
            groups.append(group)
    return windows.long(), groups, phase


def _step(
    settings: GistTraining,
    corpus: Corpus,
    model: BaseModel,
    state: TrainingState,
    lower: GistEncoder | None,
) -> dict[str, float]:
    """One optimizer step; the losses by name."""
    step = state.step
    windows, groups, phase = _draw(settings, corpus, step)
    with torch.no_grad():
        rows = model.embed(windows)
        sinks = model.embed(torch.tensor(model.sinks()))
        full = rows
        if lower is not None and settings.level > 1:
            cut = phase.blocks * BLOCK**settings.level
            below = span_gists(lower, rows[:, :cut], windows[:, :cut])
            full = torch.cat([below, rows[:, cut:]], dim=1)
        opening = sinks.expand(len(windows), -1, -1)
        taught = model.forward(torch.cat([opening, full[:, :-1]], dim=1))
    entries = BLOCK * (settings.shape.slots if settings.level > 1 else 1)
    blocks = full[:, : phase.blocks * entries].reshape(-1, entries, full.shape[-1])
    gists = state.net(blocks.float()).view(phase.sequences, phase.blocks, settings.shape.slots, -1)
    parts: dict[str, torch.Tensor] = {"kl": torch.zeros(()), "nll": torch.zeros(())}
    positions = sum(len(group) * group[0].horizon for group in groups)
    worse: list[torch.Tensor] = []
    hinged = settings.hinge > 0 and step % settings.hinge_every == 0
    for group in groups:
        kl, nll = _read_group(model, sinks, full, windows, gists.to(full.dtype), taught, group, entries)
        parts["kl"] = parts["kl"] + kl.sum() / positions
        parts["nll"] = parts["nll"] + nll.sum() / positions
        if hinged:
            dropped = _dropped_nll(model, sinks, windows, group, settings.level)
            worse.append(torch.relu(nll.mean(dim=1) - dropped.mean(dim=1)))
    loss = settings.gap * parts["kl"] + settings.truth * parts["nll"]
    if hinged:
        parts["hinge"] = torch.cat(worse).mean()
        loss = loss + settings.hinge * parts["hinge"]
    if settings.reconstruction > 0 and settings.level == 1:
        cut = phase.blocks * BLOCK
        parts["reconstruction"] = _reconstruction(model, state.head, gists, windows[:, :cut])
        loss = loss + settings.reconstruction * parts["reconstruction"]
    if settings.separation > 0 and phase.blocks > 1:
        near = nn.functional.cosine_similarity(gists[:, 1:], gists[:, :-1], dim=-1)
        parts["separation"] = torch.relu(near - settings.separation_margin).mean()
        loss = loss + settings.separation * parts["separation"]
    for optimizer in state.optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    norm = nn.utils.clip_grad_norm_(state.net.parameters(), settings.clip)
    for optimizer in state.optimizers:
        optimizer.step()
    parts["loss"], parts["gradient"] = loss, norm
    return {name: float(value.detach()) for name, value in parts.items()}


def _read_group(
    model: BaseModel,
    sinks: torch.Tensor,
    full: torch.Tensor,
    windows: torch.Tensor,
    gists: torch.Tensor,
    taught: torch.Tensor,
    group: list[_Student],
    entries: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The students of one horizon in one padded pass -> (students, H) KL to the teacher, and NLL."""
    horizon = group[0].horizon
    width = full.shape[-1]
    prefixes, lessons, answers = [], [], []
    lead = windows.shape[1] - full.shape[1]
    for student in group:
        read = gists[student.sequence, : student.blocks].reshape(-1, width)
        if student.opened is not None:
            slots = gists.shape[2]
            raw = full[student.sequence, student.opened * entries : (student.opened + 1) * entries]
            read = torch.cat([read[: student.opened * slots], raw, read[(student.opened + 1) * slots :]])
        end = student.blocks * entries
        prefixes.append(torch.cat([sinks, read, full[student.sequence, end : end + horizon - 1]]))
        begin = len(sinks) + end - 1
        lessons.append(taught[student.sequence, begin : begin + horizon])
        answers.append(windows[student.sequence, lead + end : lead + end + horizon])
    padded = nn.utils.rnn.pad_sequence(prefixes, batch_first=True)
    hidden = model.forward(padded)
    heard = torch.stack(
        [row[len(prefix) - horizon : len(prefix)] for row, prefix in zip(hidden, prefixes, strict=True)]
    )
    with torch.no_grad():
        teacher = model.logits(torch.cat(lessons))
    targets = torch.cat(answers)
    student_logits = model.logits(heard.reshape(-1, width))
    kl, nll = Divergence.apply(student_logits, teacher, targets)  # type: ignore[no-untyped-call]
    return kl.view(len(group), horizon), nll.view(len(group), horizon)


@torch.no_grad()
def _dropped_nll(
    model: BaseModel, sinks: torch.Tensor, windows: torch.Tensor, group: list[_Student], level: int
) -> torch.Tensor:
    """The same students with nothing in place of their gists -> (students, H) NLL."""
    horizon, span = group[0].horizon, BLOCK**level
    answers = torch.stack([windows[s.sequence, s.blocks * span : s.blocks * span + horizon] for s in group])
    prefix = torch.cat([sinks.expand(len(group), -1, -1), model.embed(answers[:, :-1])], dim=1)
    hidden = model.forward(prefix)[:, -horizon:]
    logits = model.logits(hidden.reshape(-1, hidden.shape[-1]))
    chosen = logits.gather(1, answers.reshape(-1, 1))[:, 0]
    return (logits.logsumexp(dim=-1) - chosen).view(len(group), horizon)


def _reconstruction(
    model: BaseModel, head: nn.Linear, gists: torch.Tensor, windows: torch.Tensor
) -> torch.Tensor:
    """Cross-entropy of each block's bag of tokens among the batch's tokens, read from its gists' mean."""
    blocks = windows.reshape(-1, BLOCK)
    known, places = torch.unique(blocks, return_inverse=True)
    with torch.no_grad():
        candidates = model.embed(known).float()
        target = torch.zeros(len(blocks), len(known)).scatter_add_(
            1, places.view_as(blocks), torch.full(blocks.shape, 1 / BLOCK)
        )
    read = head(gists.mean(dim=2).reshape(len(blocks), -1))
    scores = read @ candidates.T / math.sqrt(candidates.shape[-1])
    bag: torch.Tensor = -(target * scores.log_softmax(dim=-1)).sum(dim=-1)
    return bag.mean()


class Divergence(torch.autograd.Function):
    """KL(teacher ‖ student) and NLL of each row, a few rows at a time to stay in cache."""

    ROWS = 32

    @staticmethod
    def forward(
        ctx: Any, student: torch.Tensor, teacher: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(N, V), (N, V) logits, (N,) ids -> (N,), (N,). The teacher's logits become its probabilities."""
        total = torch.empty_like(student[:, 0])
        kl = torch.empty_like(total)
        for start in range(0, len(student), Divergence.ROWS):
            part = slice(start, start + Divergence.ROWS)
            mine, lesson = student[part], teacher[part]
            total[part] = mine.logsumexp(dim=-1)
            lesson -= lesson.logsumexp(dim=-1, keepdim=True)
            difference = lesson - mine
            kl[part] = torch.linalg.vecdot(lesson.exp_(), difference) + total[part]
        nll = total - student.gather(1, targets[:, None])[:, 0]
        ctx.save_for_backward(student, teacher, total, targets)
        return kl, nll

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Gradients of the two outputs -> that of the student's logits."""
        student, probability, total, targets = ctx.saved_tensors
        kl, nll = gradients
        gradient = torch.empty_like(student)
        for start in range(0, len(student), Divergence.ROWS):
            part = slice(start, start + Divergence.ROWS)
            out = torch.sub(student[part], total[part, None], out=gradient[part])
            out.exp_().mul_((kl[part] + nll[part])[:, None])
            out.addcmul_(probability[part], kl[part, None], value=-1)
        gradient.scatter_add_(1, targets[:, None], -nll[:, None])
        return gradient, None, None


class _Examiner:
    """Measures the gap recovered on what was kept apart; full and drop are measured once."""

    CONDITIONS: Sequence[tuple[int, int, int]] = ((2, 0, 32), (4, 1, 64))

    def __init__(
        self, settings: GistTraining, corpus: Corpus, model: BaseModel, lower: GistEncoder | None
    ) -> None:
        self._settings = settings
        self._corpus = corpus
        self._model = model
        self._lower = lower
        self._known: dict[tuple[str, int], dict[str, float]] = {}

    def examine(self, net: GistNet) -> dict[str, float]:
        """Metric name -> share of the gap (level 1) or nats of harm (level 2)."""
        net.eval()
        settings = self._settings
        lower = self._lower or GistNetEncoder(net, net, name="training", version=1)
        encoder = _Stacked(lower, net) if settings.level > 1 else lower
        conditions = self.CONDITIONS if settings.level == 1 else ((1, 0, 32), (1, 1, 64))
        found: dict[str, float] = {}
        for part in self._corpus.parts:
            for blocks, tail, horizon in conditions:
                need = blocks * BLOCK**settings.level + tail * BLOCK + horizon
                if len(part.validation) < 2 * need:
                    continue
                key = (part.name, tail)
                fresh = key not in self._known
                report = gap_recovered(
                    self._model,
                    encoder,
                    part.validation.tolist(),
                    blocks=blocks,
                    tail=tail,
                    horizon=horizon,
                    windows=max(4, settings.validation_windows // (1 + tail)),
                    seed=settings.seed,
                    level=settings.level,
                    variants=("full", "drop", "gist") if fresh else ("gist",),
                )
                means = {name: sum(nll) / len(nll) for name, nll in report.nll.items()}
                if fresh:
                    self._known[key] = means
                base = self._known[key]
                gap = base["drop"] - base["full"]
                label = f"{part.name}_{blocks}_{tail}_{horizon}"
                found[f"harm_{label}"] = means["gist"] - base["drop"]
                if gap > 0:
                    found[f"recovered_{label}"] = (base["drop"] - means["gist"]) / gap
        return found


class _Stacked:
    """A trained lower encoder with the net in training above it."""

    def __init__(self, lower: GistEncoder, net: GistNet) -> None:
        self._lower = lower
        self._upper = GistNetEncoder(net, net, name="training", version=1)
        self.name, self.version, self.slots = "training", 1, lower.slots

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """(B, 32, d), (B, 32) -> (B, slots, d)."""
        return self._lower.encode_tokens(embeddings, tokens)

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """(B, n, d) -> (B, slots, d)."""
        return self._upper.encode_gists(gists)
