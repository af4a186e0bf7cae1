"""The whole road, `pack assemble`, beside a plain SESSION of as many tokens: 614, counted on the text as it is written.

A pack is six messages of a session in a row (LoCoMo, REALTALK), or three paragraphs whose titles follow each other
(HotpotQA, MuSiQue, the paragraphs of all questions in one memory), cut without a look at any question. Recall is the
share of the characters of what answers that stand in the text. The others are written in the form of `pack assemble`,
from the whole memory, without packs: the likeliest texts by the search's evidence, BM25, the latest, random ones, and
what answers first (the ceiling). A frozen model says, for some questions, how much better it expects the answer.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amgs.types import Block, Span
from amgs.wings.packs.engine.pruning import PackSentence, Worths, prune
from amgs.wings.packs.engine.routing import likely
from amgs.wings.packs.values import PackRole
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.evidence import evidence
from benchmarks.measures import grouped, interval
from benchmarks.packs.questioned import questioned_packs
from benchmarks.packs.routing import RESAMPLES
from benchmarks.questioned import AskedQuestion, QuestionedMemory
from benchmarks.references import Bm25

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

BUDGET = 614
QUESTIONS = 80
OURS, SESSION, LIKELIEST = "amgs", "SESSION", "the likeliest, without packs"
BM25, RECENT, RANDOM, ORACLE, NOTHING = "BM25", "the latest", "at random", "ceiling", "nothing"
METHODS = (OURS, SESSION, LIKELIEST, BM25, RECENT, RANDOM, ORACLE)
SHUFFLED = "amgs, answers of other questions"
GOALS: Mapping[str, tuple[Comparator, float]] = {
    "pipeline_ahead_of_session_least": (">=", 0.0),
    "pipeline_nats_ahead_of_session_least": (">=", 0.0),
}
_CONSIDERED = 80
"""Texts of the whole memory that a control may write; many more than fit."""


class _Text(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def spans(self) -> tuple[Span, ...]: ...


class _ByMember:
    """Sentences are worth what their member is."""

    def __init__(self, worths: Mapping[str, float]) -> None:
        self._worths = worths

    def worths(self, query: str, sentences: Sequence[PackSentence]) -> Worths:
        del query
        return np.array([self._worths[one.block.id] for one in sentences])


class _World:
    """A memory whose texts are packed, and the texts that answer what is asked of it."""

    def __init__(self, given: QuestionedMemory, seed: int) -> None:
        self.memory, self.asked, blocks = given.memory, given.asked, given.blocks
        self._blocks = {one.id: one for one in blocks}
        self._context = self.memory.packs._context
        self._numbers = self._context.storage.blocks.numbers_of(list(self._blocks))
        self._bm25 = Bm25([one.content for one in blocks])
        self._chance = random.Random(seed)

    def texts(self, one: AskedQuestion) -> dict[str, _Text]:
        """What each method gives for a question."""
        asked, ids = one.text, list(self._blocks)
        with self._context.derived.searching() as sources:
            found = likely(asked, sorted(self._numbers.values()), sources)
        answering = {wanted for wanted, _, _ in one.wanted}
        drawn = self._chance.sample(ids, k=min(_CONSIDERED, len(ids)))
        by_method = {
            LIKELIEST: {i: found.get(number, 0.0) for i, number in self._numbers.items()},
            BM25: dict(zip(ids, self._bm25.scores(asked).tolist(), strict=True)),
            RECENT: {i: float(place) for place, i in enumerate(ids)},
            RANDOM: {i: float(i in drawn) for i in ids},
            ORACLE: {i: float(i in answering) for i in ids},
        }
        packs = self.memory.packs.assemble(asked, budget=BUDGET, log=False)
        session = self.memory.assemble("SESSION", query=asked, budget=BUDGET, reinforce=False)
        return {
            OURS: packs,
            SESSION: session,
            **{name: self._written(asked, worths) for name, worths in by_method.items()},
        }

    def _written(self, asked: str, worths: Mapping[str, float]) -> _Text:
        best = sorted(worths, key=lambda one: -worths[one])[:_CONSIDERED]
        members: list[tuple[PackRole, Block]] = [("source", self._blocks[one]) for one in best]
        count = self._context.count_tokens
        now = self._context.clock.now()
        return prune("Packs", members, asked, BUDGET, now, count, _ByMember(worths)).reading

    def recall(self, made: _Text, one: AskedQuestion) -> float:
        """The share of what answers that stands in a text, each part alike."""
        return evidence(made.text, made.spans, one, self._blocks)


def measure_pipeline(
    rig: MemoryRig, data: Path, model: Callable[[], BaseModel] | None = None, questions: int = QUESTIONS
) -> SubjectResult | None:
    """Measure what a folder has of four corpora; None where it has none.

    model: gives the model that judges so many answers, half of each corpus of dialogues; without it none are judged.
    """
    recalls: dict[tuple[str, str], list[float]] = defaultdict(list)
    tokens: dict[tuple[str, str], list[int]] = defaultdict(list)
    nats: dict[tuple[str, str], list[float]] = defaultdict(list)
    groups: dict[str, list[str]] = defaultdict(list)
    judged: dict[str, list[str]] = defaultdict(list)
    frozen = model() if model is not None and questions else None
    for one_of in questioned_packs(rig, data):
        corpus, share = one_of.corpus, one_of.share
        world = _World(one_of, rig.seed)
        chosen = _sample(world.asked, -(-questions // share)) if share else ()
        for place, one in enumerate(world.asked):
            rig.progress(place, len(world.asked), f"{corpus} {one.group}")
            made = world.texts(one)
            groups[corpus].append(one.group)
            for name, text in made.items():
                recalls[corpus, name].append(world.recall(text, one))
                tokens[corpus, name].append(text.tokens)
            if frozen is not None and one in chosen:
                wrong = world.asked[(place + len(world.asked) // 2) % len(world.asked)].answer or one.answer
                judged[corpus].append(one.group)
                for name, lost in _judged(frozen, one, wrong, made).items():
                    nats[corpus, name].append(lost)
    if not groups:
        return None
    metrics: dict[str, float] = {}
    tables = [_recall_table(recalls, tokens, groups, metrics)]
    metrics["pipeline_ahead_of_session_least"] = min(
        metrics[f"pipeline_{corpus}_ahead_of_session_low"] for corpus in groups
    )
    if judged and frozen is not None:
        tables.append(_nats_table(nats, judged, frozen.card.name, metrics))
        metrics["pipeline_nats_ahead_of_session_least"] = min(
            metrics[f"pipeline_{corpus}_nats_ahead_of_session_low"] for corpus in judged
        )
    return SubjectResult(metrics, {k: v for k, v in GOALS.items() if k in metrics}, tuple(tables))


def _sample(asked: Sequence[AskedQuestion], most: int) -> tuple[AskedQuestion, ...]:
    answered = [one for one in asked if one.answer]
    return tuple(answered[:: max(len(answered) // max(most, 1), 1)][:most])


def _judged(model: BaseModel, one: AskedQuestion, wrong: str, made: Mapping[str, _Text]) -> dict[str, float]:
    """Nats a token of the answer after each text."""
    from benchmarks.focus_evaluation.answers import ContextReader

    found: dict[str, float] = {}
    for name, text in {NOTHING: "", **{name: each.text for name, each in made.items()}}.items():
        right, other = ContextReader(model, text).nll(one.text, [one.answer, wrong])
        found[name] = right
        if name in (NOTHING, OURS):
            found[f"{name}, other"] = other
    # the gain of another answer, laid on the same scale
    found[SHUFFLED] = found[NOTHING] - found.pop(f"{NOTHING}, other") + found.pop(f"{OURS}, other")
    return found


def _recall_table(
    recalls: Mapping[tuple[str, str], Sequence[float]],
    tokens: Mapping[tuple[str, str], Sequence[int]],
    groups: Mapping[str, Sequence[str]],
    metrics: dict[str, float],
) -> BenchTable:
    rows: list[tuple[str | float, ...]] = []
    for corpus, of in groups.items():
        for name in METHODS:
            own = recalls[corpus, name]
            gain = [100.0 * (a - b) for a, b in zip(recalls[corpus, OURS], own, strict=True)]
            low, high = interval(grouped(of, gain), draws=RESAMPLES)
            mean = 100.0 * float(np.mean(own))
            spent = float(np.mean(tokens[corpus, name]))
            rows.append((corpus, name, len(own), mean, f"[{low:+.1f}, {high:+.1f}]", spent))
            metrics[f"pipeline_{corpus}_{_WORDS[name]}"] = mean
            if name == SESSION:
                metrics[f"pipeline_{corpus}_ahead_of_session_low"] = low
    columns = ("corpus", "text", "questions", "of what answers, percent", "amgs less it, 95 %", "tokens")
    return BenchTable(f"What answers, in {BUDGET} tokens", columns, tuple(rows))


def _nats_table(
    nats: Mapping[tuple[str, str], Sequence[float]],
    groups: Mapping[str, Sequence[str]],
    model: str,
    metrics: dict[str, float],
) -> BenchTable:
    rows: list[tuple[str | float, ...]] = []
    for corpus, of in groups.items():
        for name in (NOTHING, *METHODS, SHUFFLED):
            own = nats[corpus, name]
            gain = [b - a for a, b in zip(nats[corpus, OURS], own, strict=True)]
            low, high = interval(grouped(of, gain), draws=RESAMPLES)
            rows.append((corpus, name, len(own), float(np.mean(own)), f"[{low:+.2f}, {high:+.2f}]"))
            metrics[f"pipeline_{corpus}_nats_{_WORDS[name]}"] = float(np.mean(own))
            if name == SESSION:
                metrics[f"pipeline_{corpus}_nats_ahead_of_session_low"] = low
    columns = ("corpus", "text", "questions", "nats a token of the answer", "it less amgs, 95 %")
    return BenchTable(f"Answers after {BUDGET} tokens, {model}", columns, tuple(rows))


_WORDS = {
    OURS: "recall",
    SESSION: "session",
    LIKELIEST: "likeliest",
    BM25: "bm25",
    RECENT: "latest",
    RANDOM: "random",
    ORACLE: "ceiling",
    NOTHING: "nothing",
    SHUFFLED: "shuffled",
}
