"""Looking after a lifetime: `focus forget`, `restore`, `purge`, `tag`, `spans`, `describe`, `rebuild`,
`check`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import Cancelled, UsageError
from amgs.text.plural import plural
from amgs_app.calls.arguments import DryRun, Limit, Offset
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.focus.commands import Node, node_of
from amgs_app.results.focus import (
    ActRow,
    Brought,
    Forgotten,
    ForgottenList,
    PolishedGists,
    Purged,
    Rebuilt,
    SpanDescribed,
    SpanList,
    SpanRow,
    Tagged,
)

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.records import NodeRef, SpanAbout
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.tree.check import LifetimeCheck
    from amgs_focus.tree.retention import RetentionContext
    from amgs_focus.tree.span_metadata import Act

OPERATOR = "operator"

ActId = Annotated[int | None, Arg(metavar="ACT", help="The number that `focus forget --list` shows."), Takes("number")]
Why = Annotated[str, Option("--why", metavar="TEXT", help="The reason, for the record.")]
SpanNumber = Annotated[int, Arg(metavar="SPAN", min=0, help="The number that `focus spans` shows."), Takes("number")]


@operation(
    "focus forget",
    lane="model",
    needs="operate",
    summary="Forget detail that is not used.",
    example="focus forget L1#20 --dry-run",
    pane="focus",
    long=True,
    writes=True,
)
def forget(
    engine: Engine,
    nodes: Annotated[
        list[str] | None,
        Arg(metavar="NODE", help="Gists whose detail to forget, such as L1#20; default: what the rules find."),
    ] = None,
    *,
    list_acts: Annotated[bool, Option("--list", help="Only list what was forgotten, restored and purged.")] = False,
    dry_run: DryRun = False,
    limit: Annotated[
        int | None, Option("--limit", metavar="N", min=1, help="At most N gists, the weakest first.")
    ] = None,
    why: Why = "",
    progress: Progress | None = None,
) -> Forgotten | ForgottenList:
    """Hide what lies below gists that have not been opened for long: tokens first, later the gists over them.

    The gist itself stays. Tagged and pinned spans, the last tokens, what the window holds and what proved its worth
    are kept; naming a gist overrides all but tags, pins and the tail. `focus restore` brings it back until `focus
    purge`.

    --list shows the lifetime's record instead: who forgot what, when and why, with checksums, and what was asked for
    since.
    """
    from amgs_focus.tree.retention import act_of, by_hand, plan

    runtime = engine.focus
    if list_acts:
        return _record(runtime)
    tree, now = runtime.tree, _situation(runtime)
    if nodes:
        found = by_hand(tree, [_gist(runtime, text) for text in nodes], now)
    else:
        found = plan(tree, engine.settings.forgetting, now, limit=limit, progress=progress)
    if dry_run or found.is_empty:
        return Forgotten(found, None, runtime.snapshot())
    said = why or ("named by hand" if nodes else "weak by the rules")
    act = act_of(tree, "forget", found.nodes, found.record, at=_now(engine), by=OPERATOR, why=said)
    return Forgotten(found, act, runtime.act(act))


@operation(
    "focus restore",
    lane="model",
    needs="operate",
    summary="Bring forgotten detail back.",
    example="focus restore",
    pane="focus",
    writes=True,
)
def restore(
    engine: Engine,
    act: ActId = None,
    *,
    wanted: Annotated[
        int | None,
        Option("--wanted", metavar="N", min=1, help="Everything asked for at least N times since it was forgotten."),
    ] = None,
    why: Why = "",
) -> Brought:
    """Make gists expandable again: those forgotten in one act (by default the latest), or with --wanted those that
    the scores asked for that often. What was purged stays gone.
    """
    from amgs_focus.tree.node_set import NodeSet
    from amgs_focus.tree.retention import act_of

    runtime = engine.focus
    tree, span_metadata = runtime.tree, runtime.tree.catalogue.span_metadata
    if wanted is not None:
        usage = tree.catalogue.usage
        chosen = NodeSet.of(
            node for node in span_metadata.sealed - span_metadata.purged if usage.of(node).wanted >= wanted
        )
        said = why or f"asked for {wanted} times"
    else:
        chosen = (_act(runtime, act).nodes & span_metadata.sealed) - span_metadata.purged
        said = why or "asked for by the operator"
    made = act_of(tree, "restore", chosen, at=_now(engine), by=OPERATOR, why=said)
    return Brought(made, len(chosen), runtime.act(made))


@operation(
    "focus purge",
    lane="model",
    needs="operate",
    summary="Delete forgotten detail permanently.",
    example="focus purge 1 --dry-run",
    pane="focus",
    long=True,
    writes=True,
)
def purge(
    engine: Engine,
    act: ActId = None,
    *,
    yes: Annotated[bool, Option("--yes", help="Required: a purge cannot be undone.")] = False,
    dry_run: DryRun = False,
    why: Why = "",
) -> Purged:
    """Overwrite the tokens and gists below what an act forgot, and free their disk space.

    The gist over them and the record stay. Steps decoded before the purge can no longer be undone.
    """
    from amgs_focus.tree.retention import act_of, freed

    runtime = engine.focus
    tree, span_metadata = runtime.tree, runtime.tree.catalogue.span_metadata
    chosen = (_act(runtime, act).nodes & span_metadata.sealed) - span_metadata.purged
    tokens = sum((run.stop - run.first) * tree.block_size for run in chosen.runs if run.level == 1)
    size = freed(tree, chosen)
    if dry_run:
        return Purged(len(chosen), tokens, size, None, runtime.snapshot())
    if not yes:
        raise UsageError(
            f"This would permanently delete {tokens:,} tokens ({size:,} bytes) below {len(chosen)} gists.",
            title="A purge needs --yes",
            way_out="Add --yes, or preview with `focus purge --dry-run`.",
        )
    said = why or "asked for by the operator"
    made = act_of(tree, "purge", chosen, at=_now(engine), by=OPERATOR, why=said)
    return Purged(len(chosen), tokens, size, made, runtime.act(made))


@operation(
    "focus tag",
    lane="model",
    needs="operate",
    summary="Tag a span so that it is never forgotten.",
    example="focus tag L1#20 plot",
    writes=True,
)
def tag(
    engine: Engine,
    node: Node,
    word: Annotated[str, Arg(metavar="WORD", help="bugfix, incident, keep, …")] = "keep",
    *,
    release: Annotated[bool, Option("--release", help="Remove it.")] = False,
) -> Tagged:
    """Tag the tokens that an entry or a node covers. Tagged spans are never forgotten, by rule or by hand.

    --release removes every tag of that word that touches them.
    """
    from amgs_focus.records import Tag

    runtime = engine.focus
    catalogue = runtime.tree.catalogue
    start, end = runtime.tree.span(node_of(runtime, node))
    made = Tag(start, end, word.strip(), _now(engine), OPERATOR)
    if not made.word:
        raise UsageError("A tag must be a word.", way_out="Give one, such as incident.")
    if release:
        gone = [one for one in catalogue.span_metadata.tags_on(start, end) if one.word == made.word]
        if not gone:
            raise UsageError(f"That span has no tag {made.word!r}.", way_out="`focus spans` shows the tags.")
        catalogue.untag(gone)
    else:
        catalogue.tag(made)
    return Tagged(made, release, catalogue.span_metadata.tags)


@operation(
    "focus spans",
    lane="model",
    needs="operate",
    summary="List the spans of the lifetime: source and metadata.",
    example="focus spans letter",
)
def spans(
    engine: Engine,
    find: Annotated[str, Arg(metavar="TEXT", help="Only spans with this in their name, path or domain.")] = "",
    *,
    limit: Limit = 100,
    offset: Offset = 0,
) -> SpanList:
    """List spans in order: source, domain, path, language, time, trust, tags, use, and what of each was forgotten."""
    tree = engine.focus.tree
    numbered = [
        (number, span)
        for number, span in enumerate(tree.spans())
        if find.lower() in _words(tree.catalogue.about(span.start), span.label, span.source or "")
    ]
    shown = numbered[offset : offset + limit]
    return SpanList(tuple(_row(engine.focus, number) for number, _ in shown), len(numbered), tree.length)


@operation(
    "focus describe",
    lane="model",
    needs="operate",
    summary="Set a span's metadata.",
    example="focus describe 3 trust high",
    writes=True,
)
def describe(
    engine: Engine,
    span: SpanNumber,
    key: Annotated[str, Arg(metavar="KEY", help="domain, path, section, language, time, trust or version.")],
    value: Annotated[str, Arg(metavar="VALUE", help="The new value; empty removes it.")],
) -> SpanDescribed:
    """Set one piece of a span's metadata.

    The domain chooses the half-life, trust lengthens it, and of several versions of one path only the latest keeps
    its detail.
    """
    from amgs_focus.records import SpanAbout

    tree = engine.focus.tree
    held = tree.spans()
    if span >= len(held):
        raise UsageError(f"There is no span {span}.", way_out=f"They are numbered 0 to {len(held) - 1}.")
    if key not in ("domain", "path", "section", "language", "time", "trust", "version"):
        raise UsageError(
            f"A span has no key {key!r}.", way_out="Keys: domain, path, section, language, time, trust, version."
        )
    before = tree.catalogue.about(held[span].start)
    try:
        after = SpanAbout.of({**before.plain(), key: value})
    except ValueError as error:
        raise UsageError(f"{key} = {value!r}: {error}.", way_out="Trust must be a number from 0 to 1.") from error
    tree.catalogue.describe({held[span].start: after})
    return SpanDescribed(span, before, after)


@operation(
    "focus rebuild",
    lane="model",
    background="polish",
    needs="operate",
    summary="Re-encode stale gists.",
    example="focus rebuild",
    pane="focus",
    long=True,
    writes=True,
)
def rebuild(
    engine: Engine,
    *,
    polish: Annotated[bool, Option("--polish", help="Make the gists better that are likeliest to be read.")] = False,
    blocks: Annotated[int, Option("--blocks", metavar="N", min=1, help="Polish at most N gists.")] = 16,
    seconds: Annotated[
        float, Option("--seconds", metavar="S", min=0, help="Begin no more of them after so long.")
    ] = 60.0,
    progress: Progress | None = None,
) -> Rebuilt | PolishedGists:
    """Encode every gist of the lifetime again with the gist net that the settings name.

    For a lifetime that was encoded with another one; what was purged stays as it is. It can be stopped and resumed.

    --polish moves single gists by gradient instead, about 3 seconds of a core each, towards what the model says after
    their block: those that the window reads as gists, pinned ones and the highest scores first, then its latest blocks.
    Then those below its coarser gists. They are kept with the lifetime; gists of higher levels stay as they are. What
    is asked for meanwhile goes first. `focus back` takes it back, and so does `focus rebuild`.
    """
    runtime = engine.focus
    if polish:
        return _polished(engine, runtime, blocks, seconds, progress)
    from amgs_focus.runtime.polishing import taken_back

    tree = runtime.tree
    if (act := taken_back(tree, at=_now(engine), by=OPERATOR)) is not None:
        runtime.act(act)
    kept = sum(high - low for level in range(1, tree.depth + 1) for low, high in tree.catalogue.gone(level))
    total = sum(tree.count(level) for level in range(1, tree.depth + 1))
    tree.rebuild(progress)
    return Rebuilt(total - kept, kept, tree.gist.name, tree.gist.version, runtime.snapshot())


@operation(
    "focus check",
    lane="model",
    needs="operate",
    summary="Check the files of a stored lifetime.",
    example="focus check ~/src/project",
    long=True,
)
def check(
    engine: Engine,
    folder: Annotated[Path, Arg(metavar="DIR", help="The folder of a closed lifetime."), Takes("folder")],
    *,
    mend: Annotated[bool, Option("--mend", help="Truncate damaged files to their last complete block.")] = False,
    progress: Progress | None = None,
) -> LifetimeCheck:
    """Check the header, length and model of every .ctx file, and the journal; exit code 4 when there is a fault.

    Loads no model. Gists that are missing after --mend are encoded again when the lifetime is opened.
    """
    from amgs_focus.tree.check import check as look

    del engine
    return look(folder, mend=mend, progress=progress)


def _polished(
    engine: Engine, runtime: FocusRuntime, most: int, seconds: float, progress: Progress | None
) -> PolishedGists:
    """A few blocks at a time, so that what is done stays where it is stopped. Whatever waits for the working context
    goes first, many times a second.
    """
    from amgs_focus.gist.polish import TOGETHER
    from amgs_focus.runtime.polishing import likely, polish

    done, begun, waited = list[int](), engine.clock.perf(), 0.0
    branches = runtime.in_past

    def check() -> None:
        nonlocal waited
        if progress is not None:
            progress(len(done), min(most, len(done) + len(left)), "polishing gists")
        asked = engine.clock.perf()
        engine.give_way()
        waited += engine.clock.perf() - asked
        if not engine.focus_is_open or engine.focus is not runtime:
            raise Cancelled("Another lifetime was opened.", way_out="Polish this one, if you want to.")
        if runtime.in_past and not branches:
            raise Cancelled(
                "Going on would begin a branch where you stepped back to.",
                way_out=f"{plural(len(done), 'gist')} polished; repeat it to begin one.",
            )

    while left := likely(runtime.state, runtime.tree):
        some = left[: min(TOGETHER, most - len(done))]
        if not some or (done and engine.clock.perf() - begun - waited > seconds):
            break
        act = polish(runtime.tree, some, at=_now(engine), by=OPERATOR, check=check)
        if act is not None:
            runtime.act(act)
            done += [node.index for node in act.nodes]
            branches = False
    taken = engine.clock.perf() - begun - waited
    return PolishedGists(tuple(done), len(left), taken, runtime.snapshot())


def _now(engine: Engine) -> str:
    return engine.clock.now().isoformat()


def _situation(runtime: FocusRuntime) -> RetentionContext:
    """What a plan spares because of how the window stands."""
    from amgs_focus.tree.retention import RetentionContext

    said = runtime.state.allocator.overrides
    pinned = tuple(node for node, word in said.items() if word == "pin")
    return RetentionContext(runtime.context.tail_start, runtime.context.standing(), pinned)


def _record(runtime: FocusRuntime) -> ForgottenList:
    """Every act, and how much of each forgetting still holds and was asked for."""
    from amgs_focus.tree.node_set import NOTHING

    catalogue = runtime.tree.catalogue
    span_metadata = catalogue.span_metadata
    rows = []
    for act in span_metadata.acts:
        held = act.nodes & span_metadata.sealed if act.kind == "forget" else NOTHING
        wanted = sum(catalogue.usage.of(node).wanted > 0 for node in held)
        rows.append(ActRow(replace(act, gists=""), len(held), wanted))
    sealed, purged = len(span_metadata.sealed), len(span_metadata.purged)
    return ForgottenList(tuple(rows), sealed, purged, runtime.snapshot())


def _gist(runtime: FocusRuntime, text: str) -> NodeRef:
    """The gist that a word names; of a block of tokens the gist above it."""
    from amgs_focus.records import parent_of

    node = node_of(runtime, text)
    return node if node.level else parent_of(node, runtime.tree.block_size)


def _act(runtime: FocusRuntime, number: int | None) -> Act:
    """The forgetting of this number, else the latest that still stands."""
    span_metadata = runtime.tree.catalogue.span_metadata
    held = [act for act in span_metadata.acts if act.kind == "forget"]
    if number is None:
        held = [act for act in held if ((act.nodes & span_metadata.sealed) - span_metadata.purged).runs]
    found = held[-1:] if number is None else [act for act in held if act.id == number]
    if not found:
        raise UsageError(
            "Nothing is forgotten." if number is None else f"Act {number} did not forget anything.",
            way_out="`focus forget --list` shows what was.",
        )
    return found[0]


def _row(runtime: FocusRuntime, number: int) -> SpanRow:
    """One span with the sums over its blocks."""
    from amgs_focus.records import SpanProvenance
    from amgs_focus.tree.provenance import spread_of

    tree = runtime.tree
    span = tree.spans()[number]
    first, last = span.start // tree.block_size, -(-span.end // tree.block_size)
    used = tree.catalogue.usage.table(1).rows(first, last)
    hidden = sum(
        max(0, min(span.end, run.stop * width) - max(span.start, run.first * width))
        for run in tree.catalogue.sealed.runs
        if run.level == 1
        for width in (tree.block_size,)
    )
    return SpanRow(
        number=number,
        kept=SpanProvenance(span, tree.catalogue.about(span.start), tree.length - span.end),
        tags=tree.catalogue.span_metadata.tags_on(span.start, span.end),
        opened=int(used["opened"].sum()),
        dwell=int(used["dwell"].sum()),
        forgotten=hidden / (span.end - span.start),
        spread=spread_of(tree, span.start, span.end),
    )


def _words(about: SpanAbout, *more: str) -> str:
    return " ".join((about.domain, about.path, about.section, about.language, *more)).lower()
