"""`focus-gist --against`: another way to make gists beside the gists that ship, before three judges at once.

Judged are the NLL of what follows, paired; the content share of both, each against its own shuffled gists, since a way
whose wrong gists mislead more has a share without helping; and facts planted in blocks of the first corpus.
"""

from __future__ import annotations

import math

import torch

from amgs_focus.errors import TextError
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.gist_judges import ASKED, READ, GistWay, Judged, facts_answered, planted, window_nll
from benchmarks.focus_evaluation.needles import CHANCE, facts
from benchmarks.focus_evaluation.statistics import Interval, resampled
from benchmarks.focus_gist import BENCH, Condition
from benchmarks.focus_rig import FocusRig, Ledger, Row, TokenCorpus

CONDITIONS = (Condition(2, 0, 32), Condition(4, 1, 64))
"""Of the first corpus; of another one only the first, since behind a raw block no gist of code gives anything yet."""
SEED = 0
TOGETHER = 6
"""Windows in one row; the gists of the one before stand for the shuffled."""
FACTS = 32


def run(rig: FocusRig, way: GistWay, *, windows: int = 48) -> BenchResult:
    """Hold a way to make gists against the rig's. A quick run takes a sixth of the windows and a quarter of the facts.

    Raises TextError when no document can hold a window.
    """
    windows = max(2, windows // 6) if rig.quick else windows
    told = {
        **rig.models(),
        "texts": {corpus.name: corpus.mark for corpus in rig.corpora},
        "against": way.name,
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    runs = [(rig.corpus, one) for one in CONDITIONS] + [(other, CONDITIONS[0]) for other in rig.corpora[1:]]
    metrics: dict[str, float] = {}
    rows: list[tuple[str, ...]] = []
    for place, (corpus, condition) in enumerate(runs):
        rig.progress(place, len(runs) + 1, f"condition {condition.name} of {corpus.name}")
        judged = _judged(rig, way, corpus, condition, windows, ledger)
        ending = condition.name + ("" if corpus is rig.corpus else "_code")
        metrics[f"gained_{ending}"] = judged.gained().mean
        metrics[f"gained_high_{ending}"] = judged.gained().high
        shares = [judged.share(name) for name in ("gist", "other way")]
        for kind, share in zip(("shipped", "against"), shares, strict=True):
            metrics[f"content_share_{kind}_{ending}"] = share.mean if share else math.nan
        rows.append(
            (
                f"{corpus.name}: {condition.said}",
                str(len(judged.groups)),
                *(f"{sum(judged.nll[name]) / len(judged.groups):.3f}" for name in READ),
                judged.gained().said(3),
                judged.gained("shuffled").said(3),
                *(share.said(2) if share else "no gap" for share in shares),
            )
        )
    rig.progress(len(runs), len(runs) + 1, "facts")
    answered = _answered(rig, way, FACTS // 4 if rig.quick else FACTS, ledger)
    metrics |= {f"answered_{name.replace(' ', '_')}": answered[name].mean for name in ASKED}
    columns = (
        "blocks / tail / horizon",
        "windows",
        *READ,
        "other way − gist",
        "other way − shuffled gists",
        "content share: gist",
        "content share: other way",
    )
    tables = (
        BenchTable(f"NLL in nats a token, {way.name}", columns, tuple(rows)),
        BenchTable(
            "Planted facts: the likeliest of eight answers is the right one",
            ("answered", "", "nats to the best wrong one"),
            (
                ("chance", f"{CHANCE:.2f}", ""),
                *((name, answered[name].said(2), answered[f"{name}, margin"].said(2)) for name in ASKED),
                ("other way − gist", answered["gained"].said(2), answered["gained, margin"].said(2)),
            ),
        ),
    )
    return BENCH.result({**told, "windows": windows, "rows": str(ledger.path)}, metrics, tables)


def _judged(
    rig: FocusRig, way: GistWay, corpus: TokenCorpus, condition: Condition, windows: int, ledger: Ledger
) -> Judged:
    """One condition of a corpus in so many places."""
    places = corpus.excerpts(condition.need, windows, SEED)
    if len(places) < 2:
        raise TextError(f"{corpus.name} holds one window, and another is needed for its gists.")
    cuts = [places[at : at + TOGETHER] for at in range(0, len(places), TOGETHER)]
    if len(cuts[-1]) < 2:
        cuts[-2:] = [cuts[-2] + cuts[-1]]
    found: dict[str, list[float]] = {name: [] for name in READ}
    for some in cuts:
        taken = torch.tensor([one.tokens for one in some], dtype=torch.int64)

        def measure(taken: torch.Tensor = taken) -> Row:
            return window_nll(rig.model, rig.encoder, way, taken, span=condition.span, horizon=condition.horizon)

        key = f"{corpus.mark}/{condition.name}/{some[0].document}, {some[0].at}, {len(some)}"
        for name, values in ledger.once(key, measure).items():
            found[name] += values
    return Judged(found, [one.document for one in places], SEED)


def _answered(rig: FocusRig, way: GistWay, count: int, ledger: Ledger) -> dict[str, Interval]:
    """Shares and margins by what stood for the block, and what the other way gained."""
    asked = facts(count, SEED)
    blocks = planted(rig.model, rig.text, asked)
    columns: dict[str, list[float]] = {}
    for at in range(0, count, TOGETHER):

        def ask(part: slice = slice(at, at + TOGETHER)) -> Row:
            return facts_answered(rig.model, rig.encoder, way, blocks[part], asked[part])

        for name, values in ledger.once(f"facts/{count}/{at}", ask).items():
            columns.setdefault(name, []).extend(values)
    for of in ("", ", margin"):
        pairs = zip(columns[f"other way{of}"], columns[f"gist{of}"], strict=True)
        columns[f"gained{of}"] = [other - own for other, own in pairs]
    return {name: resampled({"x": values}, lambda means: means["x"], seed=SEED) for name, values in columns.items()}
