"""Questions: found as they are written, and by their words alone where the marks were taken away.

MRDA's annotators (`mrda/val_set.txt`) wrote the marks they judged by, so that a mark alone is nearly the answer there;
`question_f1` says how the program does on the text as it is, `question_f1_unmarked` what its first words
tell.

What closes a request is measured on an agent's invented history, its reports of two thirds of the requests in another
order: a report must be laid to its own request, and the rest must stay open.

Sentences that ask and that do not: of MRDA by its annotators, of chats and meetings by their question marks.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.conversation.acts import acts, after_fillers, is_question, question_words
from amgs.errors import InputError
from amgs.text.sentences import sentences
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation.histories import agent

_SESSION = re.compile(r"session_\d+")
_ASKED = re.compile(r"\?[?!]*[\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class AskedSentence:
    """A sentence as it was written, and whether it asks."""

    text: str
    asks: bool


def read_utterances(path: Path) -> list[AskedSentence]:
    """The utterances of a file of MRDA, `speaker|text|general act|…` a line; Q is a question."""
    rows = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
    if any(len(row) < 3 for row in rows):
        raise InputError(f"{path} holds no dialogue acts of MRDA.", way_out="A line there is speaker|text|act|….")
    return [AskedSentence(row[1], row[2] == "Q") for row in rows]


def read_chats(folder: Path) -> list[AskedSentence]:
    """The sentences of conversations in LoCoMo's layout, by their marks."""
    return list(_marked(text for path in sorted(folder.glob("*.json")) for text in _turns(path)))


def read_meetings(path: Path) -> list[AskedSentence]:
    """The sentences of QMSum's meetings, by their marks."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return list(_marked(turn["content"] for row in rows for turn in row["meeting_transcripts"]))


def unmarked(one: AskedSentence) -> str:
    """Its words alone."""
    return " ".join(question_words(one.text))


def _turns(path: Path) -> Iterator[str]:
    for name, value in json.loads(path.read_bytes()).items():
        if _SESSION.fullmatch(name) and isinstance(value, list):
            yield from (str(turn.get("text") or "") for turn in value)


def _marked(texts: Iterable[str]) -> Iterator[AskedSentence]:
    for text in texts:
        for start, end in sentences(text):
            if question_words(text[start:end]):
                yield AskedSentence(text[start:end], _ASKED.search(text[start:end]) is not None)


GOALS: Mapping[str, tuple[Comparator, float]] = {"question_f1": (">=", 0.80)}
_WH = frozenset({"what", "who", "where", "when", "why", "which", "how", "whose", "whom"})

Judge = Callable[[AskedSentence], bool]


def measure_acts(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """F1 of questions by form; None where there is neither `mrda/` nor chats."""
    forms = _forms(data)
    if not forms:
        return None
    unmarked_judges: dict[str, Judge] = {
        "all": lambda _: True,
        "question word first": lambda one: _first(one) in _WH,
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
    closed = closed_requests(rig.seed)
    metrics["requests_closed_right"] = closed["amgs"][0]
    tables = (
        BenchTable("Questions", columns, tuple(rows)),
        BenchTable(
            "Requests of an invented history, closed or rightly open, percent",
            ("method", "right", "closed by another's report"),
            tuple((name, *values) for name, values in closed.items()),
        ),
    )
    return SubjectResult(metrics, GOALS, tables)


def closed_requests(seed: int) -> dict[str, tuple[float, float]]:
    """(requests closed by their own report or rightly open, closed by another's) in percent, by method."""
    said, _ = agent(seed)
    asked = [str(one["content"]) for one in said if one["role"] == "user"]
    told = [str(one["content"]) for one in said if one["role"] == "assistant" and one["content"]]
    order = random.Random(seed).sample(range(len(asked)), 2 * len(asked) // 3)
    found = acts([*asked, *(told[n] for n in order)], ["user"] * len(asked) + ["assistant"] * len(order))
    ours = {act.place: act.closed_by for act in found if act.kind == "goal"}
    right = {n: len(asked) + order.index(n) if n in order else None for n in range(len(asked))}
    methods: dict[str, list[int | None]] = {
        "amgs": [ours.get(n) for n in right],
        "the next report": [len(asked) + n if n < len(order) else None for n in right],
        "never": [None for _ in right],
    }
    return {
        name: (
            100 * float(np.mean([by == right[n] for n, by in enumerate(closers)])),
            100 * float(np.mean([by is not None and by != right[n] for n, by in enumerate(closers)])),
        )
        for name, closers in methods.items()
    }


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
