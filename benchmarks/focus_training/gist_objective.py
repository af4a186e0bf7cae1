"""The loss of one step: students that read gists beside the teacher that read their blocks.

What a gist says of its kind of text it says of every block of that text. So each student is also read with the gists of
other blocks of the same text: the right ones are to explain what follows better than those (a softmax over both, after
van den Oord et al., 2018), and tokens count by how much the block itself helps with them beyond another one (after Fang
et al., 2024, "LongCE"). Some students find learned entries for the style of the text before the gists, and a gist is
asked for its own block's tokens (Ge et al., 2024, "ICAE").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from amgs_focus.gist import BLOCK, GistEncoder, GistNet, states_for
from amgs_focus.model.base_model import BaseModel
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.data_parallel import SINGLE, DataParallel
from benchmarks.focus_training.divergence import Divergence
from benchmarks.focus_training.run_config import GistTraining, Phase, phase_at

MOST_WEIGHT = 4.0
"""Nats beyond which a token that only its block explains counts no more."""


@dataclass(frozen=True, slots=True)
class Student:
    """One reader of a window: `blocks` blocks as gists, `opened` of them raw, then `horizon` tokens.

    styled: whether the learned entries for style stand before the gists.
    """

    sequence: int
    blocks: int
    horizon: int
    opened: int | None = None
    styled: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """What the students of a step read of. S windows of one text.

    full: (S, W, d) entries of the window, tokens (S, L) its ids; taught: the teacher's states over sinks and full.
    entries: how many entries of `full` a block has.
    """

    tokens: torch.Tensor
    full: torch.Tensor
    taught: torch.Tensor
    sinks: torch.Tensor
    entries: int


def draw(
    settings: GistTraining, corpus: TrainingCorpus, step: int, parallel: DataParallel = SINGLE
) -> tuple[torch.Tensor, list[list[Student]], Phase]:
    """(S, blocks * span + horizon) ids of one text, the students in groups of one horizon, and the phase.

    Each of several parallel workers draws its own.
    """
    phase = phase_at(settings, step)
    stream = settings.seed * parallel.count + parallel.rank
    generator = torch.Generator().manual_seed(stream * 1_000_003 + step)
    horizon = phase.long_horizon if phase.long else phase.short_horizon
    span = BLOCK**settings.level
    windows = corpus.windows(phase.sequences, phase.blocks * span + horizon, generator)
    choices = phase.blocks - phase.least + 1
    chance = partial(_chance, generator)
    groups: list[list[Student]] = []
    for count, length in ((phase.short, phase.short_horizon), (phase.long, phase.long_horizon)):
        group: list[Student] = []
        for sequence in range(phase.sequences):
            order = torch.randperm(choices, generator=generator).tolist()
            for place in range(count):
                blocks = phase.least + order[place % choices]
                opened = int(torch.randint(blocks, (1,), generator=generator))
                raw = opened if chance(phase.open_share) else None
                group.append(Student(sequence, blocks, length, raw, chance(settings.style_share)))
        if group:
            groups.append(group)
    return windows.long(), groups, phase


def step_loss(
    settings: GistTraining,
    corpus: TrainingCorpus,
    model: BaseModel,
    net: GistNet,
    cues: Cues,
    step: int,
    lower: GistEncoder | None = None,
    parallel: DataParallel = SINGLE,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss of one step with its graph, and its parts by name. Level 2 reads the gists of `lower`."""
    tokens, groups, phase = draw(settings, corpus, step, parallel)
    window = _taught(settings, model, tokens, phase, lower)
    width = window.full.shape[-1]
    blocks = window.full[:, : phase.blocks * window.entries].reshape(-1, window.entries, width)
    gists = net(blocks.float(), states_for(net, model, blocks)).view(phase.sequences, phase.blocks, -1)
    shift = 1 + step % max(1, phase.sequences - 1)
    others = gists.roll(shift, dims=0)
    sums = {name: torch.zeros(()) for name in ("kl", "nll", "contrast")}
    worse: list[torch.Tensor] = []
    count = sum(len(group) * group[0].horizon for group in groups)
    students = sum(map(len, groups))
    contrasted = settings.contrast > 0 and phase.sequences > 1 and step % settings.contrast_every == 0
    hinged = settings.hinge > 0 and step % settings.hinge_every == 0
    for group in groups:
        kl, nll, known = _read_group(model, window, gists, group, cues)
        weights = torch.ones_like(nll)
        if contrasted:
            _, other, _ = _read_group(model, window, others, group, cues)
            weights = _weights(settings, other.detach() - known)
            right = torch.stack([nll.sum(dim=1), other.sum(dim=1)])
            sums["contrast"] = sums["contrast"] - (-right).log_softmax(dim=0)[0].sum() / students
        sums["kl"] = sums["kl"] + (weights * kl).sum() / count
        sums["nll"] = sums["nll"] + (weights * nll).sum() / count
        if hinged:
            dropped = _dropped_nll(model, window, group, settings.level, cues)
            worse.append(torch.relu(nll.mean(dim=1) - dropped.mean(dim=1)))
    parts = {name: value for name, value in sums.items() if name != "contrast" or contrasted}
    # Cues that no student of this step read get a gradient of nothing, as parallel workers average all of them.
    unread = 0 * sum(cue.sum() for cue in cues.parameters())
    loss = settings.gap * parts["kl"] + settings.truth * parts["nll"] + unread
    if contrasted:
        loss = loss + settings.contrast * parts["contrast"]
    if hinged:
        parts["hinge"] = torch.cat(worse).mean()
        loss = loss + settings.hinge * parts["hinge"]
    if settings.reconstruction > 0 and settings.level == 1:
        parts["reconstruction"] = _recited(settings, model, window, gists, cues, step)
        loss = loss + settings.reconstruction * parts["reconstruction"]
    if settings.separation > 0 and phase.blocks > 1:
        near = nn.functional.cosine_similarity(gists[:, 1:], gists[:, :-1], dim=-1)
        parts["separation"] = torch.relu(near - settings.separation_margin).mean()
        loss = loss + settings.separation * parts["separation"]
    return loss, parts


@torch.no_grad()
def _taught(
    settings: GistTraining, model: BaseModel, tokens: torch.Tensor, phase: Phase, lower: GistEncoder | None
) -> Window:
    rows = model.embed(tokens)
    tokens = tokens.to(rows.device)
    sinks = model.embed(torch.tensor(model.sinks()))
    full, entries = rows, BLOCK
    if lower is not None and settings.level > 1:
        cut = phase.blocks * BLOCK**settings.level
        below = span_gists(lower, rows[:, :cut], tokens[:, :cut])
        full = torch.cat([below, rows[:, cut:]], dim=1)
        entries = BLOCK
    taught = model.forward(torch.cat([sinks.expand(len(tokens), -1, -1), full[:, :-1]], dim=1))
    return Window(tokens, full, taught, sinks, entries)


def _read_group(
    model: BaseModel, window: Window, gists: torch.Tensor, group: list[Student], cues: Cues
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The students of one horizon in one padded pass -> (students, H) KL to the teacher, NLL, and the teacher's NLL."""
    full, entries, horizon = window.full, window.entries, group[0].horizon
    width = full.shape[-1]
    lead = window.tokens.shape[1] - full.shape[1]
    style = cues.style.to(full)
    prefixes, lessons, answers = [], [], []
    for student in group:
        read = gists[student.sequence, : student.blocks].reshape(-1, width).to(full)
        if student.opened is not None:
            raw = full[student.sequence, student.opened * entries : (student.opened + 1) * entries]
            read = torch.cat([read[: student.opened], raw, read[student.opened + 1 :]])
        end = student.blocks * entries
        styled = [style] if student.styled else []
        prefixes.append(torch.cat([window.sinks, *styled, read, full[student.sequence, end : end + horizon - 1]]))
        begin = len(window.sinks) + end - 1
        lessons.append(window.taught[student.sequence, begin : begin + horizon])
        answers.append(window.tokens[student.sequence, lead + end : lead + end + horizon])
    hidden = model.forward(nn.utils.rnn.pad_sequence(prefixes, batch_first=True))
    heard = torch.stack(
        [row[len(prefix) - horizon : len(prefix)] for row, prefix in zip(hidden, prefixes, strict=True)]
    )
    targets = torch.cat(answers)
    with torch.no_grad():
        teacher = model.logits(torch.cat(lessons))
        known = _nll(teacher, targets)
    student_logits = model.logits(heard.reshape(-1, width))
    kl, nll = Divergence.apply(student_logits, teacher, targets)  # type: ignore[no-untyped-call]
    shape = (len(group), horizon)
    return kl.view(shape), nll.view(shape), known.view(shape)


def _weights(settings: GistTraining, gained: torch.Tensor) -> torch.Tensor:
    """(students, H) weights of mean 1. gained: NLL after another block's gists − NLL after the block itself."""
    weights = 1 + settings.content_weight * gained.clamp(0, MOST_WEIGHT)
    return weights / weights.mean()


@torch.no_grad()
def _dropped_nll(model: BaseModel, window: Window, group: list[Student], level: int, cues: Cues) -> torch.Tensor:
    """The same students with nothing in place of their gists -> (students, H) NLL."""
    horizon, span = group[0].horizon, BLOCK**level
    tokens = window.tokens
    answers = torch.stack([tokens[s.sequence, s.blocks * span : s.blocks * span + horizon] for s in group])
    style = cues.style.to(window.full)
    prefixes = [
        torch.cat([window.sinks, *([style] if student.styled else []), model.embed(answer[:-1])])
        for student, answer in zip(group, answers, strict=True)
    ]
    hidden = model.forward(nn.utils.rnn.pad_sequence(prefixes, batch_first=True))
    heard = torch.stack(
        [row[len(prefix) - horizon : len(prefix)] for row, prefix in zip(hidden, prefixes, strict=True)]
    )
    return _nll(model.logits(heard.flatten(0, 1)), answers.flatten()).view(len(group), horizon)


def _recited(
    settings: GistTraining, model: BaseModel, window: Window, gists: torch.Tensor, cues: Cues, step: int
) -> torch.Tensor:
    """NLL in nats a token of blocks' own tokens after their gists, of a part of the step's blocks in turn."""
    count = gists.shape[0] * gists.shape[1]
    blocks = window.tokens[:, : gists.shape[1] * BLOCK].reshape(count, BLOCK)
    chosen = (torch.arange(min(settings.recited, count)) * (count // min(settings.recited, count)) + step) % count
    taken = blocks[chosen.to(blocks.device)]
    own = gists.flatten(0, 1)[chosen.to(gists.device), None].to(window.full)
    opening = window.sinks.expand(len(chosen), -1, -1)
    cue = cues.recite.to(window.full).expand(len(chosen), -1, -1)
    hidden = model.forward(torch.cat([opening, own, cue, model.embed(taken[:, :-1])], dim=1))[:, -BLOCK:]
    return _nll(model.logits(hidden.flatten(0, 1)), taken.flatten()).mean()


def span_gists(encoder: GistEncoder, rows: torch.Tensor, tokens: torch.Tensor, level: int = 1) -> torch.Tensor:
    """Return (B, n * 32**level, d) rows and their ids -> (B, n, d) gists of that level, in order."""
    batch, length, width = rows.shape
    gists = encoder.encode_tokens(rows.reshape(-1, BLOCK, width), tokens.reshape(-1, BLOCK))
    for _ in range(level - 1):
        gists = encoder.encode_gists(gists.reshape(-1, BLOCK, width))
    return gists.reshape(batch, length // BLOCK**level, width)


def _nll(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """(N, V), (N,) -> (N,) nats."""
    return logits.logsumexp(dim=-1) - logits.gather(1, targets[:, None])[:, 0]


def _chance(generator: torch.Generator, share: float) -> bool:
    return float(torch.rand(1, generator=generator)) < share


STYLE = 2
_SCALE = 0.05


class Cues(nn.Module):
    """What students read besides gists, so that these need not say it themselves.

    style: (2, d) entries behind the sinks that can say what kind of text follows, so that a gist gains nothing by it.
    recite: (1, d), the entry after a gist at which its block's own tokens are to follow.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.style = nn.Parameter(torch.randn(STYLE, width) * _SCALE)
        self.recite = nn.Parameter(torch.randn(1, width) * _SCALE)
