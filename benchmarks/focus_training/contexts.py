"""Working contexts to train and measure on: a text becomes a lifetime, the focus lays it out, the next tokens are
asked.

MegaContext, "Joint training": training sees what the runtime would see, gists and tokens mixed as the policy chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from amgs_focus.gist.gistnet import BLOCK, GistEncoder, GistNet, states_for
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.records import Refocus
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.training.divergence import Divergence
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, WorkingContext


@dataclass(frozen=True, slots=True)
class TrainingContext:
    """A lifetime as the focus laid it out, and the tokens that follow it, (H,) ids. refocus: how it was decided."""

    context: WorkingContext
    tree: LifetimeTree
    following: torch.Tensor
    refocus: Refocus


class _Still:
    """Durations are no part of a decision."""

    def perf(self) -> float:
        return 0.0


def situation(
    model: BaseModel,
    gist: GistEncoder,
    scorer: FocusScorer,
    settings: FocusSettings,
    tokens: torch.Tensor,
) -> TrainingContext:
    """The lifetime of all but the last H of the tokens under the policy, after one refocus.

    Raises WindowBudgetError when the window cannot hold it.
    """
    lifetime, following = tokens[: -settings.horizon], tokens[-settings.horizon :]
    tree = LifetimeTree(model, gist, block_size=settings.block_size)
    tree.append([int(token) for token in lifetime])
    runtime = FocusRuntime(model, scorer=scorer, settings=settings, clock=_Still(), tree=tree)
    made = runtime.refocus()
    return TrainingContext(runtime.context, tree, following.long(), made)


def context_rows(case: TrainingContext, net: GistNet | None = None) -> torch.Tensor:
    """(W, d): what the model reads. With a net, gists of tokens come from it, with their gradients."""
    rows = case.context.embeddings(case.tree, 0, case.context.used)
    if net is None:
        return rows
    places, blocks = _gist_places(case)
    if not places:
        return rows
    gathered = torch.stack(blocks)
    states = states_for(net, case.tree.model, gathered)
    gists = net(gathered.to(net.read.weight), states).flatten(0, 1).to(rows)
    return rows.index_copy(0, torch.tensor(places, device=rows.device), gists)


def full_rows(case: TrainingContext) -> torch.Tensor:
    """(SINKS + lifetime, d): the whole lifetime in tokens, as the teacher reads it."""
    model = case.tree.model
    tokens = torch.from_numpy(case.tree.tokens(0, case.tree.length).astype("int64"))
    return model.embed(torch.cat([torch.tensor(model.sinks()), tokens]))


def plain_rows(case: TrainingContext) -> torch.Tensor:
    """(W, d): the sinks and the latest tokens, as many entries as the working context has."""
    rows = full_rows(case)
    return torch.cat([rows[:SINKS], rows[SINKS:][max(0, len(rows) - case.context.used) :]])


def following_hidden(
    model: BaseModel, prefixes: Sequence[torch.Tensor], cases: Sequence[TrainingContext]
) -> torch.Tensor:
    """Prefixes (W, d) of any lengths and their H following tokens in one padded pass -> (n, H, d) hidden states."""
    horizon = len(cases[0].following)
    rows = [
        torch.cat([prefix, model.embed(case.following[:-1]).to(prefix)])
        for prefix, case in zip(prefixes, cases, strict=True)
    ]
    hidden = model.forward(nn.utils.rnn.pad_sequence(rows, batch_first=True))
    return torch.stack([one[len(row) - horizon : len(row)] for one, row in zip(hidden, rows, strict=True)])


def following_nll(
    model: BaseModel, prefixes: Sequence[torch.Tensor], cases: Sequence[TrainingContext]
) -> torch.Tensor:
    """The same -> (n, H) NLL in nats."""
    hidden = following_hidden(model, prefixes, cases)
    logits = model.logits(hidden.flatten(0, 1))
    targets = torch.cat([case.following for case in cases]).to(logits.device)
    chosen = logits.gather(1, targets[:, None])[:, 0]
    return (logits.logsumexp(dim=-1) - chosen).view(hidden.shape[:2])


def teacher_logits(model: BaseModel, cases: Sequence[TrainingContext]) -> torch.Tensor:
    """(n * H, V) of the model that reads each whole lifetime in tokens."""
    with torch.no_grad():
        return model.logits(following_hidden(model, [full_rows(case) for case in cases], cases).flatten(0, 1))


def divergence(
    model: BaseModel,
    prefixes: Sequence[torch.Tensor],
    cases: Sequence[TrainingContext],
    teacher: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """KL(teacher ‖ model on the prefixes) and NLL, each (n, H). The teacher's logits are used up."""
    hidden = following_hidden(model, prefixes, cases)
    targets = torch.cat([case.following for case in cases]).to(hidden.device)
    kl, nll = Divergence.apply(model.logits(hidden.flatten(0, 1)), teacher, targets)  # type: ignore[no-untyped-call]
    return kl.view(hidden.shape[:2]), nll.view(hidden.shape[:2])


def edge_weights(cases: Sequence[TrainingContext], boundary: float, width: int = 2) -> torch.Tensor:
    """(n, H) weights of mean 1 a row: tokens beside a block's edge count `boundary` times as much as others."""
    rows = []
    for case in cases:
        places = (case.tree.length + torch.arange(len(case.following))) % BLOCK
        near = (places < width) | (places >= BLOCK - width)
        row = torch.where(near, boundary, 1.0)
        rows.append(row / row.mean())
    return torch.stack(rows)


def gist_blocks(case: TrainingContext) -> torch.Tensor:
    """(n, 32, d): the embeddings of the blocks that stand as gists of tokens in a context."""
    blocks = _gist_places(case)[1]
    width = case.tree.model.card.width
    return torch.stack(blocks) if blocks else torch.zeros(0, BLOCK, width)


def _gist_places(case: TrainingContext) -> tuple[list[int], list[torch.Tensor]]:
    """The positions of all level-1 slots, and the embeddings of their blocks."""
    places: list[int] = []
    blocks: list[torch.Tensor] = []
    at = SINKS
    for entry in case.context.entries():
        if entry.level == 1:
            places.extend(range(at, at + entry.cost))
            tokens = torch.from_numpy(case.tree.tokens(entry.start, entry.end).astype("int64"))
            blocks.append(case.tree.model.embed(tokens))
        at += entry.cost
    return places, blocks
