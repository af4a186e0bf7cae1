"""Questions with what their answers must rest on, as a file: `question add`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.engine import Engine
from amgs_app.results import CaseWritten


@operation("question add", summary="Add a question to a file of tests, with what its answer must hold.")
def add(
    engine: Engine,
    question: Annotated[str, Arg(metavar="QUESTION", help="As it is asked.")],
    *,
    to: Annotated[
        Path,
        Option("--to", metavar="FILE", help="A YAML file of questions, made where there is none."),
        Takes("file", made=True),
    ],
    contains: Annotated[
        list[str] | None,
        Option("--contains", metavar="TEXT", help="What is given for it must hold this; may be repeated."),
    ] = None,
    without: Annotated[
        list[str] | None, Option("--without", metavar="TEXT", help="It must not hold this; may be repeated.")
    ] = None,
    rank: Annotated[
        int | None,
        Option("--rank", metavar="K", min=1, help="The block that holds it is among the best K."),
    ] = None,
    frame: Annotated[
        str, Option("--frame", metavar="NAME", help="Ask for this frame instead of a search."), Takes("frame")
    ] = "",
) -> CaseWritten:
    """Add a case at the end of a file of questions: what must be in what the memory gives for it, what must not, and at
    which rank. What the file holds stays as it is; a case that stands there is not written twice.
    """
    from amgs.errors import UsageError
    from amgs.exchange.question_cases import append_case
    from amgs.types.question_case import QuestionCase

    del engine
    if not question.strip() or not (contains or without):
        raise UsageError(
            "A case needs a question and something to check.", way_out="Give --contains or --without."
        )
    if rank is not None and not contains:
        raise UsageError("--rank is about what --contains names.", way_out="Give --contains, too.")
    name = frame.strip().upper()
    case = QuestionCase(question.strip(), tuple(contains or ()), tuple(without or ()), rank, frame=name)
    return CaseWritten(str(to), case, append_case(to, case))
