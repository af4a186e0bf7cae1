"""`focus-sample`: questions to the sample as a newcomer asks them: a frame is assembled and opened, the model answers.

Right: a word that only the answer has stands among the first tokens that the model decodes, greedily. Looped: the
answer repeats eight of its words. Beside the focus stand retrieval with the text encoder (chunks of 64 tokens of the
same frame that fill the same window), the latest text of the frame, and the question alone, each with the same prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from amgs_focus.model.base_model import greedy
from amgs_focus.options import TextEncoder
from amgs_focus.records import Segment
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.window.working_context import SINKS
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_rig import Ledger, Row

QUESTIONS = Path(__file__).parent / "focus_evaluation" / "sample_questions.tsv"
SYSTEMS = ("focus", "retrieval", "latest", "nothing")
ANSWER = 40  # tokens
CHUNK = 64
LOOP = 8  # words
BENCH = Bench("focus-sample", {"right_less_retrieval": (">=", 0)})


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question and the pattern of what only a right answer has."""

    text: str
    pattern: str

    def is_right(self, answer: str) -> bool:
        """Return whether the answer has what was asked for."""
        return re.search(rf"(?i)\b(?:{self.pattern})\b", answer) is not None


def read_questions(file: Path = QUESTIONS) -> tuple[SampleQuestion, ...]:
    """Lines of question and pattern, a tab between."""
    return tuple(SampleQuestion(*line.split("\t")) for line in file.read_text(encoding="utf-8").splitlines())


def run(
    questions: Sequence[SampleQuestion],
    open_frame: Callable[[str], tuple[Sequence[Segment], FocusRuntime]],
    encoder: TextEncoder,
    folder: Path,
    settings: Mapping[str, Any],
    progress: Callable[[int, int, str], None],
) -> BenchResult:
    """Ask every question of every system. open_frame: the segments of a question's frame, and a runtime that was asked
    it. Rows are kept.
    """
    ledger = Ledger(folder, BENCH.name, settings)
    rows: list[tuple[SampleQuestion, Row]] = []
    for number, question in enumerate(questions):
        progress(number, len(questions), "asking the sample")

        def measure(question: SampleQuestion = question) -> Row:
            segments, runtime = open_frame(question.text)
            return _answers(question, "".join(segment.text for segment in segments), runtime, encoder)

        rows.append((question, ledger.once(question.text, measure)))
    right = {system: sum(question.is_right(row[system]) for question, row in rows) for system in SYSTEMS}
    looped = {system: sum(is_loop(row[system]) for _, row in rows) for system in SYSTEMS}
    metrics = {f"right_{system}": float(count) for system, count in right.items()}
    metrics |= {f"looped_{system}": float(count) for system, count in looped.items()}
    metrics["right_less_retrieval"] = float(right["focus"] - right["retrieval"])
    summary = BenchTable(
        f"Right of {len(rows)} questions to the sample",
        ("system", "right", "in a loop"),
        tuple((system, right[system], looped[system]) for system in SYSTEMS),
    )
    answers = BenchTable(
        "What the focus answered",
        ("question", "right", "answer in the window", "answer"),
        tuple(
            (
                question.text,
                "yes" if question.is_right(row["focus"]) else "",
                "yes" if question.is_right(row["window"]) else "",
                row["focus"].strip(),
            )
            for question, row in rows
        ),
    )
    return BENCH.result({**settings, "rows": str(ledger.path)}, metrics, (summary, answers))


def _answers(question: SampleQuestion, frame: str, runtime: FocusRuntime, encoder: TextEncoder) -> Row:
    """Return every system's answer, and what the focus had open."""
    model = runtime.model
    turn = model.encode(model.turn(question.text))
    tokens = model.encode(frame)
    room = runtime.settings.window - SINKS - len(turn) - ANSWER
    chunks = [tokens[at : at + CHUNK] for at in range(0, len(tokens), CHUNK)]
    likeness = encoder.embed([model.decode(chunk) for chunk in chunks]) @ encoder.embed([question.text])[0]
    nearest = sorted(np.argsort(-likeness, kind="stable")[: room // CHUNK].tolist())
    texts = {
        "retrieval": [token for at in nearest for token in chunks[at]],
        "latest": tokens[-room:],
        "nothing": list[int](),
    }
    row: Row = {}
    for name, text in texts.items():
        rows = model.embed(torch.tensor([*model.sinks(), *text, *turn]))
        row[name] = model.decode(list(greedy(model, rows, ANSWER)))
    records = runtime.decode(ANSWER)
    opened = [entry for entry in runtime.context.entries() if not entry.level]
    row["focus"] = "".join(record.text for record in records)
    asked = runtime.tree.length - len(records) - len(turn)
    row["window"] = " … ".join(
        model.decode(runtime.tree.tokens(entry.start, min(entry.end, asked)).tolist())
        for entry in opened
        if entry.start < asked
    )
    return row


def is_loop(answer: str) -> bool:
    """Return whether some run of words comes twice."""
    words = answer.split()
    runs = [tuple(words[at : at + LOOP]) for at in range(len(words) - LOOP + 1)]
    return len(set(runs)) < len(runs)
