"""Operations `diagnose`, why an answer or the working context missed a fact, and what would bring it in; and
`test`, questions in a file with what their answers must contain, with a report in Markdown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack, cast

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, Default, Option, Takes, WeightsText, read_weights
from amgs_app.calls.operation import operation
from amgs_app.pages.writing import Html, Redact, palettes, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types import Progress
    from amgs.types.diagnosis import CaseOutcome, DecodedContext, Diagnosis, DiagnosisArguments, FixApplied, ProposedFix
    from amgs_app.engine import Engine
    from amgs_app.results.memory import CasesTested
    from amgs_focus.records import Band, Refocus
    from amgs_focus.views import FocusView


Answer = Annotated[str, Arg(metavar="ANSWER", help="What was answered; '' where that is not known.")]


class AskedOf(TypedDict, total=False):
    """Options about the question; see `DiagnosisArguments`."""

    question: Annotated[
        str,
        Option(
            "--question", metavar="TEXT", help="What was asked; default: the latest in the logs that led to the answer."
        ),
        Default(""),
    ]
    frame: Annotated[
        str,
        Option("--frame", metavar="NAME", help="The frame that was asked for; default: SESSION."),
        Takes("frame"),
        Default(""),
    ]
    budget: Annotated[
        int | None,
        Option("--budget", metavar="N", min=1, help="The token budget of the request; default: the frame's own."),
        Default(None),
    ]
    weights: Annotated[WeightsText, Default(None)]
    exchange: Annotated[
        int | None,
        Option("--exchange", metavar="N", min=1, help="A call through the gateway; see `conversation exchanges`."),
        Default(None),
    ]
    conversation: Annotated[
        str, Option("--conversation", metavar="NAME", help="The conversation that was asked."), Default("")
    ]
    block: Annotated[
        str,
        Option("--block", metavar="ID", help="The block that holds the fact, where several may."),
        Takes("block"),
        Default(""),
    ]
    questions: Annotated[
        int,
        Option(
            "--questions",
            metavar="K",
            min=0,
            help="Ask K other logged questions before and after each fix; 0 tries none.",
        ),
        Default(20),
    ]


@operation(
    "diagnose",
    summary="Find out why an answer missed a fact, and what would bring it in.",
    synonyms=("debug", "missing fact", "wrong answer"),
    example='diagnose "The reset brought it back." --missed "The router in the attic drops packets."',
    long=True,
    writes=True,
    writes_by=("apply",),
    lists=lambda result: [match.block.id for match in result.matches] if hasattr(result, "matches") else None,
)
def diagnose(
    engine: Engine,
    answer: Answer,
    *,
    missed: Annotated[
        str, Option("--missed", metavar="FACT", help="The fact that the answer missed, in the words of its note.")
    ],
    apply: Annotated[bool, Option("--apply", help="Carry the proposed fix out.")] = False,
    html: Html = None,
    redact: Redact = False,
    progress: Progress | None = None,
    **asked_of: Unpack[AskedOf],
) -> Diagnosis | FixApplied:
    """Name the cause for which an answer missed a fact: never stored, not consolidated, set aside, superseded, not
    found, out-voted, over budget, left out of the conversation, collapsed to a gist, or in front of the model.

    Shows the chain of evidence and a fix, tried in a copy of the memory: whether the fact is in then, and which other
    logged questions are answered otherwise. Nothing is changed; `test --add` makes a test of it. --html writes it as a
    page that any browser shows, to be attached to an issue.

    --apply carries the fix out; `undo` takes it back, and `frame define` or `frame delete` a frame that was changed. A
    fix that is up to whoever asks, such as a larger budget, is refused with its words.
    """
    diagnosis = _diagnose_answer(engine, answer, missed, asked_of, progress)
    if html is not None:
        from amgs_app.pages.html_page import of_diagnosis

        page = of_diagnosis(diagnosis, palettes(), redacted=redact)
        write_page(html, engine.settings.memory.ingest.mask(page))
    if not apply:
        return diagnosis
    if diagnosis.trial is not None and diagnosis.trial.fix.kind == "expand":
        return pin_block(engine, diagnosis.trial.fix)
    return engine.memory.diagnosis.carry_out(diagnosis)


def _diagnose_answer(
    engine: Engine, answer: str, missed: str, asked_of: AskedOf, progress: Progress | None
) -> Diagnosis:

    if not asked_of.get("exchange") and not asked_of.get("conversation"):
        engine.memory.load(progress)
    block = asked_of.get("block", "")
    weights = read_weights(asked_of.get("weights"))
    arguments = {**asked_of, "weights": weights, "block": block and engine.block(block).id}
    return engine.memory.diagnosis.diagnose(
        answer, missed, read=reading_of(engine, answer), progress=progress, **cast("DiagnosisArguments", arguments)
    )


def reading_of(engine: Engine, answer: str) -> DecodedContext | None:
    """Return at which levels the working context held its blocks at the first token of an answer; as now if it did not
    generate the answer; None if no context is open.
    """
    view = engine.focus_view
    if view is None or not view.sources:
        return None
    from amgs.types.diagnosis import DecodedContext, ReadSpan

    step, bands = _levels_before(engine, view, answer)
    spans = []
    for source in view.sources:
        length = max(source.end - source.start, 1)
        for band in bands:
            start, end = max(band.start, source.start), min(band.end, source.end)
            if source.source is not None and start < end:
                first, last = (start - source.start) / length, (end - source.start) / length
                spans.append(ReadSpan(source.source, first, last, band.level))
    return DecodedContext(step, tuple(spans))


def _levels_before(engine: Engine, view: FocusView, answer: str) -> tuple[int, Sequence[Band]]:
    """Return the step at which an answer begins, and the levels after the last refocus before it."""
    wanted = answer.strip()
    place = view.text.find(wanted) if wanted else -1
    if place < 0:
        return view.step, view.bands
    text, latest = "", None
    refocus: Refocus | None = None
    for record in engine.focus_trace().steps:
        latest = record.refocus or latest
        text += record.text
        if len(text) > place:
            refocus = latest
            return record.step, view.bands if refocus is None else refocus.bands
    return view.step, view.bands


def pin_block(engine: Engine, fix: ProposedFix) -> FixApplied:
    """Pin the tokens of a block in the open working context. Raises UsageError if the context does not contain it."""
    from amgs.types.diagnosis import FixApplied
    from amgs_focus.records import NodeRef

    runtime = engine.focus
    sources = [candidate for candidate in runtime.snapshot().sources if candidate.source == fix.block]
    if not sources:
        raise UsageError("The working context does not hold the block.", way_out="`frame open` opens a frame.")
    first, last = runtime.tree.span(NodeRef(0, 0))
    size, count = last - first, 0
    for source in sources:
        for index in range(source.start // size, (source.end - 1) // size + 1):
            node = NodeRef(0, index)
            if runtime.tree.exists(node):
                runtime.override(node, "pin")
                count += 1
    return FixApplied(fix, f"{count} nodes of the working context were pinned.")


MARK = "<!-- amgs test -->"
"""First line, by which the comment is found and replaced."""
_LONGEST = 300
"""Most characters of a text."""
_MOST = 50
"""Most questions of a kind that are listed, since comments are limited in size."""


def markdown(tested: CasesTested) -> str:
    """Return the report, from its mark to a final newline."""
    lines = [MARK, f"### Questions to the memory: {tested.summary}", "", f"Asked: {code(tested.path)}", ""]
    failing = [outcome for outcome in tested.outcomes if outcome.faults]
    if failing:
        lines += ["**Failing**", "", *_limit_items([_failing(outcome) for outcome in failing]), ""]
    compared = tested.compared
    if compared is not None:
        if compared.moved:
            moved = [
                [
                    f"- {code(change.after.case.question)}: {_fate(change.before)}, rank {change.before.rank or '–'} → "
                    f"{_fate(change.after)}, rank {change.after.rank or '–'}",
                    *(f"  - {code(reason)}" for reason in change.because),
                ]
                for change in compared.moved
            ]
            lines += ["**Moved**", "", *_limit_items(moved), ""]
        for title, questions in (("New", compared.added), ("No longer asked", compared.gone)):
            if questions:
                lines += [f"**{title}**", "", *_limit_items([[f"- {code(question)}"] for question in questions]), ""]
    return "\n".join(lines).rstrip() + "\n"


def code(text: str) -> str:
    """Return a text as a code span on a single line, with more backticks around it than it contains.

    In it a text of the memory cannot contain tags, mentions or links.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    edge = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def _failing(outcome: CaseOutcome) -> list[str]:
    return [f"- {code(outcome.case.question)}", *(f"  - {code(fault)}" for fault in outcome.faults)]


def _fate(outcome: CaseOutcome) -> str:
    return "fails" if outcome.faults else "holds"


def _limit_items(items: list[list[str]]) -> list[str]:
    lines = [line for item in items[:_MOST] for line in item]
    return lines if len(items) <= _MOST else [*lines, f"- … {len(items) - _MOST:,} more"]


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
        Option("--keep", metavar="FILE", help="Save this run, to compare a later run with it."),
        Takes("file", writes=True),
    ] = None,
    against: Annotated[
        Path | None,
        Option("--against", metavar="FILE", help="Say which questions moved since a saved run, and why."),
        Takes("file"),
    ] = None,
    report: Annotated[
        Path | None,
        Option("--report", metavar="FILE", help="Also write the result as Markdown, for a comment."),
        Takes("file", writes=True),
    ] = None,
    progress: Progress | None = None,
) -> results.CasesTested:
    """Ask every question of a file, by a search or for the frame that it names, and check what the memory gives: texts
    that it must hold or must not, the rank of the block that holds them, whether it has an answer at all, as of a day.

    Ends with exit code 1 where a case fails; that a question only moved is no failure. With `--against`, a question
    that moved is shown with its rank before and now, the part of the score that moved most, and the blocks that came
    before it. Nothing is changed: no answer counts as used.
    """

    from amgs.calibration.questions import read_cases, read_run, write_run
    from amgs.diagnosis.cases import check, compare
    from amgs.errors import InputError
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
            else "Add a question with `--add QUESTION --contains TEXT`, or those of your verdicts with `--record`."
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
    from amgs.calibration.questions import append_case
    from amgs.types.diagnosis import QuestionCase

    if not question.strip() or not contains:
        raise UsageError("A case needs a question and something to check.", way_out="Give --contains TEXT.")
    append_case(file, QuestionCase(question.strip(), tuple(contains)))


def _record_questions(engine: Engine, file: Path) -> int:
    """Append the judged questions that hold now and are not in the file; return their number."""
    from amgs.calibration.questions import append_case, read_cases
    from amgs.diagnosis.cases import holding

    known = {(known_case.question, known_case.frame) for known_case in read_cases(file)} if file.exists() else set()
    written = 0
    for case in engine.memory.diagnosis.read_judged_questions():
        holding_case = holding(case, engine.memory) if (case.question, case.frame) not in known else None
        if holding_case is not None:
            append_case(file, holding_case)
            written += 1
    return written


def _report(path: Path, test_run: results.CasesTested) -> None:
    from amgs.errors import InputError

    try:
        path.write_text(markdown(test_run), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", way_out="Choose another file.") from error
