"""Care of a lifetime on disk: `focus forget` (hide, restore, delete or tag detail) and `focus rebuild` (encode gists
again).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, DryRun, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.focus.commands import node_of

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.records import NodeRef
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.tree.retention import RetentionContext
    from amgs_focus.tree.span_metadata import Act

OPERATOR = "operator"


@operation(
    "focus forget",
    lane="model",
    needs="operate",
    summary="Forget detail that is not used, bring it back, or delete it for good.",
    synonyms=("restore", "purge", "tag"),
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
    restore: Annotated[bool, Option("--restore", help="Bring forgotten detail back.")] = False,
    purge: Annotated[bool, Option("--purge", help="Delete forgotten detail permanently.")] = False,
    act: Annotated[
        int | None,
        Option("--act", metavar="ACT", help="Of this act, as --list numbers them; default: the latest that stands."),
        Takes("number"),
    ] = None,
    tag: Annotated[str, Option("--tag", metavar="WORD", help="Tag the NODEs: they are never forgotten.")] = "",
    release: Annotated[bool, Option("--release", help="Remove the --tag.")] = False,
    yes: Annotated[bool, Option("--yes", help="Required to purge: it cannot be undone.")] = False,
    dry_run: DryRun = False,
    limit: Annotated[
        int | None, Option("--limit", metavar="N", min=1, help="At most N gists, the weakest first.")
    ] = None,
    why: Annotated[str, Option("--why", metavar="TEXT", help="The reason, for the record.")] = "",
    progress: Progress | None = None,
) -> results.Forgotten | results.ForgottenList | results.Brought | results.Purged | results.Tagged:
    """Hide what lies below gists that have not been opened for long: tokens first, later the gists over them.

    The gist itself stays. Tagged and pinned spans, the last tokens, what the window holds and what proved its worth
    stay; naming a gist overrides all but tags, pins and the tail.

    --restore brings back an act. --purge overwrites the tokens and gists below what an act forgot, and frees their disk
    space; the gist over them and the record stay, and steps decoded before can no longer be undone. --list shows the
    lifetime's record: who forgot what, when and why, with checksums, and what was asked for since. --tag puts a word on
    the tokens that nodes cover; with --release every tag of that word that touches them goes.
    """
    from amgs_focus.tree.retention import act_of, by_hand, plan

    runtime = engine.focus
    if sum((list_acts, restore, purge, bool(tag))) > 1:
        raise UsageError("--list, --restore, --purge and --tag exclude each other.", way_out="Give only one.")
    if list_acts:
        return _list_acts(runtime)
    if tag:
        return _tag(engine, runtime, nodes or [], tag.strip(), release=release)
    if restore:
        return _restore(engine, runtime, act, why)
    if purge:
        return _purge(engine, runtime, act, why, yes=yes, dry_run=dry_run)
    tree, now = runtime.tree, _retention_context(runtime)
    if nodes:
        forget_plan = by_hand(tree, [_gist(runtime, text) for text in nodes], now)
    else:
        forget_plan = plan(tree, engine.settings.forgetting, now, limit=limit, progress=progress)
    if dry_run or forget_plan.is_empty:
        return results.Forgotten(forget_plan, None, runtime.snapshot())
    reason = why or ("named by hand" if nodes else "weak by the rules")
    done = act_of(tree, "forget", forget_plan.nodes, forget_plan.record, at=_now(engine), by=OPERATOR, why=reason)
    return results.Forgotten(forget_plan, done, runtime.act(done))


@operation(
    "focus rebuild",
    lane="model",
    needs="operate",
    summary="Re-encode stale gists.",
    example="focus rebuild",
    pane="focus",
    long=True,
    writes=True,
)
def rebuild(engine: Engine, *, progress: Progress | None = None) -> results.Rebuilt:
    """Encode every gist of the lifetime again with the gist net that the settings name.

    For a lifetime that was encoded with another encoder; what was purged stays as it is. It can be stopped and resumed.
    """
    runtime = engine.focus
    tree = runtime.tree
    gone_count = sum(high - low for level in range(1, tree.depth + 1) for low, high in tree.catalogue.find_gone(level))
    total = sum(tree.count(level) for level in range(1, tree.depth + 1))
    tree.rebuild(progress)
    return results.Rebuilt(total - gone_count, gone_count, tree.gist.name, tree.gist.version, runtime.snapshot())


def _restore(engine: Engine, runtime: FocusRuntime, act: int | None, why: str) -> results.Brought:
    """Make the detail that an act hid readable again."""
    from amgs_focus.tree.retention import act_of

    tree, span_metadata = runtime.tree, runtime.tree.catalogue.span_metadata
    chosen = (_find_act(runtime, act).nodes & span_metadata.sealed) - span_metadata.purged
    done = act_of(tree, "restore", chosen, at=_now(engine), by=OPERATOR, why=why or "asked for by the operator")
    return results.Brought(done, len(chosen), runtime.act(done))


def _purge(
    engine: Engine, runtime: FocusRuntime, act: int | None, why: str, *, yes: bool, dry_run: bool
) -> results.Purged:
    """Overwrite the detail that an act hid; it cannot be restored. Raises UsageError without `yes`."""
    from amgs_focus.tree.retention import act_of, count_freed

    tree, span_metadata = runtime.tree, runtime.tree.catalogue.span_metadata
    chosen = (_find_act(runtime, act).nodes & span_metadata.sealed) - span_metadata.purged
    tokens = sum((run.stop - run.first) * tree.block_size for run in chosen.runs if run.level == 1)
    size = count_freed(tree, chosen)
    if dry_run:
        return results.Purged(len(chosen), tokens, size, None, runtime.snapshot())
    if not yes:
        raise UsageError(
            f"This would permanently delete {tokens:,} tokens ({size:,} bytes) below {len(chosen)} gists.",
            title="A purge needs --yes",
            way_out="Add --yes, or preview with `focus forget --purge --dry-run`.",
        )
    reason = why or "asked for by the operator"
    done = act_of(tree, "purge", chosen, at=_now(engine), by=OPERATOR, why=reason)
    return results.Purged(len(chosen), tokens, size, done, runtime.act(done))


def _tag(engine: Engine, runtime: FocusRuntime, nodes: list[str], word: str, *, release: bool) -> results.Tagged:
    """Add a tag to the tokens of nodes, or remove it."""
    from amgs_focus.records import Tag

    if not nodes or not word:
        raise UsageError("A tag is a word for a node.", way_out="Give both: `focus forget L1#20 --tag incident`.")
    catalogue = runtime.tree.catalogue
    for node in nodes:
        start, end = runtime.tree.span(node_of(runtime, node))
        new_tag = Tag(start, end, word, _now(engine), OPERATOR)
        if not release:
            catalogue.tag(new_tag)
            continue
        gone = [tag for tag in catalogue.span_metadata.tags_on(start, end) if tag.word == word]
        if not gone:
            raise UsageError(f"That span has no tag {word!r}.", way_out="`focus view --texts` shows the tags.")
        catalogue.untag(gone)
    return results.Tagged(new_tag, release, catalogue.span_metadata.tags)


def _now(engine: Engine) -> str:
    return engine.clock.now().isoformat()


def _retention_context(runtime: FocusRuntime) -> RetentionContext:
    """Return what a plan must not forget now: the tail, the window's nodes and pinned ones."""
    from amgs_focus.tree.retention import RetentionContext

    overrides = runtime.state.allocator.overrides
    pinned = tuple(node for node, word in overrides.items() if word == "pin")
    return RetentionContext(runtime.context.tail_start, runtime.context.standing(), pinned)


def _list_acts(runtime: FocusRuntime) -> results.ForgottenList:
    """Return every act of forgetting, with how many of its nodes are still hidden and were asked for since."""
    from amgs_focus.tree.node_set import NOTHING

    catalogue = runtime.tree.catalogue
    span_metadata = catalogue.span_metadata
    rows = []
    for act in span_metadata.acts:
        sealed_nodes = act.nodes & span_metadata.sealed if act.kind == "forget" else NOTHING
        wanted = sum(catalogue.usage.of(node).wanted > 0 for node in sealed_nodes)
        rows.append(results.ActRow(act, len(sealed_nodes), wanted))
    sealed, purged = len(span_metadata.sealed), len(span_metadata.purged)
    return results.ForgottenList(tuple(rows), sealed, purged, runtime.snapshot())


def _gist(runtime: FocusRuntime, text: str) -> NodeRef:
    """Return the gist that a word names; for a block of tokens, the gist above it."""
    from amgs_focus.records import parent_of

    node = node_of(runtime, text)
    return node if node.level else parent_of(node, runtime.tree.block_size)


def _find_act(runtime: FocusRuntime, number: int | None) -> Act:
    """Return the act with this number, by default the latest with nodes still hidden; raises UsageError if there is
    none.
    """
    span_metadata = runtime.tree.catalogue.span_metadata
    acts = [act for act in span_metadata.acts if act.kind == "forget"]
    if number is None:
        acts = [act for act in acts if ((act.nodes & span_metadata.sealed) - span_metadata.purged).runs]
    matches = acts[-1:] if number is None else [act for act in acts if act.id == number]
    if not matches:
        raise UsageError(
            "Nothing is forgotten." if number is None else f"Act {number} did not forget anything.",
            way_out="`focus forget --list` shows what was.",
        )
    return matches[0]
