"""A small net over what the frozen encoder makes of two mentions: which of them a pronoun means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from amgs.conversation.coreference.antecedents import clause_mates
from amgs.conversation.coreference.pairs import FEATURES
from amgs.conversation.coreference.passage import Kind
from amgs.types import Vector
from amgs_focus.training.data_parallel import DataParallel
from benchmarks.coreference.coreference_examples import Example

GAP = "gap"
"""The form whose examples have two candidates each, both names."""
_PRONOUNS = [FEATURES.index(f"candidate is {kind}") for kind in (Kind.PERSON, Kind.THEY, Kind.IT)]
_BETWEEN = FEATURES.index("candidates between")
_NAME, _LABEL = (FEATURES.index(f"candidate is {kind}") for kind in (Kind.NAME, Kind.LABEL))
_WIDTH = len(FEATURES) + 2  # columns of `_with_read`
_FLOOR = 1e-4  # added to attention before its logarithm


@dataclass(frozen=True, slots=True)
class CoreferenceTraining:
    """How a scorer is trained.

    A step is of one form, drawn evenly. named: share of the examples of texts that keep the candidates alone that are
    no pronouns, where one of those is right, and half of these just one right and one wrong. unread: share of
    candidates of which the net is given the features alone, as of one that stands too far away to be read with the
    pronoun. parts: what the net may read of `attention` and `states`, besides the features. shuffled: right candidates
    are drawn anew, as a control.
    """

    steps: int = 300
    batch: int = 32
    rate: float = 1e-3
    warmup: int = 50
    decay: float = 0.3
    projection: int = 64
    hidden: int = 64
    dropout: float = 0.5
    named: float = 0.5
    unread: float = 0.2
    seed: int = 0
    parts: tuple[str, ...] = ("attention", "states")
    shuffled: bool = False


class PairNet(nn.Module):
    """Scores of pairs; attention is taken for average where two mentions were not read together.

    mean, scale: of features and attention, (F + A,). anaphor, candidate: projections of states, (P, S). The score of
    nobody is 0.
    """

    def __init__(self, settings: CoreferenceTraining, mean: Vector, scale: Vector, states: int) -> None:
        super().__init__()
        self.settings = settings
        self.mean: torch.Tensor
        self.scale: torch.Tensor
        self.register_buffer("mean", torch.as_tensor(mean))
        self.register_buffer("scale", torch.as_tensor(scale))
        plain, size = len(mean), settings.projection
        wide = plain + size
        self.anaphor = nn.Parameter(torch.randn(size, states) / math.sqrt(states))
        self.candidate = nn.Parameter(torch.randn(size, states) / math.sqrt(states))
        self.hidden = nn.Parameter(torch.randn(settings.hidden, wide) / math.sqrt(wide))
        self.hidden_bias = nn.Parameter(torch.zeros(settings.hidden))
        self.out = nn.Parameter(torch.zeros(settings.hidden))
        self.linear = nn.Parameter(torch.zeros(plain))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, plain: torch.Tensor, anaphor: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        """(B, n, F + A), (B, S), (B, n, S) -> scores (B, n)."""
        drop = self.settings.dropout
        read = plain[..., _WIDTH - 1]
        plain = (plain - self.mean) / self.scale
        plain = torch.cat([plain[..., :_WIDTH], plain[..., _WIDTH:] * read[..., None]], dim=-1)
        if "attention" not in self.settings.parts:
            plain = torch.cat([plain[..., :_WIDTH], torch.zeros_like(plain[..., _WIDTH:])], dim=-1)
        candidates = candidates * read[..., None]
        matched = (candidates @ self.candidate.T) * (anaphor @ self.anaphor.T)[:, None]
        if "states" not in self.settings.parts:
            matched = torch.zeros_like(matched)
        read = nn.functional.dropout(torch.cat([plain, matched], dim=-1), drop, self.training)
        hidden = nn.functional.dropout(
            torch.relu(read @ self.hidden.T + self.hidden_bias), drop, self.training
        )
        return hidden @ self.out + plain @ self.linear + self.bias


@dataclass(frozen=True, eq=False)
class Batch:
    """Examples side by side; candidates that are none are masked."""

    plain: torch.Tensor
    anaphor: torch.Tensor
    candidates: torch.Tensor
    right: torch.Tensor
    there: torch.Tensor


def plain_rows(one: Example) -> Vector:
    """Features and logarithms of attention as the net takes them, (n, F + A)."""
    features = _with_read(one.features[:, :-1].astype(np.float32), one.features[:, -1].astype(np.float32))
    return np.concatenate([features, np.log(one.attention.astype(np.float32) + _FLOOR)], axis=1)


def _with_read(features: Vector, read: Vector) -> Vector:
    """The features of pairs as the net takes them: clause mates and whether both were read together come last; the
    label of a turn, which no text that it is trained on has, counts as a name.
    """
    found = np.concatenate([features, clause_mates(features)[:, None], read[:, None]], axis=1)
    found[:, _NAME] += found[:, _LABEL]
    found[:, _LABEL] = 0.0
    return found


def batch_of(examples: Sequence[Example]) -> Batch:
    """Pads examples to the longest."""
    longest = max(len(one.right) for one in examples)
    rows = [plain_rows(one) for one in examples]

    def padded(parts: Sequence[Vector]) -> torch.Tensor:
        found = np.zeros((len(parts), longest, parts[0].shape[1]), dtype=np.float32)
        for row, part in zip(found, parts, strict=True):
            row[: len(part)] = part
        return torch.from_numpy(found)

    flags = np.zeros((2, len(examples), longest), dtype=bool)
    for number, one in enumerate(examples):
        flags[0, number, : len(one.right)] = one.right
        flags[1, number, : len(one.right)] = True
    return Batch(
        padded(rows),
        torch.from_numpy(np.stack([one.anaphor for one in examples]).astype(np.float32)),
        padded([one.candidates.astype(np.float32) for one in examples]),
        torch.from_numpy(flags[0]),
        torch.from_numpy(flags[1]),
    )


def named_only(one: Example, drawn: np.random.Generator) -> Example:
    """The example with the candidates alone that are no pronouns, where one of those is right or none of all is; in
    half of the cases with just one right and one wrong one. Text tells most pronouns by the pronoun before, from which
    nothing is learned of names.
    """
    kept = np.flatnonzero(one.features[:, _PRONOUNS].sum(axis=1) == 0)
    right = one.right[kept] > 0
    if not len(kept) or (one.right.any() and not right.any()):
        return one
    if right.any() and not right.all() and drawn.random() < 0.5:
        kept = np.sort([drawn.choice(kept[right]), drawn.choice(kept[~right])])
    features = one.features[kept].copy()
    features[:, _BETWEEN] = np.log1p(np.arange(len(kept))[::-1])
    return Example(features, one.attention[kept], one.candidates[kept], one.anaphor, one.right[kept])


def _forget(batch: Batch, share: float, drawn: np.random.Generator) -> None:
    """Takes what was read of some candidates, and of all candidates of as many examples by half."""
    size = tuple(batch.there.shape)
    lost = (drawn.random(size) < share / 2) | (drawn.random((size[0], 1)) < share / 2)
    batch.plain[..., _WIDTH - 1] *= torch.from_numpy(~lost).float()


def likelihood_loss(scores: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Mean -log probability, in nats, of all right candidates together, or of nobody where none is right."""
    scores = scores.masked_fill(~batch.there, -1e9)
    everything = torch.logsumexp(torch.cat([scores, torch.zeros_like(scores[:, :1])], dim=1), dim=1)
    right = scores.masked_fill(~batch.right, -1e9)
    nobody = torch.where(batch.right.any(dim=1), -1e9, 0.0)[:, None]
    return (everything - torch.logsumexp(torch.cat([right, nobody], dim=1), dim=1)).mean()


class CoreferenceObjective:
    """Steps that draw from forms of text by their names; judged on the examples of each that are kept apart."""

    def __init__(
        self,
        net: PairNet,
        forms: Mapping[str, Sequence[Example]],
        held_out: Mapping[str, Sequence[Example]],
    ) -> None:
        self._net, self._settings = net, net.settings
        self._forms, self._held_out = forms, held_out

    def rate(self, step: int) -> float:
        settings = self._settings
        if step < settings.warmup:
            return settings.rate * (step + 1) / settings.warmup
        share = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
        return settings.rate * 0.5 * (1 + math.cos(math.pi * share))

    def loss(self, step: int, part: DataParallel) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        drawn = np.random.default_rng([self._settings.seed, step, part.rank])
        torch.manual_seed(int(drawn.integers(2**31)))
        self._net.train()
        name = sorted(self._forms)[int(drawn.integers(len(self._forms)))]
        form = self._forms[name]
        chosen = [form[int(i)] for i in drawn.integers(len(form), size=self._settings.batch)]
        if name != GAP:
            chosen = [named_only(e, drawn) if drawn.random() < self._settings.named else e for e in chosen]
        batch = batch_of(chosen)
        _forget(batch, self._settings.unread, drawn)
        loss = likelihood_loss(self._net(batch.plain, batch.anaphor, batch.candidates), batch)
        return loss, {}

    def validation(self) -> dict[str, float]:
        """`nll_…` in nats and `right_…` in percent, of each form."""
        self._net.eval()
        found = {}
        for name, examples in self._held_out.items():
            found[f"nll_{name}"], found[f"right_{name}"] = judged(self._net, examples)
        return found


@torch.no_grad()
def judged(net: PairNet, examples: Sequence[Example]) -> tuple[float, float]:
    """Loss in nats, and how often the likeliest candidate or nobody is right, in percent."""
    losses, right = 0.0, 0
    for start in range(0, len(examples), 64):
        part = examples[start : start + 64]
        batch = batch_of(part)
        scores = net(batch.plain, batch.anaphor, batch.candidates).masked_fill(~batch.there, -1e9)
        losses += float(likelihood_loss(scores, batch)) * len(part)
        best, at = scores.max(dim=1)
        hit = batch.right.gather(1, at[:, None])[:, 0]
        right += int(torch.where(best > 0, hit, ~batch.right.any(dim=1)).sum())
    return losses / len(examples), 100.0 * right / len(examples)
