"""`focus-ablation`: what the parts of the control loop are worth, and whether it stays calm.

Facts planted in a text are asked for one after another, with two more refocuses after each question, by variant: as it
is, without the cooldown, with one pass after a question, with as many actions as all its passes have in that one,
without any action, with noise on the scores, and with the causal twin of a lens; where questions are looked up by
meaning too, with that. On plain prose the shipped lens opens
nothing, so that nothing could be told there. Answers beside swap rate, residency and reversals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from amgs_focus.evaluation.statistics import Interval, resampled
from amgs_focus.lens.linear import LinearLens
from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.window.scores import Scores
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.asking import in_sight
from benchmarks.focus_evaluation.budget import Streamed
from benchmarks.focus_evaluation.needles import CHANCE, facts, needle_nll, plant
from benchmarks.focus_rig import FocusRig
from benchmarks.focus_training.lensnet import LensNetScorer
from benchmarks.frame import Bench
from benchmarks.ledger import Row

BENCH = Bench(
    "focus-ablation",
    {
        "swap_rate": ("<=", 0.25),
        "swap_rate_noisy": ("<=", 0.25),
        "mean_residency": (">=", 3.0),
        "mean_residency_noisy": (">=", 3.0),
        "reversals": ("<=", 0.0),
        "actions": (">=", 1.0),
    },
)
SETTINGS = FocusSettings(window=256)
LIFETIME = 2048
FACTS = 4
AGAIN = 2  # refocuses after the one that follows a question
AT_ONCE = SETTINGS.question_passes * SETTINGS.question_n_diff
NOISE = 0.5
SEED = 0
PLAIN, NOISY, CAUSAL = "as it is", "noisy scores", "causal twin"
SEARCHED = "looked up"


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
    places: int = 6,
    lifetime: int = LIFETIME,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Ask for the facts of so many places of a text with every variant. A quick run takes two places.

    Raises TextError when the text is shorter than one lifetime.
    """
    told = {
        **rig.parts(),
        "lifetime": lifetime,
        "facts": FACTS,
        **settings.model_dump(),
        "seed": SEED,
        **rig.searching(),
    }
    ledger = rig.ledger(BENCH, told)
    drawn = rig.corpus.excerpts(lifetime, 2 if rig.quick else places, SEED)
    variants: dict[str, tuple[FocusScorer | None, FocusSettings]] = {
        PLAIN: (rig.scorer, settings),
        "no cooldown": (rig.scorer, settings.model_copy(update={"cooldown": 0})),
        "one pass": (rig.scorer, settings.model_copy(update={"question_passes": 1})),
        "all at once": (
            rig.scorer,
            settings.model_copy(update={"question_passes": 1, "question_n_diff": AT_ONCE}),
        ),
        "no action": (rig.scorer, settings.model_copy(update={"n_diff": 0, "question_n_diff": 0})),
        NOISY: (None, settings),
    }
    if isinstance(rig.scorer, LensNetScorer | LinearLens):
        variants[CAUSAL] = (rig.scorer.twin(), settings)
    if rig.search is not None:
        variants[SEARCHED] = (rig.scorer, settings)
    rows: dict[str, list[Row]] = {name: [] for name in variants}
    for number, one in enumerate(drawn):
        for name, (chosen, used) in variants.items():
            rig.progress(number, len(drawn), name)
            scorer = chosen or NoisyLook(rig.scorer, np.random.default_rng(SEED + number))
            search = rig.search if name == SEARCHED else None
            measure = partial(_ask, rig, scorer, search, one.tokens, number, used)
            rows[name].append(ledger.once(f"{one.document}/{one.at}/{name}", measure))
    shown = {**told, "places": len(drawn), "chance": 100 * CHANCE, "rows": str(ledger.path)}
    return BENCH.result(shown, _metrics(rows), (_table(rows, [one.document for one in drawn]),))


def _ask(
    rig: FocusRig,
    scorer: FocusScorer,
    search: QuestionSearch | None,
    text: Sequence[int],
    number: int,
    settings: FocusSettings,
) -> Row:
    """The facts of one place, asked in the order in which they stand."""
    model = rig.model
    tokens, planted = plant(
        model, text, facts(FACTS, SEED + number), len(text), settings.block_size, SEED + number
    )
    found: list[Row] = []
    records = []
    with closing(rig.lifetime(tokens, settings)) as tree:
        runtime = FocusRuntime(
            model, scorer=scorer, settings=settings, tree=tree, clock=rig.clock, search=search
        )
        for one in planted:
            runtime.question(one.needle.question)
            records.append(runtime.refocus())
            rows = runtime.context.embeddings(tree, 0, runtime.context.used)
            losses = needle_nll(model, rows, one.needle)
            found.append(
                {
                    "answered": float(np.argmin(losses) == one.needle.right),
                    "expanded": float(in_sight(runtime.context, one)),
                    "nll": losses[one.needle.right],
                }
            )
            records += [runtime.refocus() for _ in range(AGAIN)]
    actions = [(record.number, act.node, act.kind) for record in records for act in record.applied]
    return {
        **{name: float(np.mean([one[name] for one in found])) for name in found[0]},
        "swaps": float(np.mean([record.swap_rate for record in records])),
        "residency": records[-1].mean_residency,
        "actions": len(actions),
        "reversals": Streamed((), (), (), actions=tuple(actions)).reversals(settings.cooldown),
    }


def _metrics(rows: Mapping[str, Sequence[Row]]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for name, suffix in ((PLAIN, ""), (NOISY, "_noisy")):
        metrics[f"swap_rate{suffix}"] = float(np.mean([row["swaps"] for row in rows[name]]))
        metrics[f"mean_residency{suffix}"] = float(np.mean([row["residency"] for row in rows[name]]))
        metrics[f"reversals{suffix}"] = float(sum(row["reversals"] for row in rows[name]))
    for name, found in rows.items():
        said = name.replace(" ", "_")
        metrics[f"answered_{said}"] = 100 * float(np.mean([row["answered"] for row in found]))
        metrics[f"nll_{said}"] = float(np.mean([row["nll"] for row in found]))
    metrics["actions"] = float(sum(row["actions"] for row in rows[PLAIN]))
    return metrics


def _table(rows: Mapping[str, Sequence[Row]], groups: Sequence[int]) -> BenchTable:
    lines = []
    for name, found in rows.items():
        difference = _difference(found, rows[PLAIN], groups).said(4) if name != PLAIN else ""
        lines.append(
            (
                name,
                f"{100 * np.mean([row['answered'] for row in found]):.0f}",
                f"{100 * np.mean([row['expanded'] for row in found]):.0f}",
                f"{np.mean([row['nll'] for row in found]):.3f}",
                difference,
                f"{np.mean([row['swaps'] for row in found]):.3f}",
                f"{np.mean([row['residency'] for row in found]):.1f}",
                f"{sum(row['reversals'] for row in found)} of {sum(row['actions'] for row in found)}",
            )
        )
    columns = (
        "variant",
        "answered, %",
        "key expanded, %",
        "NLL of the answer, nats",
        "against as it is",
        "swaps an entry",
        "residency",
        "reversals of actions",
    )
    return BenchTable(f"By variant; chance is {100 * CHANCE} %", columns, tuple(lines))


def _difference(left: Sequence[Row], right: Sequence[Row], groups: Sequence[int]) -> Interval:
    return resampled(
        {"left": [row["nll"] for row in left], "right": [row["nll"] for row in right]},
        lambda means: means["left"] - means["right"],
        seed=SEED,
        groups=groups,
    )
