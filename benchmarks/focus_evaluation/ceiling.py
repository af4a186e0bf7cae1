"""How much a gist could carry at best: its vectors are moved by gradient until they serve their own block.

No encoder can be asked for more than that. The gists begin as the encoder's own and learn from what the frozen model
says after the full text, along continuations that it samples there; they are then judged on what really follows, which
they never saw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional

from amgs_focus.evaluation.gist import horizon_nll, span_gists
from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.model.base_model import BaseModel


@dataclass(frozen=True, slots=True)
class CeilingPlan:
    """samples: continuations a window; read: how many of them a step reads. rate: of Adam, in parts of the gists' root
    mean square.
    """

    samples: int = 8
    read: int = 2
    steps: int = 60
    rate: float = 0.1
    seed: int = 0


def optimised_gists(
    model: BaseModel,
    encoder: GistEncoder,
    ids: torch.Tensor,
    *,
    span: int,
    horizon: int,
    plan: CeilingPlan,
    progress: Callable[[int, int], None] | None = None,
) -> torch.Tensor:
    """(B, span + tail) ids -> (B, span / 32 * slots, d): the gists of each span after `plan.steps` steps."""
    generator = torch.Generator().manual_seed(plan.seed)
    with torch.no_grad():
        rows = model.embed(ids)
        sinks = model.embed(torch.tensor(model.sinks())).expand(len(ids), -1, -1)
        begun = span_gists(encoder, rows[:, :span], ids[:, :span]).float()
        tail = rows[:, span:]
        full = torch.cat([sinks, rows], dim=1)
        sampled, taught = continuations(model, full, horizon, plan.samples, generator)
    gists = begun.clone().requires_grad_(True)
    optimiser = torch.optim.Adam([gists], lr=plan.rate * float(begun.pow(2).mean().sqrt()))
    for step in range(plan.steps):
        if progress is not None:
            progress(step, plan.steps)
        chosen = torch.randperm(plan.samples, generator=generator)[: plan.read]
        prefix = torch.cat([sinks, gists.to(rows), tail], dim=1)
        loss = torch.zeros(())
        for sample in chosen.tolist():
            said = sampled[:, sample]
            hidden = model.forward(torch.cat([prefix, model.embed(said[:, :-1])], dim=1))[:, -horizon:]
            with torch.no_grad():
                teacher = model.logits(taught[:, sample].flatten(0, 1))
            heard = model.logits(hidden.flatten(0, 1)).log_softmax(dim=-1)
            kl = functional.kl_div(heard, teacher.log_softmax(dim=-1), reduction="batchmean", log_target=True)
            loss = loss + kl / plan.read
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return gists.detach()


@torch.no_grad()
def ceiling_nll(
    model: BaseModel,
    encoder: GistEncoder,
    windows: torch.Tensor,
    *,
    span: int,
    horizon: int,
    plan: CeilingPlan,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, list[float]]:
    """(B, span + tail + horizon) ids -> mean NLL in nats a token of each window's own horizon, by what is read.

    full, drop; gist, shuffled: the encoder's own; optimised, optimised_shuffled: moved by gradient. Shuffled are the
    gists of the window before, so that B is at least 2.
    """
    given, truth = windows[:, :-horizon], windows[:, -horizon:]
    with torch.enable_grad():
        best = optimised_gists(
            model, encoder, given, span=span, horizon=horizon, plan=plan, progress=progress
        )
    rows = model.embed(given)
    sinks = model.embed(torch.tensor(model.sinks())).expand(len(windows), -1, -1)
    own = span_gists(encoder, rows[:, :span], given[:, :span])
    read = {
        "full": rows[:, :span],
        "drop": rows[:, :0],
        "gist": own,
        "shuffled": own.roll(1, dims=0),
        "optimised": best.to(rows),
        "optimised_shuffled": best.to(rows).roll(1, dims=0),
    }
    return {
        name: horizon_nll(model, torch.cat([sinks, middle, rows[:, span:]], dim=1), truth)
        .mean(dim=1)
        .tolist()
        for name, middle in read.items()
    }


def continuations(
    model: BaseModel, full: torch.Tensor, horizon: int, samples: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, W, d) -> (B, samples, H) ids drawn from the model, and (B, samples, H, d) its states before each."""
    said, states = [], []
    for _ in range(samples):
        cache, entries = model.new_cache(), full
        tokens: list[torch.Tensor] = []
        before: list[torch.Tensor] = []
        for _ in range(horizon):
            before.append(model.forward(entries, cache)[:, -1])
            chances = model.logits(before[-1]).softmax(dim=-1)
            tokens.append(torch.multinomial(chances.cpu(), 1, generator=generator).to(full.device))
            entries = model.embed(tokens[-1])
        said.append(torch.cat(tokens, dim=1))
        states.append(torch.stack(before, dim=1))
    return torch.stack(said, dim=1), torch.stack(states, dim=1)
