"""`answers`: whether the log of what answers used names the blocks that answer, and what calibration learns from it.

Questions have turns that answer them. An answer is the one that is given with the question, or it adds words of those
turns in another order. The frame's blocks that answer are the truth. Beside the log: as many random blocks of the same
frame, and everything shown. The false rate is that of the same answer held against the frame of another question.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from amgs.calibration.answers import CONTROLS, shared
from amgs.calibration.recalibrate import brier, fit
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.questioned import AskedQuestion, QuestionedMemory, questioned_memories

BENCH = Bench("answers", {"used_precision_given_locomo": (">=", 0.75), "false_rate": ("<=", 0.02)})
BUDGET: Final = 614
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
    counts: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
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
            other = frames[(place + len(frames) // 2) % len(frames)]
            for form, part in FORMS.items():
                answer = _answer(frame, part, chance)
                used = _used(one, answer, frame.question.text, frame.texts)
                told = {
                    "the log": used,
                    "as many at random": frozenset(chance.sample(sorted(frame.texts), len(used))),
                    "everything shown": frozenset(frame.texts),
                }
                for name, chosen in told.items():
                    count = counts[one.corpus, form, name]
                    count[0] += len(chosen & frame.answers)
                    count[1] += len(chosen)
                    count[2] += len(frame.answers)
                rest = {i: text for i, text in other.texts.items() if i not in frame.texts}
                false[0] += len(_used(one, answer, frame.question.text, rest))
                false[1] += len(rest)
                if not part:
                    outcomes[one.corpus] += [
                        (frame.question.group, score, i in used, i in frame.answers)
                        for i, score in frame.scores.items()
                    ]
    rows = [
        (corpus, form, name, _share(hits, found), _share(hits, there), found)
        for (corpus, form, name), (hits, found, there) in counts.items()
    ]
    metrics = {"false_rate": _share(*false)} | {f"questions_{c}": float(n) for c, n in questions.items()}
    for corpus in outcomes:
        hits, found, there = counts[corpus, next(iter(FORMS)), "the log"]
        metrics |= {f"used_precision_given_{corpus}": _share(hits, found)}
        metrics |= {f"used_recall_given_{corpus}": _share(hits, there)}
    shown = BenchTable(
        "Blocks that an answer used, among those of its frame",
        ("corpus", "answer", "by", "precision", "recall", "blocks"),
        tuple((c, f, n, f"{p:.2f}", f"{r:.2f}", str(k)) for c, f, n, p, r, k in rows),
    )
    return BENCH.result({"every": every, "budget": BUDGET}, metrics, (shown, _calibrated(outcomes)))


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


def _answer(frame: _Frame, part: float, chance: random.Random) -> str:
    longest = (max(_SENTENCE.split(frame.texts[i]), key=len) for i in sorted(frame.answers))
    words = [word for sentence in longest for word in sentence.split()]
    chance.shuffle(words)
    return " ".join([frame.question.answer, *words[: round(part * len(words))]])


def _used(one: QuestionedMemory, answer: str, question: str, texts: Mapping[str, str]) -> frozenset[str]:
    controls = one.memory._opened.storage.block_uses.controls(list(texts), CONTROLS)
    return frozenset(i for i, (used, _) in shared(answer, question, texts, controls).items() if used)


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
