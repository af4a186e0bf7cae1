"""Frames of the operator's own, and what was assembled before: `frame define|show|reset|delete`, `cached|history|…`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from amgs.errors import UsageError
from amgs_app.calls.arguments import FrameBudget, FrameQuery, Limit, Reference, WeightsText, read_pair, read_weights
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.panes.row_fields import listed

if TYPE_CHECKING:
    from amgs.frames.results import CachedFrame, FrameComparison, History
    from amgs.types import ChildFrame, Explanation, FrameDefinition
    from amgs_app.engine import Engine

Name = Annotated[str, Arg(metavar="NAME", help="A registered frame."), Takes("frame")]

Instant = Annotated[str | None, Option("--since", metavar="ISO", help="Only blocks created since; none: any time.")]

_NONE = "none"


@operation(
    "frame define",
    summary="Define a frame of your own, or change one.",
    example="frame define HOUSE --from SESSION --category procedure --budget 800",
    writes=True,
    prompts=("base", "purpose", "category", "budget", "child"),
)
def define(
    engine: Engine,
    name: Annotated[str, Arg(metavar="NAME", help="Capitals, digits and underscores.")],
    *,
    base: Annotated[str | None, Option("--from", metavar="NAME", help="Start from this frame."), Takes("frame")] = None,
    purpose: Annotated[str | None, Option("--purpose", metavar="TEXT", help="What it is for.")] = None,
    weights: WeightsText = None,
    category: Annotated[
        list[str] | None, Option("--category", metavar="NAME", help="Only these categories; repeat. none: all.")
    ] = None,
    without: Annotated[
        str | None, Option("--without", metavar="NAME", help="Not what is of this category alone; none: all.")
    ] = None,
    status: Annotated[list[str] | None, Option("--status", metavar="NAME", help="Only these statuses; repeat.")] = None,
    tagged: Annotated[
        list[str] | None,
        Option("--meta", metavar="KEY=VALUE", help="Only blocks with this metadata; repeat. none: any."),
    ] = None,
    self_only: Annotated[
        bool | None, Option("--self-only/--not-self-only", help="Only blocks tagged as self, or all.")
    ] = None,
    since: Instant = None,
    until: Annotated[
        str | None, Option("--until", metavar="ISO", help="Only blocks created before; none: any time.")
    ] = None,
    used_since: Annotated[
        str | None, Option("--used-since", metavar="ISO", help="Only blocks used since; none: any time.")
    ] = None,
    window: Annotated[
        float | None,
        Option("--window", metavar="HOURS", help="Only blocks created or used within this time; 0: any time."),
    ] = None,
    gather: Annotated[
        Literal["query", "known", "task", "filter", "identity"] | None,
        Option("--gather", help="Where candidates come from."),
    ] = None,
    pool: Annotated[int | None, Option("--pool", metavar="N", min=1, help="Score at most N candidates.")] = None,
    hops: Annotated[int | None, Option("--hops", metavar="N", min=0, help="Graph distance.")] = None,
    selection: Annotated[
        Literal["budget", "top_k", "threshold", "entropy"] | None,
        Option("--select", help="How the final blocks are chosen."),
    ] = None,
    top_k: Annotated[
        int | None, Option("--limit", metavar="K", min=0, help="At most K blocks; 0: as many as fit.")
    ] = None,
    threshold: Annotated[
        float | None, Option("--threshold", metavar="SCORE", min=0, max=1, help="Minimum score.")
    ] = None,
    share: Annotated[
        float | None, Option("--similarity-share", metavar="P", min=0, max=1, help="Minimum share of the best match.")
    ] = None,
    assembly: Annotated[
        Literal["raw", "structured", "template", "summary"] | None,
        Option("--assembly", help="How the text is written."),
    ] = None,
    budget: FrameBudget = None,
    refresh_hours: Annotated[
        float | None, Option("--refresh-hours", metavar="H", min=0, help="How long an assembly stays fresh.")
    ] = None,
    child: Annotated[
        list[str] | None,
        Option("--child", metavar="NAME:SHARE", help="A child frame; may be repeated, in order. none: atomic."),
    ] = None,
    merge: Annotated[
        Literal["union", "intersection", "priority_chain"] | None, Option("--merge", help="How children are merged.")
    ] = None,
    budget_strategy: Annotated[
        Literal["static", "dynamic", "priority"] | None,
        Option("--budget-strategy", help="How children share the budget."),
    ] = None,
    dedup: Annotated[
        float | None,
        Option(
            "--dedup",
            metavar="COSINE",
            min=0,
            max=1,
            help="Similarity from which blocks count as duplicates; 0: only equal content.",
        ),
    ] = None,
    order: Annotated[
        Literal["search", "weights"] | None,
        Option("--order", help="With a question: the search's order, or that of the weights."),
    ] = None,
    rescore: Annotated[
        str | None, Option("--rescore", metavar="R,C,K,S,F", help="Weights after the merge; none: the children's.")
    ] = None,
) -> FrameDefinition:
    """Register a frame: the options given override its present definition, or that of the frame named by --from.

    At a terminal, a NAME alone is asked for the rest. Every field of a definition has its option, and `none` (for
    numbers 0) removes a limit. A new frame that starts from nothing is an ATTENTION. With --weights these decide with a
    question too, unless --order search says that the search does. Weights that do not sum to 1 and composites that
    would contain themselves are refused.
    """
    from dataclasses import replace

    from amgs.frames import registry

    known = registry.by_name(engine.memory.frame_definitions())
    wanted = name.strip().upper().replace("-", "_")
    start = known[wanted] if base is None and wanted in known else registry.find(base or "ATTENTION", known)
    rule = start.rule
    block_filter = replace(
        rule.filter,
        **_given(
            statuses=None if status is None else tuple(status),
            self_only=self_only,
            without="" if without == _NONE else without,
            meta=None if tagged is None else dict(read_pair(pair) for pair in _drop_none(tagged)),
        ),
    )
    if category is not None:
        block_filter = replace(block_filter, categories=tuple(_drop_none(category)) or None)
    texts = _given(since=since, until=until, reinforced_since=used_since)
    instants: dict[str, Any] = {field: _instant(text) for field, text in texts.items()}
    block_filter = replace(block_filter, **instants)
    rule = replace(
        rule,
        filter=block_filter,
        **_given(
            gather=gather,
            pool=pool,
            hops=hops,
            selection=selection,
            threshold=threshold,
            similarity_share=share,
            order=order or (None if weights is None else "weights"),
        ),
    )
    if window is not None:
        rule = replace(rule, window_hours=window or None)
    if top_k is not None:
        rule = replace(rule, top_k=top_k or None)
    definition = replace(
        start,
        name=wanted,
        rule=rule,
        **_given(
            purpose=purpose if purpose is not None or wanted in known else f"{wanted}, made by the operator",
            weights=read_weights(weights),
            assembly=assembly,
            budget=budget,
            refresh_hours=refresh_hours,
            children=None if child is None else tuple(_child(spec) for spec in _drop_none(child)),
            merge=merge,
            budget_strategy=budget_strategy,
        ),
    )
    if rescore is not None:
        definition = replace(definition, rescore=None if rescore == _NONE else read_weights(rescore))
    if dedup is not None:
        definition = replace(definition, semantic_threshold=dedup or None)
    copied = replace(definition, name=start.name, purpose=start.purpose) == start
    if copied and wanted not in known and base is purpose is None:  # a name that was mistyped, most likely
        raise UsageError(
            f"{wanted} would be a copy of {start.name}.",
            title="No frame was defined",
            way_out="Say what differs, for example `--budget 800`; `frame list` names the frames that exist.",
        )
    engine.memory.define_frame(definition)
    return definition


def _drop_none(values: list[str]) -> list[str]:
    """Return what was given, nothing where it is `none`; raises UsageError for `none` beside something."""
    if _NONE not in values:
        return values
    if len(values) > 1:
        raise UsageError(f"`none` cannot be combined with {values}.", way_out="Give `none` alone, or leave it out.")
    return []


def _instant(text: str) -> datetime | None:
    from amgs.clock import parse_instant

    try:
        return None if text == _NONE else parse_instant(text)
    except ValueError:
        raise UsageError(f"Invalid time: {text!r}.", way_out="Write 2026-03-01 or 2026-03-01T09:00.") from None


def _given(**values: object) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _child(text: str) -> ChildFrame:
    from amgs.types import ChildFrame

    name, _, share = text.partition(":")
    try:
        part = float(share) if share else 1.0
    except ValueError:
        raise UsageError(f"{text!r} is not NAME:SHARE.", way_out="For example --child SELF:0.25.") from None
    return ChildFrame(name.strip().upper().replace("-", "_"), part)


@operation(
    "frame delete",
    summary="Delete a frame of your own, or restore one that shipped.",
    synonyms=("frame reset", "restore"),
    example="frame delete HOUSE",
    writes=True,
)
def delete(engine: Engine, name: Name) -> FrameDefinition:
    """Delete a frame of your own; its past assemblies stay in the history. Of a frame that ships with the engine,
    delete what `frame define` or `tune --apply` changed: the result is the shipped definition.
    """
    return engine.memory.frames.delete(name)


@operation(
    "frame cached",
    summary="Show the cached assembly of a frame, refreshed when stale.",
    example='frame cached SESSION --query "what is left to do?"',
    writes=True,
    keeps="frame",
    lists=lambda result: [candidate.block.id for candidate in listed(result.frame)],
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

    Answered from the candidates that were kept with the assembly, whatever has changed since; `frame history` has the
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
