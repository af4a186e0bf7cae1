"""Operation `diagnose`: why an answer missed a fact, and what would bring it in; also for the working context, where
the level of each block matters and a block can be pinned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack, cast

from amgs.errors import UsageError
from amgs_app.calls.arguments import WeightsText, read_weights
from amgs_app.calls.marks import Arg, Default, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.pages.writing import Html, Redact, palettes, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types import Progress
    from amgs.types.diagnosis import DecodedContext, Diagnosis, DiagnosisArguments, FixApplied, ProposedFix
    from amgs_app.engine import Engine
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
        Option("--budget", metavar="N", min=1, help="The token budget that was given; default: the frame's own."),
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
    """Name the one cause for which an answer missed a fact: never stored, not consolidated, set aside, superseded, not
    found, out-voted, over budget, left out of the conversation, collapsed to a gist, or in front of the model.

    Shows the chain of evidence and one fix, tried in a copy of the memory: whether the fact is in then, and which other
    logged questions are answered otherwise. Nothing is changed; `test --add` makes a test of it. --html writes it as a
    page that any browser shows, to be attached to an issue.

    --apply carries the fix out; `undo` takes it back, and `frame define` or `frame delete` a frame that was changed. A
    fix that is up to whoever asks, such as a larger budget, is refused with its words.
    """
    diagnosis = _diagnose_answer(engine, answer, missed, asked_of, progress)
    if html is not None:
        from amgs_app.pages.memory_report import of_diagnosis

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
