"""The six success metrics of AMGS §13.1 on a corpus of notes with labelled questions: `metrics`.

A memory lives for some days: it takes the notes in, consolidates them, enhances itself twice, and is asked two thirds
of the questions. The labels say of every block of a frame whether it was useful; from those verdicts it recalibrates.
The last third is asked afterwards only, and told apart: nothing in this run has learned from it.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from amgs.calibration import questions as labels
from amgs.calibration.questions import Labelled, Question, is_held_out
from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.types import Progress
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.stores import notes_now, notes_store

FRAME = "ATTENTION"
BENCH = Bench(
    "metrics",
    {
        "precision_held_out": (">=", 0.80),
        "recall_held_out": (">=", 0.70),
        "brier_held_out": ("<=", 0.15),
        "attention_stability": (">=", 0.60),
    },
)
_NAMES = {
    "precision": "precision",
    "recall": "recall",
    "precision held out": "precision_held_out",
    "recall held out": "recall_held_out",
    "coherence": "coherence",
    "graph stability": "graph_stability",
    "attention stability": "attention_stability",
}


def run(rig: MemoryRig, folder: Path) -> BenchResult:
    """folder: notes, `corpus.toml` with the instant at which they live, and `questions.jsonl`.

    Raises InputError for one that cannot be read.
    """
    seed, progress = rig.seed, rig.progress
    now, asked = notes_now(folder), labels.load_questions(folder / "questions.jsonl")
    with notes_store(folder, now, rig.embedder, progress) as memory:
        for _ in range(2):
            memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement(progress=progress))
        known = labels.label_questions(asked, memory.resolve_source)
        # In an order of its own: neighbours in the file are about one thing, which no days of use are.
        order = random.Random(seed).sample(known, len(known))
        apart = [one for one in order if is_held_out(one.question, seed)]
        learned = [one for one in order if not is_held_out(one.question, seed)]
        brier = {"brier": _use(memory, learned, progress), "brier_held_out_before": _ask(memory, apart)}
        memory.calibration.apply(memory.calibration.plan())
        brier["brier_held_out"] = _ask(memory, apart)
        found = memory.calibration.metrics(_only(asked), seed=seed)
    metrics = {
        _NAMES[one.name]: math.nan if one.value is None else one.value for one in found.metrics if one.name in _NAMES
    }
    metrics |= brier | {"questions": len(known), "questions_held_out": len(apart)}
    rows = tuple((one.name, "–" if one.value is None else f"{one.value:.3f}", one.note) for one in found.metrics)
    settings = {"data": folder.name, "seed": seed, "frame": FRAME, "embedder": rig.embedder.name}
    table = BenchTable("As `amgs metrics` tells them", ("metric", "found", "how"), rows)
    return BENCH.result(settings, metrics, (table,))


def _use(memory: Memory, questions: Sequence[Labelled], progress: Progress) -> float:
    """Ask each question on two days, with a verdict on every block of the frame; gives the mean Brier score."""
    scores = []
    for day in range(2):
        for number, one in enumerate(questions):
            progress(day * len(questions) + number, 2 * len(questions), "asking")
            frame = memory.assemble(FRAME, query=one.question.text)
            if day == 0:
                for chosen in frame.selected:
                    useful = chosen.block.id in one.relevant
                    outcome = memory.feedback(chosen.block.id, useful=useful, assembly_id=frame.id)
                    scores.append(outcome.brier)
        memory.clock = FixedClock(memory.clock.now() + timedelta(days=1))
    return statistics.fmean(score for score in scores if score is not None)


def _ask(memory: Memory, questions: Sequence[Labelled]) -> float:
    """The mean Brier score of what the memory would forecast now; leaves no trace."""
    scores = []
    for one in questions:
        chosen = memory.assemble(FRAME, query=one.question.text, reinforce=False).selected
        forecasts = memory.calibration.forecast([c.score for c in chosen])
        scores += [(f - (c.block.id in one.relevant)) ** 2 for f, c in zip(forecasts, chosen, strict=True)]
    return statistics.fmean(scores)


def _only(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Those that have an answer at all."""
    return tuple(one for one in questions if one.answers)
