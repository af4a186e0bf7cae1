"""The loss of one step: students that read gists beside the teacher that read their blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from amgs_focus.evaluation.gist import span_gists
from amgs_focus.gist.gistnet import BLOCK, GistEncoder, GistNet
from amgs_focus.model.base_model import BaseModel
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.data_parallel import SINGLE, DataParallel
from amgs_focus.training.divergence import Divergence
from amgs_focus.training.gist_plan import GistTraining, Phase, phase_at


@dataclass(frozen=True, slots=True)
class Student:
    """One reader of a window: `blocks` blocks as gists, `opened` of them raw, then `horizon` tokens."""

    sequence: int
    blocks: int
    horizon: int
    opened: int | None = None


def draw(
    settings: GistTraining, corpus: TrainingCorpus, step: int, parallel: DataParallel = SINGLE
) -> tuple[torch.Tensor, list[list[Student]], Phase]:
    """(S, blocks * span + horizon) ids, the students in groups of one horizon, and the phase.

    Each of several parallel workers draws its own.
    """
    phase = phase_at(settings, step)
    stream = settings.seed * parallel.count + parallel.rank
    generator = torch.Generator().manual_seed(stream * 1_000_003 + step)
    horizon = phase.long_horizon if phase.long else phase.short_horizon
    span = BLOCK**settings.level
    windows = torch.stack(
        [corpus.window(phase.blocks * span + horizon, generator) for _ in range(phase.sequences)]
    )
    choices = phase.blocks - phase.least + 1
    groups: list[list[Student]] = []
    for count, length in ((phase.short, phase.short_horizon), (phase.long, phase.long_horizon)):
        group: list[Student] = []
        for sequence in range(phase.sequences):
            order = torch.randperm(choices, generator=generator).tolist()
            for place in range(count):
                blocks = phase.least + order[place % choices]
                chance = float(torch.rand(1, generator=generator))
                opened = int(torch.randint(blocks, (1,), generator=generator))
                group.append(Student(sequence, blocks, length, opened if chance < phase.open_share else None))
        if group:
            groups.append(group)
    return windows.long(), groups, phase


def step_loss(
    settings: GistTraining,
    corpus: TrainingCorpus,
    model: BaseModel,
    net: GistNet,
    head: nn.Module,
    step: int,
    lower: GistEncoder | None = None,
    parallel: DataParallel = SINGLE,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss of one step with its graph, and its parts by name. Level 2 reads the gists of `lower`."""
    windows, groups, phase = draw(settings, corpus, step, parallel)
    with torch.no_grad():
        rows = model.embed(windows)
        windows = windows.to(rows.device)
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
    gists = net(blocks.float()).view(phase.sequences, phase.blocks, settings.shape.slots, -1)
    parts: dict[str, torch.Tensor] = {"kl": torch.zeros(()), "nll": torch.zeros(())}
    positions = sum(len(group) * group[0].horizon for group in groups)
    worse: list[torch.Tensor] = []
    hinged = settings.hinge > 0 and step % settings.hinge_every == 0
    for group in groups:
        kl, nll = _read_group(model, sinks, full, windows, gists.to(full), taught, group, entries)
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
        parts["reconstruction"] = _reconstruction(model, head, gists, windows[:, :cut])
        loss = loss + settings.reconstruction * parts["reconstruction"]
    if settings.separation > 0 and phase.blocks > 1:
        near = nn.functional.cosine_similarity(gists[:, 1:], gists[:, :-1], dim=-1)
        parts["separation"] = torch.relu(near - settings.separation_margin).mean()
        loss = loss + settings.separation * parts["separation"]
    return loss, parts


def _read_group(
    model: BaseModel,
    sinks: torch.Tensor,
    full: torch.Tensor,
    windows: torch.Tensor,
    gists: torch.Tensor,
    taught: torch.Tensor,
    group: list[Student],
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
    model: BaseModel, sinks: torch.Tensor, windows: torch.Tensor, group: list[Student], level: int
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
    model: BaseModel, head: nn.Module, gists: torch.Tensor, windows: torch.Tensor
) -> torch.Tensor:
    """Cross-entropy of each block's bag of tokens among the batch's tokens, read from its gists' mean."""
    blocks = windows.reshape(-1, BLOCK)
    known, places = torch.unique(blocks, return_inverse=True)
    with torch.no_grad():
        candidates = model.embed(known).float()
        target = torch.zeros(len(blocks), len(known), device=windows.device).scatter_add_(
            1, places.view_as(blocks), torch.full(blocks.shape, 1 / BLOCK, device=windows.device)
        )
    read = head(gists.mean(dim=2).reshape(len(blocks), -1))
    scores = read @ candidates.T / math.sqrt(candidates.shape[-1])
    bag: torch.Tensor = -(target * scores.log_softmax(dim=-1)).sum(dim=-1)
    return bag.mean()
