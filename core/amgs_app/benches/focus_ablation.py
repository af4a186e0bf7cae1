"""`bench focus-ablation`: what the parts of the control loop are worth, and whether it stays calm.

One text read with the true tokens forced, refocusing every cadence, by variant: as it is, without the
cooldown, with three passes, without any action, with noise on the scores, and with a causal lens where one is
given. NLL beside swap rate, residency and reversals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from amgs_app.bench_results import BenchResult, BenchTable
from amgs_app.benches.focus_rig import FocusRig
from amgs_app.benches.frame import Bench
from amgs_app.benches.ledger import Row
from amgs_focus.evaluation.budget import focused
from amgs_focus.evaluation.statistics import Interval, resampled
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.settings import FocusSettings
from amgs_focus.window.scores import Scores

BENCH = Bench(
    "focus-ablation",
    {
        "swap_rate": ("<=", 0.25),
        "swap_rate_noisy": ("<=", 0.25),
        "mean_residency": (">=", 3.0),
        "mean_residency_noisy": (">=", 3.0),
        "reversals": ("<=", 0.0),
    },
)
SETTINGS = FocusSettings(window=256)
LIFETIME = 2048
FUTURE = 256
NOISE = 0.5
SEED = 0
PLAIN, NOISY, CAUSAL = "as it is", "noisy scores", "causal lens"


@dataclass(frozen=True)
class NoisyLook:
    """A scorer with uniform noise on every score, drawn anew at every look."""

    scorer: FocusScorer
    rng: np.random.Generator

    @property
    def name(self) -> str:
        return f"{self.scorer.name} with noise"

    @property
    def version(self) -> int:
        return self.scorer.version

    def score(self, view: LensView) -> Scores:
        """The scores, off by up to NOISE."""
        found = self.scorer.score(view)
        noise = self.rng.uniform(-NOISE, NOISE, len(found.values))
        return Scores(np.clip(found.values + noise, -1.0, 1.0), {})


def run(
    rig: FocusRig,
    *,
    causal: FocusScorer | None = None,
    places: int = 6,
    lifetime: int = LIFETIME,
    future: int = FUTURE,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Read so many places of a text with every variant. A quick run reads two places.

    Raises TextError when the text is shorter than one lifetime.
    """
    told = {**rig.parts(), "lifetime": lifetime, "future": future, **settings.model_dump(), "seed": SEED}
    ledger = rig.ledger(BENCH, told)
    drawn = rig.corpus.excerpts(lifetime + future, 2 if rig.quick else places, SEED)
    variants: dict[str, tuple[FocusScorer | None, FocusSettings]] = {
        PLAIN: (rig.scorer, settings),
        "no cooldown": (rig.scorer, settings.model_copy(update={"cooldown": 0})),
        "three passes": (rig.scorer, settings.model_copy(update={"refinement_passes": 3})),
        "no action": (rig.scorer, settings.model_copy(update={"n_diff": 0})),
        NOISY: (None, settings),
    }
    if causal is not None:
        variants[CAUSAL] = (causal, settings)
    rows: dict[str, list[Row]] = {name: [] for name in variants}
    for number, one in enumerate(drawn):
        for name, (chosen, used) in variants.items():
            rig.progress(number, len(drawn), name)
            scorer = chosen or NoisyLook(rig.scorer, np.random.default_rng(SEED + number))
            measure = partial(_read, rig, scorer, one.tokens, future, used)
            rows[name].append(ledger.once(f"{one.document}/{one.at}/{name}", measure))
    shown = {**told, "places": len(drawn), "rows": str(ledger.path)}
    return BENCH.result(shown, _metrics(rows), (_table(rows, [one.document for one in drawn]),))


def _read(
    rig: FocusRig, scorer: FocusScorer, tokens: Sequence[int], future: int, settings: FocusSettings
) -> Row:
    with closing(rig.lifetime(tokens[:-future], settings)) as tree:
        streamed = focused(tree, scorer, settings, tokens[-future:], rig.clock)
    return {
        "nll": float(np.mean(streamed.nll)),
        "each": list(streamed.nll),
        # the first refocus lays out after all that text; stability is what comes after it
        "swaps": float(np.mean(streamed.swaps[1:])),
        "residency": streamed.residency[-1],
        "actions": len(streamed.actions),
        "reversals": streamed.reversals(settings.cooldown),
    }


def _metrics(rows: Mapping[str, Sequence[Row]]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for name, suffix in ((PLAIN, ""), (NOISY, "_noisy")):
        metrics[f"swap_rate{suffix}"] = float(np.mean([row["swaps"] for row in rows[name]]))
        metrics[f"mean_residency{suffix}"] = float(np.mean([row["residency"] for row in rows[name]]))
        metrics[f"reversals{suffix}"] = float(sum(row["reversals"] for row in rows[name]))
    for name, found in rows.items():
        metrics[f"nll_{name.replace(' ', '_')}"] = float(np.mean([row["nll"] for row in found]))
    return metrics


def _table(rows: Mapping[str, Sequence[Row]], groups: Sequence[int]) -> BenchTable:
    lines = []
    for name, found in rows.items():
        difference = _difference(found, rows[PLAIN], groups).said(4) if name != PLAIN else ""
        lines.append(
            (
                name,
                f"{np.mean([row['nll'] for row in found]):.3f}",
                difference,
                f"{np.mean([row['swaps'] for row in found]):.3f}",
                f"{np.mean([row['residency'] for row in found]):.1f}",
                f"{sum(row['reversals'] for row in found)} of {sum(row['actions'] for row in found)}",
            )
        )
    columns = ("variant", "NLL", "against as it is", "swaps an entry", "residency", "reversals of actions")
    return BenchTable("By variant, nats a token", columns, tuple(lines))


def _difference(left: Sequence[Row], right: Sequence[Row], groups: Sequence[int]) -> Interval:
    return resampled(
        {"left": [row["nll"] for row in left], "right": [row["nll"] for row in right]},
        lambda means: means["left"] - means["right"],
        seed=SEED,
        groups=groups,
    )
