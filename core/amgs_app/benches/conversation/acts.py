"""Questions: found as they are written, and by their words alone where the marks were taken away.

MRDA's annotators (`mrda/val_set.txt`) wrote the marks they judged by, so that a mark alone is nearly the answer there;
`question_f1` says how the program does on the text as it is, `question_f1_unmarked` what its words tell. The words were
fitted on `mrda/train_set.txt` alone: chats and parliaments are forms they never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from amgs.conversation.questions import ASKING, after_fillers, is_question, question_words
from amgs_app.bench_results import BenchTable, Comparator
from amgs_app.benches.conversation.act_data import (
    AskedSentence,
    read_chats,
    read_meetings,
    read_utterances,
    unmarked,
)
from amgs_app.benches.conversation.subject import SubjectResult
from amgs_app.benches.rig import MemoryRig

GOALS: Mapping[str, tuple[Comparator, float]] = {"question_f1": (">=", 0.80)}
_WH = frozenset({"what", "who", "where", "when", "why", "which", "how", "whose", "whom"})

Judge = Callable[[AskedSentence], bool]


def measure_acts(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """F1 of questions by form; None where there is neither `mrda/` nor chats."""
    del rig
    forms = _forms(data)
    if not forms:
        return None
    unmarked_judges: dict[str, Judge] = {
        "all": lambda _: True,
        "question word first": lambda one: _first(one) in _WH,
        "question word or auxiliary first, after fillers": lambda one: _first(one) in ASKING,
        "ours": lambda one: is_question(unmarked(one)),
    }
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for name, utterances in forms.items():
        judges = {f"without marks: {method}": judge for method, judge in unmarked_judges.items()}
        if name == "mrda":
            judges = {
                "as written: ends with ?": lambda one: one.text.rstrip().endswith("?"),
                "as written: ours": lambda one: is_question(one.text),
                **judges,
            }
        for method, judge in judges.items():
            precision, recall, f1 = _scores(utterances, judge)
            rows.append((name, method, 100 * f1, 100 * precision, 100 * recall, str(len(utterances))))
            if method == "as written: ours":
                metrics["question_f1"] = f1
            elif method == "without marks: ours":
                metrics["question_f1_unmarked" if name == "mrda" else f"question_f1_unmarked_{name}"] = f1
    columns = ("form", "judged", "F1", "precision", "recall", "sentences")
    return SubjectResult(metrics, GOALS, (BenchTable("Questions", columns, tuple(rows)),))


def _forms(data: Path) -> dict[str, list[AskedSentence]]:
    forms: dict[str, list[AskedSentence]] = {}
    heard = sorted(p for p in (data / "mrda").glob("*_set.txt") if not p.name.startswith("train"))
    if heard:
        forms["mrda"] = [one for path in heard for one in read_utterances(path)]
    for name in ("realtalk", "locomo"):
        if any((data / name).glob("*.json")):
            forms[name] = read_chats(data / name)
    for path in sorted((data / "qmsum").glob("*.jsonl"))[:1]:
        forms["qmsum"] = read_meetings(path)
    return forms


def _first(one: AskedSentence) -> str:
    words = after_fillers(question_words(one.text))
    return words[0] if words else ""


def _scores(utterances: Sequence[AskedSentence], judge: Judge) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    true = np.array([one.asks for one in utterances])
    said = np.array([judge(one) for one in utterances])
    both = float((true & said).sum())
    return both / max(1, said.sum()), both / max(1, true.sum()), 2 * both / max(1, said.sum() + true.sum())
