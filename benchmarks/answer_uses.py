"""`answers`: whether the log of what answers used names the blocks that answer, and what calibration learns from it.

Questions have turns that answer them. An answer is the one that is given with the question, or it adds words of those
turns in another order. The blocks that answer, of a frame or of eighty messages in a row, are the truth. Beside the
log: as many random blocks of those shown, and everything shown. The false rate is that of the same answer held against
the frame of another question.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from amgs.calibration.forecasting import CONTROLS, match_words
from amgs.calibration.results import brier, fit
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.questioned import AskedQuestion, QuestionedMemory, questioned_memories

BENCH = Bench("answers", {"used_precision_given_locomo": (">=", 0.75), "false_rate": ("<=", 0.02)})
BUDGET: Final = 614
STRETCH: Final = 80
"""Messages of a conversation that a model reads beside what answers."""
FORMS: Final[Mapping[str, float]] = {
    "the answer alone": 0.0,
    "and half of a sentence of the evidence": 0.5,
    "and a sentence of the evidence": 1.0,
}
"""What an answer is made of: the share of the words of a sentence that is added."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass(frozen=True, slots=True)
class _Frame:
    """What was shown for a question: texts and scores by id, and which of them answer."""

    question: AskedQuestion
    texts: Mapping[str, str]
    scores: Mapping[str, float]
    answers: frozenset[str]


def run(rig: MemoryRig, data: Path, every: int = 1) -> BenchResult:
    """Measure LoCoMo and REALTALK as far as a folder has them. every: one question in so many is asked."""
    counts = _Counts()
    false = [0, 0]
    questions: dict[str, int] = defaultdict(int)
    outcomes: dict[str, list[tuple[str, float, bool, bool]]] = defaultdict(list)
    chance = random.Random(rig.seed)
    for one in questioned_memories(rig, data):
        if one.conversation is None:
            break
        frames = _frames(one, every, rig)
        questions[one.corpus] += len(frames)
        for place, frame in enumerate(frames):
            rest = frames[(place + len(frames) // 2) % len(frames)].texts
            other = replace(frame, texts={i: text for i, text in rest.items() if i not in frame.texts})
            for form, part in FORMS.items():
                answer = _answer(frame, part, chance)
                used = _used(one, answer, frame)
                counts.add((one.corpus, "frame", form), frame, used, chance)
                false[0] += len(_used(one, answer, other))
                false[1] += len(other.texts)
                if not part:
                    outcomes[one.corpus] += [
                        (frame.question.group, score, i in used, i in frame.answers)
                        for i, score in frame.scores.items()
                    ]
            stretch = _stretch(one, frame, chance)
            for form, part in FORMS.items():
                used = _used(one, _answer(stretch, part, chance), stretch)
                counts.add((one.corpus, "conversation", form), stretch, used, chance)
    metrics = {"false_rate": _share(*false)} | {f"questions_{c}": float(n) for c, n in questions.items()}
    for corpus in outcomes:
        hits, found, there = counts.by[corpus, "frame", next(iter(FORMS)), "the log"]
        metrics |= {f"used_precision_given_{corpus}": _share(hits, found)}
        metrics |= {f"used_recall_given_{corpus}": _share(hits, there)}
    tables = (counts.table(), _calibrated(outcomes))
    return BENCH.result({"every": every, "budget": BUDGET}, metrics, tables)


@dataclass(frozen=True, slots=True)
class _Counts:
    """(hits, found, there) by corpus, what was shown, the form of the answer, and what calls blocks used."""

    by: dict[tuple[str, str, str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))

    def add(self, of: tuple[str, str, str], shown: _Frame, used: frozenset[str], chance: random.Random) -> None:
        told = {
            "the log": used,
            "as many at random": frozenset(chance.sample(sorted(shown.texts), len(used))),
            "everything shown": frozenset(shown.texts),
        }
        for name, chosen in told.items():
            count = self.by[*of, name]
            count[0] += len(chosen & shown.answers)
            count[1] += len(chosen)
            count[2] += len(shown.answers)

    def table(self) -> BenchTable:
        rows = tuple(
            (*of, f"{_share(hits, found):.2f}", f"{_share(hits, there):.2f}", str(found))
            for of, (hits, found, there) in self.by.items()
        )
        columns = ("corpus", "shown", "answer", "by", "precision", "recall", "blocks")
        return BenchTable("Blocks that an answer used, among those shown", columns, rows)


def _frames(one: QuestionedMemory, every: int, rig: MemoryRig) -> list[_Frame]:
    made = []
    asked = [question for question in one.asked[::every] if question.answer]
    for place, question in enumerate(asked):
        rig.progress(place, len(asked), f"{one.corpus} {question.group}")
        frame = one.memory.assemble("SESSION", query=question.text, budget=BUDGET, reinforce=False)
        texts = {each.block.id: each.block.content for each in frame.selected}
        wanted = frozenset(each for each, _, _ in question.wanted) & texts.keys()
        if wanted:
            made.append(_Frame(question, texts, {c.block.id: c.score for c in frame.selected}, wanted))
    return made


def _stretch(one: QuestionedMemory, frame: _Frame, chance: random.Random) -> _Frame:
    """What answers a question among the messages around it, as in a conversation that a model reads."""
    ids = [block.id for block in one.blocks]
    place = ids.index(min(frame.answers, key=ids.index)) - chance.randrange(STRETCH)
    first = max(0, min(place, len(ids) - STRETCH))
    texts = {block.id: block.content for block in one.blocks[first : first + STRETCH]}
    wanted = frozenset(each for each, _, _ in frame.question.wanted) & texts.keys()
    return _Frame(frame.question, texts, {}, wanted)


def _answer(frame: _Frame, part: float, chance: random.Random) -> str:
    longest = (max(_SENTENCE.split(frame.texts[i]), key=len) for i in sorted(frame.answers))
    words = [word for sentence in longest for word in sentence.split()]
    chance.shuffle(words)
    return " ".join([frame.question.answer, *words[: round(part * len(words))]])


def _used(one: QuestionedMemory, answer: str, shown: _Frame) -> frozenset[str]:
    controls = one.memory._opened.storage.block_uses.controls(list(shown.texts), CONTROLS)
    found = match_words(answer, shown.question.text, shown.texts, controls)
    return frozenset(i for i, (used, _) in found.items() if used)


def _calibrated(outcomes: Mapping[str, Sequence[tuple[str, float, bool, bool]]]) -> BenchTable:
    """The Brier score of forecasts of what answers, on each half of the conversations after a fit on the other."""
    rows = []
    for corpus, told in outcomes.items():
        groups = sorted({group for group, *_ in told})
        found: dict[str, list[float]] = defaultdict(list)
        for half in (groups[::2], groups[1::2]):
            seen = [each for each in told if each[0] not in half]
            scores, truth = (np.array([float(each[n]) for each in told if each[0] in half]) for n in (1, 3))
            learned = np.array([each[1] for each in seen])
            given = {
                "the log": [float(each[2]) for each in seen],
                "the log's mean alone": [float(np.mean([each[2] for each in seen]))] * len(seen),
                "everything shown": [1.0] * len(seen),
                "what answers, the ceiling": [float(each[3]) for each in seen],
            }
            if not len(scores) or not len(learned):
                continue
            found["nothing: the scores themselves"].append(brier(scores, truth))
            for name, outcome in given.items():
                curve = fit(learned, np.array(outcome), "isotonic")
                found[name].append(brier(curve.at(scores), truth))
        rows += [(corpus, name, f"{float(np.mean(values)):.3f}") for name, values in found.items()]
    return BenchTable("Forecasts after learning from", ("corpus", "from", "Brier"), tuple(rows))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
