"""Why an answer missed a fact, and what brings it in: `diagnose` and `fix`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack, cast

from amgs_app.calls.marks import Arg, Default, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import WeightsText, read_weights
from amgs_app.operations.report import Redact

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs.types.diagnosis import Diagnosis, DiagnosisArguments, FixApplied
    from amgs_app.engine import Engine

Answer = Annotated[str, Arg(metavar="ANSWER", help="What was answered; '' where that is not known.")]
Missed = Annotated[
    str, Option("--missed", metavar="FACT", help="The fact that the answer missed, in the words of its note.")
]
Html = Annotated[
    Path | None,
    Option("--html", metavar="FILE", help="Also write the diagnosis as a page of HTML."),
    Takes("file", made=True),
]


class AskedOf(TypedDict, total=False):
    """What both commands may be told of the question, as it is typed; see `DiagnosisArguments`."""

    question: Annotated[
        str,
        Option(
            "--question",
            metavar="TEXT",
            help="What was asked; default: the latest in the logs that led to the answer.",
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
        Option(
            "--budget",
            metavar="N",
            min=1,
            help="The token budget that was given; default: the frame's own.",
        ),
        Default(None),
    ]
    weights: Annotated[WeightsText, Default(None)]
    exchange: Annotated[
        int | None,
        Option(
            "--exchange", metavar="N", min=1, help="A call through the gateway; see `conversation exchanges`."
        ),
        Default(None),
    ]
    conversation: Annotated[
        str,
        Option("--conversation", metavar="NAME", help="The conversation that was asked."),
        Default(""),
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
    lists=lambda found: [each.block.id for each in found.matches],
)
def diagnose(
    engine: Engine,
    answer: Answer,
    *,
    missed: Missed,
    html: Html = None,
    redact: Redact = False,
    progress: Progress | None = None,
    **asked_of: Unpack[AskedOf],
) -> Diagnosis:
    """Name the one cause for which an answer missed a fact: never stored, not consolidated, set aside, superseded, not
    found, out-voted, over budget, left out of the conversation, collapsed to a gist, or in front of the model.

    Shows the chain of evidence and one fix, tried in a copy of the memory: whether the fact is in then, and which other
    logged questions are answered otherwise. Nothing is changed; `fix` with the same words carries it out, and
    `question add` makes a test of it. --html writes it as a page that any browser shows, to be attached to an issue.
    """
    made = _diagnosed(engine, answer, missed, asked_of, progress)
    if html is not None:
        from amgs_app.operations.report import palettes, written
        from amgs_app.pages.memory_report import of_diagnosis

        written(html, of_diagnosis(made, palettes(), redacted=redact), redact=redact)
    return made


@operation(
    "fix",
    summary="Carry out the fix that `diagnose` proposes.",
    example='fix "The reset brought it back." --missed "The router in the attic drops packets."',
    long=True,
    writes=True,
)
def fix(
    engine: Engine,
    answer: Answer,
    *,
    missed: Missed,
    progress: Progress | None = None,
    **asked_of: Unpack[AskedOf],
) -> FixApplied:
    """Diagnose again, and carry out the fix that is proposed; `undo` takes it back, and `frame define` or `frame reset`
    a frame that was changed. A fix that is up to whoever asks, such as a larger budget, is refused with its words.
    """
    from amgs_app.operations.context_reading import pinned

    made = _diagnosed(engine, answer, missed, asked_of, progress)
    if made.trial is not None and made.trial.fix.kind == "expand":
        return pinned(engine, made.trial.fix)
    return engine.memory.diagnosis.carry_out(made)


def _diagnosed(
    engine: Engine, answer: str, missed: str, asked_of: AskedOf, progress: Progress | None
) -> Diagnosis:
    from amgs_app.operations.context_reading import reading_of

    if not asked_of.get("exchange") and not asked_of.get("conversation"):
        engine.memory.load(progress)
    block = asked_of.get("block", "")
    weights = read_weights(asked_of.get("weights"))
    given = {**asked_of, "weights": weights, "block": block and engine.block(block).id}
    return engine.memory.diagnosis.diagnose(
        answer,
        missed,
        read=reading_of(engine, answer),
        progress=progress,
        **cast("DiagnosisArguments", given),
    )
