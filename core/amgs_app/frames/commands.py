"""Frames: `frame list`, `frame assemble`, `frame last`, `frame open`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.arguments import FrameBudget, FrameQuery, Lifetime, WeightsText, read_weights
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.panes.row_fields import listed

if TYPE_CHECKING:
    from amgs.types import Frame, FrameDefinition, Progress
    from amgs_app.engine import Engine
    from amgs_app.session.operator import Operator

Question = Annotated[
    str | None, Option("--question", metavar="TEXT", help="The question for the model; default: the frame's query.")
]


@operation(
    "frame list",
    summary="List every frame that can be assembled, or show one.",
    example="frame list SESSION",
    pane="frame",
)
def frames(
    engine: Engine,
    name: Annotated[
        str | None, Arg(metavar="NAME", help="Show every field of this one; default: list them."), Takes("frame")
    ] = None,
) -> results.FrameList | FrameDefinition:
    """List the registered frame definitions with purpose, weights, budget and children, and where each comes from.

    With a NAME, show its selection, scoring, assembly, budget, merge, de-duplication and refresh.
    """
    memory = engine.memory
    if name is not None:
        from amgs.frames import registry

        return registry.find(name, registry.by_name(memory.frame_definitions()))
    return results.FrameList(memory.frame_definitions(), memory.frames.origins())


@operation(
    "frame assemble",
    logs=True,
    summary="Assemble a context frame within its token budget.",
    synonyms=("context", "prompt", "build"),
    example='frame assemble SESSION --query "what is left to do?" --budget 800',
    pane="frame",
    writes=True,
    keeps="frame",
    lists=lambda frame: [candidate.block.id for candidate in listed(frame)],
)
def assemble(
    engine: Engine,
    name: Annotated[
        str, Arg(metavar="NAME", help="INBOX, ATTENTION, SELF, …; SESSION unless given."), Takes("frame")
    ] = "SESSION",
    *,
    query: FrameQuery = "",
    budget: FrameBudget = None,
    weights: WeightsText = None,
    composite: Annotated[bool, Option("--composite", help="Require a frame that is made of others.")] = False,
    look: Annotated[bool, Option("--look", help="Leave no trace: nothing is reinforced or forecast.")] = False,
    as_of: Annotated[
        datetime | None, Option("--as-of", metavar="DATE", help="Use only what was valid then; leaves no trace.")
    ] = None,
    progress: Progress | None = None,
) -> Frame:
    """Assemble a frame: which blocks got in, which did not and why, and the text with the source block of every
    passage.

    What was superseded stays out. Each composite score is logged as a forecast that `feedback` settles. Being selected
    reinforces no block, unless `memory.frames.reinforce_shown` is set.
    """
    if composite:
        wanted = name.strip().upper()
        atomic = any(
            definition.name == wanted and not definition.is_composite
            for definition in engine.memory.frame_definitions()
        )
        if atomic:
            raise UsageError(f"{wanted} is not a composite frame.", way_out="Leave --composite out.")
    if query:
        engine.memory.load(progress)
    frame = engine.memory.assemble(
        name, query=query, budget=budget, weights=read_weights(weights), reinforce=not look, as_of=as_of
    )
    if not look and as_of is None:
        engine.memory.frames.remember(frame)
    return frame


@operation(
    "frame last",
    summary="Show the last assembled frame, from this session or the previous one.",
    example="frame last",
    pane="frame",
    keeps="frame",
    lists=lambda result: result.frame and [candidate.block.id for candidate in listed(result.frame)],
)
def last(operator: Operator) -> results.LastFrame:
    """Show the frame assembled last, as it was then; it is kept in the store for the next session.

    Nothing is assembled, reinforced or forecast. `frame open` opens it.
    """
    frame = operator.last_frame or operator.engine.memory.frames.last()
    if frame is None:
        return results.LastFrame(None)
    return results.LastFrame(frame, operator.engine.memory.calibration.verdicts(frame.name, frame.query))


@operation(
    "frame open",
    summary="Open the last frame as the model's lifetime context.",
    example='frame open --question "what is left to do?"',
    pane="focus",
    long=True,
    writes=True,
    needs="operate",
)
def open_frame(
    operator: Operator, *, question: Question = None, lifetime: Lifetime = None, progress: Progress | None = None
) -> results.Opened:
    """Open the frame assembled last, in this session or before it, as the lifetime context of the language model.

    Every token keeps a reference to its block. With --lifetime it is appended to what that folder holds. The model is
    loaded on first use.
    """
    frame = operator.last_frame = operator.last_frame or operator.engine.memory.frames.last()
    if frame is None:
        raise UsageError("No frame has been assembled yet.", way_out="`frame assemble SESSION` first.")
    if not frame.selected:
        raise UsageError(
            f"The last frame, {frame.name}, has no block in it: there is nothing to read.",
            way_out="`consolidate` first, or `frame assemble` with another question.",
        )
    from amgs_app.models.choice import segments_of_frame

    segments = segments_of_frame(frame)
    asked = frame.query if question is None else question
    runtime = operator.engine.open_focus(segments, asked, progress, folder=lifetime)
    return results.Opened(f"frame {frame.name}", asked, len(segments), runtime.snapshot())
