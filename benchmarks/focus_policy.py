"""`focus-policy`: whose choice of detail helps the model most, on measured ΔNLL.

regret = (oracle − policy) / (oracle − recency) of what is open, in measured nats: 0 is the best choice there
is, 1 no better than opening what is latest. Summed over all places before the division; intervals by place.
"Filled by rank" opens the policy's best blocks one by one, whatever the scale and sign of its values.
Of single ΔNLLs it is the regret of a sum (the oracle chooses by them); of the NLL after the context that was
really built it is `regret_built` (the greedy oracle measures after each of its steps).

With facts a question in other words stands after each lifetime, in which some of them are planted, and what is scored
is the statement that answers it. "As a session refocuses" is the context after a session's own refocus, and gives
`regret_asked`. Its scores as values are "search and lens"; beside them the search alone: the order that its evidence
gives all blocks, and that of meaning alone.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np

from amgs.errors import UsageError
from amgs_focus.lens.question_search import QuestionScorer, QuestionSearch
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import SearchOptions
from amgs_focus.settings import FocusSettings
from amgs_focus.window.layout import assemble
from amgs_focus.window.working_context import Values
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import FactQuestion, asked, plant_facts
from benchmarks.focus_evaluation.policy import (
    FILLED,
    GREEDY,
    ORACLE,
    RECENT_TOKENS,
    STATIC,
    Attentive,
    Judged,
    Policy,
    by_age,
    by_attention,
    by_chance,
    by_findings,
    by_recency,
    by_scorer,
    judge,
)
from benchmarks.focus_evaluation.statistics import Interval, resampled, spearman
from benchmarks.focus_rig import FocusRig, Row, asked_snapshot_of, snapshot_of
from benchmarks.references import Bm25

BENCH = Bench(
    "focus-policy",
    {
        "regret": ("<=", 0.6),
        "regret_built": ("<=", 0.8),
        "spearman": (">=", 0.35),
        "regret_below_bm25": (">=", 0.0),
        "regret_asked": ("<=", 0.8),
        "regret_asked_built": ("<=", 0.8),
        "spearman_asked": (">=", 0.35),
    },
)
SETTINGS = FocusSettings(window=256, focus_share=0.25, horizon=512)
LIFETIME = 2048
SEED = 0
PLANTED = 4  # facts a lifetime, one of which is asked for
RECENCY, AGE, BM25, CHANCE = "recency", "oldest first", "BM25 to the tail", "random"
SESSION = "as a session refocuses"
SHIPPED, INDEX, MEANING = "search and lens", "search alone", "meaning alone"


def run(
    rig: FocusRig,
    *,
    places: int = 16,
    lifetime: int = LIFETIME,
    settings: FocusSettings = SETTINGS,
    facts: Sequence[FactQuestion] = (),
) -> BenchResult:
    """Measure every action in so many places of a text; the first scorer gives `regret` and `spearman`, with facts the
    search with it. A quick run takes a quarter of the places.

    Raises TextError when the text is shorter than one lifetime, UsageError when there are facts and no text encoder.
    """
    search = rig.search
    if facts and search is None:
        raise UsageError("Questions are looked up with a text encoder.", way_out="Set model.embedder.")
    places = max(2, places // 4) if rig.quick else places
    told = {**rig.parts_with(rig.scorers), "lifetime": lifetime, **settings.model_dump(), "seed": SEED}
    if facts:
        mark = hashlib.sha256(repr(facts).encode()).hexdigest()[:10]
        told |= {"facts": f"{len(facts)} {mark}", **rig.searching()}
    ledger = rig.ledger(BENCH, told)
    drawn = rig.corpus.excerpts(lifetime + (0 if facts else settings.horizon), places, SEED)
    rows = []
    for number, one in enumerate(drawn):
        rig.progress(number, len(drawn), "place")
        if facts and search is not None:
            measure = partial(_asked, rig, search, one.tokens, facts, settings, number)
        else:
            measure = partial(_judged, rig, one.tokens, settings, number)
        rows.append(ledger.once(f"{one.document}/{one.at}", measure))
    groups = [one.document for one in drawn]
    own = SHIPPED if facts else rig.scorer.name
    shown = {**told, "places": len(rows), "scorer": own, "rows": str(ledger.path)}
    shown["actions"] = sum(len(row["gains"]) for row in rows)
    metrics = _asked_metrics(rows, groups) if facts else _metrics(rows, own, groups)
    return BENCH.result(shown, metrics, (_table(rows, groups),))


def _judged(rig: FocusRig, tokens: Sequence[int], settings: FocusSettings, number: int) -> Row:
    """What every action of one place is worth, and what each policy would have chosen."""
    snapshot = snapshot_of(rig.model, rig.encoder, tokens, settings.horizon, settings)
    static = assemble(snapshot.tree, settings.window, settings.tail_blocks)
    return _row(judge(snapshot, _policies(rig.model, rig.scorers, number), {STATIC: static}))


def _asked(
    rig: FocusRig,
    search: QuestionSearch,
    tokens: Sequence[int],
    facts: Sequence[FactQuestion],
    settings: FocusSettings,
    number: int,
) -> Row:
    """The same of a place with facts in it, one of which is asked for in other words."""
    rng = random.Random(f"{SEED} {number}")
    about = facts[number % len(facts)]
    others = rng.sample([fact for fact in facts if fact != about], min(PLANTED, len(facts)) - 1)
    chosen = rng.sample([about, *others], 1 + len(others))
    planted, _ = plant_facts(rig.model, tokens, chosen, len(tokens), number)
    question = about.other_words
    snapshot = asked_snapshot_of(rig.model, rig.encoder, planted, question, about.statement, settings)
    context, tree = snapshot.context, snapshot.tree
    tree.vectors.sync(tree, search.encoder)
    found = search.find(tree, question, context.tail_start)
    all_blocks = tree.count(1)
    every = SearchOptions(likelihood=0.0, by_meaning=all_blocks, found=all_blocks)
    policies = {SHIPPED: by_scorer(QuestionScorer(rig.scorer, search.options))}
    for name, options in ((INDEX, every), (MEANING, replace(every, words=0.0, similar=0.0))):
        ranked = QuestionSearch(search.encoder, options).find(tree, question, context.tail_start)
        policies[name] = by_findings(ranked)
    policies |= _policies(rig.model, rig.scorers, number)
    with closing(rig.lifetime(planted, settings)) as unasked:
        session, _, _ = asked(unasked, rig.scorer, settings, question, rig.clock, search)
    fixed = {STATIC: assemble(tree, settings.window, settings.tail_blocks), SESSION: session}
    return _row(judge(snapshot, policies, fixed, findings=found))


def _row(judged: Judged) -> Row:
    return {
        "gains": [label.gain for label in judged.labels],
        "errors": [label.error for label in judged.labels],
        "predicted": dict(judged.predicted),
        "worth": dict(judged.worth),
        "nll": dict(judged.nll),
        "opened": dict(judged.opened),
    }


def by_bm25(view: LensView) -> Values:
    """Textbook BM25 of each entry's text to the last tokens."""
    tree = view.tree
    texts = [tree.text(entry.start, entry.end) for entry in view.context.entries()]
    return Bm25(texts).scores(tree.text(max(0, tree.length - RECENT_TOKENS), tree.length))


def _policies(model: BaseModel, scorers: Sequence[FocusScorer], number: int) -> dict[str, Policy]:
    policies: dict[str, Policy] = {scorer.name: by_scorer(scorer) for scorer in scorers}
    policies |= {CHANCE: by_chance(SEED + number), RECENCY: by_recency, AGE: by_age, BM25: by_bm25}
    if isinstance(model, Attentive):
        policies["attention mass"] = by_attention
    return policies


def _regret(rows: Sequence[Row], name: str, field: str, groups: Sequence[int]) -> Interval:
    """Of summed worths, or of the NLLs of what was built, where less is better."""
    sign = 1.0 if field == "worth" else -1.0
    top = ORACLE if field == "worth" else GREEDY
    columns = {which: [sign * row[field][which] for row in rows] for which in (name, top, RECENCY)}
    return resampled(
        columns, lambda means: (means[top] - means[name]) / (means[top] - means[RECENCY]), seed=SEED, groups=groups
    )


def _correlation(rows: Sequence[Row], name: str, groups: Sequence[int]) -> Interval:
    values = [spearman(row["predicted"][name], row["gains"]) for row in rows]
    return resampled({"x": values}, lambda means: means["x"], seed=SEED, groups=groups)


def _metrics(rows: Sequence[Row], name: str, groups: Sequence[int]) -> dict[str, float]:
    regret, bm25 = (_regret(rows, which, "worth", groups).mean for which in (name, BM25))
    return {
        "regret": regret,
        "regret_bm25": bm25,
        "spearman": _correlation(rows, name, groups).mean,
        "regret_below_bm25": bm25 - regret,
        "regret_built": _regret(rows, name, "nll", groups).mean,
        "regret_filled_built": _regret(rows, f"{name}{FILLED}", "nll", groups).mean,
        "regret_bm25_built": _regret(rows, BM25, "nll", groups).mean,
        "spearman_bm25": _correlation(rows, BM25, groups).mean,
        "spearman_oldest": _correlation(rows, AGE, groups).mean,
    }


def _asked_metrics(rows: Sequence[Row], groups: Sequence[int]) -> dict[str, float]:
    found = {}
    for name, ending in ((SESSION, ""), (INDEX, "_index"), (AGE, "_oldest"), (CHANCE, "_chance")):
        found[f"regret_asked{ending}"] = _regret(rows, name, "worth", groups).mean
        found[f"regret_asked_built{ending}"] = _regret(rows, name, "nll", groups).mean
        by = SHIPPED if name == SESSION else name
        found[f"spearman_asked{ending}"] = _correlation(rows, by, groups).mean
    return found


def _table(rows: Sequence[Row], groups: Sequence[int]) -> BenchTable:
    ranked_by = list(rows[0]["predicted"])
    fixed = [name for name in (SESSION, STATIC, ORACLE, GREEDY) if name in rows[0]["nll"]]
    names = [*ranked_by, *(f"{name}{FILLED}" for name in ranked_by), *fixed]
    lines = []
    for name in names:
        ranked = name in rows[0]["predicted"]
        worths = [row["worth"][name] for row in rows]
        built = resampled({"x": [row["nll"][name] for row in rows]}, lambda means: means["x"], seed=SEED, groups=groups)
        lines.append(
            (
                name,
                f"{1000 * float(np.mean(worths)):.1f}",
                _regret(rows, name, "worth", groups).said(2),
                f"{built.mean:.3f}",
                _regret(rows, name, "nll", groups).said(2),
                _correlation(rows, name, groups).said(2) if ranked else "",
                f"{float(np.mean([row['opened'][name] for row in rows])):.1f}",
            )
        )
    columns = (
        "policy",
        "summed ΔNLL, mnats",
        "regret",
        "NLL built",
        "regret of NLL built",
        "Spearman",
        "blocks as tokens",
    )
    title = "By policy; regret is 0 for the best choice and 1 for the latest blocks"
    return BenchTable(title, columns, tuple(lines))
