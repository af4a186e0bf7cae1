"""`focus-c1c2`: does the question at the end decide which of two facts deserves detail?

MegaContext, "Why non-causal is essential". Two lifetimes that differ in their last question alone; in each, the margin
is the score of the fact that the first question asks about less that of the other fact. A pair flips when the margin
is above 0 under the first question and below 0 under the second. The causal twin reads each entry as when the lifetime
ended there: it cannot know the question, and its margins must be equal to the last bit. That it could decide is shown
beside: with the question asked first, before both facts, it knows it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from amgs_focus.lens.lensnet import LensNetScorer
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest
from amgs_focus.window.working_context import Values, WorkingContext, aggregate
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.causal import causal_twin
from benchmarks.focus_evaluation.statistics import resampled
from benchmarks.focus_rig import FocusRig, Row, TokenCorpus

BENCH = Bench(
    "focus-c1c2",
    {
        "flip_rate": (">=", 0.9),
        "flip_rate_causal": ("<=", 0.0),
        "causal_difference": ("<=", 0.0),
        "flip_rate_causal_asked_first": (">=", 0.5),
    },
)
PAIRS, SEED = 200, 0
BLOCKS, TAIL = 30, 2  # of filler around the facts; whole blocks at the end that hold the question
TWIN, TWIN_FIRST = "causal twin", "causal twin, asked first"

# what is said of {a}, with a {v} that the question does not name, and what is asked
FORMS: tuple[tuple[str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "garment",
        "My {a} is {v} and I wear it whenever it rains.",
        "What hat would match my {a}?",
        ("shirt", "coat", "scarf", "jacket", "sweater", "raincoat", "vest", "skirt"),
        ("teal", "maroon", "beige", "lilac", "navy", "olive", "scarlet", "ivory"),
    ),
    (
        "ship",
        "Before the storm the {a} took {v} casks of rum on board.",
        "How much rum does the {a} carry?",
        ("Albatross", "Meridian", "Northern Star", "Perseverance", "Gannet", "Halcyon", "Resolute", "Tern"),
        ("eighteen", "forty", "seventy", "ninety", "a dozen", "thirty", "sixty", "fifty"),
    ),
    (
        "dish",
        "Grandmother always put {v} into her {a}, and never told the guests.",
        "What is the secret of grandmother's {a}?",
        ("stew", "pudding", "soup", "pie", "marmalade", "salad", "gravy", "chutney"),
        ("cinnamon", "mustard", "saffron", "nutmeg", "ginger", "paprika", "anise", "thyme"),
    ),
    (
        "lecture",
        "Professor {a} lectures about {v} this term.",
        "What is the subject of Professor {a}?",
        ("Whitcombe", "Adeyemi", "Castellano", "Lindqvist", "Okafor", "Petrov", "Tanaka", "Villiers"),
        ("glaciers", "tax law", "beetles", "opera", "comets", "bridges", "poetry", "volcanoes"),
    ),
    (
        "flight",
        "The plane to {a} will leave from gate {v} tonight.",
        "From where does one board for {a}?",
        ("Lisbon", "Oslo", "Nairobi", "Lima", "Prague", "Dublin", "Tunis", "Quito"),
        ("B12", "A7", "C31", "D4", "E19", "F2", "G8", "H23"),
    ),
)


def run(rig: FocusRig, *, pairs: int = PAIRS) -> BenchResult:
    """Score `pairs` pairs with each scorer and with the twin of a lens; the first scorer gives `flip_rate`. A quick run
    takes a tenth of the pairs.

    Raises TextError when the text is too short to hold a pair's filler.
    """
    pairs = max(4, pairs // 10) if rig.quick else pairs
    named = {scorer.name: scorer for scorer in rig.scorers}
    if isinstance(rig.scorer, LensNetScorer):
        named[TWIN] = causal_twin(rig.scorer)
    told = {**rig.parts_with(named.values()), "blocks": BLOCKS, "seed": SEED}
    ledger = rig.ledger(BENCH, told)
    rows = []
    for number in range(pairs):
        rig.progress(number, pairs, "pair")
        rows.append(ledger.once(str(number), partial(_pair, number, rig, named)))
    own = rig.scorer.name
    metrics = {"flip_rate": _flips(rows, own)}
    if TWIN in named:
        metrics["flip_rate_causal"] = _flips(rows, TWIN)
        metrics["flip_rate_causal_asked_first"] = _flips(rows, TWIN_FIRST)
        metrics["causal_difference"] = max(abs(row[TWIN][0] - row[TWIN][1]) for row in rows)
    metrics |= {f"flip_rate_{name}": _flips(rows, name) for name in named if name not in (own, TWIN)}
    shown = {**told, "pairs": len(rows), "scorer": own, "rows": str(ledger.path)}
    names = [*named, TWIN_FIRST] if TWIN in named else list(named)
    return BENCH.result(shown, metrics, (_table(rows, names),))


def _pair(number: int, rig: FocusRig, scorers: Mapping[str, FocusScorer]) -> Row:
    """The margins of every scorer under both questions, and what the pair was about."""
    model = rig.model
    generator = random.Random(f"{SEED}:{number}")
    kind, told, asked, abouts, values = FORMS[number % len(FORMS)]
    while True:  # questions of one length, so that nothing but their words tells them apart
        first, second = generator.sample(abouts, 2)
        turns = [model.encode(model.turn(asked.format(a=about))) for about in (first, second)]
        if len(turns[0]) == len(turns[1]):
            break
    texts = [tuple(model.encode(asked.format(a=about))) for about in (first, second)]
    facts = [
        model.encode(f"\n\n{told.format(a=about, v=value)}\n\n")
        for about, value in zip((first, second), generator.sample(values, 2), strict=True)
    ]
    questions = list(zip(texts, turns, strict=True))
    margins = _margins(rig, scorers, number, facts, questions, first=False)
    if TWIN in scorers:
        twin = {TWIN_FIRST: scorers[TWIN]}
        margins |= _margins(rig, twin, number, facts, questions, first=True)
    return {"kind": kind, **margins}


def _margins(
    rig: FocusRig,
    scorers: Mapping[str, FocusScorer],
    number: int,
    facts: Sequence[list[int]],
    questions: Sequence[tuple[tuple[int, ...], list[int]]],
    *,
    first: bool,
) -> dict[str, list[float]]:
    """By scorer, how much higher the first fact scores than the second under each question, (its tokens, its turn).

    first: the question opens the lifetime; else it ends it.
    """
    margins: dict[str, list[float]] = {name: [] for name in scorers}
    for question, turn in questions:
        tree = LifetimeTree(rig.model, rig.encoder)
        if first:
            tree.append(turn, kind="question")
        spans = _lifetime(random.Random(f"{SEED}:{number}:text"), tree, facts, rig.corpus)
        if not first:
            tree.append(turn, kind="question")
        view = LensView(_layout(tree), tree, question)
        for name, scorer in scorers.items():
            scores = aggregate(view.context, scorer.score(view).values)
            margins[name].append(_best(view.context, scores, spans[0]) - _best(view.context, scores, spans[1]))
        tree.close()
    return margins


def _lifetime(
    generator: random.Random, tree: LifetimeTree, facts: Sequence[list[int]], corpus: TokenCorpus
) -> list[tuple[int, int]]:
    """Filler with both facts in it, neither near the end; the tokens [start, end) of each."""
    size = tree.block_size
    need = BLOCKS * size
    documents = [document for document in corpus.documents if len(document) >= need] or [sum(corpus.documents, ())]
    document = generator.choice(documents)
    start = generator.randrange(max(1, len(document) - need))
    filler = document[start : start + need]
    cuts = sorted(generator.sample(range(size, need - 6 * size, 3 * size), 2))
    order = [0, 1] if generator.random() < 0.5 else [1, 0]
    spans = {}
    tree.append(filler[: cuts[0]])
    for which, until in zip(order, (cuts[1], need), strict=True):
        begin = tree.length
        tree.append(facts[which])
        spans[which] = (begin, tree.length)
        tree.append(filler[cuts[0] if until == cuts[1] else cuts[1] : until])
    return [spans[0], spans[1]]


def _layout(tree: LifetimeTree) -> WorkingContext:
    """Every block before the tail as its gist."""
    context = coarsest(tree, tree.length, TAIL)
    while True:
        place = next((at for at, entry in enumerate(context.entries()) if entry.level > 1), None)
        if place is None:
            return context
        context, _ = context.expand(place)


def _best(context: WorkingContext, scores: Values, span: tuple[int, int]) -> float:
    """The best score of the entries that hold a part of the span."""
    held = [
        float(score)
        for entry, score in zip(context.entries(), scores, strict=True)
        if entry.start < span[1] and span[0] < entry.end
    ]
    return max(held)


def _flips(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([row[name][0] > 0 > row[name][1] for row in rows]))


def _table(rows: Sequence[Row], names: Sequence[str]) -> BenchTable:
    lines = []
    for name in names:
        flipped = [float(row[name][0] > 0 > row[name][1]) for row in rows]
        by_kind = [_share(flipped, [row["kind"] == kind for row in rows]) for kind, *_ in FORMS]
        said = resampled({"x": [100 * flip for flip in flipped]}, lambda means: means["x"], seed=SEED).said(0)
        margin = float(np.mean([row[name][0] - row[name][1] for row in rows])) / 2
        lines.append((name, said, *by_kind, f"{margin:.2f}"))
    columns = ("scorer", "flips, %", *(kind for kind, *_ in FORMS), "mean margin")
    return BenchTable("By scorer and kind of fact", columns, tuple(lines))


def _share(flipped: Sequence[float], chosen: Sequence[bool]) -> str:
    """Percent of the chosen that flipped, nothing where none is chosen."""
    held = [flip for flip, of_kind in zip(flipped, chosen, strict=True) if of_kind]
    return f"{100 * float(np.mean(held)):.0f}" if held else ""
