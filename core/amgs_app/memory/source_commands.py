"""Operations on sources: `source list`, `source update`, `source delete`, `source watch`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import Cancelled, UsageError
from amgs.regular_file import read_text
from amgs_app import results
from amgs_app.calls.arguments import DryRun, Limit
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs.types import Progress
    from amgs_app.engine import Engine

Name = Annotated[str, Arg(metavar="SOURCE", help="A source as `source list` shows it, or its file.")]

_SLICE = 0.2
"""Seconds between two checks whether a wait was cancelled."""


@operation(
    "source list",
    summary="List the sources the memory holds, by name, or what one holds and held before.",
    example="source list notes/house.md --pieces",
    pane="inbox",
    lists=lambda result: [piece.block_id for piece in getattr(result, "pieces", ())] or None,
)
def sources(
    engine: Engine,
    below: Annotated[str, Arg(metavar="PREFIX", help="Only sources whose name starts with this.")] = "",
    *,
    pieces: Annotated[
        bool, Option("--pieces", help="The pieces of the one source PREFIX, and when it held each, the earliest first.")
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
        raise UsageError("TEXT and --file exclude each other.", way_out="Give one of them.")
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
def delete(
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
