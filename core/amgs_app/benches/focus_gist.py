"""`bench focus-gist`: what gists give back of the spans they stand for, on text they were not trained on.

Gap recovered = (drop − gist) / (drop − full) over the next H tokens, printed only where the gap's interval
excludes 0. Four sinks in every variant; intervals by document, or by chunk where there is one document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from amgs.types import Progress
from amgs_app.bench_results import BenchResult, BenchTable
from amgs_app.benches.focus_rig import FocusRig
from amgs_app.benches.focus_texts import Excerpt, TokenCorpus
from amgs_app.benches.frame import Bench
from amgs_app.benches.ledger import Ledger, Row
from amgs_focus.evaluation.gist import VARIANTS, GistReport, variant_nll
from amgs_focus.gist.gistnet import BLOCK, SLOTS, GistEncoder, GistNetEncoder, for_model
from amgs_focus.model.base_model import BaseModel

BENCH = Bench(
    "focus-gist",
    {
        "gap_recovered_2_0_32": (">=", 65.0),
        "gap_recovered_4_1_64": (">=", 55.0),
        "l2_harm_nats": ("<=", 0.02),
    },
)
BATCH = 4
SEED = 0


@dataclass(frozen=True, slots=True)
class Condition:
    """`blocks` spans of 32**level tokens are replaced, `tail` raw blocks follow, `horizon` tokens are scored."""

    blocks: int
    tail: int
    horizon: int
    level: int = 1
    variants: tuple[str, ...] = VARIANTS

    @property
    def span(self) -> int:
        return self.blocks * int(BLOCK**self.level)

    @property
    def need(self) -> int:
        return self.span + self.tail * BLOCK + self.horizon

    @property
    def name(self) -> str:
        return (
            f"{self.blocks}_{self.tail}_{self.horizon}" if self.level == 1 else f"l{self.level}_{self.tail}"
        )


MAIN = (Condition(2, 0, 32), Condition(4, 1, 64), Condition(6, 2, 64))
_HIGHER = ("drop", "pointer", "recent", "gist")  # the full 1,024 tokens would take most of the time
HIGHER = (Condition(1, 0, 32, 2, _HIGHER), Condition(1, 1, 64, 2, _HIGHER))
_FEWER = ("full", "drop", "recent", "gist")
CURVE = (Condition(2, 0, 32, 1, _FEWER), Condition(4, 1, 64, 1, _FEWER))


def run(rig: FocusRig, *, windows: int = 48) -> BenchResult:
    """Measure the gists on the corpora, the first of which gives the metrics without a suffix.

    A quick run takes a sixth of the windows. Raises TextError when no document can hold a window.
    """
    encoder, corpora = rig.encoder, rig.corpora
    windows = max(2, windows // 6) if rig.quick else windows
    told = {**rig.models(), "texts": {corpus.name: corpus.mark for corpus in corpora}, "seed": SEED}
    ledger = rig.ledger(BENCH, told)
    curve = [_with_slots(rig.model, encoder, slots) for slots in SLOTS]
    plan = [(corpus, c, encoder) for corpus in corpora for c in (*MAIN, *HIGHER)]
    plan += [(rig.corpus, c, other) for c in CURVE for other in curve if other.slots != encoder.slots]
    reports: dict[tuple[str, str, int], GistReport] = {}
    for place, (corpus, condition, gist) in enumerate(plan):
        share = _share(rig.progress, place * windows, len(plan) * windows)
        count = windows if condition.level == 1 else max(2, windows // 2)
        if (found := _report(rig.model, gist, corpus, condition, count, ledger, share)) is not None:
            reports[corpus.name, condition.name, gist.slots] = found
    tables = [_table(corpus, reports, encoder) for corpus in corpora]
    tables.append(_curve(rig.corpus, reports, curve))
    shown = {**told, "windows": windows, "rows": str(ledger.path)}
    return BENCH.result(shown, _metrics(corpora, reports, encoder.slots), tuple(tables))


def _with_slots(model: BaseModel, encoder: GistEncoder, slots: int) -> GistEncoder:
    """The measured gists with so many a block, where they can be had; else what ships."""
    if slots == encoder.slots:
        return encoder
    if isinstance(encoder, GistNetEncoder) and encoder.trained_slots == 1:
        return encoder.with_slots(slots)
    return for_model(model, slots)


def _share(progress: Progress, before: int, total: int) -> Callable[[int, int, str], None]:
    """Progress of one condition as a part of the whole run."""

    def told(done: int, _: int, doing: str) -> None:
        progress(before + done, total, f"condition {doing}")

    return told


def _report(
    model: BaseModel,
    encoder: GistEncoder,
    corpus: TokenCorpus,
    condition: Condition,
    windows: int,
    ledger: Ledger,
    told: Callable[[int, int, str], None],
) -> GistReport | None:
    """One condition measured in so many places; None where no document is long enough."""
    if max(map(len, corpus.documents), default=0) < condition.need:
        return None
    places = corpus.excerpts(condition.need, windows, SEED)
    rows: list[Mapping[str, float]] = []
    for start in range(0, len(places), BATCH):
        told(start, len(places), condition.name)
        some = places[start : start + BATCH]
        first = (some[0].document, some[0].at)
        key = f"{corpus.mark}/{condition.name}/{encoder.name}-{encoder.slots}/{first}-{len(some)}"

        def measure(some: Sequence[Excerpt] = some) -> Row:
            return variant_nll(
                model,
                encoder,
                torch.tensor([one.tokens for one in some], dtype=torch.int64),
                span=condition.span,
                horizon=condition.horizon,
                level=condition.level,
                variants=condition.variants,
            )

        found = ledger.once(key, measure)
        rows += [{name: found[name][i] for name in condition.variants} for i in range(len(some))]
    return GistReport(
        blocks=condition.blocks,
        tail=condition.tail,
        horizon=condition.horizon,
        level=condition.level,
        slots=encoder.slots,
        seed=SEED,
        offsets=tuple(one.at for one in places),
        nll={name: tuple(row[name] for row in rows) for name in condition.variants},
        groups=tuple(one.document for one in places),
    )


def _metrics(
    corpora: Sequence[TokenCorpus], reports: Mapping[tuple[str, str, int], GistReport], slots: int
) -> dict[str, float]:
    """Those that the requirement lists, in percent and nats; of a second corpus with `_code` behind."""
    metrics: dict[str, float] = {}
    for corpus, suffix in zip(corpora, ("", *(["_code"] * (len(corpora) - 1))), strict=True):
        for condition in MAIN:
            if (report := reports.get((corpus.name, condition.name, slots))) is not None:
                share = report.recovered()
                metrics[f"gap_recovered_{condition.name}{suffix}"] = 100 * share.mean if share else math.nan
                metrics[f"gap_nats_{condition.name}{suffix}"] = report.gap().mean
        harms = [
            report.harm().high
            for condition in HIGHER
            if (report := reports.get((corpus.name, condition.name, slots))) is not None
        ]
        if harms:
            metrics[f"l2_harm_nats{suffix}"] = max(harms)
    return metrics


def _table(
    corpus: TokenCorpus, reports: Mapping[tuple[str, str, int], GistReport], encoder: GistEncoder
) -> BenchTable:
    columns = ("blocks / tail / horizon", "windows", *VARIANTS, "gap", "recovered %", "gist − drop")
    rows = []
    for condition in (*MAIN, *HIGHER):
        if (report := reports.get((corpus.name, condition.name, encoder.slots))) is None:
            continue
        level = f" of L{condition.level}" if condition.level > 1 else ""
        means = [f"{report.mean(name).mean:.3f}" if name in condition.variants else "" for name in VARIANTS]
        full = "full" in condition.variants
        share = report.recovered() if full else None
        rows.append(
            (
                f"{condition.blocks}{level} / {condition.tail} / {condition.horizon}",
                str(len(report.offsets)),
                *means,
                report.gap().said(3) if full else "",
                share.said(1, 100) if share else ("no gap" if full else ""),
                report.harm().said(3),
            )
        )
    return BenchTable(f"NLL in nats a token on {corpus.name}, {corpus.tokens:,} tokens", columns, tuple(rows))


def _curve(
    corpus: TokenCorpus, reports: Mapping[tuple[str, str, int], GistReport], curve: Sequence[GistEncoder]
) -> BenchTable:
    """Recovered share by slots a block, beside as many raw tokens; what no net was trained for says so."""
    rows = []
    for gist in curve:
        found = [reports.get((corpus.name, condition.name, gist.slots)) for condition in CURVE]
        shares = [
            (share.said(1, 100) if (share := report.recovered(variant)) else "no gap") if report else ""
            for report in found
            for variant in ("gist", "recent")
        ]
        rows.append((str(gist.slots), _made(gist), *shares))
    named = [f"{c.blocks} / {c.tail} / {c.horizon}" for c in CURVE]
    columns = (
        "slots a block",
        "made of",
        *(f"{c}, {v} %" for c in named for v in ("gists", "recent tokens")),
    )
    return BenchTable("Recovered by slots a block, blocks / tail / horizon", columns, tuple(rows))


def _made(gist: GistEncoder) -> str:
    if not isinstance(gist, GistNetEncoder):
        return "pointer, untrained"
    kept = gist.slots - gist.trained_slots
    return f"{gist.name} and {kept} raw" if kept else gist.name
