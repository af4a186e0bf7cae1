"""Frames: `frame list|assemble|last|open` assemble them, `frame define|delete|cached|history|why|compare` define
them and inspect past assemblies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict

from typing_extensions import Unpack

from amgs.errors import UsageError
from amgs.types.frame import Assembly, BudgetStrategy, Gather, Merge, Order, Selection
from amgs_app import results
from amgs_app.calls.marks import (
    Arg,
    FrameBudget,
    FrameQuery,
    Key,
    Lifetime,
    Limit,
    Option,
    Reference,
    Takes,
    WeightsText,
    read_categories,
    read_pair,
    read_weights,
)
from amgs_app.calls.operation import operation
from amgs_app.panes.row_filter import list_candidates

if TYPE_CHECKING:
    from amgs.frames.compare import CachedFrame, FrameComparison, History
    from amgs.types import ChildFrame, Explanation, Frame, FrameDefinition, Progress
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


Question = Annotated[
    str | None, Option("--question", metavar="TEXT", help="The question for the model; default: the frame's query.")
]


@operation(
    "frame list",
    summary="List every frame that can be assembled, or show its definition.",
    example="frame list SESSION",
    pane="frame",
)
def frames(
    engine: Engine,
    name: Annotated[
        str | None, Arg(metavar="NAME", help="Show every field of this frame; default: list them."), Takes("frame")
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
    lists=lambda frame: [candidate.block.id for candidate in list_candidates(frame)],
)
def assemble(
    engine: Engine,
    name: Annotated[
        str, Arg(metavar="NAME", help="INBOX, ATTENTION, SELF, …; SESSION by default."), Takes("frame")
    ] = "SESSION",
    *,
    query: FrameQuery = "",
    budget: FrameBudget = None,
    weights: WeightsText = None,
    composite: Annotated[bool, Option("--composite", help="Require a frame that consists of others.")] = False,
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
    summary="Show the last assembled frame, from this session or the previous session.",
    example="frame last",
    pane="frame",
    keeps="frame",
    lists=lambda result: result.frame and [candidate.block.id for candidate in list_candidates(result.frame)],
)
def last(operator: Operator) -> results.LastFrame:
    """Show the frame assembled last, as it was then; it is saved in the store for the next session.

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


Name = Annotated[str, Arg(metavar="NAME", help="A registered frame."), Takes("frame")]

_NONE = "none"


class FrameFields(TypedDict, total=False):
    """Fields of a definition that a request may set."""

    base: Annotated[str, Key(name="from", metavar="FRAME", help="Start from this frame."), Takes("frame")]
    purpose: Annotated[str, Key(help="What it is for.")]
    weights: Annotated[
        str,
        Key(metavar="R,C,K,S,F", help="Recency, centrality, confidence, similarity, reinforcement."),
        Takes("weights"),
    ]
    category: Annotated[list[str], Key(help="Only these categories; repeat. none: all.")]
    without: Annotated[str, Key(help="Not what is of this category alone; none: all.")]
    status: Annotated[list[str], Key(help="Only these statuses; repeat.")]
    tagged: Annotated[list[str], Key(name="meta", metavar="KEY=VALUE", help="Only this metadata; repeat. none: any.")]
    self_only: Annotated[bool, Key(help="Only blocks tagged as self, or all.")]
    since: Annotated[str, Key(metavar="DATE", help="Only blocks created since; none: any time.")]
    until: Annotated[str, Key(metavar="DATE", help="Only blocks created before; none: any time.")]
    used_since: Annotated[str, Key(metavar="DATE", help="Only blocks used since; none: any time.")]
    window: Annotated[float, Key(metavar="HOURS", min=0, help="Only what was created or used within; 0: any time.")]
    gather: Annotated[Gather, Key(help="Where candidates come from.")]
    pool: Annotated[int, Key(min=1, help="Score at most N candidates.")]
    hops: Annotated[int, Key(min=0, help="Graph distance.")]
    selection: Annotated[Selection, Key(name="select", help="How the final blocks are chosen.")]
    top_k: Annotated[int, Key(name="limit", min=0, help="At most N blocks; 0: as many as fit.")]
    threshold: Annotated[float, Key(min=0, max=1, help="Minimum score.")]
    share: Annotated[float, Key(name="similarity_share", min=0, max=1, help="Minimum share of the best match.")]
    assembly: Annotated[Assembly, Key(help="How the text is written.")]
    budget: Annotated[int, Key(min=1, help="Token budget; default: the frame's own.")]
    refresh_hours: Annotated[float, Key(metavar="HOURS", min=0, help="How long an assembly stays fresh.")]
    child: Annotated[list[str], Key(metavar="NAME:SHARE", help="A child frame; repeat, in order. none: atomic.")]
    merge: Annotated[Merge, Key(help="How children are merged.")]
    budget_strategy: Annotated[BudgetStrategy, Key(help="How children share the budget.")]
    dedup: Annotated[
        float, Key(min=0, max=1, help="Cosine from which blocks count as duplicates; 0: only equal content.")
    ]
    order: Annotated[Order, Key(help="With a question: the search's order, or that of the weights.")]
    rescore: Annotated[
        str, Key(metavar="R,C,K,S,F", help="Weights after the merge; none: the children's."), Takes("weights")
    ]


@operation(
    "frame define",
    summary="Define a frame of your own, or change its definition.",
    example="frame define HOUSE from=SESSION category=procedure budget=800",
    writes=True,
    prompts=("base", "purpose", "category", "budget", "child"),
)
def define(
    engine: Engine,
    name: Annotated[str, Arg(metavar="NAME", help="Capitals, digits and underscores.")],
    **fields: Unpack[FrameFields],
) -> FrameDefinition:
    """Register a frame: the keys override its present definition, or that of the frame named by from=.

    At a terminal, a NAME alone is asked for the rest. Every field of a definition has its key, and `none` (for numbers
    0) removes a limit. A new frame that starts from nothing is an ATTENTION. With weights= these decide with a question
    too, unless order=search says that the search does; weights.recency=.3 leaves the others what remains, in
    proportion. Weights that do not sum to 1 and composites that would contain themselves are refused.
    """
    from amgs.frames import registry

    changes: dict[str, Any] = {_FIELDS.get(field, field): value for field, value in fields.items() if value is not None}
    base = changes.pop("base", None)
    known = registry.by_name(engine.memory.frame_definitions())
    wanted = name.strip().upper().replace("-", "_")
    start = known[wanted] if base is None and wanted in known else registry.find(base or "ATTENTION", known)
    named = base is not None or "purpose" in changes
    if "weights" in changes:
        changes["weights"] = read_weights(changes["weights"], start.weights)
        changes.setdefault("order", "weights")
    if "rescore" in changes:
        text = changes["rescore"]
        changes["rescore"] = None if text == _NONE else read_weights(text, start.rescore or start.weights)
    changes |= {field: read(changes[field]) for field, read in _READ.items() if field in changes}
    named_categories = [*(changes.get("categories") or ()), *filter(None, [changes.get("without")])]
    read_categories(engine, named_categories)
    if wanted not in known:
        changes.setdefault("purpose", f"{wanted}, defined by the operator")
    rule = _over(start.rule, changes)
    definition: FrameDefinition = replace(
        _over(start, changes), name=wanted, rule=replace(rule, filter=_over(rule.filter, changes))
    )
    copied = replace(definition, name=start.name, purpose=start.purpose) == start
    if copied and wanted not in known and not named:  # a name that was mistyped, most likely
        raise UsageError(
            f"{wanted} would be a copy of {start.name}.",
            title="No frame was defined",
            way_out="Say what differs, for example `budget=800`; `frame list` names the frames that exist.",
        )
    engine.memory.define_frame(definition)
    return definition


def _over(part: Any, changes: Mapping[str, Any]) -> Any:
    """Return a part of a definition with these fields replaced."""
    names = [field.name for field in dataclass_fields(part) if field.name in changes]
    return replace(part, **{name: changes[name] for name in names})


def _drop_none(values: list[str]) -> list[str]:
    """Return the values, empty for `none`; raises UsageError if `none` is combined with others."""
    if _NONE not in values:
        return values
    if len(values) > 1:
        raise UsageError(f"`none` cannot be combined with {values}.", way_out="Give `none` alone, or leave it out.")
    return []


def _instant(text: str) -> datetime | None:
    """Parse a time, None for `none`; raises UsageError."""
    from amgs.clock import parse_instant

    try:
        return None if text == _NONE else parse_instant(text)
    except ValueError:
        raise UsageError(f"Invalid time: {text!r}.", way_out="Write 2026-03-01 or 2026-03-01T09:00.") from None


def _child(text: str) -> ChildFrame:
    """Parse NAME:SHARE; raises UsageError."""
    from amgs.types import ChildFrame

    name, _, share = text.partition(":")
    try:
        part = float(share) if share else 1.0
    except ValueError:
        raise UsageError(f"{text!r} is not NAME:SHARE.", way_out="For example child=SELF:0.25.") from None
    return ChildFrame(name.strip().upper().replace("-", "_"), part)


def _read_statuses(names: Sequence[str]) -> tuple[str, ...]:
    """Return the statuses; raises UsageError for an unknown status."""
    from amgs.types import STATUSES

    if unknown := [name for name in names if name not in STATUSES]:
        raise UsageError(f"There is no status {unknown[0]!r}.", way_out=f"One of {', '.join(STATUSES)}.")
    return tuple(names)


_FIELDS: Final = {
    "category": "categories",
    "status": "statuses",
    "tagged": "meta",
    "used_since": "reinforced_since",
    "window": "window_hours",
    "share": "similarity_share",
    "child": "children",
    "dedup": "semantic_threshold",
}
"""Fields of a definition whose parameter has another name."""
_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "categories": lambda names: tuple(_drop_none(names)) or None,
    "statuses": _read_statuses,
    "meta": lambda pairs: dict(map(read_pair, _drop_none(pairs))),
    "without": lambda name: "" if name == _NONE else name,
    **dict.fromkeys(("since", "until", "reinforced_since"), _instant),
    **dict.fromkeys(("window_hours", "top_k", "semantic_threshold"), lambda number: number or None),
    "children": lambda texts: tuple(map(_child, _drop_none(texts))),
}
"""Conversion of the text of each field."""


@operation(
    "frame delete",
    summary="Delete a frame of your own, or restore a shipped frame.",
    synonyms=("frame reset", "restore"),
    example="frame delete HOUSE",
    writes=True,
)
def delete(engine: Engine, name: Name) -> results.FrameDeletion:
    """Delete a frame of your own; its past assemblies stay in the history. Of a frame that ships with the engine,
    delete what `frame define` or `tune --apply` changed: the result is the shipped definition.
    """
    origins = {origin.name: origin.kind for origin in engine.memory.frames.origins()}
    definition = engine.memory.frames.delete(name)
    return results.FrameDeletion(definition, origins[definition.name])


@operation(
    "frame cached",
    summary="Show the cached assembly of a frame, refreshed when stale.",
    example='frame cached SESSION --query "what is left to do?"',
    writes=True,
    keeps="frame",
    lists=lambda result: [candidate.block.id for candidate in list_candidates(result.frame)],
)
def cached(
    engine: Engine, name: Name, *, query: FrameQuery = "", budget: FrameBudget = None, weights: WeightsText = None
) -> CachedFrame:
    """Show the latest assembly for the same request while it is fresh; else assemble, and say why.

    SELF stays fresh for an hour and expires earlier only when a self-tagged block is added or removed or when
    centrality shifts within the identity. Frames that are assembled for every query are never fresh.
    """
    return engine.memory.frames.cached(name, query=query, budget=budget, weights=read_weights(weights))


@operation("frame history", summary="List past assemblies, newest first.", example="frame history SESSION --limit 5")
def history(
    engine: Engine,
    name: Annotated[str | None, Arg(metavar="NAME", help="Only assemblies of this frame."), Takes("frame")] = None,
    *,
    limit: Limit = 20,
) -> History:
    """List past assemblies, with the ids that `frame why` takes."""
    return engine.memory.frames.history(name, limit)


@operation("frame why", summary="Explain why a block was or was not in a past assembly.", example="frame why 3ebb9b @1")
def why_then(
    engine: Engine,
    assembly: Annotated[str, Arg(metavar="ID", help="The start of an assembly's id.")],
    block: Reference = None,
) -> Explanation:
    """Say what became of a block in a past assembly: which layers had found it, its score and rank then, and why it was
    taken or left out.

    Answered from the candidates that were stored with the assembly, whatever has changed since; `frame history` has the
    ids.
    """
    return engine.memory.frames.why_then(assembly, engine.block(block).id)


@operation(
    "frame compare",
    summary="Compare two assemblies: overlap, tokens, what moved and why.",
    example='frame compare SESSION TASK --query "what is left to do?"',
)
def compare(
    engine: Engine,
    left: Annotated[str, Arg(metavar="A", help="A frame.")],
    right: Annotated[str, Arg(metavar="B", help="Another; may be the same frame.")],
    *,
    query: FrameQuery = "",
    query_b: Annotated[str | None, Option("--query-b", metavar="TEXT", help="Another query for B.")] = None,
    weights_a: Annotated[str | None, Option("--weights-a", metavar="R,C,K,S,F", help="Weights for A.")] = None,
    weights_b: Annotated[str | None, Option("--weights-b", metavar="R,C,K,S,F", help="Weights for B.")] = None,
    budget: FrameBudget = None,
) -> FrameComparison:
    """Compare two frames or two weight sets. Nothing is reinforced.

    For every block that entered, left or changed its rank, shows which weighted part of its score moved it.
    """
    from amgs.api.frames import ComparisonSide

    return engine.memory.frames.compare(
        ComparisonSide(left, query, budget, read_weights(weights_a)),
        ComparisonSide(right, query if query_b is None else query_b, budget, read_weights(weights_b)),
    )
