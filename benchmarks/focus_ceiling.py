"""`focus-ceiling`: what the gists of a block could carry at best, when they are moved by gradient for it alone.

Each condition takes 24 blocks. The vectors learn from continuations that the frozen model samples after the full text,
and are judged on what really follows; the optimised gists of another place stand beside them as the control.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

import torch

from amgs_focus.evaluation.gist import GistReport
from amgs_focus.evaluation.statistics import Interval
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.ceiling import CeilingPlan, ceiling_nll
from benchmarks.focus_gist import Condition
from benchmarks.focus_rig import FocusRig
from benchmarks.focus_texts import Excerpt, TokenCorpus
from benchmarks.frame import Bench
from benchmarks.ledger import Row

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
