"""Read labelled questions, with the blocks that answer them, and hold out a third that no tuning may use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amgs.errors import InputError
from amgs.regular_file import read_text

SHARE = 3
"""One question in so many is held out."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the sources that answer it; () for a question that the memory cannot answer."""

    id: str
    text: str
    kind: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question with the blocks of each of its sources: groups[i] are the ids that came from answers[i]."""

    question: Question
    groups: tuple[frozenset[str], ...]

    @property
    def relevant(self) -> frozenset[str]:
        return frozenset().union(*self.groups)


def load_questions(path: Path) -> tuple[Question, ...]:
    """Return questions from a `.jsonl` file: one object a line with id, question, kind and answers.

    Raises InputError, which names the line, for a file that cannot be read.
    """
    text = read_text(path, "Give a .jsonl file in UTF-8.")
    questions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            if not isinstance(data["answers"], list):  # a text would be taken letter by letter
                raise TypeError
            answers = tuple(str(answer) for answer in data["answers"])
            questions.append(Question(str(data["id"]), str(data["question"]), str(data.get("kind", "")), answers))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"Line {number} of {path} is not a question.",
                way_out='Each line is {"id": …, "question": …, "kind": …, "answers": [source, …]}.',
            ) from error
    return tuple(questions)


def label_questions(questions: Iterable[Question], blocks_of: Callable[[str], Sequence[str]]) -> tuple[Labelled, ...]:
    """Return the questions that have an answer in the store, with the blocks of every source that is there."""
    cases = []
    for question in questions:
        groups = tuple(frozenset(blocks_of(source)) for source in question.answers)
        if any(groups):
            cases.append(Labelled(question, tuple(group for group in groups if group)))
    return tuple(cases)


def is_held_out(question: Question, seed: int = 0) -> bool:
    """Return whether a question belongs to the held-out third: by a hash of its id, so that files may grow."""
    mark = hashlib.sha256(f"{seed}:{question.id}".encode()).digest()
    return int.from_bytes(mark[:8], "big") % SHARE == 0


def recall(hits: Sequence[str], case: Labelled) -> float:
    """Return the share of a question's sources of which a block is among the hits."""
    ids = set(hits)
    return sum(bool(group & ids) for group in case.groups) / len(case.groups)
