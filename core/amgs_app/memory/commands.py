"""Operations on blocks (`block show|find|set|reinforce|delete`, `select`) and on sources (`source
list|update|delete|watch`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from amgs.errors import Cancelled, UsageError
from amgs.incoming import read_text
from amgs.text.words import plural
from amgs_app import results
from amgs_app.calls.marks import (
    Arg,
    DryRun,
    LambdaValue,
    Limit,
    Offset,
    Option,
    Profile,
    Reference,
    References,
    Takes,
    read_categories,
    read_lambda,
    read_pair,
)
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.lifecycle.erase import ErasurePlan, ErasureReceipt
    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


@operation(
    "block show",
    summary="Show a block: text, source and relevance.",
    synonyms=("read", "print"),
    example="block show @1",
)
def show(engine: Engine, block: Reference = None) -> results.BlockDetail:
    """Show a block with its metadata, its relevance now and the number of its edges.

    Looking at a block does not reinforce it.
    """
    from amgs.decay import profile_name, relevance_at

    chosen = engine.block(block)
    edges = engine.memory.edges(chosen.id)
    return results.BlockDetail(
        block=chosen,
        relevance=relevance_at(chosen.decay_lambda, chosen.last_reinforced_at, engine.clock.now()),
        profile=profile_name(chosen.decay_lambda, engine.settings.memory.decay.profiles.by_name()),
        edges_out=sum(edge.source_id == chosen.id for edge in edges),
        edges_in=sum(edge.target_id == chosen.id for edge in edges),
        usefulness=engine.memory.calibration.usefulness([chosen.id]).get(chosen.id),
    )


@operation(
    "block find",
    summary="Find blocks by title or text; without a text, the latest ones.",
    synonyms=("lookup", "grep", "latest", "newest"),
    example='block find "boiler valve"',
    keys=("slash",),
    lists=lambda result: [block.id for block in result.blocks],
)
def find(
    engine: Engine,
    text: Annotated[str, Arg(metavar="TEXT", help="Part of a title or of the text; default: the latest blocks.")] = "",
    *,
    category: Annotated[
        list[str] | None, Option("--category", metavar="NAME", help="Latest: only of this category.")
    ] = None,
    since: Annotated[datetime | None, Option("--since", metavar="DATE", help="Latest: created at or after.")] = None,
    until: Annotated[datetime | None, Option("--until", metavar="DATE", help="Latest: created before.")] = None,
    meta: Annotated[
        list[str] | None, Option("--meta", metavar="KEY=VALUE", help="Latest: with this metadata; may be repeated.")
    ] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> results.BlockList:
    """Find blocks whose title or text resembles TEXT, best first; typos are forgiven.

    Without TEXT, list what the memory holds, the latest first: all of it, or of some categories and a time.
    """
    if text:
        if category or since or until or meta or offset:
            raise UsageError(
                "--category, --since, --until, --meta and --offset choose of the latest blocks.",
                way_out="Leave TEXT out; `search` takes a question and these filters.",
            )
        return results.BlockList(text, engine.memory.find(text, limit))
    from amgs.clock import as_utc
    from amgs.types import BlockFilter

    chosen = BlockFilter(
        categories=read_categories(engine, category),
        since=None if since is None else as_utc(since),
        until=None if until is None else as_utc(until),
        meta=dict(read_pair(pair) for pair in meta or ()),
    )
    return results.BlockList("", engine.memory.blocks(chosen, limit=limit, offset=offset))


@operation(
    "block set",
    summary="Correct a block's category, confidence, decay, status, tags or note; pin it.",
    synonyms=("change", "categorise", "tag", "note", "annotate", "pin", "never forget", "permanent"),
    example="block set @1 --category procedure --confidence 0.9",
    writes=True,
)
def set_block(
    engine: Engine,
    block: Reference = None,
    *,
    category: Annotated[
        list[str] | None, Option("--category", metavar="NAME", help="What kind of knowledge it is; repeat for several.")
    ] = None,
    new: Annotated[bool, Option("--new", help="Allow a category that no block has yet.")] = False,
    confidence: Annotated[
        float | None, Option("--confidence", metavar="X", min=0, max=1, help="Confidence, 0 to 1.")
    ] = None,
    profile: Profile = None,
    decay_lambda: LambdaValue = None,
    pin: Annotated[bool | None, Option("--pin/--unpin", help="Never decay, or decay as its category does.")] = None,
    status: Annotated[
        Literal["consolidated", "archived", "pruned"] | None,
        Option("--status", metavar="STATUS", help="consolidated, archived or pruned."),
    ] = None,
    own: Annotated[
        Literal["yes", "no"] | None, Option("--self", metavar="yes|no", help="Whether it is part of the self.")
    ] = None,
    meta: Annotated[
        list[str] | None, Option("--meta", metavar="KEY=VALUE", help="Other metadata; repeat. KEY= takes a key away.")
    ] = None,
    tag: Annotated[list[str] | None, Option("--tag", metavar="TAG", help="A tag; may be repeated.")] = None,
    untag: Annotated[
        list[str] | None, Option("--untag", metavar="TAG", help="A tag to take away; may be repeated.")
    ] = None,
    note: Annotated[
        str | None, Option("--note", metavar="TEXT", help='A note, in place of the present note; "" removes it.')
    ] = None,
) -> results.CorrectedBlock:
    """Change only what is named; journalled, so `undo` reverts it. The content never changes. Tags and notes stay when
    the block's source is read again; beside other corrections they are a change of their own.

    Later consolidations learn from a corrected category: they weigh its words and tags, and say so. A pinned block
    keeps its relevance and is never pruned: its λ is 0. `decay curve --pin` shows it first.
    """
    chosen = engine.block(block)
    if category and not new:
        engine.memory.lifecycle.find_categories(category, adds=True)
    wanted = read_lambda(engine, profile, decay_lambda, pin=bool(pin))
    if pin is False:
        if wanted is not None:
            raise UsageError("--unpin gives the decay of the category.", way_out="Give only one.")
        from amgs.lifecycle.categories import decay_of

        wanted = decay_of(category[0] if category else chosen.category, engine.settings.memory.decay.profiles)
    corrections: dict[str, Any] = {
        "categories": category or None,
        "confidence": confidence,
        "decay_lambda": wanted,
        "status": status,
        "is_self_component": None if own is None else own == "yes",
        "meta": None if meta is None else dict(read_pair(pair) for pair in meta),
    }
    marked = bool(tag or untag or note is not None)
    if not marked or any(value is not None for value in corrections.values()):
        chosen = engine.memory.set_metadata(chosen.id, **corrections)
    if marked:
        chosen = engine.memory.tag(chosen.id, tag or (), untag or (), note=note)
    return results.CorrectedBlock(chosen)


@operation(
    "block reinforce",
    summary="Restart the decay clock of blocks.",
    synonyms=("refresh", "renew"),
    example="block reinforce @1 @2",
    writes=True,
    lists=lambda result: [block.id for block in result.blocks],
)
def reinforce(engine: Engine, blocks: References) -> results.BlockList:
    """Count the blocks as used now, as an assembly does with what it selects; each is a logged event."""
    chosen = [engine.block(reference).id for reference in blocks]
    engine.memory.reinforce(chosen, event_type="explicit", source="operator")
    return results.BlockList("", tuple(engine.memory.block(block_id) for block_id in chosen))


@operation(
    "block delete",
    summary="Delete blocks: set aside as pruned, or with --hard erased for good.",
    synonyms=("erase", "forget", "remove"),
    example="block delete @1 --dry-run",
    writes=True,
    long=True,
    lists=lambda result: [block.id for block in getattr(result, "blocks", ())] or None,
)
def delete(
    engine: Engine,
    blocks: References,
    *,
    hard: Annotated[bool, Option("--hard", help="Erase their texts from the store. No undo.")] = False,
    yes: Annotated[bool, Option("--yes", help="Required for --hard.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would go and change nothing.")] = False,
    progress: Progress | None = None,
) -> results.Deleted | ErasurePlan | ErasureReceipt:
    """Set blocks aside as pruned: they lose their edges and no search finds them; `undo` brings them back.

    With --hard their texts are erased: from the tables, the journal and what undo stored, past searches and assemblies,
    the indexes and the freed pages of the file, which is written anew. This cannot be undone. The result is a receipt
    without any text, to be stored (`--format json`); it names blocks that were merged or split from these, which stay.
    Source files, exports, backups and traces of the working context are not touched.
    """
    erasure = engine.memory.erasure
    plan = erasure.plan([engine.block(reference).id for reference in blocks])
    if dry_run:
        return plan
    chosen = [block.id for block in plan.blocks]
    if not hard:
        return results.Deleted(plan.blocks, engine.memory.lifecycle.delete(chosen))
    if not yes:
        raise UsageError(
            f"--hard would erase {plural(len(chosen), 'block')}, which cannot be undone.",
            way_out="Add --yes, or preview with --dry-run.",
        )
    return erasure.erase(chosen, progress)


@operation("select", summary="Select a block; every pane follows.", example="select @1")
def select(operator: Operator, block: Reference = None) -> results.SelectedBlock:
    """Select a block. Commands that take an ID use it when none is named."""
    chosen = operator.engine.block(block)
    operator.selection = chosen.id
    return results.SelectedBlock(chosen)


Name = Annotated[str, Arg(metavar="SOURCE", help="A source as `source list` shows it, or its file.")]

_SLICE = 0.2
"""Seconds between two checks whether a wait was cancelled."""


@operation(
    "source list",
    summary="List the sources the memory holds, by name, or what a source holds and held before.",
    example="source list notes/house.md --pieces",
    pane="inbox",
    lists=lambda result: [piece.block_id for piece in getattr(result, "pieces", ())] or None,
)
def sources(
    engine: Engine,
    below: Annotated[str, Arg(metavar="PREFIX", help="Only sources whose name starts with this.")] = "",
    *,
    pieces: Annotated[
        bool, Option("--pieces", help="The pieces of the source PREFIX, and when it held each, the earliest first.")
    ] = False,
    limit: Limit = 200,
) -> results.SourceList | results.SourceHistory:
    """List sources with their file, the number of their pieces and since when they are held.

    A source is a folder and a path below it, so that two README.md of two folders are two sources.
    """
    if pieces:
        history = engine.memory.sources.history(below)
        titles = engine.memory.titles([piece.block_id for piece in history])
        return results.SourceHistory(below, history[:limit], tuple(titles.get(p.block_id, "") for p in history[:limit]))
    summaries = engine.memory.sources.list(below)
    return results.SourceList(summaries[:limit], len(summaries))


@operation(
    "source update",
    summary="Replace the text of a source.",
    synonyms=("replace", "change a file"),
    example="source update notes/house.md --file ~/notes/house.md --dry-run",
    pane="inbox",
    writes=True,
)
def update(
    engine: Engine,
    source: Name,
    text: Annotated[str | None, Arg(metavar="TEXT", help="The new text; default: its file.")] = None,
    *,
    file: Annotated[
        Path | None, Option("--file", metavar="FILE", help="Take the new text from this file."), Takes("file")
    ] = None,
    dry_run: DryRun = False,
) -> RevisionPlan | Revision:
    """Give a source another text: what is unchanged stays, what is changed is superseded, what is gone is archived.

    Without TEXT or --file, its own file is read again. `undo` reverts it.
    """
    if text is not None and file is not None:
        raise UsageError("TEXT and --file exclude each other.", way_out="Give only one.")
    library = engine.memory.sources
    if text is not None:
        plan = library.plan_text(source, text)
    elif file is not None:
        plan = library.plan_text(source, read_text(file, "Choose another file."))
    else:
        plan = library.plan_file(library.file_of(source))
    return plan if dry_run else library.apply(plan)


@operation(
    "source delete",
    summary="Archive what only these sources hold.",
    synonyms=("erase", "remove", "drop"),
    example="source delete notes/old.md --dry-run",
    pane="inbox",
    writes=True,
)
def delete_source(
    engine: Engine,
    source: Annotated[list[str], Arg(metavar="SOURCE", help="Sources as `source list` shows them, or their files.")],
    *,
    dry_run: DryRun = False,
) -> RevisionPlan | Revision:
    """Take sources out: what no other source holds is archived; it leaves searches and frames, and stays in the store.

    `undo` brings it back; `prune --hard` deletes what was pruned.
    """
    library = engine.memory.sources
    plan = library.plan_delete(source)
    return plan if dry_run else library.apply(plan)


@operation(
    "source watch",
    audience="workstation",
    summary="Keep a folder in sync until stopped.",
    synonyms=("auto-update",),
    example="source watch ~/notes --every 5",
    pane="inbox",
    long=True,
    writes=True,
)
def watch(
    engine: Engine,
    folder: Annotated[Path, Arg(metavar="DIR", help="The folder."), Takes("folder")],
    *,
    every: Annotated[
        float, Option("--every", metavar="SECONDS", min=0, help="How long to wait between two looks.")
    ] = 5.0,
    rounds: Annotated[
        int | None, Option("--rounds", metavar="N", min=1, help="Stop after N looks; default: when stopped.")
    ] = None,
    progress: Progress | None = None,
) -> results.Watched:
    """Look at a folder again and again, and take in what changed, as `ingest --sync` does.

    Each change is a revision of its own that `undo` reverts. Stopping keeps what was taken in. `consolidate` makes it
    searchable.
    """

    wait = cancellable_wait(every, progress, str(folder))
    done = tuple(engine.memory.sources.watch(folder, wait, rounds=rounds))
    return results.Watched(str(folder), done)


def cancellable_wait(
    seconds: float,
    progress: Progress | None,
    what: str,
    *,
    perf: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Callable[[], bool]:
    """Return a function that waits this long; it returns False if progress is cancelled meanwhile."""

    def wait() -> bool:
        end = perf() + seconds
        while True:
            if progress is not None:
                try:
                    progress(0, 0, f"watching {what}")
                except Cancelled:
                    return False
            left = end - perf()
            if left <= 0:
                return True
            sleep(min(_SLICE, left))

    return wait
