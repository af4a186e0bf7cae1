"""`focus-longbench`: questions over long documents, from files in LongBench's and InfiniteBench's formats.

LongBench (NarrativeQA, Qasper): lines of `{"input", "context", "answers", …}`, greedy answers scored by token
F1. InfiniteBench: lines of `{"input", "context", "answer", "options"}`; where there are options, the likeliest one
is the answer. The focus beside a sliding window of the same size. Nothing of either ships with the program.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from amgs.errors import InputError
from amgs_focus.evaluation.statistics import resampled
from amgs_focus.model.base_model import BaseModel, greedy
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.window.working_context import SINKS
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import Needle, choose
from benchmarks.focus_rig import FocusRig
from benchmarks.frame import Bench
from benchmarks.ledger import Row

BENCH = Bench("focus-longbench")
FILES = (
    "narrativeqa.jsonl",
    "qasper.jsonl",
    "longbook_qa_eng.jsonl",
    "longbook_choice_eng.jsonl",
    "passkey.jsonl",
)
ANSWER = 32
SETTINGS = FocusSettings()
SEED = 0


@dataclass(frozen=True, slots=True)
class Case:
    """A question over a document. options: () where the answer is free."""

    context: str
    question: str
    answers: tuple[str, ...]
    options: tuple[str, ...]


def read_cases(file: Path) -> tuple[Case, ...]:
    """The questions of one file. Raises InputError that names the line that cannot be read."""
    cases = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row: dict[str, Any] = json.loads(line)
            told = row["answers"] if "answers" in row else row["answer"]
            answers = [told] if isinstance(told, str | int) else list(told)
            cases.append(
                Case(
                    str(row["context"]),
                    str(row["input"]),
                    tuple(map(str, answers)),
                    tuple(map(str, row.get("options") or ())),
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"Line {number} of {file.name} is not a question with `input`, `context` and `answers`.",
                way_out="Give a file in LongBench's or InfiniteBench's format.",
            ) from error
    return tuple(cases)


def run(rig: FocusRig, folder: Path, *, cases: int = 20, settings: FocusSettings = SETTINGS) -> BenchResult:
    """Ask the first `cases` questions of each file that is there; a quick run, a tenth of them. Raises InputError when
    there is no file.
    """
    found = [folder / name for name in FILES if (folder / name).is_file()]
    if not found:
        raise InputError(
            f"{folder} holds none of {', '.join(FILES)}.",
            way_out="Get the files from LongBench or InfiniteBench and name their folder with --data.",
        )
    cases = max(1, cases // 10) if rig.quick else cases
    told = {**rig.parts(), **rig.searching(), **settings.model_dump(), "answer": ANSWER, "seed": SEED}
    ledger = rig.ledger(BENCH, told)
    metrics: dict[str, float] = {}
    lines = []
    for file in found:
        rows = []
        for number, case in enumerate(read_cases(file)[:cases]):
            rig.progress(number, cases, file.stem)
            rows.append(ledger.once(f"{file.name}/{number}", partial(_ask, rig, case, settings)))
        scores = {name: [100 * row[name] for row in rows] for name in ("focus", "window")}
        for name, values in scores.items():
            metrics[f"{file.stem}_{name}"] = float(np.mean(values))
        difference = resampled(scores, lambda means: means["focus"] - means["window"], seed=SEED)
        means = (f"{np.mean(values):.1f}" for values in scores.values())
        lines.append((file.stem, str(len(rows)), *means, difference.said(1)))
    columns = ("file", "questions", "focus", "sliding window", "focus − window")
    table = BenchTable("Token F1, or accuracy where there are options, in percent", columns, tuple(lines))
    shown = {**told, "cases": cases, "rows": str(ledger.path)}
    return BENCH.result(shown, metrics, (table,))


def token_f1(said: str, answers: Sequence[str]) -> float:
    """The best token F1 against any answer, without case, articles and punctuation, as LongBench scores it."""
    return max((_f1(_words(said), _words(answer)) for answer in answers), default=0.0)


def _ask(rig: FocusRig, case: Case, settings: FocusSettings) -> Row:
    model = rig.model
    tokens = model.encode(case.context)
    asked = model.encode(model.turn(case.question))
    room = settings.window - SINKS - len(asked) - ANSWER
    with torch.no_grad():
        plain = model.embed(
            torch.tensor([*model.sinks(), *tokens[-max(1, room) :], *asked], dtype=torch.int64)
        )
    with closing(rig.lifetime(tokens, settings)) as tree:
        runtime = FocusRuntime(
            model, scorer=rig.scorer, settings=settings, tree=tree, clock=rig.clock, search=rig.search
        )
        runtime.question(case.question)
        runtime.refocus()
        context = runtime.context
        rows = context.embeddings(tree, 0, context.used)
        return {
            "tokens": len(tokens),
            "focus": _score(model, rows, case),
            "window": _score(model, plain, case),
        }


def _score(model: BaseModel, rows: torch.Tensor, case: Case) -> float:
    if case.options:
        right = next((n for n, option in enumerate(case.options) if option in case.answers), -1)
        return float(choose(model, rows, Needle("", "", "", case.options, right)) == right)
    return token_f1(model.decode(list(greedy(model, rows, ANSWER))), case.answers)


def _words(text: str) -> list[str]:
    bare = text.casefold().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def _f1(said: Sequence[str], answer: Sequence[str]) -> float:
    shared = sum((Counter(said) & Counter(answer)).values())
    return 2 * shared / (len(said) + len(answer)) if shared else 0.0
