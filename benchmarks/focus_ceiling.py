"""`focus-ceiling`: what the gists of a block could carry at best, when they are moved by gradient for it alone.

Each condition takes 24 blocks. The vectors learn from continuations that the frozen model samples after the full text,
and are judged on what really follows; the optimised gists of another place stand beside them as the control.

How much a gist could carry at best: its vectors are moved by gradient until they serve their own block.

No encoder can be asked for more than that. The gists begin as the encoder's own and learn from what the frozen model
says after the full text, along continuations that it samples there; they are then judged on what really follows, which
they never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import torch
from torch.nn import functional

from amgs_focus.gist.gistnet import GistEncoder, span_gists
from amgs_focus.gist.polish import continuations
from amgs_focus.model.base_model import BaseModel
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.gist import GistReport
from benchmarks.focus_evaluation.statistics import Interval
from benchmarks.focus_gist import Condition
from benchmarks.focus_rig import Excerpt, FocusRig, Row, TokenCorpus
from benchmarks.focus_training.gistnet import horizon_nll


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
        best = optimised_gists(model, encoder, given, span=span, horizon=horizon, plan=plan, progress=progress)
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
        name: horizon_nll(model, torch.cat([sinks, middle, rows[:, span:]], dim=1), truth).mean(dim=1).tolist()
        for name, middle in read.items()
    }


BENCH = Bench("focus-ceiling")
CONDITIONS = (Condition(2, 0, 32), Condition(4, 1, 64))
READ = ("full", "drop", "gist", "shuffled", "optimised", "optimised_shuffled")
BLOCKS = 24
TOGETHER = 6
SEED = 0
PLAN = CeilingPlan()


def run(rig: FocusRig, *, blocks: int = BLOCKS, plan: CeilingPlan = PLAN) -> BenchResult:
    """Optimise the gists of so many blocks a condition and corpus. A quick run takes a quarter of them.

    Raises TextError when no document can hold a window.
    """
    blocks = max(8, blocks // 4) if rig.quick else blocks
    told = {
        **rig.models(),
        "texts": {corpus.name: corpus.mark for corpus in rig.corpora},
        "blocks": blocks,
        **asdict(plan),
    }
    metrics: dict[str, float] = {}
    rows: list[tuple[str, ...]] = []
    runs = [(corpus, condition) for corpus in rig.corpora for condition in CONDITIONS]
    for place, (corpus, condition) in enumerate(runs):
        report = _measured(rig, corpus, condition, blocks, plan, told, (place, len(runs)))
        ending = condition.name + ("" if corpus is rig.corpus else "_code")
        shares = {name: _shares(report, name) for name in ("gist", "optimised")}
        for name, (recovered, content) in shares.items():
            for kind, share in (("recovered", recovered), ("content_share", content)):
                if share is not None:
                    metrics[f"{kind}_{name}_{ending}"] = share.mean
        rows.append(
            (
                f"{corpus.name}: {condition.blocks} / {condition.tail} / {condition.horizon}",
                str(len(report.offsets)),
                *(f"{report.mean(name).mean:.3f}" for name in READ),
                *(_said(share) for name in shares for share in shares[name]),
            )
        )
    columns = (
        "blocks / tail / horizon",
        "windows",
        *(name.replace("_", ", ") for name in READ),
        "gist: recovered",
        "content share",
        "optimised: recovered",
        "content share",
    )
    table = BenchTable("NLL in nats a token, shares with 95 % intervals", columns, tuple(rows))
    return BENCH.result(told, metrics, (table,))


def _measured(
    rig: FocusRig,
    corpus: TokenCorpus,
    condition: Condition,
    blocks: int,
    plan: CeilingPlan,
    told: dict[str, object],
    part: tuple[int, int],
) -> GistReport:
    """One condition, some windows at a time."""
    ledger = rig.ledger(BENCH, told)
    windows = max(2, blocks // condition.blocks)
    places = corpus.excerpts(condition.need, windows, SEED)
    together = min(TOGETHER, len(places))
    cuts = [places[at : at + together] for at in range(0, len(places), together)]
    if len(cuts) > 1 and len(cuts[-1]) < 2:  # a window alone has no other to be shuffled with
        cuts[-2:] = [cuts[-2] + cuts[-1]]
    found: list[Row] = []
    for number, some in enumerate(cuts):
        share = (part[0] + number / len(cuts)) / part[1]

        def step(done: int, total: int, share: float = share) -> None:
            whole = share + done / total / len(cuts) / part[1]
            rig.progress(round(1000 * whole), 1000, f"condition {condition.name} of {corpus.name}")

        def measure(some: Sequence[Excerpt] = some, step: Callable[[int, int], None] = step) -> Row:
            return ceiling_nll(
                rig.model,
                rig.encoder,
                torch.tensor([one.tokens for one in some], dtype=torch.int64),
                span=condition.span,
                horizon=condition.horizon,
                plan=plan,
                progress=step,
            )

        found.append(ledger.once(f"{corpus.mark}/{condition.name}/{number}", measure))
    return GistReport(
        blocks=condition.blocks,
        tail=condition.tail,
        horizon=condition.horizon,
        level=1,
        slots=rig.encoder.slots,
        seed=SEED,
        offsets=tuple(one.at for one in places),
        nll={name: tuple(value for row in found for value in row[name]) for name in READ},
        groups=tuple(one.document for one in places),
    )


def _shares(report: GistReport, name: str) -> tuple[Interval | None, Interval | None]:
    """The share of the gap that these gists recover, and their content share."""
    shuffled = "shuffled" if name == "gist" else f"{name}_shuffled"
    nll = {**report.nll, "gist": report.nll[name], "shuffled": report.nll[shuffled]}
    own = GistReport(
        report.blocks, report.tail, report.horizon, 1, report.slots, SEED, report.offsets, nll, report.groups
    )
    return own.recovered(), own.content_share()


def _said(share: Interval | None) -> str:
    return share.said(2) if share else "no gap"
