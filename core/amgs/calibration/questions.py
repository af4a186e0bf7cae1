"""Questions in files: labelled ones with the blocks that answer them, of which a third is held out and no tuning
may use it; and cases with what their answers must rest on, as YAML that people write, such as {question: When
did Ilse order the valve?, must_contain: [QX-7741-B], rank: 3}; and runs of cases as JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

from amgs.clock import parse_instant
from amgs.errors import InputError
from amgs.incoming import read_text
from amgs.types.diagnosis import CaseHit, CaseOutcome, QuestionCase

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


_NAMES = tuple(field.name for field in fields(QuestionCase))
_TEXTS = ("must_contain", "must_not_contain")
_FORM = "a YAML list, in which each case has a `question` and what its answer `must_contain`."


def read_cases(path: Path) -> tuple[QuestionCase, ...]:
    """Return the cases in a file. Raises InputError if it cannot be read or contains anything else."""
    import yaml

    text = read_text(path, f"Give another file: {_FORM}")
    try:
        records = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else "a line"
        raise InputError(f"{path} is not YAML: {place}.", way_out=f"Correct {place}: {_FORM}") from error
    if records is None:
        return ()
    if not isinstance(records, list):
        raise InputError(f"{path} holds no list.", way_out="Begin each case with a dash and the key “question”.")
    return tuple(case_of(record, f"Case {number} of {path}") for number, record in enumerate(records, 1))


def append_case(path: Path, case: QuestionCase) -> int:
    """Append a case to a file, creating it if necessary; return the number of cases then.

    Raises InputError if the file contains anything else, or cannot be written.
    """
    import yaml

    before = read_cases(path) if path.exists() else ()
    if case in before:
        return len(before)
    yaml_text = yaml.safe_dump([as_plain(case)], sort_keys=False, allow_unicode=True, width=110)
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if before:
            path.write_text(f"{text.rstrip()}\n{yaml_text}", encoding="utf-8")
        else:
            path.write_text(f"{text}{yaml_text}", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", title="Nothing was written", way_out="Choose another file."
        ) from error
    return len(before) + 1


def as_plain(case: QuestionCase) -> dict[str, Any]:
    """Return a case as in the file, without empty requirements."""
    record: dict[str, Any] = {}
    for name in _NAMES:
        value = getattr(case, name)
        if value not in (None, (), ""):
            record[name] = list(value) if name in _TEXTS else value
    if case.as_of is not None:
        record["as_of"] = case.as_of.isoformat()
    return record


def case_of(record: Any, where: str) -> QuestionCase:
    """Parse a case; raises InputError with `where` for anything else."""
    if not isinstance(record, dict) or not str(record.get("question") or "").strip():
        raise InputError(f"{where} has no question.", way_out="Give it the key “question” with a text.")
    unknown = [str(name) for name in record if name not in _NAMES]
    if unknown:
        raise InputError(f"{where} has the unknown key {unknown[0]!r}.", way_out=f"The keys are {', '.join(_NAMES)}.")
    texts = {name: _texts(record.get(name), f"{where}: {name}") for name in _TEXTS}
    rank, answerable = record.get("rank"), record.get("answerable")
    if rank is not None and (isinstance(rank, bool) or not isinstance(rank, int) or rank < 1):
        raise InputError(f"{where}: rank is a number from 1, not {rank!r}.", way_out="For example rank: 3.")
    if answerable is not None and not isinstance(answerable, bool):
        raise InputError(f"{where}: answerable is true or false, not {answerable!r}.", way_out="Write true.")
    if rank is not None and not texts["must_contain"]:
        raise InputError(f"{where} asks for a rank of nothing.", way_out="Say what it must contain.")
    frame, session = (str(record.get(name) or "") for name in ("frame", "session"))
    if session and (rank is not None or answerable is not None or frame or record.get("as_of")):
        raise InputError(
            f"{where} asks a session for what only a memory has.",
            way_out="Beside session give question, must_contain and must_not_contain alone.",
        )
    as_of = _instant(record.get("as_of"), where)
    return QuestionCase(
        str(record["question"]).strip(),
        **texts,
        rank=rank,
        answerable=answerable,
        as_of=as_of,
        frame=frame,
        session=session,
    )


def _texts(data: Any, where: str) -> tuple[str, ...]:
    values = [] if data is None else data if isinstance(data, list) else [data]
    if not all(isinstance(value, str | int | float) and str(value).strip() for value in values):
        raise InputError(f"{where} is a text or a list of texts.", way_out="Put the text into quotes.")
    return tuple(str(value) for value in values)


def _instant(value: Any, where: str) -> datetime | None:
    if value is None:
        return None
    try:
        return parse_instant(value.isoformat() if isinstance(value, date) else str(value))
    except ValueError:
        raise InputError(f"{where}: invalid time {value!r}.", way_out="Write 2026-03-01.") from None


FORMAT = "amgs questions 1"


def write_run(path: Path, outcomes: Sequence[CaseOutcome]) -> None:
    """Write the outcomes of the cases, replacing the file. Raises InputError if it cannot be written."""
    run = {
        "format": FORMAT,
        "outcomes": [
            {
                "case": as_plain(outcome.case),
                "faults": list(outcome.faults),
                "rank": outcome.rank,
                "hits": [asdict(hit) | {"parts": dict(hit.parts)} for hit in outcome.hits],
            }
            for outcome in outcomes
        ],
    }
    try:
        path.write_text(json.dumps(run, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", title="Nothing was written", way_out="Choose another file."
        ) from error


def read_run(path: Path) -> tuple[CaseOutcome, ...]:
    """Return the outcomes of a stored run. Raises InputError if it cannot be read or contains anything else."""
    try:
        run = json.loads(read_text(path, "Give the file of a saved run."))
        if run["format"] != FORMAT:
            raise ValueError("another format")
        return tuple(_outcome(outcome) for outcome in run["outcomes"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a saved run of questions.", way_out="Save a run first.") from error


def _outcome(outcome: dict[str, Any]) -> CaseOutcome:
    hits = tuple(
        CaseHit(
            str(hit["block"]),
            str(hit["title"]),
            int(hit["rank"]),
            float(hit["score"]),
            tuple(map(str, hit["layers"])),
            tuple((str(name), float(value)) for name, value in hit["parts"].items()),
            bool(hit["wanted"]),
        )
        for hit in outcome["hits"]
    )
    rank = None if outcome["rank"] is None else int(outcome["rank"])
    return CaseOutcome(case_of(outcome["case"], "A case"), tuple(map(str, outcome["faults"])), rank, hits)
