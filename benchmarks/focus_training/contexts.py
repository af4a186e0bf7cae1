"""Working contexts to train and measure on: a text becomes a lifetime, the focus lays it out, the next tokens are
asked.

MegaContext, "Joint training": training sees what the runtime would see, gists and tokens mixed as the policy chose.

What a phase is judged by: NLL over the next H tokens at a fixed window, on texts kept apart, after and before.

Every phase meets the same windows with its module as it was, frozen, and as it is now. The difference window by
window, with a bootstrap interval, is its effect; where the interval holds 0 there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from amgs_focus.errors import TextError
from amgs_focus.gist import BLOCK, GistEncoder, GistNet, states_for
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock
from amgs_focus.records import Refocus
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, WorkingContext
from benchmarks.focus_evaluation.statistics import resampled
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.divergence import Divergence
from benchmarks.focus_training.gistnet import draw_offsets
from benchmarks.focus_training.records import Effect


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
    model: BaseModel, gist: GistEncoder, scorer: FocusScorer, settings: FocusSettings, tokens: torch.Tensor
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
    rows = case.context.embeddings(case.tree, 0, case.context.read)
    if net is None:
        return rows
    places, blocks = _gist_places(case)
    if not places:
        return rows
    gathered = torch.stack(blocks)
    states = states_for(net, case.tree.model, gathered)
    gists = net(gathered.to(net.read.weight), states).to(rows)
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


def following_nll(model: BaseModel, prefixes: Sequence[torch.Tensor], cases: Sequence[TrainingContext]) -> torch.Tensor:
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
    model: BaseModel, prefixes: Sequence[torch.Tensor], cases: Sequence[TrainingContext], teacher: torch.Tensor
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
    """The positions of level-1 gists that are read one by one, and the embeddings of their blocks."""
    places: list[int] = []
    blocks: list[torch.Tensor] = []
    at = SINKS
    for entry, *others in case.context.rows:
        if entry.level == 1 and not others:
            places.append(at)
            tokens = torch.from_numpy(case.tree.tokens(entry.start, entry.end).astype("int64"))
            blocks.append(case.tree.model.embed(tokens))
        at += 1 if others else entry.cost
    return places, blocks


@dataclass(frozen=True, slots=True)
class HeldOutResult:
    """One evaluation. mixed, plain: (n,) NLL in nats a token after the working context, and after as many raw tokens.

    telemetry: means over the windows, by the specification's names.
    """

    mixed: tuple[float, ...]
    plain: tuple[float, ...]
    telemetry: dict[str, float]

    @property
    def loss_at_h(self) -> float:
        return sum(self.mixed) / len(self.mixed)


class HeldOut:
    """Windows of texts that were kept apart, the same every time."""

    def __init__(
        self,
        corpus: TrainingCorpus,
        settings: FocusSettings,
        *,
        lifetime: int,
        windows: int,
        seed: int,
        half: Literal[0, 1],
        clock: PerfClock,
        batch: int = 4,
    ) -> None:
        """About `windows` windows of `lifetime` tokens and a horizon, spread over all parts by their length.

        half: of what each part keeps apart; one half decides when to stop, the other judges. Raises TextError when
        no part keeps enough apart.
        """
        need = lifetime + settings.horizon
        kept = [torch.tensor_split(part.validation, 2)[half] for part in corpus.parts]
        kept = [tokens for tokens in kept if len(tokens) >= need]
        if not kept:
            raise TextError(
                f"No text keeps the {2 * need} tokens apart that two validation windows need.",
                way_out="Raise a text's held_out share, or shorten contexts.lifetime.",
            )
        total = sum(map(len, kept))
        self._settings, self._clock, self._batch = settings, clock, batch
        self._windows: list[torch.Tensor] = []
        for number, tokens in enumerate(kept):
            share = max(1, round(windows * len(tokens) / total))
            offsets = draw_offsets(len(tokens), need, share, seed + number)
            self._windows += [tokens[at : at + need] for at in offsets]

    @torch.no_grad()
    def sit(self, model: BaseModel, gist: GistEncoder, scorer: FocusScorer, *, plain_too: bool = True) -> HeldOutResult:
        """NLL of every window with these modules; without `plain_too` only of the working contexts."""
        began = self._clock.perf()
        mixed: list[float] = []
        plain: list[float] = []
        rows: list[tuple[float, float]] = []
        for first in range(0, len(self._windows), self._batch):
            taken = self._windows[first : first + self._batch]
            cases = [situation(model, gist, scorer, self._settings, tokens) for tokens in taken]
            mixed += following_nll(model, [context_rows(one) for one in cases], cases).mean(dim=1).tolist()
            if plain_too:
                plain += following_nll(model, [plain_rows(one) for one in cases], cases).mean(dim=1).tolist()
            rows += [(case.refocus.swap_rate, case.context.used / case.context.window) for case in cases]
        swaps, used = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        telemetry = {
            "loss_at_h": sum(mixed) / len(mixed),
            "swap_rate": swaps,
            "token_budget_utilization": used,
            "latency_ms": (self._clock.perf() - began) * 1000 / len(self._windows),
        }
        return HeldOutResult(tuple(mixed), tuple(plain), telemetry)


def effect(phase: str, before: HeldOutResult, after: HeldOutResult, seed: int) -> Effect:
    """What a phase changed on the working contexts, and how much of it is more than it changed on raw tokens."""
    change = _difference(before.mixed, after.mixed, seed)
    beyond = _difference(
        [m - p for m, p in zip(before.mixed, before.plain, strict=True)],
        [m - p for m, p in zip(after.mixed, after.plain, strict=True)],
        seed,
    )
    return Effect(
        phase=phase,
        before=before.loss_at_h,
        after=after.loss_at_h,
        change=change,
        beyond_plain=beyond,
        windows=len(before.mixed),
        verdict="better" if change[2] < 0 else "worse" if change[1] > 0 else "no effect",
    )


def _difference(before: Sequence[float], after: Sequence[float], seed: int) -> tuple[float, float, float]:
    """Mean of after − before with the ends of its interval; windows are drawn, as there are few texts."""
    found = resampled(
        {"change": [b - a for a, b in zip(before, after, strict=True)]}, lambda means: means["change"], seed=seed
    )
    return found.mean, found.low, found.high
