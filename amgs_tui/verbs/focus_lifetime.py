"""Looking after a lifetime: `focus forget`, `restore`, `forgotten`, `purge`, `tag`, `spans`, `describe`, `rebuild`,
`check`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amgs.errors import UsageError
from amgs_tui.verbs.arguments import Limit, Offset
from amgs_tui.verbs.focus_control import Node, Release, node_of
from amgs_tui.verbs.registry import Takes, verb
from amgs_tui.verbs.results_of_lifetime import (
    ActRow,
    Brought,
    Described,
    Forgotten,
    ForgottenList,
    Purged,
    Rebuilt,
    SpanList,
    SpanRow,
    Tagged,
)
from amgs_tui.verbs.upkeep import DryRun

if TYPE_CHECKING:
    from amgs.model import Progress
    from amgs_focus.forgetting import Situation
    from amgs_focus.lifetime_check import LifetimeCheck
    from amgs_focus.records import NodeRef
    from amgs_focus.runtime import FocusRuntime
    from amgs_focus.upkeep import Act, SpanAbout
    from amgs_tui.session import Session

OPERATOR = "operator"

ActId = Annotated[
    int | None,
    typer.Argument(metavar="ACT", help="The number that `focus forgotten` shows."),
    Takes("number"),
]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for the record.")]
SpanNumber = Annotated[
    int, typer.Argument(metavar="SPAN", min=0, help="The number that `focus spans` shows."), Takes("number")
]


@verb("focus forget", summary="Let go of detail that nobody uses.", pane="focus", long=True, writes=True)
def forget(
    session: Session,
    nodes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NODE", help="Gists whose detail is to go, such as L1#20; none for what the rules find."
        ),
    ] = None,
    *,
    dry_run: DryRun = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most N gists, the weakest.")
    ] = None,
    why: Why = "",
    progress: Progress | None = None,
) -> Forgotten:
    """Hide what lies below gists that nobody opened for long: tokens first, later the gists over them.

    The gist itself stays. Tags, pins, the last tokens, what stands in the window and what proved its worth are spared;
    naming a gist overrides all but tags, pins and the tail. `focus restore` brings it back until `focus purge`.
    """
    from amgs_focus.forgetting import act_of, by_hand, plan

    runtime = session.focus
    tree, now = runtime.tree, _situation(runtime)
    if nodes:
        found = by_hand(tree, [_gist(runtime, text) for text in nodes], now)
    else:
        found = plan(tree, session.settings.forgetting, now, limit=limit, progress=progress)
    if dry_run or found.is_empty:
        return Forgotten(found, None, runtime.snapshot())
    said = why or ("named by hand" if nodes else "weak by the rules")
    act = act_of(tree, "forget", found.nodes, found.record, at=_now(session), by=OPERATOR, why=said)
    return Forgotten(found, act, runtime.act(act))


@verb("focus restore", summary="Bring forgotten detail back.", pane="focus", writes=True)
def restore(
    session: Session,
    act: ActId = None,
    *,
    wanted: Annotated[
        int | None,
        typer.Option(
            "--wanted", metavar="N", min=1, help="All that was asked for N times since it was forgotten."
        ),
    ] = None,
    why: Why = "",
) -> Brought:
    """Let gists be opened again: those of one act, the latest that stands when none is named, or with --wanted those
    that the scores asked for so often. What was purged stays gone.
    """
    from amgs_focus.forgetting import act_of
    from amgs_focus.node_set import NodeSet

    runtime = session.focus
    tree, upkeep = runtime.tree, runtime.tree.catalogue.upkeep
    if wanted is not None:
        usage = tree.catalogue.usage
        chosen = NodeSet.of(node for node in upkeep.sealed - upkeep.purged if usage.of(node).wanted >= wanted)
        said = why or f"asked for {wanted} times"
    else:
        chosen = (_act(runtime, act).nodes & upkeep.sealed) - upkeep.purged
        said = why or "asked for by the operator"
    made = act_of(tree, "restore", chosen, at=_now(session), by=OPERATOR, why=said)
    return Brought(made, len(chosen), runtime.act(made))


@verb("focus forgotten", summary="List what was forgotten, restored and purged.")
def forgotten(session: Session) -> ForgottenList:
    """The record of a lifetime: who let go of what, when and why, with checksums, and what was asked for since."""
    from amgs_focus.node_set import NOTHING

    catalogue = session.focus.tree.catalogue
    upkeep = catalogue.upkeep
    rows = []
    for act in upkeep.acts:
        held = act.nodes & upkeep.sealed if act.kind == "forget" else NOTHING
        rows.append(ActRow(act, len(held), sum(catalogue.usage.of(node).wanted > 0 for node in held)))
    return ForgottenList(tuple(rows), len(upkeep.sealed), len(upkeep.purged))


@verb("focus purge", summary="Empty forgotten detail for good.", pane="focus", long=True, writes=True)
def purge(
    session: Session,
    act: ActId = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Needed: nothing brings it back.")] = False,
    dry_run: DryRun = False,
    why: Why = "",
) -> Purged:
    """Overwrite the tokens and gists below what an act forgot, and give their room on the disk back.

    The gist over them and the record stay. Steps decoded before it cannot be taken back any more.
    """
    from amgs_focus.forgetting import act_of, freed

    runtime = session.focus
    tree, upkeep = runtime.tree, runtime.tree.catalogue.upkeep
    chosen = (_act(runtime, act).nodes & upkeep.sealed) - upkeep.purged
    tokens = sum((run.stop - run.first) * tree.block_size for run in chosen.runs if run.level == 1)
    size = freed(tree, chosen)
    if dry_run:
        return Purged(len(chosen), tokens, size, None, runtime.snapshot())
    if not yes:
        raise UsageError(
            f"This would empty {tokens:,} tokens ({size:,} bytes) below {len(chosen)} gists for good.",
            title="A purge needs --yes",
            way_out="`focus purge --dry-run` shows the same and does nothing.",
        )
    said = why or "asked for by the operator"
    made = act_of(tree, "purge", chosen, at=_now(session), by=OPERATOR, why=said)
    return Purged(len(chosen), tokens, size, made, runtime.act(made))


@verb("focus tag", summary="Put a word on a span, so that no rule forgets it.", writes=True)
def tag(
    session: Session,
    node: Node,
    word: Annotated[str, typer.Argument(metavar="WORD", help="bugfix, incident, keep, …")] = "keep",
    *,
    release: Release = False,
) -> Tagged:
    """Tag the tokens that an entry or a node stands for. Tagged spans are never forgotten, by rule or by hand.

    With --release every tag of that word that touches them is taken off.
    """
    from amgs_focus.upkeep import Tag

    runtime = session.focus
    catalogue = runtime.tree.catalogue
    start, end = runtime.tree.span(node_of(runtime, node))
    made = Tag(start, end, word.strip(), _now(session), OPERATOR)
    if not made.word:
        raise UsageError("A tag is a word.", way_out="Give one, such as incident.")
    if release:
        gone = [one for one in catalogue.upkeep.tags_on(start, end) if one.word == made.word]
        if not gone:
            raise UsageError(f"There is no tag {made.word!r} there.", way_out="`focus spans` shows the tags.")
        catalogue.untag(gone)
    else:
        catalogue.tag(made)
    return Tagged(made, release, catalogue.upkeep.tags)


@verb("focus spans", summary="List where the lifetime came from, and what is known of it.")
def spans(
    session: Session,
    find: Annotated[
        str, typer.Argument(metavar="TEXT", help="Only spans that have this in their name, path or domain.")
    ] = "",
    *,
    limit: Limit = 100,
    offset: Offset = 0,
) -> SpanList:
    """List spans in order: source, domain, path, language, time, trust, tags, use, and what of it was forgotten."""
    tree = session.focus.tree
    numbered = [
        (number, span)
        for number, span in enumerate(tree.spans())
        if find.lower() in _words(tree.catalogue.about(span.start), span.label, span.source or "")
    ]
    shown = numbered[offset : offset + limit]
    return SpanList(tuple(_row(session.focus, number) for number, _ in shown), len(numbered), tree.length)


@verb("focus describe", summary="Say what is known of a span.", writes=True)
def describe(
    session: Session,
    span: SpanNumber,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="domain, path, section, language, time, trust or version.")
    ],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value; empty forgets it.")],
) -> Described:
    """Set one piece of a span's metadata.

    The domain chooses the half-life, trust lengthens it, and of one path only the version that came last stays in
    detail.
    """
    from amgs_focus.upkeep import SpanAbout

    tree = session.focus.tree
    held = tree.spans()
    if span >= len(held):
        raise UsageError(f"There is no span {span}.", way_out=f"They are numbered 0 to {len(held) - 1}.")
    if key not in ("domain", "path", "section", "language", "time", "trust", "version"):
        raise UsageError(
            f"A span has no {key!r}.", way_out="It has domain, path, section, language, time, trust, version."
        )
    before = tree.catalogue.about(held[span].start)
    try:
        after = SpanAbout.of({**before.plain(), key: value})
    except ValueError as error:
        raise UsageError(f"{key} = {value!r}: {error}.", way_out="Trust is a number from 0 to 1.") from error
    tree.catalogue.describe({held[span].start: after})
    return Described(span, before, after)


@verb("focus rebuild", summary="Make stale gists anew.", pane="focus", long=True, writes=True)
def rebuild(session: Session, *, progress: Progress | None = None) -> Rebuilt:
    """Encode every gist of the lifetime again, in its place, with the gists that the settings name.

    For a lifetime that was kept with others; what was purged stays as it is. It can be stopped and begun again.
    """
    runtime = session.focus
    tree = runtime.tree
    kept = sum(high - low for level in range(1, tree.depth + 1) for low, high in tree.catalogue.gone(level))
    total = sum(tree.count(level) for level in range(1, tree.depth + 1))
    tree.rebuild(progress)
    return Rebuilt(total - kept, kept, tree.gist.name, tree.gist.version, runtime.snapshot())


@verb("focus check", summary="Look whether a kept lifetime's files are whole.", long=True)
def check(
    session: Session,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder of a lifetime that is not open."),
        Takes("folder"),
    ],
    *,
    mend: Annotated[
        bool, typer.Option("--mend", help="Cut damaged files back to their last whole block.")
    ] = False,
    progress: Progress | None = None,
) -> LifetimeCheck:
    """Check every .ctx file's header, length and model, and the journal; exit code 4 when there is a fault.

    Loads no model. Gists that are missing after --mend are made anew when the lifetime is opened.
    """
    from amgs_focus.lifetime_check import check as look

    del session
    return look(folder, mend=mend, progress=progress)


def _now(session: Session) -> str:
    return session.clock.now().isoformat()


def _situation(runtime: FocusRuntime) -> Situation:
    """What a plan spares because of how the window stands."""
    from amgs_focus.forgetting import Situation

    said = runtime.state.allocator.overrides
    pinned = tuple(node for node, word in said.items() if word == "pin")
    return Situation(runtime.context.tail_start, runtime.context.standing(), pinned)


def _gist(runtime: FocusRuntime, text: str) -> NodeRef:
    """The gist that a word names; of a block of tokens the gist above it."""
    from amgs_focus.geometry import parent_of

    node = node_of(runtime, text)
    return node if node.level else parent_of(node, runtime.tree.block_size)


def _act(runtime: FocusRuntime, number: int | None) -> Act:
    """The forgetting of this number, else the latest that still stands."""
    upkeep = runtime.tree.catalogue.upkeep
    held = [act for act in upkeep.acts if act.kind == "forget"]
    if number is None:
        held = [act for act in held if ((act.nodes & upkeep.sealed) - upkeep.purged).runs]
    found = held[-1:] if number is None else [act for act in held if act.id == number]
    if not found:
        raise UsageError(
            "Nothing is forgotten." if number is None else f"Act {number} forgot nothing.",
            way_out="`focus forgotten` lists what was.",
        )
    return found[0]


def _row(runtime: FocusRuntime, number: int) -> SpanRow:
    """One span with the sums over its blocks."""
    from amgs_focus.keeping import KeptSpan, spread_of

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
        kept=KeptSpan(span, tree.catalogue.about(span.start), tree.length - span.end),
        tags=tree.catalogue.upkeep.tags_on(span.start, span.end),
        opened=int(used["opened"].sum()),
        dwell=int(used["dwell"].sum()),
        forgotten=hidden / (span.end - span.start),
        spread=spread_of(tree, span.start, span.end),
    )


def _words(about: SpanAbout, *more: str) -> str:
    return " ".join((about.domain, about.path, about.section, about.language, *more)).lower()
