"""Memories compared: each is asked the same questions, may give as much text, and is judged by whether that text holds
what the answer must rest on. No language model judges, and none is asked.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.calibration.brier import wilson_interval
from amgs.calibration.forecasting import LEVELS, promise_budget
from amgs.diagnosis.facts import contains_words
from amgs.text.language_model import approximate_tokens
from amgs.types import Progress
from amgs.types.diagnosis import QuestionCase
from amgs.wings.recorder.uses import WordSearch

EVERYTHING: Final = "everything"
"""The control that gives all there is, whatever the budget: what could be held at all."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A memory that is compared. ask: gives its texts for a question, the best first. control: whether it is no memory.
    bounded: whether the budget holds for it.
    """

    name: str
    ask: Callable[[str], Sequence[str]]
    control: bool = False
    bounded: bool = True


@dataclass(frozen=True, slots=True)
class ContenderScore:
    """How one memory fared. held: questions of which its text held all that it must and nothing that it must not; low,
    high: the 95 % interval of their share. evidence: the mean share of what a text must hold that it held. tokens:
    mean, of what it gave. milliseconds: median, of a question. better, worse: questions that it held and the first
    memory did not, and the other way round. verdicts: of each question in order. needed: tokens of its texts, the best
    first, up to the one with which all was held that must be, None where they never were.
    """

    name: str
    asked: int
    held: int
    low: float
    high: float
    evidence: float
    tokens: float
    milliseconds: float
    better: int
    worse: int
    control: bool
    verdicts: tuple[bool, ...]
    needed: tuple[int | None, ...]

    @property
    def promises(self) -> tuple[tuple[float, int | None], ...]:
        """For each level of `LEVELS`, the budget that a further question of this kind needs at most, so likely."""
        return tuple((level, promise_budget(self.needed, level)) for level in LEVELS)


def controls(texts: Sequence[str], seed: int) -> list[Contender]:
    """What is no memory: BM25 over the same texts, any of them at random, and all of them."""
    words, drawn = WordSearch(texts), random.Random(seed)
    return [
        Contender("BM25", lambda question: [texts[n] for n in words.rank_texts(question)], control=True),
        Contender("random", lambda _: drawn.sample(texts, len(texts)), control=True),
        Contender(EVERYTHING, lambda _: texts, control=True, bounded=False),
    ]


def compare(
    cases: Sequence[QuestionCase],
    contenders: Sequence[Contender],
    *,
    budget: int,
    top: int | None = None,
    progress: Progress | None = None,
) -> tuple[ContenderScore, ...]:
    """Ask each memory every question. budget: tokens of what counts of its texts, the best first; top: instead, so many
    of them. A text that does not fit is left out with all that come after it. Raises what a memory raises, and
    Cancelled.
    """
    made: list[ContenderScore] = []
    for place, one in enumerate(contenders):
        verdicts, shares, tokens, times, needed = [], [], [], [], []
        for number, case in enumerate(cases):
            if progress is not None:
                progress(place * len(cases) + number, len(contenders) * len(cases), one.name)
            begun = time.perf_counter()
            texts = one.ask(case.question)
            times.append((time.perf_counter() - begun) * 1000)
            if case.must_contain:
                needed.append(_needed(texts, case.must_contain))
            if one.bounded:
                texts = texts[:top] if top is not None else list(_fitting(texts, budget))
            wanted = [any(contains_words(each, fact) for each in texts) for fact in case.must_contain]
            fault = any(contains_words(each, fact) for each in texts for fact in case.must_not_contain)
            verdicts.append(all(wanted) and not fault)
            shares.append(sum(wanted) / len(wanted) if wanted else 1.0)
            tokens.append(sum(map(approximate_tokens, texts)))
        held = sum(verdicts)
        first = made[0].verdicts if made else tuple(verdicts)
        made.append(
            ContenderScore(
                one.name,
                len(cases),
                held,
                *wilson_interval(held, len(cases)),
                statistics.fmean(shares) if shares else 0.0,
                statistics.fmean(tokens) if tokens else 0.0,
                statistics.median(times) if times else 0.0,
                sum(here and not there for here, there in zip(verdicts, first, strict=True)),
                sum(there and not here for here, there in zip(verdicts, first, strict=True)),
                one.control,
                tuple(verdicts),
                tuple(needed),
            )
        )
    return tuple(made)


def _needed(texts: Sequence[str], facts: Sequence[str]) -> int | None:
    """Tokens of the texts up to the one with which they hold all facts; None where they never do."""
    tokens, left = 0, list(facts)
    for text in texts:
        tokens += approximate_tokens(text)
        left = [fact for fact in left if not contains_words(text, fact)]
        if not left:
            return tokens
    return None


def _fitting(texts: Sequence[str], budget: int) -> Iterator[str]:
    left = budget
    for text in texts:
        left -= approximate_tokens(text)
        if left < 0:
            return
        yield text
