"""`focus-questions`: statements planted in a text, asked for in their own words and in others.

Opened: after one refocus every token of the statement stands in the window as itself. Beside the whole search stand
the same without similar words, words alone, meaning alone, and as many blocks drawn at random; and for questions that
have nothing to do with the text, how often it is said that no block resembles them.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from amgs.errors import InputError
from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.options import EARLIER_SEARCH, SearchOptions
from amgs_focus.protocols import TextEncoder
from amgs_focus.records import Findings, FoundBlock
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import FactQuestion, PlantedFact, ask_for, plant_facts
from benchmarks.focus_rig import FocusRig, Ledger, Row, kept_lifetime, say_percent

SIZES: Mapping[str, int] = {"7k": 7168, "256k": 262_144}
BENCH = Bench(
    "focus-questions",
    {f"opened_{kind}_words_{size}": (">=", goal) for size in SIZES for kind, goal in (("own", 1.0), ("other", 0.9))},
)
SETTINGS = FocusSettings()
SEED = 0
KINDS = ("own", "other")
UNRELATED = (
    "How long does it take to charge the electric scooter?",
    "Which protein folds the fastest?",
    "What is the melting point of tungsten?",
    "Who won the Eurovision song contest in 1974?",
    "How do I sort a list in Python?",
    "What is the wavelength of green light?",
    "Which airline offers the cheapest tickets to Seoul?",
    "How many chromosomes does a fruit fly have?",
    "What is the default port of the database?",
    "When was the first microprocessor sold?",
    "Which antibiotic treats pneumonia?",
    "How large is the hard disk of the new laptop?",
    "What is the capital of Mongolia?",
    "How do I unsubscribe from the newsletter?",
    "Which enzyme digests lactose?",
    "What is the exchange rate of the yen?",
    "How many goals did the striker score last season?",
    "Which galaxy is nearest to ours?",
    "What does the warning light on the dashboard mean?",
    "How many gigabytes are left on my phone?",
)


class _Drawn(QuestionSearch):
    """The control: as many blocks as the search finds at most, drawn at random for each question."""

    def find(self, tree: LifetimeTree, question: str, end: int) -> Findings:
        blocks = range(end // tree.block_size)
        drawn = random.Random(f"{SEED} {question}").sample(blocks, min(self.options.found, len(blocks)))
        return Findings(tuple(FoundBlock(block, 0.0, 0.0, 0.0) for block in drawn))


def read_facts(file: Path) -> tuple[FactQuestion, ...]:
    """Lines of statement, question in its words, question in other words, tabs between. Raises InputError."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read ({error}).", way_out="Give a file in UTF-8.") from error
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != 3 or not all(row):
            raise InputError(
                f"{file}: fact {number} has {len([cell for cell in row if cell])} of 3 columns.",
                way_out="A line is: statement, tab, question in its words, tab, question in other words.",
            )
    if not rows:
        raise InputError(f"{file} holds no facts.", way_out="Give at least one line.")
    return tuple(FactQuestion(*row) for row in rows)


def run(
    rig: FocusRig,
    facts: Sequence[FactQuestion],
    encoder: TextEncoder,
    *,
    sizes: Mapping[str, int] = SIZES,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Ask for every fact in every lifetime that the texts can fill; a quick run takes the smallest alone. Lifetimes
    are kept in the folder.
    """
    sizes = dict(list(sizes.items())[:1]) if rig.quick else sizes
    mark = hashlib.sha256(repr(facts).encode()).hexdigest()[:10]
    told = {
        **rig.parts(),
        "facts": f"{len(facts)} {mark}",
        "text_encoder": encoder.name,
        **settings.model_dump(),
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    fitting = {name: size for name, size in sizes.items() if len(rig.text) >= size}
    rows = {name: _lifetime(rig, name, size, facts, mark, encoder, settings, ledger) for name, size in fitting.items()}
    metrics: dict[str, float] = {}
    for name, found in rows.items():
        for kind in KINDS:
            for system, label in (
                ("all", ""),
                ("not reread", "_not_reread"),
                ("no similar words", "_without_similar"),
                ("words", "_by_words"),
                ("meaning", "_by_meaning"),
            ):
                metrics[f"opened_{kind}_words{label}_{name}"] = _share(found, f"{system} {kind}")
            metrics[f"opened_{kind}_words_chance_{name}"] = _share(found, f"chance {kind}")
            metrics[f"said_nothing_{kind}_words_{name}"] = _share(found, f"all {kind}", "said_nothing")
        metrics[f"said_nothing_unrelated_{name}"] = _share(found, "unrelated", "said_nothing")
    shown = {**told, "rows": str(ledger.path), "left_out": [one for one in sizes if one not in fitting]}
    return BENCH.result(shown, metrics, (_table(rows), _ranks(rows)))


def _lifetime(
    rig: FocusRig,
    name: str,
    size: int,
    facts: Sequence[FactQuestion],
    mark: str,
    encoder: TextEncoder,
    settings: FocusSettings,
    ledger: Ledger,
) -> dict[str, list[Row]]:
    tokens, planted = plant_facts(rig.model, rig.text, facts, size, SEED)
    searches: dict[str, QuestionSearch | None] = {
        "all": QuestionSearch(encoder),
        "words": None,
        "meaning": QuestionSearch(encoder, SearchOptions(words=0.0, similar=0.0, likelihood=0.0)),
        "not reread": QuestionSearch(encoder, SearchOptions(likelihood=0.0)),
        "no similar words": QuestionSearch(encoder, EARLIER_SEARCH),
        "chance": _Drawn(encoder),
    }
    found: dict[str, list[Row]] = {}
    with closing(kept_lifetime(rig, f"facts-{mark}-{SEED}-{name}", tokens, settings.block_size)) as tree:
        tree.vectors.sync(tree, encoder, rig.progress)
        for system, search in searches.items():
            for kind in KINDS:
                ask = partial(_ask, rig, tree, settings, search, kind)
                found[f"{system} {kind}"] = []
                for number, one in enumerate(planted):
                    rig.progress(number, len(planted), f"asking {name}: {system}, {kind} words")
                    row = ledger.once(f"{name}/{system}/{kind}/{number}", partial(ask, one))
                    found[f"{system} {kind}"].append(row)
        found["unrelated"] = []
        for number, question in enumerate(UNRELATED):
            rig.progress(number, len(UNRELATED), f"asking {name}: unrelated questions")
            measure = partial(_said, rig, tree, settings, searches["all"], question)
            found["unrelated"].append(ledger.once(f"{name}/unrelated/{number}", measure))
    return found


def _ask(
    rig: FocusRig,
    tree: LifetimeTree,
    settings: FocusSettings,
    search: QuestionSearch | None,
    kind: str,
    one: PlantedFact,
) -> Row:
    question = one.fact.own_words if kind == "own" else one.fact.other_words
    began = rig.clock.perf()
    got = ask_for(tree, rig.scorer, settings, rig.clock, search, question, (one.start, one.end))
    across = one.start // settings.block_size != (one.end - 1) // settings.block_size
    return {
        "opened": got.whole,
        "rank": got.rank,
        "said_nothing": got.said_nothing,
        "across": across,
        "seconds": rig.clock.perf() - began,
    }


def _said(
    rig: FocusRig, tree: LifetimeTree, settings: FocusSettings, search: QuestionSearch | None, question: str
) -> Row:
    return {"said_nothing": ask_for(tree, rig.scorer, settings, rig.clock, search, question).said_nothing}


def _share(found: Mapping[str, Sequence[Row]], rows: str, field: str = "opened") -> float:
    return float(np.mean([row[field] for row in found[rows]]))


def _table(rows: Mapping[str, Mapping[str, Sequence[Row]]]) -> BenchTable:
    lines: list[tuple[str | float, ...]] = []
    for name, found in rows.items():
        for system in ("all", "not reread", "no similar words", "words", "meaning", "chance"):
            cells = [say_percent(found[f"{system} {kind}"], "opened") for kind in KINDS]
            said = [say_percent(found[f"{system} {kind}"], "said_nothing") for kind in KINDS]
            nothing = say_percent(found["unrelated"], "said_nothing") if system == "all" else ""
            lines.append((f"{name}, {system}", *cells, *(said if system == "all" else ("", "")), nothing))
    columns = ("lifetime, search", "own words", "other words", "nothing: own", "other", "unrelated")
    return BenchTable("Statements opened whole, and “no block resembles” said, percent", columns, tuple(lines))


def _ranks(rows: Mapping[str, Mapping[str, Sequence[Row]]]) -> BenchTable:
    lines: list[tuple[str | float, ...]] = []
    for name, found in rows.items():
        for kind in KINDS:
            got = found[f"all {kind}"]
            ranks = [row["rank"] or math.inf for row in got]
            firsts = (f"{100 * np.mean([rank <= most for rank in ranks]):.0f}" for most in (1, 2, 4, 8, 16))
            edges = say_percent([row for row in got if row["across"]], "opened")
            inside = say_percent([row for row in got if not row["across"]], "opened")
            seconds = f"{np.median([row['seconds'] for row in got]):.2f}"
            lines.append((f"{name}, {kind}", *firsts, edges, inside, seconds))
    columns = ("lifetime, words", "first", "of 2", "of 4", "of 8", "of 16", "across an edge", "inside", "s")
    return BenchTable("Rank of the statement's first block, percent; opened by place", columns, tuple(lines))
