"""Operation `test`: questions in a file with what their answers must contain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types import Progress
    from amgs_app.engine import Engine


@operation(
    "test",
    summary="Ask the questions in a file and report which answers fail.",
    synonyms=("evaluate", "regression", "assert"),
    example="test questions.yml --against last.json --quiet",
    long=True,
)
def test(
    engine: Engine,
    file: Annotated[Path, Arg(metavar="FILE", help="A YAML file of questions; --add makes it."), Takes("file")],
    *,
    quiet: Annotated[bool, Option("--quiet", help="Show only what fails or moved.")] = False,
    add: Annotated[
        str | None, Option("--add", metavar="QUESTION", help="First add this question; --contains says what to check.")
    ] = None,
    contains: Annotated[
        list[str] | None,
        Option("--contains", metavar="TEXT", help="With --add: the answer must contain this; may be repeated."),
    ] = None,
    record: Annotated[
        bool, Option("--record", help="First add the questions you gave verdicts on, where they hold now.")
    ] = False,
    keep: Annotated[
        Path | None,
        Option("--keep", metavar="FILE", help="Save this run, to compare a later one with it."),
        Takes("file", made=True),
    ] = None,
    against: Annotated[
        Path | None,
        Option("--against", metavar="FILE", help="Say which questions moved since a kept run, and why."),
        Takes("file"),
    ] = None,
    report: Annotated[
        Path | None,
        Option("--report", metavar="FILE", help="Also write the result as Markdown, for a comment."),
        Takes("file", made=True),
    ] = None,
    progress: Progress | None = None,
) -> results.CasesTested:
    """Ask every question of a file, by a search or for the frame that it names, and check what the memory gives: texts
    that it must hold or must not, the rank of the block that holds them, whether it has an answer at all, as of a day.

    Ends with exit code 1 where a case fails; that a question only moved is no failure. With `--against`, a question
    that moved is shown with its rank before and now, the part of the score that moved most, and the blocks that came
    before it. Nothing is changed: no answer counts as used.
    """

    from amgs.diagnosis.cases import check, compare
    from amgs.errors import InputError
    from amgs.exchange.question_cases import read_cases, read_run, write_run
    from amgs.types import Progress

    progress = progress or Progress()
    earlier = None if against is None else read_run(against)
    if add is not None:
        _add(file, add, contains or ())
    elif contains:
        raise UsageError("--contains says what a new question must find.", way_out="Give --add QUESTION, too.")
    if not record:
        read_cases(file)  # report an unreadable file before loading anything
    engine.memory.load(progress)
    recorded = _record_questions(engine, file) if record else None
    cases = read_cases(file) if not record or file.exists() else ()
    if not cases:
        way_out = (
            "Judge what a frame gave with `feedback`."
            if record
            else "Add one with `--add QUESTION --contains TEXT`, or those of your verdicts with `--record`."
        )
        raise InputError(f"{file} holds no question.", way_out=way_out)
    outcomes = []
    for number, case in enumerate(cases):
        progress(number, len(cases), "asking")
        outcomes.append(check(case, engine.memory))
    compared = None if earlier is None else compare(earlier, outcomes)
    test_run = results.CasesTested(str(file), tuple(outcomes), quiet, recorded, str(against or ""), compared)
    if keep is not None:
        write_run(keep, outcomes)
    if report is not None:
        _report(report, test_run)
    return test_run


def _add(file: Path, question: str, contains: Sequence[str]) -> None:
    """Append a question to the file, unless it is there already."""
    from amgs.exchange.question_cases import append_case
    from amgs.types.question_case import QuestionCase

    if not question.strip() or not contains:
        raise UsageError("A case needs a question and something to check.", way_out="Give --contains TEXT.")
    append_case(file, QuestionCase(question.strip(), tuple(contains)))


def _record_questions(engine: Engine, file: Path) -> int:
    """Append the judged questions that hold now and are not in the file; return their number."""
    from amgs.diagnosis.cases import holding
    from amgs.exchange.question_cases import append_case, read_cases

    known = {(known_case.question, known_case.frame) for known_case in read_cases(file)} if file.exists() else set()
    written = 0
    for case in engine.memory.diagnosis.judged_questions():
        holding_case = holding(case, engine.memory) if (case.question, case.frame) not in known else None
        if holding_case is not None:
            append_case(file, holding_case)
            written += 1
    return written


def _report(path: Path, test_run: results.CasesTested) -> None:
    from amgs.errors import InputError
    from amgs_app.diagnosis.case_report import markdown

    try:
        path.write_text(markdown(test_run), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", way_out="Choose another file.") from error
