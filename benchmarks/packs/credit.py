"""Credit by leaving a pack out: whether the answer is less likely without the packs that hold what answers.

For a question of `questioned_packs` the packs are read that `pack route` chooses, two to four, where some of them
hold what answers and some do not, in a random order and with a companion: a pack of the same memory, drawn at
random among those that hold nothing of it. A frozen model says how much less likely the answer is without each. The
controls know nothing of the model (chance, what the router thinks relevant, the answer's words, the place in the text)
or ask it for the answer of another question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.packs.credit import HELPS, left_out
from amgs.text.answer_reader import AnswerReader
from amgs.text.stop_words import COMMON_WORDS
from amgs_app.models.answer_reader import LoadedReader
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.packs.questioned import AskedQuestion, QuestionedPacks, questioned_packs
from benchmarks.packs.routing import interval
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

Floats = NDArray[np.float64]
BUDGETS = {"locomo": 512, "realtalk": 512, "hotpotqa": 1_024, "musique": 1_024}
"""Tokens of the packs that are read, by corpus: two to four packs."""
CREDIT, OTHER, LESS_OTHER = "credit", "credit for the answer of another question", "credit less that"
RELEVANCE, WORDS, PLACE, RANDOM = (
    "the router's relevance",
    "the answer's words in it",
    "later in the text",
    "at random",
)
METHODS = (CREDIT, OTHER, LESS_OTHER, RELEVANCE, WORDS, PLACE, RANDOM)
_MARKS = dict(
    zip(METHODS, ("own", "other", "less_other", "relevance", "words", "place", "random"), strict=True)
)
GOALS: Mapping[str, tuple[Comparator, float]] = {"credit_companions": (">=", 95.0)}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CreditedReading:
    """Packs that were read for a question. bears: (n,) whether each holds what answers. planted: the place of the
    companion. columns: (n,) by METHODS.
    """

    corpus: str
    group: str
    bears: NDArray[np.bool_]
    planted: int
    columns: Mapping[str, Floats]


def readings(rig: MemoryRig, data: Path, reader: AnswerReader, questions: int) -> Iterator[CreditedReading]:
    """At most so many of each corpus."""
    chance = random.Random(rig.seed)
    for given in questioned_packs(rig, data):
        found = 0
        wanted = -(-questions // given.memories)
        asked = [one for one in given.asked if one.answer]
        order = chance.sample(range(len(asked)), k=len(asked))
        for place in order:
            if found == wanted:
                break
            one, other = asked[place], asked[(place + len(asked) // 2) % len(asked)]
            rig.progress(found, wanted, f"credit {given.corpus} {one.group}")
            made = _read(given, one, other.answer, reader, chance)
            if made is not None:
                found += 1
                yield made


def _read(
    given: QuestionedPacks, one: AskedQuestion, other: str, reader: AnswerReader, chance: random.Random
) -> CreditedReading | None:
    """None where all packs hold what answers, or none does."""
    packs = given.memory.packs
    wanted = {block for block, _, _ in one.wanted}
    holds = {each.pack.name: not wanted.isdisjoint(each.pack.blocks) for each in packs.list()}
    chosen = [each.pack.name for each in packs.route(one.text, budget=BUDGETS[given.corpus]).packs]
    if len({holds[name] for name in chosen}) < 2:
        return None
    companion = chance.choice([name for name, own in holds.items() if not own and name not in chosen])
    names = [*chosen, companion]
    chance.shuffle(names)
    found, _, _ = packs._facets(one.text)
    relevance = {each.id: float(np.dot(each.covers, found.shares)) for each in found.items}
    texts = [packs.use(name, one.text, budget=BUDGETS[given.corpus], log=False).text for name in names]
    losses = left_out(texts, one.text, [one.answer, other], reader)
    columns = {
        CREDIT: losses[:, 0],
        OTHER: losses[:, 1],
        LESS_OTHER: losses[:, 0] - losses[:, 1],
        RELEVANCE: np.array([relevance[name] for name in names]),
        WORDS: np.array([_share(one.answer, text) for text in texts]),
        PLACE: np.arange(len(names), dtype=np.float64),
        RANDOM: np.array([chance.random() for _ in names]),
    }
    return CreditedReading(
        given.corpus, one.group, np.array([holds[name] for name in names]), names.index(companion), columns
    )


def _share(answer: str, text: str) -> float:
    """The share of the words of an answer that a text has."""
    words = {word for word in _WORD.findall(answer.lower()) if word not in COMMON_WORDS}
    return len(words.intersection(_WORD.findall(text.lower()))) / max(len(words), 1)


def measure_credit(
    rig: MemoryRig, data: Path, model: Callable[[], BaseModel] | None = None, questions: int = 0
) -> SubjectResult | None:
    """So many questions of each corpus that a folder has; None where it has none, or no model is given."""
    if model is None or not questions:
        return None
    return judged(list(readings(rig, data, LoadedReader(model), questions)))


def judged(found: Sequence[CreditedReading]) -> SubjectResult | None:
    """The figures of readings that were credited; None of none."""
    corpora = list(dict.fromkeys(one.corpus for one in found))
    metrics: dict[str, float] = {}
    ranks: list[tuple[str | float, ...]] = []
    rows: list[tuple[str | float, ...]] = []
    for corpus in corpora:
        own = [one for one in found if one.corpus == corpus]
        groups = [f"{one.group} {n}" for n, one in enumerate(own)]
        for name in METHODS:
            areas = [_area(one.columns[name], one.bears) for one in own]
            first = [float(one.bears[int(np.argmax(one.columns[name]))]) for one in own]
            low, high = interval(groups, areas)
            told = f"{np.mean(areas):.2f} [{low:.2f}, {high:.2f}]"
            ranks.append((corpus, name, len(own), told, 100.0 * float(np.mean(first))))
            metrics[f"credit_{corpus}_{_MARKS[name]}_auc"] = float(np.mean(areas))
            metrics[f"credit_{corpus}_{_MARKS[name]}_first"] = 100.0 * float(np.mean(first))
        for name in (CREDIT, OTHER):
            planted = np.array([one.columns[name][one.planted] for one in own])
            bearing = np.concatenate([one.columns[name][one.bears] for one in own])
            low, high = interval(groups, (planted < HELPS).astype(float).tolist())
            rows.append(
                (
                    corpus,
                    name,
                    len(own),
                    f"{100 * np.mean(planted < HELPS):.0f} [{100 * low:.0f}, {100 * high:.0f}]",
                    100.0 * float(np.mean(planted <= 0.0)),
                    100.0 * float(np.mean(bearing >= HELPS)),
                )
            )
            metrics[f"credit_{corpus}_{_MARKS[name]}_companions"] = 100.0 * float(np.mean(planted < HELPS))
    if not corpora:
        return None
    metrics["credit_companions"] = 100.0 * float(
        np.mean([one.columns[CREDIT][one.planted] < HELPS for one in found])
    )
    ranked = (
        "corpus",
        "packs ranked by",
        "readings",
        "area under the curve, 95 %",
        "first holds an answer, percent",
    )
    shown = (
        "corpus",
        "by",
        "readings",
        "companions not helpful, percent, 95 %",
        "at most 0",
        "helpful, of those that answer",
    )
    tables = (
        BenchTable("Packs that hold what answers, among those that were read", ranked, tuple(ranks)),
        BenchTable(f"From {HELPS:g} nats a token on a pack counts as helpful", shown, tuple(rows)),
    )
    return SubjectResult(metrics, GOALS, tables)


def _area(scores: Floats, bears: NDArray[np.bool_]) -> float:
    """How likely a pack that holds what answers ranks before one that does not; equals count one half."""
    above = scores[bears][:, None] - scores[~bears][None, :]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))
