"""`focus-gist`: what gists give back of the spans they stand for, on text they were not trained on.

Gap recovered = (drop − gist) / (drop − full) over the next H tokens. Any gist of the right kind of text wins much of
it; so the gists of another place of the same document, those of another text and one constant stand in the same place:
content share = (shuffled − gist) / (shuffled − full) is what the block's own gists add. Both are printed only where
the interval of the divisor excludes 0. Four sinks in every variant; intervals by document, or by chunk where there is
one document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from amgs.types import Progress
from amgs_focus.gist import BLOCK, GistEncoder
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.gist import CONTROLS, VARIANTS, GistControls, GistReport, constant_gist, variant_nll
from benchmarks.focus_evaluation.statistics import Interval
from benchmarks.focus_rig import Excerpt, FocusRig, Ledger, Row, TokenCorpus
from benchmarks.focus_training.gistnet import elsewhere

BENCH = Bench(
    "focus-gist",
    {
        "gap_recovered_2_0_32": (">=", 65.0),
        "gap_recovered_4_1_64": (">=", 55.0),
        "content_share_2_0_32": (">=", 0.35),
        "content_share_4_1_64": (">=", 0.25),
        "content_share_2_0_32_code": (">=", 0.35),
        "content_share_4_1_64_code": (">=", 0.10),
        "l2_harm_nats": ("<=", 0.02),
    },
)
BATCH = 4
SEED = 0
FEW = 6  # documents of a corpus that are also shown one by one


@dataclass(frozen=True, slots=True)
class Condition:
    """`blocks` spans of 32**level tokens are replaced, `tail` raw blocks follow, `horizon` tokens are scored."""

    blocks: int
    tail: int
    horizon: int
    level: int = 1
    variants: tuple[str, ...] = (*VARIANTS, *CONTROLS)

    @property
    def span(self) -> int:
        return self.blocks * int(BLOCK**self.level)

    @property
    def need(self) -> int:
        return self.span + self.tail * BLOCK + self.horizon

    @property
    def beside(self) -> int:
        """Tokens that a document has outside of the window, for the gists of another place."""
        return self.span if "shuffled" in self.variants else 0

    @property
    def name(self) -> str:
        return f"{self.blocks}_{self.tail}_{self.horizon}" if self.level == 1 else f"l{self.level}_{self.tail}"

    @property
    def said(self) -> str:
        level = f" of L{self.level}" if self.level > 1 else ""
        return f"{self.blocks}{level} / {self.tail} / {self.horizon}"


MAIN = (Condition(2, 0, 32), Condition(4, 1, 64), Condition(6, 2, 64))
_HIGHER = ("drop", "pointer", "recent", "gist")  # the full 1,024 tokens would take most of the time
HIGHER = (Condition(1, 0, 32, 2, _HIGHER), Condition(1, 1, 64, 2, _HIGHER))
_FEWER = ("full", "drop", "recent", "gist")


def run(rig: FocusRig, *, windows: int = 48) -> BenchResult:
    """Measure the gists on the corpora, the first of which gives the metrics without a suffix.

    A quick run takes a sixth of the windows. Raises TextError when no document can hold a window.
    """
    encoder, corpora = rig.encoder, rig.corpora
    windows = max(2, windows // 6) if rig.quick else windows
    told = {**rig.models(), "texts": {corpus.name: corpus.mark for corpus in corpora}, "seed": SEED}
    told["other"] = {corpus.name: _other_name(corpus, corpora) for corpus in corpora}
    ledger = rig.ledger(BENCH, told)
    plan = [(corpus, c, encoder) for corpus in corpora for c in (*MAIN, *HIGHER)]
    reports: dict[tuple[str, str], GistReport] = {}
    for place, (corpus, condition, gist) in enumerate(plan):
        share = _share(rig.progress, place * windows, len(plan) * windows)
        count = windows if condition.level == 1 else max(2, windows // 2)
        if (found := _report(rig, gist, corpus, condition, count, ledger, share)) is not None:
            reports[corpus.name, condition.name] = found
    tables = [table(corpus, reports) for corpus in corpora for table in (_table, _content_table, _by_document)]
    tables = [table for table in tables if table.rows]
    shown = {**told, "windows": windows, "rows": str(ledger.path)}
    return BENCH.result(shown, _metrics(corpora, reports), tuple(tables))


def _share(progress: Progress, before: int, total: int) -> Callable[[int, int, str], None]:
    """Progress of one condition as a part of the whole run."""

    def told(done: int, _: int, doing: str) -> None:
        progress(before + done, total, f"condition {doing}")

    return told


def _report(
    rig: FocusRig,
    encoder: GistEncoder,
    corpus: TokenCorpus,
    condition: Condition,
    windows: int,
    ledger: Ledger,
    told: Callable[[int, int, str], None],
) -> GistReport | None:
    """One condition measured in so many places; None where no document is long enough."""
    if max(map(len, corpus.documents), default=0) < condition.need + condition.beside:
        return None
    places = corpus.excerpts(condition.need, windows, SEED, beside=condition.beside)
    variants = tuple(name for name in condition.variants if name != "other" or _other_name(corpus, rig.corpora))
    rows: list[Mapping[str, float]] = []
    constant: list[torch.Tensor] = []
    for start in range(0, len(places), BATCH):
        told(start, len(places), condition.name)
        some = places[start : start + BATCH]
        first = (some[0].document, some[0].at)
        key = f"{corpus.mark}/{condition.name}/{encoder.name}/{first}-{len(some)}"

        def measure(some: Sequence[Excerpt] = some) -> Row:
            if "constant" in variants and not constant:
                constant.append(constant_gist(rig.model, encoder, sum(corpus.documents, ())))
            return variant_nll(
                rig.model,
                encoder,
                torch.tensor([one.tokens for one in some], dtype=torch.int64),
                span=condition.span,
                horizon=condition.horizon,
                level=condition.level,
                variants=variants,
                controls=_controls(some, corpus, rig.corpora, condition, variants, constant),
            )

        found = ledger.once(key, measure)
        rows += [{name: found[name][i] for name in variants} for i in range(len(some))]
    return GistReport(
        blocks=condition.blocks,
        tail=condition.tail,
        horizon=condition.horizon,
        level=condition.level,
        seed=SEED,
        offsets=tuple(one.at for one in places),
        nll={name: tuple(row[name] for row in rows) for name in variants},
        groups=tuple(one.document for one in places),
    )


def _controls(
    places: Sequence[Excerpt],
    corpus: TokenCorpus,
    corpora: Sequence[TokenCorpus],
    condition: Condition,
    variants: Sequence[str],
    constant: Sequence[torch.Tensor],
) -> GistControls:
    """What stands in the place of the right gists, for excerpts of a corpus."""
    shuffled = other = None
    if "shuffled" in variants:
        shuffled = torch.stack(
            [elsewhere(corpus.documents[one.document], one.at, condition.need, condition.span, SEED) for one in places]
        )
    if "other" in variants:
        other = torch.stack(
            [
                elsewhere(_other_text(one.document, corpus, corpora, condition.span), one.at, 0, condition.span, SEED)
                for one in places
            ]
        )
    return GistControls(shuffled, other, constant[0] if constant else None)


def _other_name(corpus: TokenCorpus, corpora: Sequence[TokenCorpus]) -> str:
    """Where "another text" is taken from: the other documents, else the other corpus; empty where there is none."""
    if len(corpus.documents) > 1:
        return "the next document"
    return next((other.name for other in corpora if other is not corpus), "")


def _other_text(document: int, corpus: TokenCorpus, corpora: Sequence[TokenCorpus], span: int) -> tuple[int, ...]:
    """The next document of the corpus that has a span, else the longest of another corpus."""
    documents = corpus.documents
    for step in range(1, len(documents)):
        if len(following := documents[(document + step) % len(documents)]) >= span:
            return following
    others = [text for other in corpora if other is not corpus for text in other.documents]
    return max(others, key=len, default=())


def _metrics(corpora: Sequence[TokenCorpus], reports: Mapping[tuple[str, str], GistReport]) -> dict[str, float]:
    """Gap recovered in percent, gap and harm in nats, content as a share; of a second corpus with `_code` behind."""
    metrics: dict[str, float] = {}
    for corpus, suffix in zip(corpora, ("", *(["_code"] * (len(corpora) - 1))), strict=True):
        for condition in MAIN:
            if (report := reports.get((corpus.name, condition.name))) is not None:
                share = report.recovered()
                metrics[f"gap_recovered_{condition.name}{suffix}"] = 100 * share.mean if share else math.nan
                metrics[f"gap_nats_{condition.name}{suffix}"] = report.gap().mean
                content = report.content_share()
                metrics[f"content_share_{condition.name}{suffix}"] = content.mean if content else math.nan
        harms = [
            report.harm().high
            for condition in HIGHER
            if (report := reports.get((corpus.name, condition.name))) is not None
        ]
        if harms:
            metrics[f"l2_harm_nats{suffix}"] = max(harms)
    return metrics


def _table(corpus: TokenCorpus, reports: Mapping[tuple[str, str], GistReport]) -> BenchTable:
    columns = ("blocks / tail / horizon", "windows", *VARIANTS, *CONTROLS, "gap", "recovered %", "gist − drop")
    rows = []
    for condition in (*MAIN, *HIGHER):
        if (report := reports.get((corpus.name, condition.name))) is None:
            continue
        means = [f"{report.mean(name).mean:.3f}" if name in report.nll else "" for name in (*VARIANTS, *CONTROLS)]
        full = "full" in report.nll
        rows.append(
            (
                condition.said,
                str(len(report.offsets)),
                *means,
                report.gap().said(3) if full else "",
                _share_said(report.recovered(), 100) if full else "",
                report.harm().said(3),
            )
        )
    return BenchTable(f"NLL in nats a token on {corpus.name}, {corpus.tokens:,} tokens", columns, tuple(rows))


def _content_table(corpus: TokenCorpus, reports: Mapping[tuple[str, str], GistReport]) -> BenchTable:
    """What is left of the gists' merit when gists that know nothing of the block stand in their place."""
    rows = []
    for condition in MAIN:
        if (report := reports.get((corpus.name, condition.name))) is None:
            continue
        controls = [name if name in report.nll else None for name in CONTROLS]
        rows.append(
            (
                condition.said,
                *(_share_said(report.recovered(name), 100) if name else "" for name in ("gist", *controls)),
                *(_share_said(report.content_share(name)) if name else "" for name in controls),
                report.content("drop").said(3),
                report.content().said(3),
                report.harm("shuffled").said(3),
            )
        )
    columns = (
        "blocks / tail / horizon",
        *(f"recovered, {name} %" for name in ("gist", *CONTROLS)),
        *(f"content share over {name}" for name in CONTROLS),
        "drop − gist",
        "shuffled − gist",
        "shuffled − drop",
    )
    return BenchTable(f"What gists that know nothing of the block give on {corpus.name}", columns, tuple(rows))


def _by_document(corpus: TokenCorpus, reports: Mapping[tuple[str, str], GistReport]) -> BenchTable:
    """Of a corpus of few documents, each by itself; intervals by chunk."""
    rows = []
    for condition in MAIN if 1 < len(corpus.documents) <= FEW else ():
        if (report := reports.get((corpus.name, condition.name))) is None:
            continue
        for document, name in enumerate(corpus.names):
            if (alone := report.of_group(document)) is not None:
                rows.append(
                    (
                        condition.said,
                        name,
                        str(len(alone.offsets)),
                        _share_said(alone.recovered(), 100),
                        _share_said(alone.content_share()),
                        alone.content().said(3),
                    )
                )
    columns = ("blocks / tail / horizon", "document", "windows", "recovered %", "content share", "shuffled − gist")
    return BenchTable(f"By document of {corpus.name}", columns, tuple(rows))


def _share_said(share: Interval | None, scale: float = 1.0) -> str:
    return share.said(1 if scale > 1 else 2, scale) if share else "no gap"
