"""Gists moved by gradient, each for its own block alone, towards what the frozen model says after the block.

The model continues the block's tokens a few times; the gist learns to be followed by the same distributions. Part of
the continuations come after the gist of another block and the block, and part after the block and the gist of another,
so that the gist bears neighbours. What really follows is never read. How far each gist is from its block is measured on
one more continuation, from which nothing was learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from amgs_focus.gist.divergence import Divergence
from amgs_focus.model.base_model import BaseModel

Beside = Literal["alone", "behind", "ahead"]
"""Where the block stands: alone, behind the gist of the block before it, or ahead of that of the block after it."""


@dataclass(frozen=True, slots=True)
class PolishPlan:
    """samples: continuations of a block, by where it stands (`Beside`). length: of each, in tokens. read: continuations
    that a step reads. rate: of Adam at the first step, in parts of the gist's root mean square; it falls to 0. kept:
    how much of what was learnt is kept, as part of it is of these few continuations alone.
    """

    samples: tuple[int, int, int] = (4, 2, 2)
    length: int = 16
    steps: int = 12
    read: int = 2
    rate: float = 0.12
    kept: float = 0.5
    seed: int = 0


PLAN = PolishPlan()
TOGETHER = 8
"""Blocks that are best polished in one call: the weights are read once for all of them."""


def polished(
    model: BaseModel,
    blocks: torch.Tensor,
    gists: torch.Tensor,
    neighbours: tuple[torch.Tensor, ...],
    plan: PolishPlan = PLAN,
    check: Callable[[], None] = lambda: None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, 32) ids, their gists and those of the blocks before and after each, (B, slots, d) -> the polished gists, (B,
    slots, d), and distances, (B, 3).

    A distance is the mean KL divergence, in nats a token, of what the model says behind a gist from what it says after
    the block, along a continuation from which nothing is learnt: behind a neighbour's gist, behind the one that was
    given, and behind the polished one. check is called before every token that is drawn and every step, and may raise.
    """
    generator = torch.Generator().manual_seed(plan.seed)
    with torch.no_grad():
        rows = model.embed(blocks)
        sinks = model.embed(torch.tensor(model.sinks())).expand(len(blocks), -1, -1)
        before, after = (neighbour.to(rows) for neighbour in neighbours)

    def placed(beside: Beside, entries: torch.Tensor) -> torch.Tensor:
        match beside:
            case "behind":
                return torch.cat([sinks, before, entries], dim=1)
            case "ahead":
                return torch.cat([sinks, entries, after], dim=1)
            case "alone":
                return torch.cat([sinks, entries], dim=1)

    lessons: list[tuple[Beside, torch.Tensor, torch.Tensor]] = []
    for beside, samples in zip(get_args(Beside), plan.samples, strict=True):
        if samples:
            said, taught = continuations(model, placed(beside, rows), plan.length, samples, generator, check)
            lessons += [(beside, said[:, one], taught[:, one]) for one in range(samples)]
    begun = gists.detach().float()
    size = begun.pow(2).mean(dim=(1, 2), keepdim=True).sqrt()
    moved = torch.zeros_like(begun, requires_grad=True)
    optimiser = torch.optim.Adam([moved], betas=(0.9, 0.99))
    order: list[int] = []
    for step in range(plan.steps):
        check()
        while len(order) < plan.read:
            order += torch.randperm(len(lessons), generator=generator).tolist()
        taken, order = order[: plan.read], order[plan.read :]
        learnt, loss = begun + size * moved, torch.zeros(())
        for beside, said, taught in (lessons[one] for one in taken):
            loss = loss + _apart(model, placed(beside, learnt.to(rows)), said, taught).sum()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.param_groups[0]["lr"] = plan.rate * (1 - step / plan.steps)
        optimiser.step()
    made = (begun + plan.kept * size * moved.detach()).to(gists)
    with torch.no_grad():
        unseen = torch.Generator().manual_seed(plan.seed + 1)
        said, taught = continuations(model, placed("alone", rows), plan.length, 1, unseen, check)
        first = (before == gists.to(before)).flatten(1).all(dim=1)  # the first block has none before it
        other = torch.where(first[:, None, None], after, before)
        distances = [
            _apart(model, placed("alone", each.to(rows)), said[:, 0], taught[:, 0]).mean(dim=1)
            for each in (other, gists, made)
        ]
    return made, torch.stack(distances, dim=1)


def _apart(model: BaseModel, placed: torch.Tensor, said: torch.Tensor, taught: torch.Tensor) -> torch.Tensor:
    """(B, W, d) entries, (B, H) ids that follow and (B, H, d) states of the teacher before each -> (B, H) KL."""
    entries = torch.cat([placed, model.embed(said[:, :-1])], dim=1)
    heard = model.forward(entries)[:, -said.shape[1] :]
    with torch.no_grad():
        teacher = model.logits(taught.flatten(0, 1))
    kl: torch.Tensor
    kl, _ = Divergence.apply(  # type: ignore[no-untyped-call]
        model.logits(heard.flatten(0, 1)), teacher, said.flatten()
    )
    return kl.view(said.shape)


@torch.no_grad()
def continuations(
    model: BaseModel,
    full: torch.Tensor,
    length: int,
    samples: int,
    generator: torch.Generator,
    check: Callable[[], None] = lambda: None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, W, d) -> (B, samples, H) ids drawn from the model, and (B, samples, H, d) its states before each."""
    cache, entries = model.new_cache(), full.repeat_interleave(samples, dim=0)
    said: list[torch.Tensor] = []
    states: list[torch.Tensor] = []
    for _ in range(length):
        check()
        states.append(model.forward(entries, cache)[:, -1])
        chances = model.logits(states[-1]).softmax(dim=-1)
        said.append(torch.multinomial(chances.cpu(), 1, generator=generator).to(full.device))
        entries = model.embed(said[-1])
    count = len(full)
    return (
        torch.cat(said, dim=1).view(count, samples, length),
        torch.stack(states, dim=1).view(count, samples, length, -1),
    )
