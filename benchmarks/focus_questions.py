"""`focus-questions`: statements planted in a text, asked for in their own words and in others, answered by the model.

Right: of the eight answers of its kind, the planted one is the likeliest behind the question. Opened: every token of
the statement stands in the window as itself. Beside the focus stand retrieval with the text encoder (chunks of 64
tokens that fill the same window, and its three best alone), the latest text, and the question alone. Lit: where the
focus is right, the block that the answer depends on holds some of the statement; the control is a block that was not
opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import torch

from amgs_focus.dependence import measure_dependence
from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.options import TextEncoder
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import Fact, PlantedFact, option_nll, plant_facts, stands_whole
from benchmarks.focus_rig import FocusRig, Row, kept_lifetime, say_percent

SIZES: Mapping[str, int] = {"7k": 7168, "65k": 65_536}
QUESTIONS = Path(__file__).parent / "focus_evaluation" / "questions.tsv"
KINDS = ("own", "other")
FOCUS, RETRIEVAL, THREE = "focus", "retrieval, same window", "retrieval, three chunks"
SYSTEMS = (FOCUS, RETRIEVAL, THREE, "latest text", "nothing")
CHUNK = 64
ANSWER = 12  # positions that are left for an answer
BENCH = Bench("focus-questions", {"right_less_retrieval": (">=", 0), "lit": (">=", 0.8), "lit_control": ("<=", 0.2)})
SETTINGS = FocusSettings()
SEED = 0


def read_facts(file: Path = QUESTIONS) -> tuple[Fact, ...]:
    """Lines of kind, answer, statement, question in its words, question in other words, tabs between."""
    return tuple(Fact(*line.split("\t")) for line in file.read_text(encoding="utf-8").splitlines())


def run(
    rig: FocusRig,
    facts: Sequence[Fact],
    encoder: TextEncoder,
    *,
    sizes: Mapping[str, int] = SIZES,
    asked: int | None = None,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Ask for the first so many facts in every lifetime that the texts can fill. Lifetimes and rows are kept."""
    told = {
        **rig.parts(),
        "facts": hashlib.sha256(repr(facts).encode()).hexdigest()[:10],
        "text_encoder": encoder.name,
        "search": QuestionSearch(encoder).options.to_header(),
        **settings.model_dump(),
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    rows: dict[tuple[str, str], list[Row]] = {}
    for name, size in sizes.items():
        if len(rig.text) < size:
            continue
        tokens, placed = plant_facts(rig.model, rig.text, _mixed(facts), size, SEED)
        with closing(kept_lifetime(rig, f"facts-{told['facts']}-{name}", tokens, settings.block_size)) as tree:
            lookup = _Lookup(rig, tree, encoder, settings)
            for number, planted in enumerate(placed[:asked]):
                rig.progress(number, len(placed[:asked]), f"asking {name}")
                for kind in KINDS:
                    measure = partial(lookup.ask, planted, kind, facts)
                    row = ledger.once(f"{name}/{kind}/{number}", measure)
                    rows.setdefault((name, kind), []).append(row)
    return BENCH.result({**told, "rows": str(ledger.path)}, _metrics(rows), (_table(rows),))


def _mixed(facts: Sequence[Fact]) -> list[Fact]:
    """The same with every kind among the first ones."""
    kinds = list(dict.fromkeys(fact.kind for fact in facts))
    ranked = {id(fact): [f for f in facts if f.kind == fact.kind].index(fact) for fact in facts}
    return sorted(facts, key=lambda fact: (ranked[id(fact)], kinds.index(fact.kind)))


class _Lookup:
    """One lifetime, asked by every system."""

    def __init__(self, rig: FocusRig, tree: LifetimeTree, encoder: TextEncoder, settings: FocusSettings) -> None:
        self._rig, self._tree, self._encoder, self._settings = rig, tree, encoder, settings
        self._search = QuestionSearch(encoder)
        self._search.sync(tree, rig.progress)
        self._tokens = tree.tokens(0, tree.length).tolist()
        self._chunks = [self._tokens[at : at + CHUNK] for at in range(0, len(self._tokens), CHUNK)]
        self._vectors = encoder.embed([rig.model.decode(chunk) for chunk in self._chunks])

    def ask(self, planted: PlantedFact, kind: str, facts: Sequence[Fact]) -> Row:
        """Which systems are right, and which have the whole statement open."""
        model, fact = self._rig.model, planted.fact
        question = fact.own_words if kind == "own" else fact.other_words
        options = [other.answer for other in facts if other.kind == fact.kind]
        answers = [model.encode(option) for option in options]
        turn = model.encode(model.turn(question))
        room = self._settings.window - SINKS - len(turn) - ANSWER
        ranked = np.argsort(-(self._vectors @ self._encoder.embed([question])[0]))
        row: Row = {}
        for system in SYSTEMS[1:]:
            chosen = sorted(ranked[: {RETRIEVAL: room // CHUNK, THREE: 3}.get(system, 0)].tolist())
            text = [token for at in chosen for token in self._chunks[at]]
            text = self._tokens[-room:] if system == "latest text" else text
            rows = model.embed(torch.tensor([*model.sinks(), *text, *turn]))
            row[f"{system} right"] = _likeliest(option_nll(model, rows, [], answers)) == options.index(fact.answer)
            row[f"{system} opened"] = set(range(planted.start // CHUNK, -(-planted.end // CHUNK))) <= set(chosen)
        length = self._tree.length
        runtime = FocusRuntime(
            model,
            scorer=self._rig.scorer,
            settings=self._settings,
            tree=self._tree,
            clock=self._rig.clock,
            search=self._search,
        )
        try:
            runtime.question(question)
            runtime.refocus()
            context = runtime.context
            rows = context.embeddings(self._tree, 0, context.read)
            row["focus right"] = _likeliest(option_nll(model, rows, [], answers)) == options.index(fact.answer)
            row["focus opened"] = stands_whole(context, planted.start, planted.end)
            if row["focus right"]:
                told = measure_dependence(
                    context, self._tree, tuple(answers[options.index(fact.answer)]), self._rig.clock
                )
                holding = range(planted.start // self._tree.block_size, -(-planted.end // self._tree.block_size))
                row["lit"] = told.block is not None and told.block.index in holding
                row["control"] = sum(word.control for word in told.words) >= max(told.gains, default=0.0)
        finally:
            self._tree.truncate(length)
        return row


def _likeliest(losses: Sequence[float]) -> int:
    return int(np.argmin(losses))


def _metrics(rows: Mapping[tuple[str, str], Sequence[Row]]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for (name, kind), asked in rows.items():
        metrics[f"asked_{kind}_{name}"] = len(asked)
        for system in SYSTEMS:
            for field in ("right", "opened"):
                metrics[f"{field}_{kind}_{name}_{system}"] = sum(bool(row[f"{system} {field}"]) for row in asked)
    whole = [row for asked in rows.values() for row in asked]
    right = {system: sum(bool(row[f"{system} right"]) for row in whole) for system in SYSTEMS}
    metrics |= {f"right_{system}": float(count) for system, count in right.items()}
    metrics["right_less_retrieval"] = right[FOCUS] - max(right[RETRIEVAL], right[THREE])
    measured = [row for row in whole if "lit" in row]
    for metric, field in (("lit", "lit"), ("lit_control", "control")) if measured else ():
        metrics[metric] = float(np.mean([row[field] for row in measured]))
    return metrics


def _table(rows: Mapping[tuple[str, str], Sequence[Row]]) -> BenchTable:
    lines = []
    for system in SYSTEMS:
        cells: list[str | float] = [system]
        for asked in rows.values():
            right, opened = (sum(bool(row[f"{system} {field}"]) for row in asked) for field in ("right", "opened"))
            cells.append(f"{right} ({opened}) of {len(asked)}")
        cells.append(say_percent([row for asked in rows.values() for row in asked], f"{system} right"))
        lines.append(tuple(cells))
    columns = ("system", *(f"{name}, {kind} words" for name, kind in rows), "right, percent")
    return BenchTable("Questions answered right (statements opened whole)", columns, tuple(lines))
