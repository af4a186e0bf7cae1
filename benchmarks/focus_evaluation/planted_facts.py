"""Statements planted in a text, each asked for in its own words and in others: are they opened?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.focus_evaluation.needles import stands_whole


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A statement, and two questions that it answers: one in the statement's words, one in other words."""

    statement: str
    own_words: str
    other_words: str


@dataclass(frozen=True, slots=True)
class PlantedFact:
    """A fact and tokens [start, end) of its statement, without the spaces around it."""

    fact: FactQuestion
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """whole: every token of the statement stands in the window as itself; rank: of the first block found that holds
    some of it, from 1, None where none was; said_nothing: that no block resembles the question was said.
    """

    whole: bool
    rank: int | None
    said_nothing: bool


def plant_facts(
    model: BaseModel, text: Sequence[int], facts: Sequence[FactQuestion], length: int, seed: int
) -> tuple[list[int], tuple[PlantedFact, ...]]:
    """(`length` tokens of the text with the statements in the place of some, where they stand), spread evenly over the
    depth, at random within each part, without regard to blocks. Raises ValueError when they do not fit.
    """
    rng = random.Random(f"facts {seed}")
    tokens = list(text[:length])
    part = length // max(1, len(facts))
    placed = []
    for number, fact in enumerate(facts):
        ids = model.encode(f" {fact.statement} ")
        if len(tokens) < length or part <= len(ids):
            raise ValueError(f"{len(facts)} statements do not fit {length} tokens")
        start = number * part + rng.randrange(part - len(ids))
        tokens[start : start + len(ids)] = ids
        said = [at for at, token in enumerate(ids, start) if model.decode([token]).strip()]
        placed.append(PlantedFact(fact, said[0], said[-1] + 1))
    return tokens, tuple(placed)


def ask_for(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    clock: PerfClock,
    search: QuestionSearch | None,
    question: str,
    span: tuple[int, int] = (0, 0),
) -> FactOutcome:
    """Ask, refocus once as after any question, look at tokens [start, end). The lifetime is then as it was."""
    length = tree.length
    runtime = FocusRuntime(
        tree.model, scorer=scorer, settings=settings, tree=tree, clock=clock, search=search
    )
    try:
        runtime.question(question)
        runtime.refocus()
        found = runtime.state.findings
        blocks = range(span[0] // tree.block_size, -(-span[1] // tree.block_size))
        ranks = [at for at, one in enumerate(found.blocks if found else (), 1) if one.block in blocks]
        nothing = runtime.snapshot().unanswered
        return FactOutcome(stands_whole(runtime.context, *span), min(ranks, default=None), nothing)
    finally:
        tree.truncate(length)
